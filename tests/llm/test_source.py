"""The reader: everything that arrived, then exactly one end, whatever the server does."""

from __future__ import annotations

import gzip
import json
import socket
from queue import SimpleQueue

import pytest

from jp.llm import errors as e
from jp.llm import source
from jp.llm.events import Finish, Message, Usage
from jp.llm.provider import Request
from jp.llm.wire import READ_SIZE
from tests.llm.receiving import Receiver
from tests.wire.model_server import ModelServer, endless, html, raw, silent, status, text
from tests.wire.raw_server import AT_ONCE, HANG, RESET, SSE_HEAD, Pause, RawServer, Step, chunked, head


def said(content: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {"content": content}}]}).encode() + b"\n\n"


STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
KEPT = said("kept")


def receive(*steps: Step, **options: float) -> Receiver:
    with RawServer([steps]) as server:
        return Receiver(server.base_url, **options).finish()


def test_an_answer() -> None:
    with ModelServer(text("Hello there", reasoning="hm")) as server:
        got = Receiver(server.base_url).finish()
    assert got.error is None
    assert got.text == "hmHello there"
    assert got.stages == ["connecting", "waiting", "receiving"]
    assert Finish("stop") in got.events
    assert Usage(3, 5) in got.events
    (request,) = server.requests
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["content-length"] == "2"
    assert request.headers["accept-encoding"] == "identity"


FAULTS: dict[str, tuple[list[Step], type, str]] = {
    "no answer": ([], e.ConnectionLost, "without an answer"),
    "no answer but a reset": ([RESET], e.ConnectionLost, "reset"),
    "half a head": ([b"HTTP/1.1 200 O"], e.ConnectionLost, "without an answer"),
    "not http": ([b"Wait, this isn't valid HTTP!"], e.BadResponse, "does not speak HTTP"),
    "cut between chunks": ([SSE_HEAD, *chunked(KEPT, end=False)], e.StreamCut, "in the middle of it"),
    "cut in a chunk": ([SSE_HEAD, *chunked(KEPT, end=False), b"40\r\ndata: {"], e.StreamCut, "in the middle"),
    "cut in a word": ([SSE_HEAD, *chunked(KEPT + said("more")[:-12])], e.StreamCut, "before the model was done"),
    "reset": ([SSE_HEAD, *chunked(KEPT, end=False), Pause(0.05), RESET], e.ConnectionLost, "reset"),
    "ended early": ([SSE_HEAD, *chunked(KEPT)], e.StreamCut, "before the model was done"),
    "shorter than said": ([head(content_length="1000"), KEPT], e.StreamCut, "in the middle of it"),
    "until the end": ([head(content_type="text/event-stream"), KEPT], e.StreamCut, "before the model was done"),
    "half a json line": ([SSE_HEAD, *chunked(KEPT, b'data: {"choices":[{"del\n\n')], e.BadResponse, "makes no sense"),
    "bad chunks": ([SSE_HEAD, *chunked(KEPT, end=False), b"zz\r\nhello"], e.BadResponse, "chunked encoding"),
    "an error inside": (
        [SSE_HEAD, *chunked(KEPT, b'data: {"error":{"code":529,"message":"too much"}}\n\n')],
        e.Overloaded,
        "too much",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    steps, kind, words = FAULTS[name]
    got = receive(*steps)
    assert type(got.error) is kind
    assert words in got.error.message  # type: ignore[attr-defined]
    assert "127.0.0.1" in got.error.message  # type: ignore[attr-defined]
    assert got.text == ("kept" if any(isinstance(step, bytes) and KEPT in step for step in steps) else "")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, e.HttpError),
        (401, e.Unauthorized),
        (404, e.NotFound),
        (429, e.RateLimited),
        (500, e.HttpError),
        (503, e.Overloaded),
        (529, e.Overloaded),
    ],
)
def test_statuses(code: int, kind: type) -> None:
    with ModelServer(status(code, message="because", headers={"retry-after": "3"})) as server:
        got = Receiver(server.base_url).finish()
    assert type(got.error) is kind
    assert isinstance(got.error, e.HttpError)
    assert got.error.message.endswith(": because")
    assert got.error.retry_after == 3


@pytest.mark.parametrize("code", [200, 502])
def test_a_web_page(code: int) -> None:
    with ModelServer(html() if code == 200 else status(502, body="<html><title>Bad Gateway</title></html>")) as server:
        got = Receiver(server.base_url).finish()
    assert isinstance(got.error, e.BadResponse if code == 200 else e.HttpError)
    assert ("Sign in" if code == 200 else "Bad Gateway") in got.error.message


def test_an_error_body_that_is_cut_off_is_still_an_error_of_that_status() -> None:
    got = receive(head("500 Oops", content_length="100"), b'{"error"')
    assert isinstance(got.error, e.HttpError)
    assert got.error.status_code == 500


def test_nothing_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        got = Receiver(f"http://127.0.0.1:{free.getsockname()[1]}").finish()
    assert isinstance(got.error, e.ConnectionRefused)
    assert got.error.hints


def test_silence_ends_after_the_idle_time() -> None:
    with ModelServer(silent(after="kept")) as server:
        got = Receiver(server.base_url, idle_secs=0.2).finish()
    assert isinstance(got.error, e.Timeout)
    assert "0.2 s" in got.error.message
    assert got.text == "kept"


def test_silence_before_the_head_ends_too_but_later_for_servers_that_need_it() -> None:
    with ModelServer(silent(head=False)) as server:
        got = Receiver(server.base_url, idle_secs=0.1, patience=3).finish()
    assert isinstance(got.error, e.Timeout)
    assert "0.3 s" in got.error.message


def test_signs_of_life_alone_are_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "KEEPALIVE_PATIENCE", 0.02)
    comments = [step for _ in range(1000) for step in (b"4\r\n: x\n\r\n", Pause(0.02))]
    got = receive(SSE_HEAD, *chunked(KEPT, end=False), *comments, idle_secs=10)
    assert isinstance(got.error, e.Timeout)
    assert "signs of life" in got.error.message
    assert got.text == "kept"


def test_a_pause_that_signs_of_life_bridge() -> None:
    comments = [step for _ in range(5) for step in (b"4\r\n: x\n\r\n", Pause(0.1))]
    got = receive(SSE_HEAD, *comments, *chunked(KEPT, STOP, DONE), idle_secs=0.4)
    assert got.error is None
    assert got.text == "kept"


def test_a_storm_of_comments() -> None:
    with ModelServer(raw(*([": storm\n" * 8000] * 40))) as server:
        got = Receiver(server.base_url).finish()
    assert isinstance(got.error, e.BadResponse)
    assert "comments without end" in got.error.message


def test_an_endless_answer_ends_at_the_limit_and_is_kept() -> None:
    with ModelServer(endless("and so on ")) as server:
        got = Receiver(server.base_url, max_response_bytes=5000).finish()
    assert isinstance(got.error, e.TooLarge)
    assert "max_response_bytes" in got.error.hints[0]
    assert 5000 < len(got.text) < 5000 + 2 * READ_SIZE
    assert got.text.startswith("and so on and so on")


def test_a_stream_that_says_nothing_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_SILENT_BYTES", 100_000)
    with ModelServer(endless("")) as server:
        got = Receiver(server.base_url).finish()
    assert isinstance(got.error, e.TooLarge)
    assert "says nothing" in got.error.message


def test_gzip_that_nobody_asked_for() -> None:
    body = gzip.compress(KEPT + STOP + DONE)
    got = receive(head(content_encoding="gzip", content_length=str(len(body))), body)
    assert got.error is None
    assert got.text == "kept"


def test_gzip_that_is_none() -> None:
    got = receive(head(content_encoding="gzip", content_length="5"), b"hello")
    assert isinstance(got.error, e.BadResponse)
    assert "compressed" in got.error.message


def test_invalid_utf8_cut_over_chunks() -> None:
    wire = b'data: {"choices":[{"delta":{"content":"a\xe2\x82\xac \xff \xf0\x9f\x98\x8a"}}]}\n\n'
    got = receive(SSE_HEAD, *chunked(*(bytes([byte]) for byte in wire), STOP, DONE))
    assert got.error is None
    assert got.text == "a\u20ac \ufffd \U0001f60a"


@pytest.mark.parametrize("end", [HANG, RESET])
def test_once_the_model_is_done_nothing_can_spoil_its_answer(end: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "AFTER_FINISH_SECS", 0.1)
    got = receive(SSE_HEAD, *chunked(KEPT, STOP, end=False), Pause(0.02), end)
    assert got.error is None
    assert got.text == "kept"


def test_nonsense_after_the_end_does_not_spoil_it_either() -> None:
    got = receive(SSE_HEAD, *chunked(KEPT, STOP, b"data: nonsense\n\n"))
    assert got.error is None
    assert got.text == "kept"


def test_it_does_not_wait_for_the_close_after_the_end() -> None:
    got = receive(SSE_HEAD, *chunked(KEPT, STOP, DONE, end=False), HANG)
    assert got.error is None


def test_a_slow_consumer_gets_joined_text_and_the_reader_never_stops() -> None:
    with RawServer([[SSE_HEAD, *chunked(*[said("x")] * 5000, STOP, DONE)]]) as server:
        got = Receiver(server.base_url)
        got.until("receiving")
        assert got.thread is not None
        got.thread.join(30)  # nobody takes anything, and it comes to its end
        assert not got.thread.is_alive()
        got.finish()
    assert got.batches <= 2
    assert got.events == [Message("x" * 5000), Finish("stop")]


def test_a_long_request_goes_out_in_pieces() -> None:
    piece = b"x" * 70_000
    with ModelServer(text("ok")) as server:
        got = Receiver(server.base_url, body=[b"[", *[piece] * 40, b"]"]).finish()
        (request,) = server.requests
    assert got.error is None
    assert request.body == b"[" + piece * 40 + b"]"
    assert request.headers["content-length"] == str(len(request.body))


def test_a_server_that_refuses_before_it_has_read_everything() -> None:
    refusal = b'{"error":{"message":"too long"}}'
    answer = head("413 Too Large", content_length=str(len(refusal)), connection="close") + refusal
    got = receive(AT_ONCE, answer, Pause(0.3), body=[b"x" * 1_000_000] * 30)  # type: ignore[arg-type]
    assert isinstance(got.error, e.HttpError | e.ConnectionLost)
    if isinstance(got.error, e.HttpError):
        assert "too long" in got.error.message


def test_a_redirect_within_the_origin_is_followed() -> None:
    moved = head("307 Moved", location="/v2/chat", content_length="0")
    with RawServer([[moved], [SSE_HEAD, *chunked(KEPT, STOP, DONE)]]) as server:
        got = Receiver(server.base_url).finish()
        assert [request.path for request in server.requests] == ["/v1/chat/completions", "/v2/chat"]
        assert server.requests[1].body == b"{}"
    assert got.error is None
    assert got.text == "kept"


@pytest.mark.parametrize("location", ["http://other.example/v1", "https://127.0.0.1/v1", "http://127.0.0.1:1/v1"])
def test_a_redirect_elsewhere_is_refused(location: str) -> None:
    got = receive(head("307 Moved", location=location, content_length="0"))
    assert isinstance(got.error, e.Redirected)
    assert "key" in got.error.message
    assert "base_url" in got.error.hints[0]


def test_a_redirect_that_would_turn_the_request_into_another_is_refused() -> None:
    with RawServer([[head("302 Found", location="/login", content_length="0")]]) as server:
        got = Receiver(server.base_url).finish()
        assert len(server.requests) == 1
    assert isinstance(got.error, e.Redirected)


def test_redirects_in_circles() -> None:
    got = receive(head("308 Moved", location="/again", content_length="0"))
    assert isinstance(got.error, e.Redirected)
    assert "circles" in got.error.message


def test_a_fault_inside_is_an_end_too() -> None:
    class Broken:
        error = None
        finished = done = False

        def feed(self, data: bytes) -> list[object]:
            raise ZeroDivisionError("oops")

        def close(self) -> list[object]:
            return []

    inbox: SimpleQueue[object] = SimpleQueue()
    with ModelServer(text()) as server:
        request = Request("POST", f"{server.base_url}/v1/chat/completions")
        source.Source(request, Broken(), inbox.put, environ={}).start()  # type: ignore[arg-type]
        while not isinstance(posted := inbox.get(timeout=30), source.Done):
            pass
    assert posted.error is not None
    assert "ZeroDivisionError: oops" in str(posted.error)
