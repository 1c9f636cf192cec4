"""JSON that the strict decoder refuses and some servers send: lone surrogates, NaN, control characters in strings."""

from typing import Any


def loads(text: str) -> Any:
    """The value of `text`, or None. Lone surrogates, which no encoding can carry, become U+FFFD."""
    import json  # rare, and 5 ms

    try:
        return _clean(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    return value
