"""What a terminal sends, as data: keys, pastes, presses of Ctrl-C and answers of the terminal itself."""

from typing import NamedTuple


class Key(NamedTuple):
    """A key, named as prompt_toolkit names keys.

    A character is its own name (`a`, `é`, ` `); the others are `enter` (CR), `c-j` (LF), `tab`, `s-tab`, `escape`,
    `backspace` (DEL), `c-h` (BS), `c-a` … `c-z`, `c-@`, `c-\\`, `c-]`, `c-^`, `c-_`, `up`, `down`, `left`, `right`,
    `home`, `end`, `insert`, `delete`, `pageup`, `pagedown` and `f1` … `f24`, with `s-`, `c-` or `c-s-` before it where
    modified (`c-left`, `s-enter`). `alt`: with Alt, or with an ESC before it.
    """

    name: str
    alt: bool = False


class Paste(NamedTuple):
    """Pasted text; its lines end in LF, and other control characters than LF and Tab are gone."""

    text: str


class Press(NamedTuple):
    """Ctrl-C, as the byte (inside a paste too) or as an encoded key."""

    def __bool__(self) -> bool:
        """True, unlike other tuples without anything in them."""
        return True


class Reply(NamedTuple):
    """An answer of the terminal, or a sequence that nobody knows: never typed.

    `kind`: `keyboard` for `CSI ? flags u`, `device` for `CSI ? … c`, else `other`. `text` is the sequence without its
    ESC and any other control character (`[?1u`).
    """

    kind: str
    text: str


Token = Key | Paste | Press | Reply
