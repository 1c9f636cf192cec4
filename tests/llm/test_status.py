"""Statuses and error objects in words."""

import json
from typing import Any

import pytest

from jp.llm import errors as e
from jp.llm.retry import transient
from jp.llm.status import error_for_status, error_in_stream, not_json, said_by

AT = "https://api.example.com/v1/chat/completions"


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, e.HttpError, "did not accept the request"),
        (401, e.Unauthorized, "did not accept the API key"),
        (402, e.OutOfCredit, "no credit or quota left"),
        (403, e.Unauthorized, "refuses this request"),
        (404, e.NotFound, "does not know this model"),
        (413, e.HttpError, "too large"),
        (429, e.RateLimited, "limits the rate"),
        (500, e.HttpError, "the provider failed"),
        (503, e.Overloaded, "overloaded"),
        (529, e.Overloaded, "overloaded"),
    ],
)
def test_statuses(status: int, kind: type, words: str) -> None:
    error = error_for_status(status, b'{"error": {"message": "because"}}', address=AT, key="EXAMPLE_KEY")
    assert type(error) is kind
    assert words in error.message
    assert error.message.endswith(f"(HTTP {status} from {AT}): because")
    assert error.status_code == error.metadata["status"] == status
    assert error.metadata["address"] == AT


def test_a_proxy_that_wants_credentials() -> None:
    error = error_for_status(407, b"", address=AT)
    assert type(error) is e.ProxyError
    assert "proxy's URL" in error.hints[0]


@pytest.mark.parametrize("field", ["code", "type"])
def test_a_quota_that_is_gone_is_no_rate_limit(field: str) -> None:
    body = json.dumps({"error": {field: "insufficient_quota", "message": "check your plan"}}).encode()
    error = error_for_status(429, body, address=AT)
    assert type(error) is e.OutOfCredit
    assert not transient(error)
    for other in (b'{"error": "x"}', b"[]", b"", b'{"error": {"code": []}}'):
        assert type(error_for_status(429, other, address=AT)) is e.RateLimited


def test_a_wrong_key_names_its_variable() -> None:
    assert "EXAMPLE_KEY" in error_for_status(401, b"", address=AT, key="EXAMPLE_KEY").hints[0]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "no\n such  model"}}, "no such model"),
        ({"error": "flat"}, "flat"),
        ({"message": "top"}, "top"),
        ({"detail": [{"msg": "field required"}]}, "field required"),
        ([{"error": {"message": "listed"}}], "listed"),
        ({"error": {"message": "Provider returned error", "metadata": {"raw": '{"error":{"message":"inner"}}'}}},
         "Provider returned error: inner"),
        ({"error": {}}, ""),
        ({}, ""),
        (3, ""),
        ({"error": {"message": "\u001b[31mx\u0007 \u001b[2J\u001b]0;owned\u0007y\u009b3Jz"}}, "x yz"),
        ({"error": {"message": "x" * 5000}}, "x" * 499 + "…"),
    ],
)  # fmt: skip
def test_what_a_body_says(body: Any, said: str) -> None:
    assert said_by(json.dumps(body).encode()) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html><head><title>502 Bad\n Gateway</title></head></html>", "502 Bad Gateway"),
        (b"<html>no title</html>", ""),
        (b"plain words", "plain words"),
        (b"\x1b[31mred\x1b[0m \x1b]0;owned\x07words\x9b2J\x7f", "red words\ufffd2J"),
        (b"<title>\x1b]2;owned\x1b\\502\x1b[2J Bad</title>", "502 Bad"),
        (b"", ""),
        (b"\xff\xfe", ""),
    ],
)
def test_what_other_bodies_say(body: bytes, said: str) -> None:
    assert said_by(body).strip("\ufffd") == said


def test_errors_in_streams() -> None:
    assert isinstance(error_in_stream({"code": 429, "message": "slow"}, address=AT), e.RateLimited)
    assert isinstance(error_in_stream({"code": "502", "message": "bad"}, address=AT), e.HttpError)
    assert isinstance(error_in_stream({"type": "overloaded_error", "message": "x"}, address=AT), e.Overloaded)
    assert isinstance(error_in_stream({"code": "rate_limit_exceeded"}, address=AT), e.RateLimited)
    other = error_in_stream({"code": "odd", "message": "why"}, address=AT)
    assert type(other) is e.ProviderError
    assert "why" in other.message
    assert "did not say why" in error_in_stream({}, address=AT).message
    assert "just words" in error_in_stream("just words", address=AT).message
    hostile = error_in_stream({"code": "odd", "message": "\x1b[31mx \x1b[2J\x1b]0;owned\x07y"}, address=AT)
    assert hostile.message.endswith(": x y")


@pytest.mark.parametrize("body", [b"<!DOCTYPE html><title>Sign in</title>", b" \n<html>", b"<?xml version='1.0'?>"])
def test_a_web_page_is_called_one(body: bytes) -> None:
    error = not_json(body, address=AT)
    assert "web page" in error.message
    assert AT in error.message
    assert "base_url" in error.hints[0]


def test_other_answers_are_quoted() -> None:
    assert "'OK, fine'" in not_json(b"OK, fine\n", address=AT).message
    assert "'OK, fine'" in not_json(b"\x1b[2JOK, \x1b]0;owned\x07fine\n", address=AT).message
