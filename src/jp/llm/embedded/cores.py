"""How many threads the model may have.

The runtime's threads wait for each other in spin barriers. With one more runnable thread than cores, every token
waits for the scheduler: measured on two cores beside one busy process, two threads made a tenth of the tokens that
one made. So generation leaves one core to the rest of the machine. Reading the prompt has few barriers for much work
and takes all.
"""

import os
from typing import NamedTuple


class Threads(NamedTuple):
    """Threads for generating and for reading the prompt."""

    generate: int
    read: int


def threads(cores: int, wanted: int | None = None) -> Threads:
    """The threads for a machine with `cores`, or `wanted` for both."""
    if wanted is not None:
        return Threads(max(1, wanted), max(1, wanted))
    return Threads(max(1, cores - 1), max(1, cores))


def available() -> int:
    """The cores that this process may use: its affinity, and in a container its quota, rounded down; at least 1."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            return min(cores, quota(file.read()) or cores)
    except (OSError, ValueError):
        return cores


def quota(text: str) -> int | None:
    """Whole cores in the text of cgroup v2's `cpu.max` (`<microseconds> <period>`); None for no limit."""
    amount, period, *_ = [*text.split(), "100000"]
    if amount == "max":
        return None
    return max(1, int(amount) // int(period))
