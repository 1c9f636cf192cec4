"""From the bytes of a terminal to keys, pastes and answers, however the bytes are cut. Pure: it reads nothing.

A lone ESC is the only thing that needs time to be known, and so do the end of a paste and a sequence that breaks off:
`waiting` says after how long a silence `silence` is to be called.
"""

import codecs
import re

from jp.prompt import sequences
from jp.prompt.pasting import Pasting
from jp.prompt.tokens import Key, Paste, Press, Reply, Token

__all__ = ["ESC_SECS", "PASTE_IDLE_SECS", "PASTE_QUIET_SECS", "Key", "KeyReader", "Paste", "Press", "Reply", "Token"]

ESC_SECS = 0.05  # a lone ESC is the key
SEQUENCE_SECS = 0.5  # the rest of a sequence, or of a character, has time to come over a slow line
PASTE_QUIET_SECS = 0.01  # after the end of a paste: the next end mark, if the first was part of the text
PASTE_IDLE_SECS = 1.0  # a paste without an end
SEQUENCE_LIMIT = 4096

_ESC = "\x1b"
_PRESS = "\x03"
_ESCAPE = Key("escape")
_STRINGS = "]PX^_"  # OSC, DCS, SOS, PM, APC
_CSI_BODY = re.compile("([0-?]*)([ -/]*)")
_SS3_BODY = re.compile("[0-9;]*")
_STRING_END = re.compile("[\x18\x1a\x1b]")
_OSC_END = re.compile("[\x07\x18\x1a\x1b]")

_Found = tuple[int, list[Token]] | None  # where the sequence ends and what it means; None: not complete


class KeyReader:
    """Turns bytes into tokens. `kitty` is for its user to set: keys are encoded, a lone ESC byte is not expected."""

    def __init__(self) -> None:
        self.kitty = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""  # an unfinished sequence
        self._paste: Pasting | None = None

    def feed(self, data: bytes) -> list[Token]:
        """The tokens that are complete with `data`."""
        return self._text(self._decoder.decode(data))

    @property
    def waiting(self) -> float | None:
        """Seconds of silence after which `silence` must be called; None when nothing is pending."""
        if self._paste is not None:
            return PASTE_QUIET_SECS if self._paste.over else PASTE_IDLE_SECS
        if self._decoder.getstate()[0]:
            return SEQUENCE_SECS
        if not self._held:
            return None
        return ESC_SECS if _may_be_keys(self._held) and not self.kitty else SEQUENCE_SECS

    def silence(self) -> list[Token]:
        """Nothing came for that long: a lone ESC is a key, an unfinished paste ends, half a sequence is dropped.

        What came after a paste may now be pending itself: look at `waiting` again.
        """
        tokens = self._text(self._decoder.decode(b"", True))
        if self._paste is not None:
            text, rest = self._paste.end()
            self._paste = None
            return [*tokens, Paste(text), *self._text(rest)]
        held, self._held = self._held, ""
        return tokens + _broken_off(held)

    def _text(self, text: str) -> list[Token]:
        if _PRESS not in text:
            return self._piece(text) if text else []
        tokens: list[Token] = []
        for number, piece in enumerate(text.split(_PRESS)):
            if number:
                if self._paste is None and not self._held.strip(_ESC):
                    tokens += [_ESCAPE] * len(self._held)
                    self._held = ""
                tokens.append(Press())
            if piece:
                tokens += self._piece(piece)
        return tokens

    def _piece(self, text: str) -> list[Token]:
        """`text` without a press in it."""
        if self._paste is not None:
            return [Paste(full) for full in self._paste.feed(text)]
        text, self._held = self._held + text, ""
        tokens: list[Token] = []
        at = 0
        while at < len(text):
            start = text.find(_ESC, at)
            if start < 0:
                start = len(text)
            for character in text[at:start]:
                key = sequences.typed(character)
                if key:
                    tokens.append(key)
            if start == len(text):
                break
            found = _sequence(text, start)
            if found is None:
                self._held = text[start:]
                break
            at, more = found
            if more == [_PASTE_BEGINS]:
                self._paste = Pasting()
                tokens += [Paste(full) for full in self._paste.feed(text[at:])]
                break
            tokens += more
        return tokens


_PASTE_BEGINS = Reply("paste", "")  # never given out


def _may_be_keys(held: str) -> bool:
    """Whether an unfinished sequence may also be whole keys: ESC, or Alt with what begins sequences."""
    return len(held) < 3 or (len(held) == 3 and held[1] == _ESC)


def _broken_off(held: str) -> list[Token]:
    if not held.strip(_ESC):
        return [_ESCAPE for _ in held]
    if _may_be_keys(held):
        return [*[_ESCAPE for _ in held[2:]], Key(held[-1], alt=True)]
    return [sequences.other(held)]


def _sequence(text: str, start: int) -> _Found:
    """The sequence that begins with the ESC at `start`."""
    if start + 1 == len(text):
        return None
    kind = text[start + 1]
    if kind == "[":
        return _csi(text, start)
    if kind == "O":
        return _ss3(text, start)
    if kind in _STRINGS:
        return _string(text, start, _OSC_END if kind == "]" else _STRING_END)
    if kind != _ESC:
        key = sequences.typed(kind, alt=True)
        return start + 2, [key] if key else []
    if start + 2 == len(text):
        return None
    if text[start + 2] not in "[O":
        return start + 1, [_ESCAPE]
    found = _sequence(text, start + 1)
    if found is None:
        return None
    end, tokens = found
    if len(tokens) == 1 and isinstance(tokens[0], Key) and not tokens[0].alt:
        return end, [Key(tokens[0].name, alt=True)]
    return start + 1, [_ESCAPE]  # the key, and then something that no Alt stands before


def _csi(text: str, start: int) -> _Found:
    body = _CSI_BODY.match(text, start + 2, start + SEQUENCE_LIMIT)
    assert body is not None
    parameters, between = body.groups()
    end = body.end()
    if between[:1] == "$" and sequences.is_rotated_shift(parameters):
        return body.end(1) + 1, sequences.csi(parameters, "$", "")
    if end >= start + SEQUENCE_LIMIT:
        return end, [sequences.other(text[start:end])]
    if end == len(text):
        return None
    final = text[end]
    if not "@" <= final <= "~":
        return end, _broken_off(text[start:end])
    end += 1
    if not parameters and not between and final in "[M":
        more = 1 if final == "[" else 3  # the Linux console's keys; the mouse of an old xterm
        if end + more > len(text):
            return None
        tail = text[end : end + more]
        return end + more, sequences.console(tail) if final == "[" else [sequences.other("[M" + tail)]
    if parameters == sequences.PASTE_START and final == "~" and not between:
        return end, [_PASTE_BEGINS]
    return end, sequences.csi(parameters, between, final)


def _ss3(text: str, start: int) -> _Found:
    body = _SS3_BODY.match(text, start + 2, start + SEQUENCE_LIMIT)
    assert body is not None
    end = body.end()
    if end >= start + SEQUENCE_LIMIT:
        return end, [sequences.other(text[start:end])]
    if end == len(text):
        return None
    if not "@" <= text[end] <= "~":
        return end, _broken_off(text[start:end])
    return end + 1, sequences.ss3(body.group(), text[end])


def _string(text: str, start: int, ends: re.Pattern[str]) -> _Found:
    limit = start + SEQUENCE_LIMIT
    found = ends.search(text, start + 2, limit)
    if found is None:
        return (limit, [sequences.other(text[start:limit])]) if len(text) >= limit else None
    end = found.end()
    if found.group() == _ESC:
        if end == len(text):
            return None
        end += 1 if text[end] == "\\" else -1
    return end, [sequences.other(text[start:end])]
