"""How a host may behave, each way as the script of one run: the usual, the rare, and the end."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from jp.plugin import fake, messages, wire
from jp.plugin.asking import SHUTTING_DOWN, unavailable
from jp.plugin.check_run import Run
from jp.plugin.fake import Conversation, Workspace
from jp.plugin.messages import JSON, Message, PromptResponse, Request, Response, type_of
from jp.plugin.wire import Faulty

MAX_REQUESTS = 2000
MAX_REFUSALS = 20  # of one kind, before it is granted
BIG = 1_000_000  # bytes
GRACE_SECS = 5.0  # as JP gives it after `shutdown`
QUIET_SECS = 0.05  # without a request: no other one is on its way
GOES_ON_SECS = 0.5  # alive for so long after SIGINT: it goes on

Answer = Callable[[messages.Prompt], PromptResponse | None]

TEXT = "naïve \"quoted\" \\ 'and' $more\n\tsecond line\u2028 日本語 🎉"
CONFIG: JSON = {
    "assistant": {"name": "JP", "model": {"id": "anthropic/claude-sonnet-4-5"}},
    "style": {"code": {"color": True}},
    "user": {"name": TEXT},
}


def usual(prompt: messages.Prompt) -> PromptResponse:
    """Yes, the first option, a text with all that texts can hold."""
    value: bool | str = True if prompt.kind == "confirm" else TEXT
    return fake.answered(prompt, prompt.options[0] if prompt.kind == "select" and prompt.options else value)


def other(prompt: messages.Prompt) -> PromptResponse:
    """No, the last option, nothing."""
    value: bool | str = False if prompt.kind == "confirm" else ""
    return fake.answered(prompt, prompt.options[-1] if prompt.kind == "select" and prompt.options else value)


def cancelled(_: messages.Prompt) -> PromptResponse:
    """ESC."""
    return PromptResponse(outcome="cancelled")


def nobody(_: messages.Prompt) -> PromptResponse:
    """Nobody is there."""
    return unavailable("no interactive terminal")


class Usual:
    """Answers everything at once. `patience`: after so many prompts it is too much."""

    def __init__(
        self,
        about: str,
        args: Sequence[str],
        *,
        answer: Answer = usual,
        conversations: dict[str, Conversation] | None = None,
        patience: int = MAX_REQUESTS,
    ) -> None:
        self.about = about
        self._args = list(args)
        self._patience = patience
        self._requests = self._prompts = 0
        self.workspace = Workspace(workspace() if conversations is None else conversations, CONFIG, answer)

    def begin(self, run: Run) -> None:
        """Send `init`."""
        self.send(run, self.workspace.init(self._args))

    def take(self, run: Run, message: Message | Faulty) -> None:
        """Answer what the plugin has sent."""
        if isinstance(message, Faulty):
            ident = msgspec.UNSET if message.id is None else message.id
            self.send(run, messages.Error(id=ident, request=message.request, message=message.message))
        elif isinstance(message, Request):
            self._requests += 1
            self._prompts += isinstance(message, messages.Prompt)
            if self._requests > MAX_REQUESTS:
                run.give_up(f"it made more than {MAX_REQUESTS:,} requests")
            elif self._prompts > self._patience:
                run.give_up("it asks again and again")
            else:
                self.request(run, message)

    def request(self, run: Run, request: Request) -> None:
        """Answer a request."""
        response = self.workspace.respond(request)
        if response is not None:
            self.send(run, response)

    def send(self, run: Run, message: Message) -> None:
        """Send a message."""
        run.send(message)


class Describing(Usual):
    """Asks the plugin what it is, and answers nothing; `closed`: its input is at an end then."""

    def __init__(self, about: str, *, closed: bool = False) -> None:
        super().__init__(about, ())
        self._closed = closed

    def begin(self, run: Run) -> None:
        run.send(messages.Describe())
        if self._closed:
            run.hang_up()

    def take(self, run: Run, message: Message | Faulty) -> None:
        pass


class Refusing(Usual):
    """Refuses requests of one type."""

    def __init__(self, refused: str, args: Sequence[str]) -> None:
        super().__init__(f"`error` for `{refused}`", args)
        self._refused = refused
        self._count = 0

    def request(self, run: Run, request: Request) -> None:
        if type_of(request) == self._refused and self._count < MAX_REFUSALS:
            self._count += 1
            run.send(_echoing(request, messages.Error(request=self._refused, message="refused, to see what comes")))
        else:
            super().request(run, request)


class Extended(Usual):
    """A later JP: its messages have fields that nobody knows yet, and conversations have events that nobody knows."""

    def __init__(self, about: str, args: Sequence[str]) -> None:
        super().__init__(about, args)
        for each in self.workspace.conversations.values():
            each.events.append({"timestamp": "2026-05-29 19:42:40.000000", "type": "x_unknown", "x": {"y": [1]}})

    def send(self, run: Run, message: Message) -> None:
        run.send(_extended(message))


class Big(Usual):
    """A conversation of 1 MB."""

    def __init__(self, about: str, args: Sequence[str]) -> None:
        super().__init__(about, args)
        self.sent = False

    def send(self, run: Run, message: Message) -> None:
        if isinstance(message, messages.Events) and not self.sent:
            self.sent = True
            many = [_chat("chat_request", content=f"{number} {TEXT} " + 50 * "word ") for number in range(BIG // 400)]
            message = msgspec.structs.replace(message, data=[*message.data, *many])
        run.send(message)


class Reversing(Usual):
    """Answers once no request is on its way any more; what has an id in reverse order. `most` were open at once."""

    def __init__(self, about: str, args: Sequence[str]) -> None:
        super().__init__(about, args)
        self.most = 0
        self.twice: messages.Id | None = None  # an id that two open requests had
        self._open: list[Request] = []
        self._came = 0

    def request(self, run: Run, request: Request) -> None:
        if request.id not in (None, msgspec.UNSET) and any(each.id == request.id for each in self._open):
            assert isinstance(request.id, str | int)
            self.twice = request.id
        self._open.append(request)
        self.most = max(self.most, len(self._open))
        self._came += 1
        came = self._came
        run.after(QUIET_SECS, lambda: self._answer(run, came))

    def _answer(self, run: Run, came: int) -> None:
        if came != self._came:
            return  # another one has come since
        named = [each for each in self._open if each.id not in (None, msgspec.UNSET)]
        nameless = [each for each in self._open if each not in named]
        self._open = []
        for each in (*reversed(named), *nameless):
            super().request(run, each)


class _AtRequest(Usual):
    """Something happens while the plugin waits for a response: at its first prompt, or at its first request."""

    def __init__(self, about: str, args: Sequence[str], *, at: type[Request]) -> None:
        super().__init__(about, args)
        self._at = at
        self.happened = False

    def request(self, run: Run, request: Request) -> None:
        if isinstance(request, self._at) and not self.happened:
            self.happened = True
            self.happen(run, request)
        else:
            super().request(run, request)

    def happen(self, run: Run, request: Request) -> None:
        """It happens."""
        raise NotImplementedError


class Ending(_AtRequest):
    """JP ends: `shutdown`, and a prompt that is up can't be answered any more."""

    def happen(self, run: Run, request: Request) -> None:
        run.send(messages.Shutdown())
        run.within(GRACE_SECS)
        self.request(run, request)

    def request(self, run: Run, request: Request) -> None:
        if self.happened and isinstance(request, messages.Prompt):
            run.send(_echoing(request, unavailable(SHUTTING_DOWN)))
        else:
            super().request(run, request)


class EndingAtOnce(Usual):
    """JP ends right after the start, for plugins that make no requests."""

    def begin(self, run: Run) -> None:
        super().begin(run)
        run.send(messages.Shutdown())
        run.within(GRACE_SECS)


class Pressing(_AtRequest):
    """The person presses Ctrl-C; a plugin that goes on gets its response afterwards."""

    def happen(self, run: Run, request: Request) -> None:
        run.interrupt()
        run.after(GOES_ON_SECS, lambda: super(Pressing, self).request(run, request))


class Leaving(_AtRequest):
    """JP is gone, without a word."""

    def happen(self, run: Run, request: Request) -> None:  # noqa: ARG002
        run.hang_up()
        run.within(GRACE_SECS)


def _echoing(request: Request, response: Response) -> Response:
    if request.id is not None:
        response.id = request.id
    return response


def _extended(message: Message) -> bytes:
    """The message with unknown fields in it, at every depth that has fields of its own."""
    fields: dict[str, Any] = msgspec.json.decode(wire.encode(message))
    for value in (fields.get("workspace"), fields.get("paths"), *_listed(fields.get("data"))):
        if isinstance(value, dict):
            value["x_unknown"] = None
    kind = fields.pop("type")
    return msgspec.json.encode({"type": kind, "x_unknown": {"type": "x", "id": [1, "2"]}, **fields}) + b"\n"


def _listed(data: object) -> list[Any]:
    return data if isinstance(data, list) else []


def _chat(kind: str, **fields: Any) -> JSON:
    return {"timestamp": "2026-05-29 19:42:36.467320", "type": kind, **fields}


def workspace() -> dict[str, Conversation]:
    """Conversations with all that conversations can hold."""
    call = "call_1"
    question = {"text": TEXT, "answer_type": {"type": "boolean"}}
    full = [
        {"type": "config_delta", "timestamp": "2026-05-29 19:42:36.000000", "delta": {"user": {"name": "x"}}},
        _chat("turn_start"),
        _chat("chat_request", content=TEXT),
        _chat("chat_response", reasoning="I think."),
        _chat("tool_call_request", id=call, name="read_file", arguments={"path": TEXT, "lines": [1, None, True]}),
        _chat("inquiry_request", id=f"{call}.q", source={"source": "tool", "name": "read_file"}, question=question),
        _chat("inquiry_response", id=f"{call}.q", answer=True),
        _chat("tool_call_response", id=call, content=TEXT, is_error=False),
        _chat("chat_response", message=f"```\n{TEXT}\n```", metadata={"signature": "c2lnbmVk"}),
        _chat("turn_start"),
        _chat("chat_request", content="Again, as data", schema={"type": "object"}),
        _chat("chat_response", data={"answer": [1, 2.5, None]}),
    ]
    return {
        "17800836875": Conversation(title="Borrow fails in the parser", events=full),
        "17790000000": Conversation(title=TEXT, events=full[1:4], pinned_at="2026-05-30T00:00:00Z"),
        "17780000000": Conversation(title=None, events=[], last_activated_at=None),
        "16000000000": Conversation(
            title="-n \x1b[31mold\x1b[0m %s `id` $(id)", events=full[1:3], last_activated_at="2020-09-13T12:26:40Z"
        ),
    }
