"""The program with a thread beside it that notes for how long it could not run.

    python -m benchmarks.inside FILE ARGUMENT…

Runs `jp ARGUMENT…` in this process and writes the longest pause (milliseconds) to FILE. The thread ticks every
millisecond; what it misses is somebody holding the interpreter, or the machine being busy with others. The file is
written at each new maximum, since the program ends the process itself.
"""

import os
import sys
import threading
import time


def tick(fd: int) -> None:
    """Note each new longest pause."""
    longest = 0.0
    last = time.perf_counter()
    while True:
        time.sleep(0.001)
        now = time.perf_counter()
        if now - last > longest:
            longest = now - last
            os.pwrite(fd, f"{longest * 1000:<20.3f}\n".encode(), 0)
        last = now


def main() -> None:
    """Start the thread, then be the program; does not return."""
    fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    sys.argv[:2] = ["jp"]
    threading.Thread(target=tick, args=(fd,), daemon=True).start()
    from jp.boot import main as program

    program()


if __name__ == "__main__":
    main()
