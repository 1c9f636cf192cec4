"""What every provider is: something that words a request and understands the answer.

Both halves are pure. Who sends the request and reads the bytes is `jp.llm.source`; which provider a model id means is
`jp.llm.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters as Parameters  # noqa: PLC0414 - part of this interface
    from jp.conversation.thread import Thread
    from jp.llm.errors import LlmError
    from jp.llm.events import Event


MAX_KEPT = 8 * 1024 * 1024


class Body:
    """A request body in pieces. A small one is kept; a huge one is made anew each time it is iterated over.

    A conversation of 100 MB is in memory twice already, as the file and as its text. Encoding it a second time to send
    it takes a third of a second; keeping it takes another 100 MB for as long as the answer lasts.
    """

    __slots__ = ("_kept", "_make", "size")

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        """`make` gives the pieces, the same each time it is called; it is called once here, for the `size` in bytes."""
        self._make = make
        self._kept: list[bytes] | None = []
        self.size = 0
        for piece in make():
            self.size += len(piece)
            if self._kept is not None:
                self._kept.append(piece)
                if self.size > MAX_KEPT:
                    self._kept = None

    def __iter__(self) -> Iterator[bytes]:
        return self._make() if self._kept is None else iter(self._kept)


class Request(Struct, frozen=True):
    """One HTTP request."""

    method: str
    url: str
    headers: dict[str, str] = {}
    body: Body | list[bytes] = []

    @property
    def size(self) -> int:
        """The length of the body in bytes."""
        return self.body.size if isinstance(self.body, Body) else sum(map(len, self.body))


class Tool(Struct, frozen=True):
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


class Effort(Struct, frozen=True):
    """`assistant.model.parameters.reasoning` in one form.

    `level` is one of off, none, xlow, low, medium, high, xhigh, max, auto, or None where nothing is configured;
    `tokens` is an absolute budget, `exclude` asks not to be sent the reasoning.
    """

    level: str | None = None
    tokens: int | None = None
    exclude: bool = False

    @property
    def off(self) -> bool:
        """Whether reasoning is turned off by name."""
        return self.level in ("off", "none")

    @property
    def wanted(self) -> bool:
        """Whether reasoning is asked for."""
        return self.level is not None and not self.off


def effort_of(parameters: Parameters) -> Effort:
    """What `parameters` say about reasoning."""
    setting = parameters.reasoning
    if setting is None:
        return Effort()
    if isinstance(setting, str):
        return Effort(setting)
    if isinstance(setting.effort, int):
        return Effort("medium", setting.effort, setting.exclude)
    return Effort(setting.effort, None, setting.exclude)


class Parser(Protocol):
    """Turns the bytes of one answer into events; pure."""

    error: LlmError | None
    """What ended the answer early; set by `feed`, whose events came before it."""
    finished: bool
    """The model said that it is done: nothing that is lost from here on is part of the answer."""
    done: bool
    """The provider's own terminal event came: there is nothing more to read."""

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete with `data`. Never raises: see `error`."""

    def close(self) -> list[Event]:
        """The stream has ended. Sets `error` to StreamCut when the terminal event is missing."""


class Provider(Protocol):
    """A way to talk to models."""

    name: str
    address: str
    """Where requests go, for messages."""
    key_env: str | None
    """The variable that the API key came from, for hints."""
    patience: float
    """How many idle timeouts the first byte may take: local servers read the whole prompt first."""

    def request(
        self,
        thread: Thread,
        model: str,
        parameters: Parameters,
        tools: Sequence[Tool] = (),
        tool_choice: str = "auto",
    ) -> Request:
        """The request that asks `model` (without its provider) to answer `thread`.

        `tool_choice` is auto, none, required or a tool's name.
        """

    def parser(self) -> Parser:
        """A parser for the answer to one request."""

    def models_requests(self) -> list[Request]:
        """The requests whose answers `parse_models` wants."""

    def parse_models(self, answers: Sequence[bytes]) -> list[ModelDetails]:
        """The models that the answers name. Raises BadResponse."""


class ModelDetails(Struct, frozen=True):
    """What a provider says about a model; None is "does not say".

    `reasoning` is "unsupported" or the effort levels that are known to work; `knowledge_cutoff` is `YYYY-MM-DD`.
    """

    provider: str
    name: str
    display_name: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    reasoning: str | tuple[str, ...] | None = None
    knowledge_cutoff: str | None = None
    deprecated: bool | None = None
    structured_output: bool | None = None
