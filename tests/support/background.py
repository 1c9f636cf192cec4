"""Runs its arguments as a background job of the terminal's session, as a shell with job control does after `&`.

The first argument is a descriptor: it gets `pid N` and then the wait statuses in words, a line each.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.status import in_words


def main() -> None:
    report = int(sys.argv[1])
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.close(report)
        os.execvp(sys.argv[2], sys.argv[2:])
    os.write(report, b"pid %d\n" % pid)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        os.write(report, in_words(status).encode() + b"\n")
        if not os.WIFSTOPPED(status):
            os._exit(0)


main()
