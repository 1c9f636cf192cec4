"""What a person (or a pipe) gets to see of a turn: content, events, the waiting indicator, the retry line.

The only place of the turn that knows the Printer. Under JSON stdout is one stored event a line and nothing else.
"""

from jp.terminal.sanitize import Sanitizer
from jp.terminal.target import Target
from jp.turn.calls import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jp.config.sections.style import Style
    from jp.conversation.events import Event
    from jp.errors import JpError
    from jp.render.chat import Chat
    from jp.terminal.printer import Printer
    from jp.terminal.status import StatusHandle
    from jp.tool.definition import Definition

_STAGES = {"connecting": "connecting", "waiting": "", "receiving": "receiving response data"}


class Screen:
    """The turn's view. `chat` is None under JSON; `tools` shows what tools do, in any format."""

    def __init__(self, printer: "Printer", chat: "Chat | None", style: "Style", *, tools: "Chat | None" = None) -> None:
        self._printer = printer
        self._chat = chat
        self._tools = tools or chat
        self._style = style
        self._waiting: StatusHandle | None = None
        self._retry: StatusHandle | None = None
        self._running: StatusHandle | None = None

    # --- content

    def delta(self, kind: str, text: str) -> None:
        """Show a piece of the answer."""
        if self._chat is None:
            self.activity("receiving response data")
            return
        shown = self._chat.reasoning(text) if kind == "reasoning" else self._chat.message(text)
        if shown:
            self._quiet()
        else:
            self.activity("reasoning" if kind == "reasoning" else "receiving response data")

    def answered(self) -> None:
        """The answer is complete: its last line is ended, so that what is said about it comes behind it."""
        if self._chat is not None:
            self._chat.block_end()

    def said(self, text: str) -> None:
        """The person has replied: what they wrote, behind what it is a reply to."""
        from jp.render.echo import echo

        self._quiet()
        if self._chat is not None:
            self._chat.replied()
        echo(self._printer, text)

    def stored(self, event: "Event") -> None:
        """An event has been recorded: under JSON it is what is printed."""
        if self._printer.format.is_json:
            from jp.conversation.events import encode_line

            self._quiet()
            self._printer.record(encode_line(event))

    def end(self, *, interrupted: bool = False) -> None:
        """Nothing more comes: show what was held back and take the status line away.

        Interrupted on a terminal, the rest of a word stays back: it would come behind the message about the end.
        """
        self._quiet()
        self._end_running()
        if self._chat is not None and not (interrupted and self._printer.caps(Target.OUT).addressable):
            self._chat.end()

    # --- tools

    def call(self, tool: "Definition", arguments: "Mapping[str, object]", formatted: str | None) -> None:
        """A tool is called."""
        self._quiet()
        if self._tools is not None:
            self._tools.tool_call(
                shown_name(tool),
                arguments,
                style=tool.settings.style,
                formatted=formatted,
                configured=tool.origin != "builtin",
            )

    def cuts(self, tool: "Definition", content: str, is_error: bool) -> bool:
        """Whether less is shown of a result than there is, with the name of a file that has all of it."""
        style = tool.settings.style
        if self._tools is None or style is None or self._printer.format.is_json:
            return False
        return self._tools.links_result(style, content, is_error=is_error)

    def result(
        self, tool: "Definition", content: str, *, is_error: bool, seconds: float, file: str | None = None
    ) -> None:
        """A tool is done."""
        if self._tools is not None:
            self._tools.tool_result(
                shown_name(tool), content, style=tool.settings.style, is_error=is_error, seconds=seconds, file=file
            )

    def running(self, names: "Sequence[str]") -> None:
        """Which tools run; none when it is over."""
        progress = self._style.tool_call.progress
        if not names:
            self._end_running()
            return
        if progress.show and self._running is None:
            self._running = self._printer.status(
                "Running…", delay=progress.delay_secs, interval=progress.interval_ms / 1000
            )
        if self._running is not None:
            self._running.detail(_listed(names))

    # --- status

    def waiting(self) -> None:
        """The request goes out."""
        self._end_retry()
        progress = self._style.streaming.progress
        if progress.show and self._waiting is None:
            self._waiting = self._printer.status(
                "Waiting…", delay=progress.delay_secs, interval=progress.interval_ms / 1000
            )

    def warm(self) -> None:
        """Load what shows the answer, beside the wait for it (architecture, Start-up). Any thread."""
        if self._chat is not None and self._printer.caps(Target.OUT).escapes:
            self._chat.warm()

    def progress(self, stage: str) -> None:
        """Where the exchange is."""
        self.activity(_STAGES.get(stage, stage))

    def activity(self, detail: str) -> None:
        """Something arrived that shows nothing."""
        if self._waiting is not None:
            self._waiting.detail(detail)

    def retrying(self, error: "JpError", seconds: float, attempt: int, limit: int) -> None:
        """A pause before the next attempt: one line updated in place, or one plain line an attempt."""
        self._end_waiting()
        self._end_retry()
        if self._printer.can_repaint:
            # The number first: the reason may be longer than the line.
            self._retry = self._printer.status(f"Trying again ({attempt}/{limit})", countdown_from=seconds)
            self._retry.detail(error.message)
        else:
            self._printer.note(f"{error.message}; trying again in {seconds:.1f}s ({attempt}/{limit})")

    def note(self, text: str) -> None:
        """Something for the person; there may be words of the model in it."""
        self._printer.note(Sanitizer(self._style.sanitize).feed(text))

    def _quiet(self) -> None:
        self._end_waiting()
        self._end_retry()

    def _end_running(self) -> None:
        if self._running is not None:
            self._running.end()
            self._running = None

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.end()
            self._waiting = None

    def _end_retry(self) -> None:
        if self._retry is not None:
            self._retry.end()
            self._retry = None


def _listed(names: "Sequence[str]") -> str:
    """Names for a line: each once, with how often."""
    return ", ".join(f"{name} ×{names.count(name)}" if names.count(name) > 1 else name for name in dict.fromkeys(names))
