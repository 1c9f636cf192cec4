"""The text that is piped in (decisions, "stdin with a query given").

stdin is query text only and answers no prompt. With a query on the command line an open but silent stdin must not
hang a script: once a byte has come its end is waited for; with none, that is said after a second, and where nobody is
there to decide, the run goes on without after three.
"""

import os
import stat

from jp.errors import JpError
from jp.interrupt import ladder
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.router import Scope
from jp.terminal.tty import is_piped
from jp.turn.inbox import WAKE, Inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.dialogue import Dialogue
    from jp.cli.context import Context

SAY_AFTER_SECS = 1.0
GIVE_UP_AFTER_SECS = 3.0
LIMIT = 64 << 20

_END = object()
_SAY = object()
_GIVE_UP = object()


class TooMuchTextError(JpError):
    """More text than any model takes."""

    code = "too_much_text"

    def __init__(self, source: str) -> None:
        super().__init__(
            f"{source} is larger than {LIMIT >> 20} MiB; nothing was sent",
            hints=["no model takes that much: cut it down (`head -c`, `grep`), or ask about a part of it"],
        )


class UnreadableInputError(JpError):
    """What is piped in cannot be read to its end."""

    code = "unreadable_input"

    def __init__(self, source: str, error: OSError) -> None:
        super().__init__(
            f"{source} cannot be read: {error.strerror or error}",
            hints=["nothing was sent; `</dev/null` asks without it"],
        )


def read_piped(ctx: "Context", *, wanted: bool, fd: int = 0) -> str:
    """All that is piped in, as text; empty when nothing is, or when it stays silent though a query was given.

    `wanted`: there is no other text, so it is waited for without a limit. Raises what `read` does.
    """
    if not is_piped(fd):
        return ""
    return text_of(read(ctx, fd, "stdin", patient=wanted or bool(ctx.promptability), wanted=wanted))


def text_of(data: bytes) -> str:
    """Bytes as text: what is no UTF-8 is replaced, a byte order mark goes."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def read(ctx: "Context", fd: int, source: str, *, patient: bool = True, wanted: bool = True) -> bytes:
    """Everything from `fd` up to its end, a press waking the wait. Not `wanted`, a press offers to go on without it.

    Raises TooMuchTextError, UnreadableInputError and Shutdown.
    """
    if stat.S_ISREG(os.fstat(fd).st_mode):
        try:
            return _bounded(os.read, fd, source)
        except OSError as error:
            raise UnreadableInputError(source, error) from error
    import threading

    inbox = Inbox()
    pieces: list[bytes] = []
    failed: list[OSError] = []
    threading.Thread(target=_read_all, args=(fd, pieces, failed, inbox.post), daemon=True, name="stdin").start()
    attended = inbox.attend(ctx.router)
    inbox.after(SAY_AFTER_SECS, _SAY)
    inbox.after(GIVE_UP_AFTER_SECS, _GIVE_UP)
    status = ctx.printer.status(f"Reading {source}…", delay=SAY_AFTER_SECS)
    pressed = None if wanted else ctx.router.push(Scope(ladder.MENU, lambda: inbox.post(WAKE), "stdin"))
    try:
        while (event := inbox.get()) is not _END:
            checkpoint()
            if pressed is not None and pressed.pending:
                if pieces:
                    pressed.decline()  # half of a text is no text
                elif ctx.asker.answer(pressed, _ask) == WITHOUT:
                    return b""
            if pieces:
                continue
            if event is _SAY and not ctx.printer.can_repaint:
                ctx.printer.note(f"waiting for the text on {source}")
            elif event is _GIVE_UP and not patient:
                ctx.printer.note(f"nothing came on {source}; going on without it")
                return b""
    finally:
        if pressed is not None:
            pressed.release()
        status.end()
        attended()
    if failed:
        raise UnreadableInputError(source, failed[0])
    data = b"".join(pieces)
    if len(data) > LIMIT:
        raise TooMuchTextError(source)
    return data


WITHOUT = "w"


def _ask(dialogue: "Dialogue") -> str:
    """The menu while nothing comes."""
    from jp.ask.menus import MESSAGE
    from jp.prompt.outcomes import Cancelled, Submitted
    from jp.prompt.questions import Choice, Option

    options = (Option("c", "Continue to wait"), Option(WITHOUT, "Go on without it"), Option("q", "Quit gracefully"))
    outcome = dialogue.menu(Choice(MESSAGE, options, guarded=False))
    if outcome == Submitted("q"):
        dialogue.quit()
    elif isinstance(outcome, Submitted | Cancelled):
        dialogue.deliberate()
    return outcome.value if isinstance(outcome, Submitted) else "c"


def _bounded(read: "Callable[[int, int], bytes]", fd: int, source: str) -> bytes:
    pieces, size = [], 0
    while piece := read(fd, 1 << 20):
        checkpoint()
        pieces.append(piece)
        size += len(piece)
        if size > LIMIT:
            raise TooMuchTextError(source)
    return b"".join(pieces)


def _read_all(fd: int, pieces: list[bytes], failed: list[OSError], post: "Callable[[object], None]") -> None:
    size = 0
    try:
        while size <= LIMIT and (data := _read_some(fd)):
            pieces.append(data)
            size += len(data)
            post(None)
    except OSError as error:
        failed.append(error)
    finally:
        post(_END)


def _read_some(fd: int) -> bytes:
    from select import select

    while True:
        try:
            return os.read(fd, 1 << 16)
        except BlockingIOError:  # whoever shares the pipe has made it so (a Node.js parent); it is not ours to change
            select([fd], [], [])
