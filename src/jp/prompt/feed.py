"""How prompt_toolkit gets the keys: as its own kind of input, from what the tokenizer has made of the bytes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prompt_toolkit.input.base import Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from jp.prompt.tokens import Key

_NAMES = {
    "enter": (Keys.ControlM,),
    "tab": (Keys.ControlI,),
    "backspace": (Keys.ControlH,),
    "s-tab": (Keys.BackTab,),
    "s-enter": (Keys.Escape, Keys.ControlM),
    "c-enter": (Keys.Escape, Keys.ControlM),
    "c-s-enter": (Keys.Escape, Keys.ControlM),
    "s-backspace": (Keys.ControlH,),
    "c-backspace": (Keys.ControlW,),
    "escape": (Keys.Escape,),
}


class Feed(Input):
    """The Input that prompt_toolkit reads: put keys into `queue`, then `deliver`."""

    def __init__(self) -> None:
        self.queue: list[KeyPress] = []
        self.deliver: Callable[[], None] = lambda: None

    def fileno(self) -> int:
        raise NotImplementedError

    def typeahead_hash(self) -> str:
        return f"jp-{id(self)}"

    def read_keys(self) -> list[KeyPress]:
        queue, self.queue = self.queue, []
        return queue

    @property
    def closed(self) -> bool:
        return False

    @contextmanager
    def _as_it_is(self) -> Iterator[None]:
        yield

    raw_mode = cooked_mode = detach = _as_it_is

    @contextmanager
    def attach(self, input_ready_callback: Callable[[], None]) -> Iterator[None]:
        def deliver() -> None:
            if self.queue:
                input_ready_callback()

        self.deliver = deliver
        deliver()  # what came before there was somebody to give it to
        try:
            yield
        finally:
            self.deliver = lambda: None


def presses(key: Key) -> list[KeyPress]:
    """A key as prompt_toolkit knows it; one that it does not know is nothing."""
    prefix = [KeyPress(Keys.Escape, "")] if key.alt else []
    known = _NAMES.get(key.name)
    if known is not None:
        return prefix + [KeyPress(each, "") for each in known]
    if len(key.name) == 1:
        return [*prefix, KeyPress(key.name, key.name)]
    try:
        return [*prefix, KeyPress(Keys(key.name), "")]
    except ValueError:
        return []
