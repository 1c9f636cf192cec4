"""Who is left: processes are found by a mark in their environment, whatever groups and sessions they moved to."""

import os
import select
import time
from pathlib import Path

MARK = "TEST_MARK"


def marked(mark: str | None = None) -> dict[int, str]:
    """The living processes that carry this test's mark: pid to command line. Zombies are dead. Empty without /proc."""
    wanted = f"{MARK}={mark or os.environ[MARK]}".encode()
    found = {}
    for directory in Path("/proc").glob("[0-9]*"):
        pid = int(directory.name)
        try:
            if pid != os.getpid() and wanted in (directory / "environ").read_bytes().split(b"\0"):
                found[pid] = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
    return found


def still_marked(within: float) -> dict[int, str]:
    """Those of them that are not gone within so many seconds: what was killed may take a moment."""
    end = time.monotonic() + within
    while (left := marked()) and time.monotonic() < end:
        select.select([], [], [], 0.01)
    return left
