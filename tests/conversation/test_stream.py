"""Streams: old bytes stay, whatever their layout; new events come behind them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation import events, stream, turns
from jp.conversation.events import ChatRequest, ChatResponse, TurnStart, Unknown
from jp.conversation.stream import NotEventsError, Stream

T = "2026-05-29 19:42:36.46732"

LAYOUTS = {
    "pretty": lambda value: json.dumps(value, indent=2).encode(),
    "pretty with newline": lambda value: json.dumps(value, indent=2).encode() + b"\n",
    "compact": lambda value: json.dumps(value, separators=(",", ":")).encode(),
    "one space": lambda value: json.dumps(value, indent=1).encode(),
    "tabs": lambda value: json.dumps(value, indent="\t").encode(),
    "crlf": lambda value: json.dumps(value, indent=2).replace("\n", "\r\n").encode(),
    "a line each": lambda value: b"[\n" + b" ,\n".join(json.dumps(one).encode() for one in value) + b"\n]",
}

SOME = [
    {"type": "turn_start", "timestamp": T},
    {"type": "chat_request", "timestamp": T, "content": '],[ \n  },\n  { \\" ☃'},
    {"type": "future", "nested": [{"a": [{}, {"b": "}"}]}, {}, []]},
    {"type": "chat_response", "timestamp": T, "message": "m", "unknown": {"x": 1}},
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("large", [False, True])
def test_every_layout_is_cut_into_its_events(layout: str, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(stream, "_ONE_CALL", 0)
        monkeypatch.setattr(stream, "_WINDOW", 16)
    data = LAYOUTS[layout](SOME)
    found = Stream(data)
    assert len(found) == len(SOME)
    assert [json.loads(bytes(found.raw(i))) for i in range(len(found))] == SOME
    assert [found.type(i) for i in range(len(found))] == [one["type"] for one in SOME]
    assert b"".join(found.document()) == data


@pytest.mark.parametrize("layout", LAYOUTS)
def test_appending_leaves_every_old_byte(layout: str) -> None:
    data = LAYOUTS[layout](SOME)
    found = Stream(data)
    found.append(ChatRequest(timestamp=T, content="new\nlines"))
    after = b"".join(found.document())
    old = data[: found.prefix_length]
    assert after.startswith(old)
    assert after.endswith(data[found.prefix_length :])
    assert json.loads(after)[:-1] == SOME
    assert json.loads(after)[-1] == {"timestamp": T, "type": "chat_request", "content": "new\nlines"}
    again = Stream(after)
    assert [bytes(again.raw(i)) for i in range(len(SOME))] == [bytes(Stream(data).raw(i)) for i in range(len(SOME))]


def test_appended_as_the_original_would_have_written_it(data_dir: Path) -> None:
    for path in sorted((data_dir / "workspace/.jp/conversations").glob("*/events.json")):
        data = path.read_bytes()
        found = Stream(data)
        last = bytes(found.raw(len(found) - 1))
        without = Stream(data[: data.index(last)].rstrip().rstrip(b",") + data[found.prefix_length :])
        assert len(without) == len(found) - 1
        without.append_raw(last.replace(b"\n  ", b"\n"))
        assert b"".join(without.document()) == data


def test_a_new_document_looks_like_the_original() -> None:
    found = Stream()
    assert b"".join(found.document()) == b"[]"
    found.append(TurnStart(timestamp=T))
    found.append(ChatRequest(timestamp=T, content="x"))
    expected = json.dumps(
        [{"timestamp": T, "type": "turn_start"}, {"timestamp": T, "type": "chat_request", "content": "x"}], indent=2
    )
    assert b"".join(found.document()) == expected.encode() + b"\n"


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[", b'[{"a":1},]', b"[] x", b'[{"a":1}', b"\x00" * 10, b"[" * 5000, b'[{"a": tru}]']
)
@pytest.mark.parametrize("large", [False, True])
def test_what_is_no_array_of_events(data: bytes, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(stream, "_ONE_CALL", -1)
    with pytest.raises(NotEventsError):
        Stream(data)


def test_a_damaged_event_in_a_large_file_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_ONE_CALL", 0)
    with pytest.raises(NotEventsError, match="malformed"):
        Stream(b'[\n  {\n    "type": "a"\n  },\n  {\n    "type": b\n  }\n]')


def test_events_of_a_type_and_in_a_range() -> None:
    found = Stream(LAYOUTS["compact"](SOME))
    assert [one.type for one in found.events("turn_start", "chat_response")] == ["turn_start", "chat_response"]
    assert [one.type for one in found.events(start=1, stop=3)] == ["chat_request", "future"]
    assert isinstance(found.event(2), Unknown)
    response = found.event(3)
    assert isinstance(response, ChatResponse)
    assert response.message == "m"


def test_only_what_was_appended_can_be_dropped() -> None:
    found = Stream(LAYOUTS["compact"](SOME))
    found.append(TurnStart(timestamp=T))
    found.append(TurnStart(timestamp=T))
    found.truncate(5)
    assert len(found) == 5
    found.truncate(4)
    assert b"".join(found.document()) == LAYOUTS["compact"](SOME)
    with pytest.raises(ValueError, match="appended"):
        found.truncate(3)


EVENT = st.builds(
    lambda kind, text: {"type": kind, "content": text, "more": [{"x": text}]},
    st.sampled_from(["chat_request", "chat_response", "other"]),
    st.text(alphabet=st.characters(exclude_categories=("Cs",))),
)


@given(st.lists(EVENT, max_size=5), st.lists(EVENT, max_size=3), st.sampled_from(sorted(LAYOUTS)))
def test_any_events_in_any_layout_survive_a_rewrite(old: list, new: list, layout: str) -> None:
    data = LAYOUTS[layout](old)
    found = Stream(data)
    for one in new:
        found.append_raw(json.dumps(one, indent=2, ensure_ascii=False).encode())
    after = b"".join(found.document())
    assert json.loads(after) == old + new
    assert after[: found.prefix_length] == data[: found.prefix_length]


def test_turns_begin_at_their_start() -> None:
    kinds = ["config_delta", "turn_start", "chat_request", "chat_response", "turn_start", "chat_request"]
    found = Stream(json.dumps([{"type": kind} for kind in kinds]).encode())
    assert turns.turns(found) == [range(1, 4), range(4, 6)]
    assert turns.numbers(found) == [0, 0, 0, 0, 1, 1]


def test_the_oldest_turns_begin_with_the_request() -> None:
    kinds = ["config_delta", "chat_request", "chat_response", "chat_request"]
    found = Stream(json.dumps([{"type": kind} for kind in kinds]).encode())
    assert turns.turns(found) == [range(1, 3), range(3, 4)]
    assert turns.numbers(found) == [0, 0, 0, 1]
    assert turns.turns(Stream()) == []
    assert turns.numbers(Stream(b'[{"type":"config_delta"}]')) == [0]


def test_events_are_decoded_each_time_and_not_remembered() -> None:
    found = Stream(LAYOUTS["compact"](SOME))
    assert found.event(1) == found.event(1)
    assert found.event(1) is not found.event(1)
    assert events.encode(found.event(2)) == bytes(found.raw(2))
