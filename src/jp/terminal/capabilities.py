"""What each output channel can carry, decided once from values (RFD 104, "Four properties").

Escape capability may be forced by `--format`; addressability never: a repaint written into a file is corruption, not a
preference. `auto` is decided for each channel by itself, every other format holds for both.
"""

from enum import StrEnum

from jp.terminal.system import TERM_EXPECTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Format(StrEnum):
    """The values of `--format`."""

    AUTO = "auto"
    TEXT = "text"
    TEXT_PRETTY = "text-pretty"
    JSON = "json"
    JSON_PRETTY = "json-pretty"

    @property
    def is_json(self) -> bool:
        """Whether stdout carries JSON records and stderr JSON lines."""
        return self in (Format.JSON, Format.JSON_PRETTY)


class ChannelCaps:
    """What one channel can carry.

    `escapes`: ANSI escapes reach the consumer intact. `addressable`: the channel can be repainted in place.
    """

    __slots__ = ("addressable", "escapes")

    def __init__(self, escapes: bool, addressable: bool) -> None:
        self.escapes = escapes
        self.addressable = addressable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChannelCaps):
            return NotImplemented
        return (self.escapes, self.addressable) == (other.escapes, other.addressable)

    def __hash__(self) -> int:
        return hash((self.escapes, self.addressable))

    def __repr__(self) -> str:
        return f"ChannelCaps(escapes={self.escapes}, addressable={self.addressable})"

    @property
    def can_repaint(self) -> bool:
        """Both at once: a repaint is written as escapes, and its channel must be able to act on them."""
        return self.escapes and self.addressable


def smart_terminal(environ: "Mapping[str, str]", *, term_expected: bool = TERM_EXPECTED) -> bool:
    """Whether `TERM` names a terminal that understands escapes.

    A system whose consoles set no `TERM` (`term_expected` false) is judged by `dumb` alone.
    """
    term = environ.get("TERM", "")
    return term != "dumb" and (bool(term) or not term_expected)


def resolve(
    format_: Format, *, out_tty: bool, err_tty: bool, environ: "Mapping[str, str]"
) -> tuple[ChannelCaps, ChannelCaps]:
    """The capabilities of stdout and stderr.

    `out_tty` and `err_tty` say whether the descriptor itself is a terminal. A dumb or missing `TERM` is a terminal that
    can neither show escapes (unless they are forced) nor be repainted.
    """
    smart = smart_terminal(environ)

    def channel(terminal: bool) -> ChannelCaps:
        addressable = terminal and smart
        if format_ is Format.AUTO:
            return ChannelCaps(addressable, addressable)
        return ChannelCaps(format_ is Format.TEXT_PRETTY, addressable)

    return channel(out_tty), channel(err_tty)


def colour(format_: Format, caps: ChannelCaps, environ: "Mapping[str, str]") -> bool:
    """Whether colour may be used on a channel: `NO_COLOR` drops it under `auto`, an explicit format outranks it."""
    return caps.escapes and not (format_ is Format.AUTO and environ.get("NO_COLOR"))
