"""A conversation as JSON: its events as the plugin protocol gives them, indented."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from jp_plugins.export.document import Document

_INDENT = "    "
_UNSAFE = re.compile("[\x7f-\x9f\ud800-\udfff]")


def pieces(document: Document) -> Iterator[str]:
    """The file, event by event. What is no Unicode (half of a surrogate pair) stays escaped."""
    yield f'{{\n  "conversation": {_json(document.conversation)},\n  "title": {_json(document.title)},\n  "data": ['
    for number, event in enumerate(document.events):
        yield ("," if number else "") + "\n" + _INDENT + _json(event).replace("\n", "\n" + _INDENT)
    yield "\n  ]\n}\n" if document.events else "]\n}\n"


def _json(value: Any) -> str:
    # DEL and the C1 controls are allowed in JSON, and act on a terminal.
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, indent=2))
