"""Processes that carry a mark in their environment, whatever groups and sessions they have moved to (`/proc` only)."""

import os
import time

_KERNEL_THREAD = 0x200000  # PF_KTHREAD


def marked(mark: bytes, since: int) -> tuple[dict[int, str], bool]:
    """The living processes that have `mark` (`NAME=value`) in their environment: command lines by pid.

    And whether there may be more of them: while a process begins another program it has, for a moment, no environment
    to be seen. In doubt are only those that are not older than the moment `since` (see `now`).
    """
    found: dict[int, str] = {}
    doubt = False
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdecimal():
            continue
        try:
            environ = _read(f"/proc/{name}/environ")
            if mark in environ.split(b"\0"):
                line = _read(f"/proc/{name}/cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()
                found[int(name)] = line or "a process"
            elif not environ:
                state, flags, start = _stat(int(name))
                doubt = doubt or (state not in ("Z", "X") and not flags & _KERNEL_THREAD and start >= since)
        except (OSError, ValueError, IndexError):
            continue  # it has ended, or is not ours
    return found, doubt


def now() -> int:
    """This moment as `/proc` gives the starts of processes; 0 where there is no such clock."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return 0 if clock is None else int(time.clock_gettime(clock) * os.sysconf("SC_CLK_TCK")) - 1


def _stat(pid: int) -> tuple[str, int, int]:
    """State, flags, and moment of the start."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return fields[0].decode(), int(fields[6]), int(fields[19])


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
