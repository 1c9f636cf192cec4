"""Text that others wrote, made safe to show (contracts, section 3).

The result can print, begin a line and change colours and styles; it cannot move the cursor, change a mode, a title or
the clipboard, hide text or ask the terminal something. Stored text and what a model receives are never touched.
"""

from jp.terminal.escapes import Escapes, is_sgr, sgr_parameters

MARK = "␛"  # stands for what was dropped under "visualize"
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = tuple(c for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in (0x09, 0x0A))
_BIDI_TABLE = {code: f"<U+{code:04X}>" for code in _BIDI}
_STRIP = {**dict.fromkeys(_CONTROLS), **_BIDI_TABLE}
_VISUALIZE = {**dict.fromkeys(_CONTROLS, MARK), **_BIDI_TABLE}
_SPACES = str.maketrans(dict.fromkeys("\t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", " "))  # what ends a line, somewhere


class Sanitizer:
    """Filters one kind of content of one turn, in whatever chunks it comes.

    `mode`: "strip" drops what must not reach a terminal, "visualize" puts `␛` in its place, "off" changes nothing.
    """

    __slots__ = ("_cutter", "_mode", "_table")

    def __init__(self, mode: str = "strip") -> None:
        if mode not in ("strip", "visualize", "off"):
            raise ValueError(f"unknown mode {mode!r}")
        self._mode = mode
        self._table = _VISUALIZE if mode == "visualize" else _STRIP
        self._cutter = Escapes(c1=True)

    def feed(self, text: str) -> str:
        """What of `text` may be shown. An escape sequence that is not complete waits for the next chunk."""
        if self._mode == "off":
            return text
        if not self._cutter.pending and _clean(text):
            return text
        return "".join([self._sequence(p) if sequence else self._plain(p) for sequence, p in self._cutter.feed(text)])

    def end(self) -> str:
        """What is left at the end of the content: nothing, or the mark of a dropped introducer."""
        return self._dropped() if self._cutter.end() else ""

    def _plain(self, text: str) -> str:
        return text if _clean(text) else text.translate(self._table)

    def _dropped(self) -> str:
        return MARK if self._mode == "visualize" else ""

    def _sequence(self, sequence: str) -> str:
        if sequence[:2] == "\x1b[" and is_sgr(sequence):
            kept = without_conceal(sgr_parameters(sequence))
            if kept is not None:
                return f"\x1b[{kept}m"
        return self._dropped()


def _clean(text: str) -> bool:
    return text.isprintable() or text.replace("\n", " ").replace("\t", " ").isprintable()


def without_conceal(parameters: str) -> str | None:
    """SGR parameters without a standalone 8 (conceal); None when nothing is left.

    The arguments of 38, 48 and 58 are colours: the 8 of `38;5;8` stays.
    """
    if "8" not in parameters:
        return parameters
    kept: list[str] = []
    values = parameters.split(";")
    position = 0
    while position < len(values):
        value = values[position]
        if value.lstrip("0") in ("38", "48", "58"):
            end = position + 1 + _colour_arguments(values, position + 1)
            if (
                end > position + 1
            ):  # a colour without its arguments means nothing, and each terminal reads on differently
                kept += values[position:end]
            position = end
            continue
        if value.partition(":")[0].lstrip("0") != "8":
            kept.append(value)
        position += 1
    return ";".join(kept) if kept else None


def _colour_arguments(values: list[str], start: int) -> int:
    kind = values[start].lstrip("0") if start < len(values) else ""
    count = {"5": 2, "2": 4}.get(kind, 0)
    arguments = values[start : start + count]
    return count if len(arguments) == count and not any(":" in argument for argument in arguments) else 0


def one_line(text: str) -> str:
    """`text` as one line without any control sequence: for titles, names and messages inside a line of ours.

    Sequences go as a whole, one that never ends with what follows it; line ends become spaces.
    """
    if text.isprintable():
        return text
    cutter = Escapes(c1=True)
    plain = "".join([piece for sequence, piece in cutter.feed(text) if not sequence])
    return plain.replace("\r\n", " ").translate(_SPACES).translate(_STRIP)


def osc_text(text: str) -> str:
    """`text` for the inside of an OSC sequence: no C0, DEL or C1 at all, whatever the settings say."""
    if text.isprintable():
        return text
    return text.translate(_OSC)


_OSC = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))
