"""From an HTTP status, or an error object, to an error that a person can read: pure."""

from __future__ import annotations

from typing import Any

import msgspec

from jp.llm.errors import (
    BadResponse,
    HttpError,
    LlmError,
    NotFound,
    OutOfCredit,
    Overloaded,
    ProviderError,
    ProxyError,
    RateLimited,
    Unauthorized,
)
from jp.terminal.sanitize import one_line

MAX_SHOWN = 500
MAX_DEPTH = 8


def error_for_status(
    status: int, body: bytes, *, address: str, retry_after: float | None = None, key: str | None = None
) -> LlmError:
    """The error for an answer with `status`; `key` names the variable that holds the API key, for the hint."""
    said = said_by(body)
    quoted = f": {said}" if said else ""
    kind: type[HttpError] = HttpError
    hints: list[str] = []
    match status:
        case 402 | 429 if status == 402 or _quota_gone(body):
            kind = OutOfCredit
            what = "the account at the provider has no credit or quota left"
            hints.append("Top it up, or choose another model with `-m provider/name`.")
        case 401 | 403:
            kind = Unauthorized
            what = "the provider did not accept the API key" if status == 401 else "the provider refuses this request"
            if key:
                hints.append(f"Check the key in the environment variable {key}.")
        case 404:
            kind = NotFound
            what = "the provider does not know this model or path"
            hints.append("Check the model id (`-m provider/name`) and the provider's `base_url`.")
        case 407:
            return ProxyError(
                f"the proxy on the way to {address} wants user and password (HTTP 407){quoted}",
                address=address,
                hints=["Put them into the proxy's URL."],
            )
        case 408 | 504:
            what = "the provider gave up waiting"
        case 413:
            what = "the request is too large for the provider"
            hints.append("Start a new conversation (`jp query --new`) or attach less.")
        case 429:
            kind = RateLimited
            what = "the provider limits the rate of requests"
            hints.append("Wait a while, or check the plan and quota of this API key.")
        case 503 | 529:
            kind = Overloaded
            what = "the provider is overloaded"
            hints.append("Try again in a while.")
        case _ if status >= 500:
            what = "the provider failed"
            hints.append("Try again in a while.")
        case _:
            what = "the provider did not accept the request"
    return kind(
        f"{what} (HTTP {status} from {address}){quoted}",
        address=address,
        status_code=status,
        retry_after=retry_after,
        hints=hints,
    )


def _quota_gone(body: bytes) -> bool:
    try:
        error = msgspec.json.decode(body)["error"]
        return "insufficient_quota" in (error.get("code"), error.get("type"))
    except (msgspec.DecodeError, UnicodeError, RecursionError, LookupError, TypeError, AttributeError):
        return False


def error_in_stream(error: Any, *, address: str) -> LlmError:
    """The error for an error object that came where events were expected."""
    code = error.get("code") if isinstance(error, dict) else None
    said = _message_of(error) or "it did not say why"
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return error_for_status(code, msgspec.json.encode({"error": said}), address=address)
    kind = error.get("type") if isinstance(error, dict) else None
    named: dict[object, int] = {"overloaded_error": 529, "rate_limit_error": 429, "rate_limit_exceeded": 429}
    status = named.get(kind) or named.get(code)
    if status:
        return error_for_status(status, msgspec.json.encode({"error": said}), address=address)
    return ProviderError(f"the provider broke off the answer ({address}): {said}", address=address)


def not_json(body: bytes, *, address: str, status: int = 200) -> BadResponse:
    """The error for a body that is HTML or anything else where JSON or events were expected."""
    start = body[:2048].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml", b"<")):
        title = said_by(body)
        shown = f" ({title!r})" if title else ""
        return BadResponse(
            f"{address} answered with a web page{shown}, not with an answer of a model",
            address=address,
            status_code=None,
            hints=[
                "Check the provider's `base_url`; a network that asks for a sign-in, or a proxy, answers like this too."
            ],
        )
    quote = _shorten(body[:200].decode("utf-8", "replace").strip())
    return BadResponse(
        f"{address} answered with something that is not JSON (HTTP {status}): {quote!r}",
        address=address,
        hints=["Check the provider's `base_url`."],
    )


def said_by(body: bytes) -> str:
    """What an error body says, in one line: its JSON message, the title of its page, or its text."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        text = body[:65536].decode("utf-8", "replace")
        if text.lstrip().startswith("<"):
            import re

            found = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
            return _shorten(found.group(1)) if found else ""
        return _shorten(text)
    return _message_of(value)


def _message_of(value: Any, depth: int = 0) -> str:
    """The message in the shapes that providers use: a string, `error`, `message`, `detail`, nested."""
    if depth > MAX_DEPTH:
        return ""
    if isinstance(value, str):
        return _shorten(value)
    if isinstance(value, list):
        return _message_of(value[0], depth + 1) if value else ""
    if isinstance(value, dict):
        for key in ("error", "message", "detail", "msg"):
            if value.get(key):
                inner = _message_of(value[key], depth + 1)
                raw = value.get("metadata")
                if key == "message" and isinstance(raw, dict) and isinstance(raw.get("raw"), str):
                    inner = _shorten(f"{inner}: {said_by(raw['raw'].encode())}")
                if inner:
                    return inner
    return ""


def _shorten(text: str) -> str:
    line = one_line(text[: MAX_SHOWN * 4])
    line = " ".join("".join([c if c.isprintable() else " " for c in line]).split())
    return line if len(line) <= MAX_SHOWN else line[: MAX_SHOWN - 1] + "…"
