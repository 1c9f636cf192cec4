"""Questions on a terminal without escapes: whole lines, and nothing that was written is ever written over."""

import select
import time
from typing import NamedTuple, Protocol

from jp.prompt.backend import CONTINUE, END, PRESS, STOP, PromptTerminal
from jp.prompt.choice import asking, explained
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, OpenEditor, Outcome, Submitted
from jp.prompt.questions import Choice, Edit, Question, Secret, Select
from jp.prompt.reading import LOST, read
from jp.prompt.select import NO_MATCH, Matches
from jp.prompt.showing import QUIET_SECS, ended
from jp.terminal.escapes import Strip
from jp.terminal.sanitize import Sanitizer, one_line

END_OF_INPUT = "end of input"  # Ctrl-D, beside the notices
_ESC, _CTRL_C, _CTRL_X = "\x1b", "\x03", "\x18"
_CONTROLS = dict.fromkeys(code for code in (*range(0x20), *range(0x7F, 0xA0)) if code != 0x09)


class Line(NamedTuple):
    """A line without its end. `quiet`: seconds from when the input was last thrown away, or read, until it came."""

    text: str
    quiet: float


class Lines:
    """Waits for lines and notices."""

    def __init__(self, terminal: PromptTerminal) -> None:
        self._terminal = terminal
        self._held = b""
        self._readable = True
        self._last = time.monotonic()

    def restart(self) -> None:
        """Throw away what was typed so far."""
        self._terminal.discard_input()
        self._held = b""
        self._last = time.monotonic()

    def next(self) -> Line | str:
        """A line, a notice, `LOST` or `END_OF_INPUT`. Lines that were typed before a notice come first."""
        terminal = self._terminal
        while True:
            fds = [terminal.wake_fd, terminal.fd] if self._readable else [terminal.wake_fd]
            ready = select.select(fds, (), ())[0]
            event = self._read() if terminal.fd in ready else self._noticed()
            if event is not None:
                return event

    def _read(self) -> Line | str | None:
        data = read(self._terminal)
        if not data:
            if self._terminal.lost():
                return LOST
            if data is not None:
                return END_OF_INPUT
            self._readable = False  # until a notice says that something has changed
            return None
        self._held += data
        if not self._held.endswith(b"\n"):
            return None  # Ctrl-D in the middle of a line
        text, self._held = self._held.decode("utf-8", "replace").rstrip("\r\n"), b""
        quiet, self._last = time.monotonic() - self._last, time.monotonic()
        if _CTRL_C in text:
            self._terminal.press()
            return None
        return Line(text, quiet)

    def _noticed(self) -> str | None:
        self._readable = True
        notices = self._terminal.notices()
        return next((notice for notice in (END, PRESS, STOP, CONTINUE) if notice in notices), None)


class Dialog(Protocol):
    """One question, line by line."""

    def show(self) -> str:
        """What is to be written, so that the next line is an answer to it."""
        ...

    def line(self, line: str) -> Outcome | None:
        """Act on a line; None asks again."""
        ...

    def text(self) -> str:
        """What the person has written so far."""
        ...


def ask(question: Question, terminal: PromptTerminal) -> Outcome:
    """Ask in whole lines. Ctrl-D cancels."""
    dialog = _dialog(question, terminal)
    guarded = question.guarded if isinstance(question, Choice | Edit) else True
    hidden = isinstance(question, Secret)
    if hidden:
        terminal.echo(False)
    try:
        return _run(dialog, terminal, guarded=guarded, hidden=hidden)
    finally:
        if hidden:
            terminal.echo(True)


def _dialog(question: Question, terminal: PromptTerminal) -> Dialog:
    match question:
        case Choice():
            return ChoiceDialog(question)
        case Select():
            return SelectDialog(question, terminal.size()[1])
        case Secret():
            return SecretDialog(question)
        case Edit():
            return EditDialog(question)


def _run(dialog: Dialog, terminal: PromptTerminal, *, guarded: bool, hidden: bool) -> Outcome:
    lines = Lines(terminal)
    while True:
        terminal.write(dialog.show())
        if guarded:
            lines.restart()
        event = lines.next()
        if isinstance(event, Line):
            if hidden:
                terminal.write("\n")
            outcome = None if guarded and event.quiet < QUIET_SECS else dialog.line(event.text)
            if outcome is not None:
                return outcome
        elif event == STOP:
            if hidden:
                terminal.echo(True)
            terminal.park()
            if hidden:
                terminal.echo(False)
        elif event != CONTINUE:
            return _end(event, dialog, terminal)


def _end(event: str, dialog: Dialog, terminal: PromptTerminal) -> Outcome:
    if event == LOST:
        return Broken(dialog.text(), ended(event))
    terminal.write("\n")
    if event == END_OF_INPUT:
        return Cancelled(dialog.text())
    return Interrupted(dialog.text()) if event == PRESS else Broken(dialog.text(), ended(event))


def plain(text: str) -> str:
    """Text of several lines without any escape, ending in a line end unless it is empty."""
    shown = Strip().feed(Sanitizer().feed(text)).replace(_ESC, "").strip("\n")
    return shown + "\n" if shown else ""


class ChoiceDialog:
    """One key and Enter."""

    def __init__(self, question: Choice) -> None:
        self._question = question
        self._above = plain(question.body)

    def show(self) -> str:
        """The body (once), or the options if they were asked for, and the question."""
        above, self._above = self._above, ""
        return above + asking(self._question)

    def line(self, line: str) -> Outcome | None:
        """A key answers, an empty line stands for the default, anything else shows what there is."""
        key = line if line == " " else line.strip(" \t")
        if key == _ESC:
            return Cancelled()
        if key and any(option.key == key for option in self._question.options):
            return Submitted(key)
        if not key and self._question.default:
            return Submitted(self._question.default)
        self._above = "".join([f"{row}\n" for row in explained(self._question)]) if key else ""
        return None

    def text(self) -> str:
        """Nothing is written in a choice."""
        return ""


class SelectDialog:
    """A numbered list; a number takes an item, anything else narrows the list."""

    def __init__(self, question: Select, lines: int) -> None:
        self._question = question
        self._above = plain(question.body)
        self._lines = max(1, lines - 3)
        self._matches = Matches(question.items)
        self._filter = one_line(question.filter)

    def show(self) -> str:
        """The body (once), the list and the question."""
        found = self._matches.find(self._filter)
        rows = [one_line(self._question.message)]
        rows += [self._row(index) for index in found[: self._lines]]
        if len(found) > self._lines:
            rows.append(f"  … {len(found) - self._lines} more")
        if not found:
            rows.append(f"  {NO_MATCH}: {self._filter}")
        above, self._above = self._above, ""
        return above + "\n".join(rows) + "\nNumber, or text to narrow the list: "

    def _row(self, index: int) -> str:
        mark = "*" if self._is_marked(index) else " "
        return f"{mark} {index + 1} {self._matches.labels[index]}  {self._matches.details[index]}".rstrip()

    def _is_marked(self, index: int) -> bool:
        return bool(self._question.marked) and self._question.items[index].value == self._question.marked

    def line(self, line: str) -> Outcome | None:
        """An empty line takes the item with the star, or the only one there is."""
        text = one_line(line).strip()
        if line.strip() == _ESC:
            return Cancelled(self._filter)
        found = self._matches.find(self._filter)
        if not text:
            marked = [index for index in found if self._is_marked(index)] or (found if len(found) == 1 else [])
            return Submitted(self._question.items[marked[0]].value) if marked else None
        if text.isascii() and text.isdigit() and int(text[:9]) - 1 in found:
            return Submitted(self._question.items[int(text[:9]) - 1].value)
        self._filter = text
        return None

    def text(self) -> str:
        """The filter."""
        return self._filter


class SecretDialog:
    """A line that is not shown."""

    def __init__(self, question: Secret) -> None:
        self._above = plain(question.body)
        self._message = one_line(question.message).rstrip() + " "

    def show(self) -> str:
        """The body (once) and the message."""
        above, self._above = self._above, ""
        return above + self._message

    def line(self, line: str) -> Outcome | None:
        """The line is the secret."""
        return Cancelled() if line == _ESC else Submitted(line.translate(_CONTROLS))

    def text(self) -> str:
        """Nothing: a secret is kept nowhere."""
        return ""


class EditDialog:
    """Text; a line that ends in a backslash goes on in the next one, and an empty line keeps the seed."""

    def __init__(self, question: Edit) -> None:
        self._question = question
        self._lines: list[str] = []

    def show(self) -> str:
        """All that there is to see at the beginning, then a mark for each further line."""
        if self._lines:
            return "> "
        question = self._question
        above = plain(question.body) + plain(question.error) + one_line(question.message).rstrip() + "\n"
        if question.seed:
            above += plain(question.seed) + "(An empty line keeps this.)\n"
        return above + "> "

    def line(self, line: str) -> Outcome | None:
        """Add a line; the text is complete when it does not end in a backslash."""
        if self._question.escape and line.strip() == _CTRL_X:
            return OpenEditor(self.text())
        if line.strip() == _ESC:
            return Cancelled(self.text())
        line = line.translate(_CONTROLS)
        if not line and not self._lines and self._question.seed:
            return Submitted(self._question.seed)
        goes_on = self._question.multiline and line.endswith("\\")
        self._lines.append(line[:-1] if goes_on else line)
        if self._question.changed is not None:
            self._question.changed(self.text())
        return None if goes_on else Submitted(self.text())

    def text(self) -> str:
        """The lines so far; the seed while there are none."""
        return "\n".join(self._lines) if self._lines else self._question.seed
