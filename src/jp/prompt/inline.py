"""The inline editor: text of one line or many, written at the prompt (RFD 088, "InlineReply").

prompt_toolkit does what is hard about editing: keys of emacs and vi, undo, kill ring, wrapping, wide characters,
searching a history. What is ours is everything between it and the terminal, because it

* puts the terminal in raw mode, in which Ctrl-C is a byte that a stuck program never reads. Our modes keep the keys for
  signals; a press comes as a notice, and this editor only answers it.
* takes keys apart by a table that knows neither Shift-Enter nor the kitty protocol. Ours is `jp.prompt.keys`.
* waits a second for what may follow an ESC. The bytes say sooner whether something does.
* asks the terminal where the cursor is, and complains when there is no answer. The Canvas asks nothing.
* listens for SIGWINCH on the main thread alone. A change of size is a notice here.

The loop is a select loop of this thread: kqueue refuses `/dev/tty`.
"""

import asyncio
import os
import selectors
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig, SimpleCursorShapeConfig
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout

from jp.prompt import backend as notice
from jp.prompt.backend import PromptTerminal
from jp.prompt.bindings import bindings
from jp.prompt.canvas import Canvas
from jp.prompt.clusters import ClusterBuffer
from jp.prompt.earlier import Earlier
from jp.prompt.escaping import step_back
from jp.prompt.feed import Feed, presses
from jp.prompt.keys import PASTE_IDLE_SECS, Key, KeyReader, Paste, Press, Reply, Token
from jp.prompt.layout import layout, style
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, Outcome
from jp.prompt.questions import Edit
from jp.prompt.resizing import erase_other_width
from jp.prompt.showing import QUIET_SECS
from jp.prompt.switches import Switches

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_PATIENT_SECS = 3600.0
_AT_ONCE = 8192  # reads between two looks at what else there is
_ANSWER_BEFORE_STOP_SECS = 0.05  # a stop waits no longer for a prompt than twice that
_ANSWER_SECS = 0.1  # for an answer that is still on its way at the end: it must not be typed into the shell


def edit(question: Edit, terminal: PromptTerminal) -> Outcome:
    """Have the text written; the outcome carries it, whatever came of it. On return the prompt is erased."""
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    try:
        return loop.run_until_complete(InlineEditor(question, terminal, loop).run())
    finally:
        loop.close()


class InlineEditor:
    """One showing of one `Edit`."""

    def __init__(self, question: Edit, terminal: PromptTerminal, loop: "AbstractEventLoop") -> None:
        self._question = question
        self._guarded = question.guarded
        self._silent_since = 0.0
        self._terminal = terminal
        self._loop = loop
        self._reader = KeyReader()
        self._keys = Feed()
        self._timer: asyncio.TimerHandle | None = None
        self._switches = Switches(terminal)
        self._drawn = ""
        self._before_search: tuple[int, int] | None = None
        self._early: list[Callable[[], object]] = []
        self.fetching = question.history is not None
        history = Earlier(question.history, self._history_arrived) if question.history is not None else None
        self.buffer = ClusterBuffer(multiline=question.multiline, history=history)
        if question.seed:
            self.buffer.text = question.seed
            self.buffer.cursor_position = len(question.seed) if question.cursor is None else question.cursor
        if question.changed is not None:
            self.buffer.on_text_changed += self._changed
        vi = question.mode == "vi"
        self._canvas = Canvas(terminal)
        content, self._page = layout(question, self.buffer, self)
        self.app: Application[Outcome] = Application(
            layout=Layout(content, focused_element=self._page),
            style=style(terminal.colour),
            key_bindings=bindings(question, self),
            editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
            cursor=ModalCursorShapeConfig() if vi else SimpleCursorShapeConfig(),
            erase_when_done=True,
            input=self._keys,
            output=self._canvas,
            terminal_size_polling_interval=None,
            after_render=lambda _: self._note_drawn(),
        )
        self.app.timeoutlen = _PATIENT_SECS  # the tokenizer knows whether an ESC is alone; `g g` may take its time
        self.app.ttimeoutlen = 0.05

    # --- what the layout and the bindings ask

    @property
    def kitty(self) -> bool:
        """Whether the terminal speaks the keyboard protocol: then Shift-Enter is known to work."""
        return self._switches.kitty

    @property
    def vi_normal(self) -> bool:
        """Whether vi's normal mode is on."""
        return self._question.mode == "vi" and self.app.vi_state.input_mode == InputMode.NAVIGATION

    @property
    def page(self) -> int:
        """How many lines PageUp and PageDown go."""
        return max(1, self.lines - 3)

    @property
    def columns(self) -> int:
        """How wide the window is."""
        return self._terminal.size()[0]

    @property
    def lines(self) -> int:
        """How high the window is."""
        return self._terminal.size()[1]

    def finish(self, make: Callable[..., Outcome], *, shown: bool = False) -> None:
        """End with the outcome that `make(text, cursor)` is; a second end changes nothing.

        The text is the person's own: what is only looked at, going up the history, is meant where `shown`.
        """
        if self.app.future is not None and not self.app.future.done():
            text, cursor = self.buffer.text, self.buffer.cursor_position
            if not shown and self._looking_back():
                text = self._own_line()
                cursor = len(text)
            self.app.exit(result=make(text, cursor))

    def search_from_here(self) -> None:
        """A search begins: ESC comes back to this place."""
        self._before_search = (self.buffer.working_index, self.buffer.cursor_position)

    def _looking_back(self) -> bool:
        """Whether what is shown is an earlier text, unchanged."""
        lines = self.buffer._working_lines
        at_own = self.buffer.working_index == len(lines) - 1
        return not at_own and self.buffer.text in self.buffer.history.get_strings()

    def _own_line(self) -> str:
        return str(self.buffer._working_lines[-1])

    def when_fetched(self, do: Callable[[], object]) -> None:
        """Do something once the history is there: a key that came before it is not lost."""
        self._early.append(do)

    def _history_arrived(self) -> None:
        self.fetching = False
        early, self._early = self._early, []
        for do in early:
            do()
        self.app.invalidate()

    # --- running

    async def run(self) -> Outcome:
        """Show it until it ends."""
        terminal = self._terminal
        self._loop.set_exception_handler(self._failed)
        self._loop.add_reader(terminal.fd, self._readable)
        self._loop.add_reader(terminal.wake_fd, self._noticed)
        try:
            self._switch_on()
            try:
                outcome = await self.app.run_async(set_exception_handler=False, handle_sigint=False)
            except Exception as error:  # whatever it was, the person's words come first
                outcome = self._broken(error)
                terminal.write(self._drawn)
            self._loop.remove_reader(terminal.fd)
            await self._late_answer()
            return outcome
        finally:
            self._loop.remove_reader(terminal.fd)
            self._loop.remove_reader(terminal.wake_fd)
            if self._timer is not None:
                self._timer.cancel()
            self._switches.off()
            terminal.undo_with("")

    def _failed(self, _: "AbstractEventLoop", context: dict[str, Any]) -> None:
        """A fault in something that nobody waits for: without an end the prompt would stand there and do nothing."""
        self.finish(lambda *_: self._broken(context.get("exception") or context["message"]))

    def _broken(self, fault: object) -> Outcome:
        kind = f"{type(fault).__name__}: " if isinstance(fault, BaseException) else ""
        return Broken(self.buffer.text, f"the prompt failed: {kind}{fault}")

    def _switch_on(self) -> None:
        self._switches.on()
        if self._guarded:
            self._terminal.discard_input()
            self._silent_since = self._loop.time()
        # After what was typed ahead: where that ends the prompt, no answer comes in between what is behind it.
        self._loop.call_soon(self._loop.call_soon, self._ask_terminal)
        self._note_drawn()

    def _ask_terminal(self) -> None:
        if not self._over():
            self._switches.ask(self._loop.time())

    async def _late_answer(self) -> None:
        """Wait a moment for the terminal's answer, which would otherwise be typed into whatever comes next."""
        if not self._switches.awaited(self._loop.time()):
            return
        answered = asyncio.Event()

        def read() -> None:
            try:
                data = os.read(self._terminal.fd, 1)  # and nothing of what comes behind it
            except OSError:
                data = b""
            tokens = self._reader.feed(data)
            if not data or any(isinstance(token, Reply) and token.kind == "device" for token in tokens):
                self._loop.remove_reader(self._terminal.fd)
                answered.set()

        self._loop.add_reader(self._terminal.fd, read)
        try:
            await asyncio.wait_for(answered.wait(), _ANSWER_SECS)
        except TimeoutError:
            pass

    def _note_drawn(self) -> None:
        """Keep what undoes the drawing where every way out of the process finds it."""
        position = getattr(self.app.renderer, "_cursor_pos", None)
        up = position.y if position is not None else 0
        undo = "\x1b[0m\r" + (f"\x1b[{up}A" if up else "") + "\x1b[J\x1b[?2004l\x1b[?7h\x1b[?25h"
        if self._question.mode == "vi":
            undo += "\x1b[0 q"
        undo += self._switches.undo
        if undo != self._drawn:
            self._drawn = undo
            self._terminal.undo_with(undo)

    # --- keys

    def _readable(self) -> None:
        """Take what is there, byte by byte outside a paste: what comes behind the last key is not this prompt's."""
        if self._over():
            return
        for _ in range(_AT_ONCE):
            try:
                data = os.read(self._terminal.fd, 65536 if self._reader.waiting == PASTE_IDLE_SECS else 1)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._nothing_read()
                return
            self._take(self._reader.feed(data))
            if self._over() or not self._more():
                return

    def _more(self, secs: float = 0) -> bool:
        from select import select

        return bool(select([self._terminal.fd], [], [], secs)[0])

    def _over(self) -> bool:
        return self.app.future is not None and self.app.future.done()

    def _nothing_read(self) -> None:
        if self._terminal.lost():
            self.finish(lambda text, _: Broken(text, "the terminal is gone"))
        else:  # not the foreground just now: reading would only fail again and again
            self._loop.remove_reader(self._terminal.fd)

    def _take(self, tokens: list[Token]) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for token in tokens:
            if isinstance(token, Press):
                self._terminal.press()
            elif isinstance(token, Reply):
                self._answered(token)
            elif self._too_soon():
                continue
            elif isinstance(token, Paste):
                text = token.text if self._question.multiline else token.text.replace("\n", " ")
                self._keys.queue.append(KeyPress(Keys.BracketedPaste, text))
            elif token == Key("escape"):
                self._keys.deliver()
                self._escape()
            elif token.name == "c-z" and not token.alt:  # the keyboard protocol's; else the terminal makes a signal
                self._terminal.suspend()
            elif (
                token.name == "c-\\" and self._switches.kitty
            ):  # as a byte it is one that the person has taken from the signal
                self._terminal.quit()
            else:
                self._keys.queue.extend(presses(token))
        self._keys.deliver()
        if self._reader.waiting is not None:
            self._timer = self._loop.call_later(self._reader.waiting, self._silent)

    def _too_soon(self) -> bool:
        """Whether a key was meant for something else: what is guarded takes none before it was silent for a moment."""
        if not self._guarded:
            return False
        now = self._loop.time()
        self._guarded = now - self._silent_since < QUIET_SECS
        self._silent_since = now
        return self._guarded

    def _silent(self) -> None:
        self._timer = None
        self._take(self._reader.silence())

    def _answered(self, reply: Reply) -> None:
        switches, joined = self._switches, self._switches.joined
        if not switches.answered(reply):
            return
        self._reader.kitty = switches.kitty
        if switches.joined != joined:  # what is drawn is drawn again, in other columns
            self._in_context(self.app.renderer.erase)
            self._page.joined = self._canvas.joined = True
        self._note_drawn()
        self.app.invalidate()

    def _escape(self) -> None:
        """A lone ESC (decisions, "ESC"): back one level of what is pending, else cancelled."""

        def back() -> None:
            searching = self.app.layout.is_searching
            if not step_back(self.app, self.buffer):
                self.finish(Cancelled)
            elif searching and self._before_search is not None:
                index, cursor = self._before_search
                self.buffer.go_to_history(index)
                self.buffer.cursor_position = cursor
            self.app.invalidate()

        self._in_context(back)

    def _in_context(self, run: Callable[[], None]) -> None:
        context = self.app.context
        if context is not None:
            context.copy().run(run)

    def _changed(self, _: Any) -> None:
        if self._question.changed is not None and not self._looking_back():
            self._question.changed(self.buffer.text)

    # --- notices

    def _noticed(self) -> None:
        what = self._terminal.notices()
        if notice.END in what:
            self._drain()
            self.finish(lambda text, _: Broken(text, "the run is ending"))
            return
        if notice.STOP in what:
            self._stop()
        elif notice.CONTINUE in what:
            self._again()
        elif notice.RESIZE in what:
            self._in_context(self._resized)
        if notice.PRESS in what:
            self._drain()
            self.finish(Interrupted)

    def _drain(self) -> None:
        """What was typed before a press is taken before it: the signal overtakes the bytes."""
        while not self._over() and self._more():
            try:
                data = os.read(self._terminal.fd, 65536 if self._reader.waiting == PASTE_IDLE_SECS else 1)
            except OSError:
                return
            if not data:
                return
            self._take(self._reader.feed(data))
        self._take(self._reader.silence())

    def _stop(self) -> None:
        self._drain()  # it was typed here, not for the shell
        self._in_context(self.app.renderer.erase)
        end = self._loop.time() + _ANSWER_BEFORE_STOP_SECS
        while self._switches.awaited(now := self._loop.time()) and now < end and self._more(end - now):
            self._take(self._reader.feed(os.read(self._terminal.fd, 1)))
        self._switches.off()
        self._terminal.park()
        self._again()

    def _again(self) -> None:
        fresh = KeyReader()  # without half a sequence whose rest somebody else has read
        fresh.kitty = self._reader.kitty
        self._reader = fresh
        self._in_context(self.app.renderer.reset)
        self._loop.add_reader(self._terminal.fd, self._readable)
        self._switch_on()
        self.app.invalidate()

    def _resized(self) -> None:
        erase_other_width(self.app.renderer, self.columns, self._terminal.write)
        self.app.invalidate()
