"""What one complete control sequence of a keyboard means: legacy, xterm's and kitty's encodings. Pure."""

from jp.prompt.tokens import Key, Press, Reply, Token

PASTE_START = "200"

_SHIFT, _ALT, _CTRL, _SUPER, _HYPER, _META = 1, 2, 4, 8, 16, 32
_LOCKS = 64 | 128  # caps lock, num lock
_RELEASE = 3

_LETTERS = {
    "A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end",
    "P": "f1", "Q": "f2", "R": "f3", "S": "f4", "Z": "s-tab",
}  # fmt: skip
_NUMBERS = {
    1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end",
    11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10",
    23: "f11", 24: "f12", 25: "f13", 26: "f14", 28: "f15", 29: "f16", 31: "f17", 32: "f18", 33: "f19", 34: "f20",
}  # fmt: skip
_KEYPAD = dict(zip("pqrstuvwxyjklmnoX", "0123456789*+,-./=", strict=True)) | {"M": "enter"}  # SS3
_ROTATED = {"a": "up", "b": "down", "c": "right", "d": "left"}  # rxvt: CSI with Shift, SS3 with Ctrl
_ROTATED_ENDS = {"$": _SHIFT, "^": _CTRL, "@": _SHIFT | _CTRL}  # rxvt: in the place of `~`
_CONSOLE = {"A": "f1", "B": "f2", "C": "f3", "D": "f4", "E": "f5"}  # Linux console: CSI [ A

# kitty's codes in Unicode's private use area
_PRIVATE = {
    **{57376 + n: f"f{13 + n}" for n in range(12)},
    **{57399 + n: str(n) for n in range(10)},
    **dict(enumerate(".", 57409)), 57410: "/", 57411: "*", 57412: "-", 57413: "+", 57414: "enter", 57415: "=",
    57416: ",", 57417: "left", 57418: "right", 57419: "up", 57420: "down", 57421: "pageup", 57422: "pagedown",
    57423: "home", 57424: "end", 57425: "insert", 57426: "delete",
}  # fmt: skip
_NAMED = {9: "tab", 13: "enter", 27: "escape", 127: "backspace"}
# With Ctrl, what every terminal without an encoding of its own sends: a program must not behave differently in others.
_WITH_CTRL = {
    " ": "c-@", "2": "c-@", "4": "c-\\", "5": "c-]", "6": "c-^", "7": "c-_", "/": "c-_", "~": "c-^",
    "[": "escape", "i": "tab", "m": "enter",
}  # fmt: skip
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))


def typed(character: str, alt: bool = False) -> Key | None:
    """The key of one character that was sent as it is; None for a C1 control, which no key sends."""
    code = ord(character)
    if code >= 0xA0 or 0x20 <= code < 0x7F:
        return Key(character, alt)
    if code >= 0x80:
        return None
    if code in _NAMED:
        return Key(_NAMED[code], alt)
    return Key("c-" + chr(code + (0x60 if 1 <= code <= 26 else 0x40)), alt)


def other(sequence: str) -> Reply:
    """What is not typed and not known."""
    return Reply("other", sequence.translate(_CONTROLS))


def is_rotated_shift(parameters: str) -> bool:
    """Whether `CSI parameters $` is complete: rxvt's keys with Shift end in what is no end elsewhere."""
    return _number(parameters) in _NUMBERS


def console(letter: str) -> list[Token]:
    """`CSI [ letter`, the Linux console's function keys."""
    return [Key(_CONSOLE[letter]) if letter in _CONSOLE else other("[[" + letter)]


def ss3(parameters: str, letter: str) -> list[Token]:
    """`ESC O letter`: application keypad and cursor keys; an old xterm puts a modifier before the letter."""
    modifiers = _modifiers(parameters.rpartition(";")[2])
    if letter in _LETTERS and letter != "Z":
        key = _key(_LETTERS[letter], modifiers)
    elif letter in _ROTATED:
        key = _key(_ROTATED[letter], modifiers | _CTRL)
    elif letter in _KEYPAD:
        key = _key(_KEYPAD[letter], modifiers)
    else:
        key = None
    return [key or other(f"O{parameters}{letter}")]


def csi(parameters: str, between: str, final: str) -> list[Token]:
    """`CSI parameters between final`. Nothing for the release of a key."""
    sequence = f"[{parameters}{between}{final}"
    if parameters[:1] == "?" and not between and final in "uc":
        return [Reply("keyboard" if final == "u" else "device", sequence)]
    if parameters[:1] in ("<", "=", ">", "?") or (between and not (between == "$" and not final)):
        return [other(sequence)]
    fields = parameters.split(";")
    if _event(fields) == _RELEASE and final in "u~ABCDEFHPQRSZ":
        return []
    if final == "u":
        tokens = _kitty(fields)
    else:
        token = _function(fields, between or final)
        tokens = [token] if token else []
    return tokens or [other(sequence)]


def _function(fields: list[str], final: str) -> Token | None:
    first = _number(fields[0])
    modifiers = _modifiers(fields[1]) if len(fields) > 1 else 0
    if final == "~":
        if first == 27 and len(fields) == 3:
            return _coded(_number(fields[2]), modifiers)
        return _key(_NUMBERS[first], modifiers) if first in _NUMBERS and len(fields) <= 2 else None
    if final in _ROTATED_ENDS:
        return _key(_NUMBERS[first], _ROTATED_ENDS[final]) if first in _NUMBERS and len(fields) == 1 else None
    if fields == [""]:
        if final in _ROTATED:
            return _key(_ROTATED[final], _SHIFT)
    elif final == "R" or len(fields) > 2:
        return None  # where the cursor is
    elif len(fields) == 1:
        modifiers = _modifiers(fields[0])  # an old xterm
    if final == "Z":
        return _key("tab", modifiers | _SHIFT)
    return _key(_LETTERS[final], modifiers) if final in _LETTERS else None


def _kitty(fields: list[str]) -> list[Token]:
    codes = [_number(code) for code in fields[0].split(":")]
    code, shifted, base = [*codes, 0, 0][:3]
    modifiers = _modifiers(fields[1]) if len(fields) > 1 else 0
    if len(fields) > 2 and not modifiers & ~_SHIFT:
        text = [_character(_number(part)) for part in fields[2].split(":")]
        if all(text):
            return [Key(character) for character in text]
    if shifted and modifiers & _SHIFT and not modifiers & _CTRL:
        code, modifiers = shifted, modifiers & ~_SHIFT
    elif base and modifiers & (_CTRL | _ALT) and code > 127 and code not in _PRIVATE:
        code = base  # another alphabet's layout: the key where it is on this one
    token = _coded(code, modifiers)
    return [token] if token else []


def _coded(code: int, modifiers: int) -> Token | None:
    """A key that is given by its code point."""
    name = _NAMED.get(code) or _PRIVATE.get(code) or ("" if 0xE000 <= code < 0xF900 else _character(code))
    if not name:
        return None
    if len(name) > 1:
        return _key(name, modifiers)
    if modifiers & _CTRL:
        name = name.lower()
        if name == "c" and not modifiers & (_SHIFT | _SUPER | _HYPER):
            return Press()
        if name in _WITH_CTRL and not modifiers & _SHIFT:
            return _key(_WITH_CTRL[name], modifiers & ~_CTRL)
        return _key(name, modifiers if "a" <= name <= "z" else modifiers & ~_SHIFT)
    if modifiers & _SHIFT and len(name.upper()) == 1:
        name = name.upper()
    return _key(name, modifiers & ~_SHIFT)


def _key(name: str, modifiers: int) -> Key | None:
    if modifiers & (_SUPER | _HYPER):
        return None
    prefix = ("c-" if modifiers & _CTRL else "") + ("s-" if modifiers & _SHIFT else "")
    return Key(prefix + name, bool(modifiers & (_ALT | _META)))


def _character(code: int) -> str:
    """The character of a code point; "" for a control, a surrogate and what is no code point."""
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return ""
    return chr(code)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def _modifiers(field: str) -> int:
    return max(0, _number(field.partition(":")[0]) - 1) & 255 & ~_LOCKS


def _event(fields: list[str]) -> int:
    return _number(fields[1].partition(":")[2].partition(":")[0]) if len(fields) > 1 else 0
