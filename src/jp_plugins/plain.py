"""Text that others wrote, without what is no text: a document is also read with `cat`."""

import re

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")


def clean(text: str) -> str:
    """`text` without escape sequences and control characters; marks that turn its direction round are spelled out."""
    if text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if "\x1b" in text or not text.isascii():
        text = _SEQUENCE.sub("", text)
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("", text))
    return _BIDI.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def one_line(text: str) -> str:
    """`text` on one line, clean."""
    return _SPACE.sub(" ", clean(text.replace("\r", "\n"))).strip()
