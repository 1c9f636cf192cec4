"""What a tool printed, as an outcome: both spellings, and what is none."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from jp.tool.outcome import Failure, NeedsInput, Question, Success
from jp.tool.reply import parse


def said(value: object) -> Any:
    return parse(json.dumps(value).encode())


def asked(**question: Any) -> Any:
    return said({"type": "needs_input", "question": {"id": "q", "text": "Sure?", "answer_type": "Boolean", **question}})


def question(**fields: Any) -> Question:
    outcome = asked(**fields)
    assert isinstance(outcome, NeedsInput), outcome
    return outcome.question


class TestOutcomes:
    def test_a_success(self) -> None:
        assert said({"type": "success", "content": "é\n\x1b[1m"}) == Success("é\n\x1b[1m")
        assert parse(b' \n{"type":"success","content":""}\n') == Success("")

    @pytest.mark.parametrize(
        ("more", "trace", "transient"),
        [
            ({}, [], False),
            ({"trace": None, "transient": None}, [], False),
            ({"trace": ["a", "b"], "transient": True}, ["a", "b"], True),
            ({"trace": "a"}, ["a"], False),
            ({"trace": [{"a": 1}]}, ['{"a":1}'], False),
        ],
    )
    def test_an_error(self, more: dict[str, Any], trace: list[str], transient: bool) -> None:
        assert said({"type": "error", "message": "no", **more}) == Failure("no", trace, transient)

    @pytest.mark.parametrize(
        "printed",
        [
            b"", b"plain", b"{}", b"[1]", b'"text"', b"{", b"{not json}",
            b'{"type":"success","content":"ab', b'{"type":"success","content":"a"} and more', b'x {"type":"success"}',
            b'{"type":"success","content":["a"]}', b'{"type":"success"}', b'{"type":"error"}', b'{"type":"other"}',
            b'{"type":["success"],"content":"a"}', b'{"type":"error","message":5}',
            b'{"type":"success","content":"\\ud800"}',
            b"{" + b'"a":[' * 100_000 + b"}", b'{"a":' + b"9" * 1_000_000 + b"}", b'{"a":1e999999}',
        ],
    )  # fmt: skip
    def test_everything_else_is_text(self, printed: bytes) -> None:
        assert parse(printed) is None

    def test_undecodable_bytes_in_it_are_replaced(self) -> None:
        assert parse(b'{"type":"success","content":"a\xff"}') == Success("a\ufffd")


class TestQuestions:
    @pytest.mark.parametrize(
        ("answer_type", "kind", "options"),
        [
            ("Boolean", "boolean", []),
            ("Text", "text", []),
            ({"Select": {"options": ["a", "b"]}}, "select", ["a", "b"]),
            ("boolean", "boolean", []),
            ({"type": "boolean"}, "boolean", []),
            ({"type": "text"}, "text", []),
            ({"type": "secret"}, "secret", []),
            ({"type": "select", "options": ["a", 2]}, "select", ["a", 2]),
        ],
    )
    def test_both_spellings_of_a_type(self, answer_type: object, kind: str, options: list[object]) -> None:
        found = question(answer_type=answer_type)
        assert (found.kind, found.options) == (kind, options)

    def test_all_that_is_said(self) -> None:
        assert question(pre_amble="so", default=True, exclusive=True) == Question(
            "q", "Sure?", "boolean", [], True, "so", True
        )

    @pytest.mark.parametrize(
        ("answer_type", "default", "kept"),
        [
            ("Boolean", None, UNSET), ("Boolean", False, False), ("Boolean", "yes", UNSET), ("Boolean", 1, UNSET),
            ("Text", "x", "x"), ("Text", "", ""), ("Text", 5, UNSET),
            ({"type": "secret"}, "x", UNSET),
            ({"Select": {"options": ["a", 1]}}, "a", "a"), ({"Select": {"options": ["a", 1]}}, "b", UNSET),
            ({"Select": {"options": ["a", 1]}}, True, UNSET),
        ],
    )  # fmt: skip
    def test_a_default_that_is_no_answer_is_none(self, answer_type: object, default: object, kept: object) -> None:
        found = question(answer_type=answer_type, default=default).default
        assert (type(found), found) == (type(kept), kept)

    @pytest.mark.parametrize(
        ("fields", "about"),
        [
            ({"id": None}, "`question.id` must be a text"),
            ({"id": ""}, "`question.id`"),
            ({"text": 5}, "`question.text` must be a text"),
            ({"text": "x" * 70_000}, "`question.text` is longer"),
            ({"answer_type": None}, "`question.answer_type` is missing"),
            ({"answer_type": "Number"}, '`"Number"`; known are boolean, select, text, secret'),
            ({"answer_type": {"type": "number"}}, "known are"),
            ({"answer_type": {"type": 5}}, "known are"),
            ({"answer_type": {}}, "known are"),
            ({"answer_type": [1]}, "known are"),
            ({"answer_type": "Select"}, "a select without `options`"),
            ({"answer_type": {"Select": {"options": []}}}, "a select without `options`"),
            ({"answer_type": {"Select": ["a"]}}, "a select without `options`"),
            ({"answer_type": {"type": "select", "options": ["x"] * 1001}}, "more than 1,000 options"),
            ({"answer_type": {"type": "select", "options": ["x" * 5000]}}, "an option of more than 4 KiB"),
            ({"answer_type": {"type": "select", "options": [["x" * 5000]]}}, "an option of more than 4 KiB"),
            ({"text": "ü" * 40_000}, "`question.text` is longer than 64 KiB"),
            ({"pre_amble": "x" * 70_000}, "`question.pre_amble` is longer than 64 KiB"),
            ({"answer_type": "Text", "default": "x" * 70_000}, "`question.default` is longer than 64 KiB"),
            ({"id": "x" * 300}, "`question.id` is longer than 256 bytes"),
        ],
    )
    def test_one_that_cannot_be_asked_is_a_failure_that_says_why(self, fields: dict[str, Any], about: str) -> None:
        outcome = asked(**fields)
        assert isinstance(outcome, Failure)
        assert about in outcome.message
        assert len(outcome.message) < 500

    @pytest.mark.parametrize("whole", [{}, {"question": None}, {"question": "what?"}])
    def test_none_at_all(self, whole: dict[str, Any]) -> None:
        outcome = said({"type": "needs_input", **whole})
        assert isinstance(outcome, Failure)
        assert "no `question`" in outcome.message

    def test_an_id_that_is_missing(self) -> None:
        outcome = said({"type": "needs_input", "question": {"text": "x", "answer_type": "Text"}})
        assert isinstance(outcome, Failure)
        assert "`question.id` is missing" in outcome.message
