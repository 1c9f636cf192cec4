"""Small programs around a real Printer, on real descriptors."""

import sys

_HEAD = """
import os, sys, time
from jp.terminal.printer import Format, Printer, Target
from jp.terminal.tty import probe
tty = probe()
printer = Printer.for_process(format=Format({format!r}), environ=os.environ, tty=tty, log_on_stderr={log})

def done(status=0):
    printer.close(20)
    if printer.fault:
        raise printer.fault
    os._exit(status)

def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "never"
        time.sleep(0.001)

def say(text):
    os.write(REPORT, (text + chr(10)).encode())

REPORT = int(sys.argv[1]) if len(sys.argv) > 1 else 2
"""


def child(body: str, *args: object, format_: str = "auto", log: bool = False) -> list[str]:
    """The command that runs `body` with `printer`, `tty`, `until(condition)`, `say(text)` and `done(status)` at hand.

    The first of `args` is the descriptor that `say` writes to, standard error without it.
    """
    return [sys.executable, "-c", _HEAD.format(format=format_, log=log) + body, *map(str, args)]
