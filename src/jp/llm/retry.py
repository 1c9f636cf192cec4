"""Whether to try again, and when: pure.

Worth another try: a connection that was refused, reset, cut off or timed out; 408, 409, 429 and every 5xx (529 too).
Not: what would fail in the same way (a key, a request, a certificate, a name that is not there, an address that answers
with something else, a server of this machine that is not running), and what JP itself ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from jp.errors import JpError
from jp.llm.errors import (
    LlmError,
    NameNotFound,
    NetworkError,
    OutOfCredit,
    ProviderError,
    ProxyError,
    ServerNotRunning,
    StreamCut,
    TlsError,
)

RETRIED_STATUS = frozenset({408, 409, 425, 429})
MAX_RETRY_AFTER = 300.0
FATAL = (TlsError, NameNotFound, OutOfCredit, ServerNotRunning)


def chance() -> float:
    """A random number from 0 to 1; the `random` module would cost 2 ms of start-up for it."""
    return int.from_bytes(os.urandom(4), "big") / 2**32


class Policy(Struct, frozen=True):
    """`assistant.request`: how often and how long. A `max_retries` of 0 never tries again."""

    max_retries: int = 5
    base_backoff_ms: int = 1000
    max_backoff_secs: float = 60


class Retry(Struct, frozen=True):
    """Try again after `seconds`."""

    seconds: float


class Fatal(Struct, frozen=True):
    """Don't try again; `why` is error (it would fail again), retries (enough) or wait (asked to wait too long)."""

    why: str = "error"


def decide(error: JpError, attempt: int, policy: Policy, jitter: Callable[[], float] = chance) -> Retry | Fatal:
    """What to do about `error` after `attempt` failures in a row without progress (0 for the first)."""
    if not transient(error):
        return Fatal()
    if attempt >= policy.max_retries:
        return Fatal("retries")
    wait = backoff(attempt, policy, jitter)
    asked = error.retry_after if isinstance(error, LlmError) else None
    if asked is not None:
        if asked > max(MAX_RETRY_AFTER, policy.max_backoff_secs):
            return Fatal("wait")
        # The server knows when; a little spread so that not everybody comes back in the same instant.
        wait = asked + 0.1 * policy.base_backoff_ms / 1000 * jitter()
    return Retry(wait)


def transient(error: JpError) -> bool:
    """Whether the same request may well succeed a little later."""
    if isinstance(error, StreamCut):
        return True
    if isinstance(error, FATAL):
        return False
    if isinstance(error, LlmError) and error.status_code is not None:
        return error.status_code in RETRIED_STATUS or error.status_code >= 500
    if isinstance(error, ProviderError):
        return True  # an error object in a stream that had begun, without a code that says more
    return isinstance(error, NetworkError) and not isinstance(error, ProxyError)


def backoff(attempt: int, policy: Policy, jitter: Callable[[], float] = chance) -> float:
    """Seconds to wait after failure number `attempt` (from 0): doubled each time, capped, half to all of it."""
    full = min(policy.max_backoff_secs, policy.base_backoff_ms / 1000 * 2.0 ** min(attempt, 30))
    return full * (0.5 + 0.5 * jitter())


def retry_after(headers: dict[str, str], now: float) -> float | None:
    """Seconds that a response asks to wait: `Retry-After-Ms`, or `Retry-After` as seconds or as a date.

    `headers` has lower-case names, `now` is Unix time. None where nothing sensible is said; a date gone by is 0.
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None
