"""What is made of the answers of MCP tools, and of the lines that servers write."""

import json
import time
from typing import Any

import msgspec
import pytest

from jp.tool.mcp.content import answered
from jp.tool.mcp.framing import LINE_LIMIT, PLAIN_LIMIT, Lines, Overlong, Refusal, mended, message

PICTURE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"content": [text("a"), text("b")]}, "a\nb"),
        ({"content": [PICTURE]}, "[image image/png, 3 bytes]"),
        ({"content": [{**PICTURE, "data": "AA=="}]}, "[image image/png, 1 bytes]"),
        ({"content": [{"type": "audio", "mimeType": "audio/wav", "data": ""}]}, "[audio audio/wav, 0 bytes]"),
        ({"content": [{"type": "resource_link", "uri": "file:///a", "name": "a\nb"}]}, "[resource file:///a, a b]"),
        ({"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "inside"}}]}, "inside"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "x:y", "mimeType": "a/b", "blob": "AAAA"}}]},
            "[resource x:y, a/b, 3 bytes]",
        ),
        ({"content": [], "structuredContent": {"a": [1, "ü"]}}, '{"a": [1, "ü"]}'),
        ({"content": [PICTURE], "structuredContent": {"a": 1}}, '[image image/png, 3 bytes]\n{"a": 1}'),
        ({"content": [text("a")], "structuredContent": {"a": 1}}, "a"),
        ({"content": [], "structuredContent": None}, ""),
        ({"content": [{"type": "hologram"}]}, "[hologram 0 bytes]"),
    ],
)
def test_blocks_become_text(result: dict[str, Any], expected: str) -> None:
    raw = json.dumps(result, ensure_ascii=False).encode()
    assert answered(raw) == (expected, False)
    assert answered(json.dumps({**result, "isError": True}, ensure_ascii=False).encode()) == (expected, True)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_lines_are_cut_wherever_chunks_end(size: int) -> None:
    lines = Lines()
    data = b'{"a":1}\n\n{"b":2}\r\nrest'
    found = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]
    assert found == [b'{"a":1}', b"", b'{"b":2}\r']
    assert lines.end() == b"rest"


def test_of_a_line_that_is_too_long_only_its_ends_are_kept() -> None:
    lines = Lines(limit=1000)
    found: list[bytes | Overlong] = []
    for chunk in (b"short\nbegin", *[b"x" * 700] * 10, b"end\nnext\n"):
        found += lines.feed(chunk)
        assert len(lines._line) <= 1700
    assert found[0] == b"short"
    assert isinstance(found[1], Overlong)
    assert found[1].head.startswith(b"begin")
    assert found[1].tail.endswith(b"xend")
    assert found[2:] == [b"next"]


HUGE = '"result":{"content":[{"type":"text","text":"' + "x" * (LINE_LIMIT + 1) + '"}]}'


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ('{"jsonrpc":"2.0","id":7,' + HUGE + "}", 7),
        ('{ "id" : 7 , ' + HUGE + "}", 7),
        ("{" + HUGE + ',"jsonrpc":"2.0","id":7}', 7),
        ("{" + HUGE + ', "id": 7, "jsonrpc": "2.0"}', 7),
        ('{"id":"seven",' + HUGE + "}", None),
        ('{"jsonrpc":"2.0","method":"notifications/message","params":{"id":1,' + HUGE + "}}", None),
        ("x" * (LINE_LIMIT + 1), None),
    ],
)
def test_who_waits_for_an_answer_that_is_too_long_is_known(line: str, number: int | None) -> None:
    (cut,) = Lines().feed(line.encode() + b"\n")
    found = message(cut)
    assert isinstance(found, Refusal)
    assert found.id == number


def test_a_long_answer_is_text_before_it_is_parsed() -> None:
    result = {"content": [text("a" * 100_000), PICTURE, text("b" * 100_000)], "isError": True}
    line = json.dumps({"jsonrpc": "2.0", "id": "x", "result": result}).encode()
    found = message(line)
    assert isinstance(found, bytes)
    parsed = msgspec.json.decode(found)
    assert parsed["id"] == "x"
    assert parsed["result"]["isError"] is True
    assert parsed["result"]["content"] == [text("a" * 100_000 + "\n[image image/png, 3 bytes]\n" + "b" * 100_000)]


def test_other_messages_are_kept_as_they_are_up_to_a_limit() -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": ["x" * 200_000]}}).encode()
    assert message(line) == line
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": ["x" * PLAIN_LIMIT]}}).encode()
    assert message(line) == Refusal("a message of more than 1 MiB", 1)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"x": "x" * PLAIN_LIMIT}}).encode()
    assert message(line) == Refusal("a message of more than 1 MiB", None)


@pytest.mark.parametrize("line", [b"hello", b"[1]", b"12", b'"x"', b"null", b"\xff\xfe"])
def test_what_is_no_object_is_no_message(line: bytes) -> None:
    assert message(line) == Refusal("no JSON object")


def test_what_is_no_unicode_is_replaced() -> None:
    assert mended(b'{"a":"\\ud800b\xff"}') == '{"a": "?b\ufffd"}'.encode()
    assert mended(b'{"a":') is None
    assert mended(b'{"a":' + b"[" * 100_000) is None


def test_many_small_values_do_not_hold_the_interpreter() -> None:
    """Parsing them would take a second at a time, in which no key is heard."""
    data = {"content": [], "structuredContent": {"a": [[1]] * (LINE_LIMIT // 7)}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": data}).encode()
    assert LINE_LIMIT // 2 < len(line) < LINE_LIMIT

    def seconds(work: Any) -> float:
        before = time.perf_counter()
        work()
        return time.perf_counter() - before

    assert min(seconds(lambda: message(line)) for _ in range(3)) < seconds(lambda: json.loads(line)) * 2
