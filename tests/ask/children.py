"""Small programs around a real Asker: router armed, Printer on the real descriptors, prompts on the terminal."""

import sys

_HEAD = """
import os, sys, time, threading
from jp.interrupt.router import Router
from jp.interrupt.end import Cause, finish
from jp.interrupt.token import Shutdown
router = Router()
router.arm()
from jp.terminal.printer import Format, Printer, Target
from jp.terminal.promptability import NotPromptable, Request, resolve
from jp.terminal.tty import probe
from jp.ask.asker import Asker
from jp.prompt.questions import Choice, Edit, Item, Option, Secret, Select, confirm
from jp.prompt.outcomes import *
tty = probe()
printer = Printer.for_process(format=Format.AUTO, environ=os.environ, tty=tty)
router.announce = printer.announce
router.on_resize(printer.resized)
router.on_stop(printer.suspend)
router.on_continue(printer.resume)
router.promptable = tty is not None
asker = Asker(printer, resolve(Request.AUTO, {}, tty is not None), router, globals().get("backend"))

def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "never"
        time.sleep(0.001)

def later(condition, do):
    def wait():
        until(condition)
        do()
    threading.Thread(target=wait, daemon=True).start()

def exists(name):
    return lambda: os.path.exists(os.path.join(FOLDER, name))

def touch(name):
    open(os.path.join(FOLDER, name), "w").close()

FOLDER = sys.argv[1] if len(sys.argv) > 1 else ""
"""

_TAIL = """
try:
    main()
    printer.close(5)
    finish(0)
except Shutdown as shutdown:
    printer.close(5)
    finish(shutdown.cause)
"""


def child(body: str, *args: object, before: str = "") -> list[str]:
    """The command that runs `main()` of `body`; `before` may define `backend`, the prompts to use."""
    return [sys.executable, "-c", before + _HEAD + body + _TAIL, *map(str, args)]
