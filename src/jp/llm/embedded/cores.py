"""How many threads the model may have.

The runtime's threads wait for each other in spin barriers, so a thread without a core of its own holds up all
others. Measured on two cores: beside one busy process, two threads made a tenth of the tokens that one made; beside
six, reading a prompt with two threads took five times as long as with one. On the idle machine reading with both is
twice as fast.

So: as many as there are idle cores when it starts, one core left to the rest while it generates (a terminal, a
browser and JP itself want to run), and never fewer than one.
"""

import os
from typing import NamedTuple


class Threads(NamedTuple):
    """Threads for generating and for reading the prompt."""

    generate: int
    read: int


def threads(cores: int, load: float, wanted: int | None = None) -> Threads:
    """The threads for `cores` of which `load` are busy; or `wanted` for both; pure."""
    if wanted is not None:
        return Threads(max(1, wanted), max(1, wanted))
    busy = round(load)
    return Threads(max(1, cores - max(1, busy)), max(1, cores - busy))


def load() -> float:
    """How many cores were busy in the last minute; 0 where the system does not say."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


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
