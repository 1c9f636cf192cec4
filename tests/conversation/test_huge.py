"""Huge events: the same values as in one call, piece by piece."""

import json
import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation import events, huge
from jp.conversation.events import ChatRequest, ChatResponse, ToolCallRequest, ToolCallResponse, Unknown
from jp.conversation.stream import Stream

T = "2026-05-29 19:42:36.46732"
PIECES = ["a", "é", "☃", "😀", "\n", '"', "\\", "\x07", " text ", '\\"', "\x00long:0"]


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huge, "_LONG", 30)
    monkeypatch.setattr(huge, "_PIECE", 16)


TEXT = st.lists(st.sampled_from(PIECES), min_size=40, max_size=80).map("".join)


@given(TEXT, st.booleans(), st.integers(2, 40))
def test_the_same_as_in_one_call(text: str, ascii_only: bool, piece: int) -> None:
    for event in (
        ChatRequest(timestamp=T, content=text),
        ChatResponse(timestamp=T, data={"deep": [text, {"k": text}]}),
        ToolCallResponse(timestamp=T, id="1", content=text),
        ToolCallRequest(timestamp=T, id="1", name="n", arguments={"a": [{"b": text}], "c": 1}),
    ):
        fields = json.loads(events.encode(event))
        raw = json.dumps(fields, indent=2, ensure_ascii=ascii_only).encode()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(huge, "_LONG", 30)
            patch.setattr(huge, "_PIECE", piece)
            data = b"[\n  " + raw + b"\n]"
            assert huge.decode(data, 4, 4 + len(raw), event.type) == event
            assert huge.read_head(data, 4, 4 + len(raw)).type == event.type


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("more", [b'"type":"future"', b'"type":"chat_request"'])
def test_one_that_is_unknown_stays_what_it_is(more: bytes) -> None:
    raw = b'{"timestamp":"",' + more + b',"text":"' + b"x" * 50 + b'"}'
    event = huge.decode(b"[" + raw + b"]", 1, 1 + len(raw), events.read_head(raw).type)
    assert isinstance(event, Unknown)
    assert event.raw == raw


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"chat_request","content":"' + b"x" * 50,
        b'{"type":"chat_request","content":"' + b"x" * 50 + b"\\",
        b'{"type":"chat_request","content":"' + b"x" * 50 + b'\\"}',
        b'{"type":"chat_request","content":"' + b"x" * 50 + b'"',
    ],
)
def test_a_damaged_one_is_an_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        huge.read_head(raw, 0, len(raw))


@pytest.mark.usefixtures("small_limits")
def test_text_that_is_none_is_kept_as_it_is() -> None:
    for inside in (b"\\q" * 20, b"\xff\xfe" * 20, b"\n" * 40, b"\\ud800" * 20):
        raw = b'{"type":"chat_request","timestamp":"t","content":"' + inside + b'"}'
        event = huge.decode(raw, 0, len(raw), "chat_request")
        assert isinstance(event, Unknown)
        assert event.raw == raw


@pytest.mark.slow
def test_no_other_thread_stands_still() -> None:
    random.seed(1)
    text = "".join(random.choice(PIECES) for _ in range(100_000)) * 60
    source = Stream()
    for event in (ChatRequest(timestamp=T, content=text), ChatResponse(timestamp=T, message='\\"' * 4_000_000)):
        source.append(event)
    data = b"".join(source.document())
    assert len(data) > 3 * huge.LIMIT
    gaps: list[float] = []
    done = threading.Event()

    def tick() -> None:
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    found = Stream(data)
    first, second = found.event(0), found.event(1)
    done.set()
    ticker.join()
    assert isinstance(first, ChatRequest)
    assert first.content == text
    assert isinstance(second, ChatResponse)
    # The benchmark holds the real limit; a loaded machine alone can take longer than that.
    assert max(gaps) < 1.0
