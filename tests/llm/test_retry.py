"""Whether to try again, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.errors import JpError
from jp.llm import errors as e
from jp.llm.retry import Fatal, Policy, Retry, backoff, decide, retry_after, transient
from jp.llm.status import error_for_status, error_in_stream

POLICY = Policy(max_retries=3, base_backoff_ms=1000, max_backoff_secs=60)


def status(code: int, after: float | None = None) -> JpError:
    return error_for_status(code, b"", address="http://h", retry_after=after)


@pytest.mark.parametrize("code", [408, 409, 425, 429, 500, 502, 503, 504, 520, 529])
def test_these_statuses_are_worth_another_try(code: int) -> None:
    assert transient(status(code))


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 405, 410, 413, 415, 422, 451])
def test_these_statuses_are_not(code: int) -> None:
    assert decide(status(code), 0, POLICY) == Fatal()


@pytest.mark.parametrize(
    ("error", "worth_it"),
    [
        (e.ConnectionRefused("x"), True),
        (e.ServerNotRunning("x"), False),
        (e.ConnectionLost("x"), True),
        (e.Timeout("x"), True),
        (e.NetworkError("x"), True),
        (e.StreamCut("x"), True),
        (e.ProviderError("x"), True),
        (e.TlsError("x"), False),
        (e.NameNotFound("x"), False),
        (e.ProxyError("x"), False),
        (e.BadResponse("x"), False),
        (e.TooLarge("x"), False),
        (e.Redirected("x", status_code=302), False),
        (e.MissingKeyError("x"), False),
        (e.Stopped("x"), False),
        (JpError("x"), False),
        (error_in_stream({"code": 429, "message": "x"}, address="a"), True),
        (error_in_stream({"code": 400, "message": "x"}, address="a"), False),
        (error_in_stream({"type": "overloaded_error"}, address="a"), True),
        (error_in_stream({"code": "invalid_request_error", "message": "x"}, address="a"), True),
    ],
)
def test_transient(error: JpError, worth_it: bool) -> None:
    assert transient(error) == worth_it


def test_it_ends_after_max_retries() -> None:
    error = e.StreamCut("x")
    decisions = [decide(error, attempt, POLICY, lambda: 1.0) for attempt in range(5)]
    assert decisions == [Retry(1), Retry(2), Retry(4), Fatal("retries"), Fatal("retries")]


def test_no_retries_where_none_are_wanted() -> None:
    assert decide(e.StreamCut("x"), 0, Policy(max_retries=0)) == Fatal("retries")


@given(st.integers(0, 10_000), st.floats(0, 1), st.integers(0, 10_000), st.integers(0, 600))
def test_backoff_is_bounded_and_spread(attempt: int, jitter: float, base: int, most: int) -> None:
    policy = Policy(base_backoff_ms=base, max_backoff_secs=most)
    full = min(most, base / 1000 * 2.0 ** min(attempt, 60))
    assert full / 2 - 1e-9 <= backoff(attempt, policy, lambda: jitter) <= full + 1e-9


def test_a_server_that_names_a_time_gets_it() -> None:
    assert decide(status(429, 7.0), 0, POLICY, lambda: 0.0) == Retry(7.0)
    assert decide(status(503, 0.0), 0, POLICY, lambda: 0.0) == Retry(0.0)
    assert decide(status(429, 7.0), 3, POLICY) == Fatal("retries")


def test_a_server_that_asks_for_too_much_is_not_waited_for() -> None:
    assert decide(status(429, 3600.0), 0, POLICY) == Fatal("wait")


NOW = 1_780_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "12"}, 0.25),
        ({"retry-after": "Thu, 28 May 2026 20:27:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 28 May 2020 20:27:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Thu, 99 May 2026 20:27:00 GMT"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers, NOW) == expected
