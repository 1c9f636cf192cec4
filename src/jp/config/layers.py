"""A layer: what one source says. Reading it against the schema, and the error in its name when it does not fit."""

from collections.abc import Mapping
from typing import Any

from jp.config.errors import ConfigError, invalid_value
from jp.config.kinds import Mismatch
from jp.config.schema import LEGACY, join_key, root, unknown


class Layer:
    """What one source says, in the order of sources.

    `source` is its kind (`file`, `environment`, `conversation`, `cfg`, `flag`), `name` what an error calls it (a path,
    a variable, the `--cfg` argument), `partial` the tree as it was written, `lenient` whether what is not understood is
    passed over (conversations of other versions) instead of refused. `scope` says whose a file is: `user`,
    `private` (the user's own for the workspace's id), `workspace` or `argument`; `conversation` is the id of the
    conversation that has stored it.
    """

    __slots__ = (
        "conversation",
        "lenient",
        "name",
        "notices",
        "partial",
        "path",
        "read_form",
        "scope",
        "source",
        "withheld",
    )

    def __init__(
        self,
        source: str,
        name: str,
        partial: Mapping[str, Any],
        *,
        path: str | None = None,
        scope: str = "user",
        lenient: bool = False,
        conversation: str = "",
    ) -> None:
        self.source = source
        self.name = name
        self.path = path
        self.partial = dict(partial)
        self.scope = scope
        self.lenient = lenient
        self.conversation = conversation
        self.notices: list[str] = []
        self.withheld: dict[str, Any] = {}
        self.read_form: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Layer({self.source!r}, {self.name!r}, {self.partial!r})"

    def read(self) -> dict[str, Any]:
        """The tree in canonical form, read once. Raises `UnknownKeyError` or `InvalidValueError` unless lenient."""
        if self.read_form is None:
            partial = self.partial
            for key, why in LEGACY.items():
                if key in partial:
                    partial = {name: value for name, value in partial.items() if name != key}
                    if not self.lenient:
                        self.notices.append(f'{self.name}: "{key}" is no longer used: {why}')
            try:
                self.read_form = root().read(partial, self.lenient)
            except Mismatch as fault:
                raise as_error(fault, self.name) from None
        return self.read_form


def as_error(fault: Mismatch, origin: str, above: tuple[str, ...] = ()) -> ConfigError:
    """The error for a mismatch found in `origin`, below the key `above`."""
    path = (*above, *fault.path)
    if fault.known is not None:
        return unknown(origin, path, known=fault.known)
    return invalid_value(origin, join_key(path), fault.found, fault.allowed)
