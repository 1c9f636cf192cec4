"""How large a tool's question may be: it is shown, kept in the conversation and sent to a model. Pure."""

import msgspec
from msgspec import UNSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.tool.outcome import Question

MAX_TEXT = 64 * 1024  # bytes (UTF-8) of each of its texts
MAX_OPTIONS = 1000
MAX_OPTION = 4096  # bytes
MAX_ID = 256


def too_large(question: "Question") -> str:
    """What of a question is too large, as a sentence without its end; empty where nothing is."""
    if _size(question.id) > MAX_ID:
        return f"`question.id` is longer than {MAX_ID} bytes"
    for key in ("text", "pre_amble", "default"):
        value = getattr(question, key)
        if value is not UNSET and _size(value) > MAX_TEXT:
            return f"`question.{key}` is longer than {MAX_TEXT // 1024} KiB"
    if len(question.options) > MAX_OPTIONS:
        return f"it has more than {MAX_OPTIONS:,} options"
    if any(_size(option) > MAX_OPTION for option in question.options):
        return f"it has an option of more than {MAX_OPTION // 1024} KiB"
    return ""


def _size(value: object) -> int:
    return len(value.encode("utf-8", "replace") if isinstance(value, str) else msgspec.json.encode(value))
