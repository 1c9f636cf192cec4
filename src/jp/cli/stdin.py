"""The text that is piped in (decisions, "stdin with a query given").

stdin is query text only and answers no prompt. With a query on the command line an open but silent stdin must not
hang a script: once a byte has come its end is waited for; with none, that is said after a second, and where nobody is
there to decide, the run goes on without after three.
"""

import os
import stat

from jp.interrupt.checkpoint import checkpoint
from jp.terminal.tty import is_piped
from jp.turn.inbox import Inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.interrupt.token import ShutdownToken
    from jp.terminal.printer import Printer

SAY_AFTER_SECS = 1.0
GIVE_UP_AFTER_SECS = 3.0

_END = object()
_SAY = object()
_GIVE_UP = object()


def read_piped(*, wanted: bool, promptable: bool, printer: "Printer", token: "ShutdownToken", fd: int = 0) -> str:
    """All that is piped in, as text; empty when nothing is, or when it stays silent though a query was given.

    `wanted`: there is no other text, so it is waited for without a limit. Raises Shutdown.
    """
    if not is_piped(fd):
        return ""
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and os.fstat(fd).st_rdev == _null_device()):
        data = b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
    else:
        data = _wait_for(fd, Inbox(), wanted or promptable, printer, token)
    return data.decode("utf-8", "replace").lstrip("\ufeff")


def _null_device() -> int:
    return os.stat(os.devnull).st_rdev


def _wait_for(fd: int, inbox: Inbox, patient: bool, printer: "Printer", token: "ShutdownToken") -> bytes:
    import threading

    pieces: list[bytes] = []
    threading.Thread(target=_read_all, args=(fd, pieces, inbox.post), daemon=True, name="stdin").start()
    unsubscribe = token.subscribe(lambda: inbox.post(None))
    inbox.after(SAY_AFTER_SECS, _SAY)
    inbox.after(GIVE_UP_AFTER_SECS, _GIVE_UP)
    status = printer.status("Reading stdin…", delay=SAY_AFTER_SECS, interval=0.1)
    try:
        while (event := inbox.get()) is not _END:
            checkpoint()
            if pieces:
                continue
            if event is _SAY and not printer.can_repaint:
                printer.note("waiting for the text on stdin")
            elif event is _GIVE_UP and not patient:
                printer.note("nothing came on stdin; going on without it")
                return b""
        return b"".join(pieces)
    finally:
        status.end()
        unsubscribe()


def _read_all(fd: int, pieces: list[bytes], post: "Callable[[object], None]") -> None:
    try:
        while data := os.read(fd, 1 << 16):
            pieces.append(data)
            post(None)
    except OSError:
        pass  # it was closed under us: what came is what there is
    finally:
        post(_END)
