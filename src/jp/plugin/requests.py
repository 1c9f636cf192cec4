"""What a plugin asks the host for, and the responses, in their order."""

from msgspec import UNSET

from jp import log
from jp.plugin import asking, messages
from jp.plugin.errors import RequestError
from jp.plugin.order import Order, Slot
from jp.plugin.wire import Faulty, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from jp.plugin.order import Data as Written
    from jp.plugin.prompts import Answered, Prompts

    class Data(Protocol):
        """The conversations, as `jp.plugin.conversations` has them."""

        def list(self, request: messages.ListConversations) -> messages.Conversations: ...
        def read(self, request: messages.ReadEvents) -> Iterator[bytes]: ...
        def lock(self, request: messages.Lock) -> messages.Locked: ...
        def unlock(self, request: messages.Unlock) -> messages.Unlocked: ...
        def push(self, request: messages.PushEvents) -> messages.Pushed: ...
        def create(self, request: messages.CreateConversation) -> messages.Created: ...
        def release(self) -> None: ...


class Requests:
    """Answers the requests of the plugin `name`: by `send`, each when its turn has come.

    `config` answers `read_config`. Once `ending` is set nobody is asked any more.
    """

    def __init__(
        self,
        name: str,
        send: "Callable[[Written], object]",
        data: "Data",
        config: "Callable[[messages.ReadConfig], messages.Config]",
        prompts: "Prompts",
    ) -> None:
        self._name = name
        self._order = Order(send)
        self._data = data
        self._config = config
        self._prompts = prompts
        self._slots: dict[int, Slot | None] = {}  # of prompts, by the request's identity
        self.ending = False

    @property
    def full(self) -> bool:
        """Whether so much waits for its turn that nothing more should be taken."""
        return self._order.full

    def take(self, request: messages.Request) -> None:
        """Answer a request, or have it asked."""
        ident = _id(request)
        slot = self._order.place(ident)
        try:
            response = self._response(request, slot)
        except RequestError as error:
            self._refuse(slot, ident, messages.type_of(request), error.message)
            return
        if isinstance(response, messages.Response):
            self._respond(slot, ident, response)
        elif response is not None:
            self._order.respond(slot, response)

    def refuse(self, faulty: Faulty) -> None:
        """Answer a message that is wrong."""
        self._refuse(self._order.place(faulty.id), faulty.id, faulty.request, faulty.message)

    def answered(self, event: "Answered") -> bool:
        """Give the plugin what came of a prompt; False where nobody has decided and the run goes on."""
        slot = self._slots.pop(id(event.request))
        response = event.response
        if response is None:
            if not self.ending:
                return False  # withdrawn, for the plugin is ending
            response = asking.unavailable(asking.SHUTTING_DOWN)
        self._respond(slot, _id(event.request), response)
        return True

    def _response(self, request: messages.Request, slot: Slot | None) -> "messages.Response | Iterator[bytes] | None":
        data = self._data
        match request:
            case messages.ListConversations():
                return data.list(request)
            case messages.ReadEvents():
                return data.read(request)
            case messages.ReadConfig():
                return self._config(request)
            case messages.Lock():
                return data.lock(request)
            case messages.Unlock():
                return data.unlock(request)
            case messages.PushEvents():
                return data.push(request)
            case messages.CreateConversation():
                return data.create(request)
            case messages.Prompt():
                return self._prompt(request, slot)
        raise RequestError("it is not known here")

    def _prompt(self, request: messages.Prompt, slot: Slot | None) -> messages.Response | None:
        asking.checked(request)
        if self.ending:
            return asking.unavailable(asking.SHUTTING_DOWN)
        self._prompts.add(request)
        self._slots[id(request)] = slot
        return None

    def _refuse(self, slot: Slot | None, ident: messages.Id | None, request: str, why: str) -> None:
        log.log(log.DEBUG, "plugin", "a request was refused", plugin=self._name, request=request, reason=why)
        self._respond(slot, ident, messages.Error(request=request, message=why))

    def _respond(self, slot: Slot | None, ident: messages.Id | None, response: messages.Response) -> None:
        if ident is not None:
            response.id = ident
        self._order.respond(slot, encode(response))


def _id(request: messages.Request) -> messages.Id | None:
    return None if request.id is UNSET else request.id
