"""Names of files, made of titles that a model may have given."""

from __future__ import annotations

import re
import unicodedata

from jp_plugins.plain import one_line

SUFFIXES = {"markdown": ".md", "html": ".html", "json": ".json"}
FORMATS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json"}

_LONGEST = 120  # bytes of a title in a name: systems allow 255 for all of it
_NOT_A_WORD = re.compile(r"[^\w]+|_+")
_NOT_AN_ID = re.compile(r"[^0-9A-Za-z]+")


def file_name(conversation: str, title: str | None, suffix: str) -> str:
    """`17412345678-a-title.md`: sorted by time, nothing in it that a shell or a system would act on."""
    words = _NOT_A_WORD.sub("-", unicodedata.normalize("NFC", one_line(title or "")).casefold()).strip("-")
    slug = words.encode("utf-8", "replace")[:_LONGEST].decode("utf-8", "ignore").strip("-")
    return (_NOT_AN_ID.sub("", conversation)[:40] or "conversation") + (f"-{slug}" if slug else "") + suffix
