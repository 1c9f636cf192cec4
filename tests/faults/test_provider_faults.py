"""Every way in which a provider can fail, for the whole program: a readable error, exit 1, all that arrived stored."""

import json
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.workspace import Ask, events, messages
from tests.wire.model_server import ModelServer, endless, html, raw, silent, status, text

FEW = ("-c", "assistant.request.max_retries=1", "-c", "assistant.request.base_backoff_ms=10")


def delta(content: str) -> str:
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": content}}]}) + "\n\n"


def failed(done, *fragments: str) -> None:
    assert done.status == "exited 1"
    assert "Traceback" not in done.stderr
    for fragment in fragments:
        assert fragment in done.stderr


@pytest.mark.parametrize(
    ("code", "fragments"),
    [
        (400, ("400",)),
        (401, ("401", "key")),
        (403, ("403",)),
        (404, ("404",)),
        (422, ("422",)),
        (429, ("429",)),
        (500, ("500",)),
        (529, ("529",)),
    ],
)
def test_a_refusal_is_readable(ask: Ask, workspace: Path, server: ModelServer, code, fragments):
    done = ask("q", *FEW, "hi", replies=(status(code, message="because of the test"),))
    failed(done, *fragments, "because of the test")
    assert done.stdout == ""
    assert [e["type"] for e in events(workspace)] == ["turn_start", "chat_request"]
    tries = len(server.requests)
    assert tries == (2 if code in (429, 500, 529) else 1)


def test_an_unknown_model_is_named_with_the_nearest(ask: Ask, server: ModelServer):
    done = ask("q", *FEW, "-m", "llamacpp/tset", "hi", replies=(status(404, message="no such model: tset"),))
    failed(done, "tset", "did you mean `llamacpp/test`?")


def test_an_overloaded_provider_is_asked_again_and_answers(ask: Ask, server: ModelServer):
    done = ask("q", "hi", replies=(status(429, headers={"Retry-After": "0"}), status(529), text("Now.")))
    assert (done.stdout, done.status) == ("Now.\n", "exited 0")
    assert len(server.requests) == 3


def test_a_pause_that_the_provider_asks_for_is_kept(ask: Ask):
    began = time.monotonic()
    done = ask("q", "hi", replies=(status(429, headers={"Retry-After": "1"}), text("Now.")))
    assert done.stdout == "Now.\n"
    assert time.monotonic() - began > 1


@pytest.mark.parametrize(
    ("reply", "stored", "fragments"),
    [
        pytest.param(html(), None, ("web page", "base_url"), id="HTML for JSON"),
        pytest.param(raw(delta("Half of it"), 'data: {"choices": [{"ind'), "Half of it", (), id="half a line"),
        pytest.param(text("A long enough answer.", cut=400), "A", (), id="cut off"),
        pytest.param(raw(delta("Half a wo")), "Half a wo", (), id="stops mid-word"),
        pytest.param(raw(delta("Some"), "data: {nonsense}\n\n"), "Some", (), id="no JSON in an event"),
        pytest.param(
            raw(delta("Some"), 'data: {"error": {"message": "the model has melted"}}\n\n'),
            "Some",
            ("the model has melted",),
            id="an error in the stream",
        ),
        pytest.param(raw(""), None, (), id="nothing at all"),
    ],
)
def test_a_broken_answer_keeps_what_came(ask: Ask, workspace: Path, reply, stored, fragments):
    done = ask("q", *FEW, "hi", replies=(reply,))
    failed(done, *fragments)
    if stored is None:
        assert messages(workspace) == []
    else:
        (message,) = messages(workspace)
        assert message.startswith(stored)
        assert done.stdout == message + "\n"


def test_an_answer_that_was_cut_off_is_continued(ask: Ask, workspace: Path, server: ModelServer):
    done = ask("q", "hi", replies=(raw(delta("The quick brown ")), text("brown fox jumps.")))
    assert done.stdout == "The quick brown fox jumps.\n"
    assert messages(workspace) == ["The quick brown fox jumps."]
    sent = server.bodies()[-1]["messages"]
    assert [m["role"] for m in sent[-3:]] == ["user", "assistant", "user"]
    assert sent[-2]["content"] == "The quick brown "


def test_when_retries_end_the_error_says_how_to_go_on(ask: Ask, workspace: Path):
    done = ask("q", *FEW, "hi", replies=(raw(delta("Half")),))
    failed(done, "jp query")
    assert messages(workspace) == ["Half"]


def test_invalid_utf8_cut_over_chunks(ask: Ask, workspace: Path):
    encoded = delta("caf\u00e9 \u65e5\u672c").encode()
    encoded = encoded.replace(b"\\u00e9", "é".encode()).replace(b"\\u65e5\\u672c", "日本".encode())
    pieces = [encoded[i : i + 1] for i in range(len(encoded))]
    done = ask(
        "q",
        "hi",
        replies=(
            raw(
                *pieces,
                b'data: {"choices":[{"index":0,"delta":{"content":" \xff\xfe!"}}]}\n\n',
                b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
                b"data: [DONE]\n\n",
            ),
        ),
    )
    assert done.status == "exited 0"
    assert messages(workspace)[0].startswith("café 日本 ")
    assert messages(workspace)[0].endswith("!")


def test_a_storm_of_comments_is_nothing(ask: Ask):
    storm = [": OPENROUTER PROCESSING\n\n" * 200] * 20
    done = ask(
        "q",
        "hi",
        replies=(
            raw(
                *storm,
                delta("After all."),
                'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
                "data: [DONE]\n\n",
            ),
        ),
    )
    assert done.stdout == "After all.\n"


def test_a_stream_that_never_ends_is_broken_off_at_the_ceiling(ask: Ask, workspace: Path):
    done = ask("q", "-c", "assistant.request.max_response_bytes=5000", "hi", replies=(endless("and so on "),))
    failed(done, "max_response_bytes")
    (message,) = messages(workspace)
    assert 4000 < len(message) < 200_000
    assert done.stdout.rstrip("\n") == message.rstrip("\n")


def test_a_silent_stream_times_out(ask: Ask, workspace: Path):
    done = ask(
        "q",
        *FEW,
        "-c",
        "assistant.request.stream_idle_timeout_secs=1",
        "-c",
        "assistant.request.max_retries=0",
        "hi",
        replies=(silent(after="Wait for it"),),
    )
    failed(done)
    assert messages(workspace) == ["Wait for it"]


def test_nobody_listens(ask: Ask, workspace: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    done = ask("q", *FEW, "-c", f"providers.llm.llamacpp.base_url=http://127.0.0.1:{port}", "hi")
    failed(done, f"127.0.0.1:{port}")
    assert [e["type"] for e in events(workspace)] == ["turn_start", "chat_request"]


@pytest.mark.parametrize(
    ("url", "fragments"),
    [
        ("http://no-such-host.invalid", ("no-such-host.invalid",)),
        ("nonsense", ("base_url",)),
        ("ftp://127.0.0.1", ("base_url",)),
        ("http://127.0.0.1:99999", ("99999",)),
    ],
)
def test_an_address_that_cannot_be(ask: Ask, url, fragments):
    done = ask("q", *FEW, "-c", f"providers.llm.llamacpp.base_url={url}", "hi")
    assert done.status in ("exited 1", "exited 2")
    for fragment in fragments:
        assert fragment in done.stderr


def test_tls_to_a_server_without_it(ask: Ask):
    with _listener(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        failed(ask("q", *FEW, "-c", f"providers.llm.llamacpp.base_url=https://127.0.0.1:{port}", "hi"), "TLS")


def test_a_connection_that_is_reset(ask: Ask):
    def reset(connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with _listener(reset) as port:
        failed(ask("q", *FEW, "-c", f"providers.llm.llamacpp.base_url=http://127.0.0.1:{port}", "hi"))


@contextmanager
def _listener(answer: Callable[[socket.socket], object]) -> Iterator[int]:
    """A server that takes what comes, lets `answer` do its worst, and closes; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def test_an_open_silent_stdin_does_not_hold_a_script_up(workspace: Path, server: ModelServer):
    with subprocess.Popen(
        [*program(), "q", "hi"],
        cwd=workspace,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdin is not None
        assert process.stdout.read() == b"Hello from the test model.\n"
        said = process.stderr.read().decode()
        process.stdin.close()
    assert "waiting for the text on stdin" in said
    assert "going on without it" in said
    assert server.bodies()[-1]["messages"][-1]["content"] == "hi"


def test_stdin_that_has_begun_is_waited_for(workspace: Path, server: ModelServer):
    with subprocess.Popen(
        [*program(), "q", "explain"],
        cwd=workspace,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"first ")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(4.5)  # beyond the moment at which silence would have been given up on
        process.stdin.write(b"second")
        process.stdin.close()
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read()
        process.stderr.read()
    assert server.bodies()[-1]["messages"][-1]["content"] == "explain\n\nfirst second"


@pytest.mark.parametrize(("header", "said"), [('X-A = "a\\nb"', "line break"), ('"X A" = "a"', "no name for a header")])
def test_a_header_that_can_be_none_is_said_and_nothing_sent(ask: Ask, hermetic: Path, server, header, said):
    settings = hermetic / ".config" / "jp" / "config.toml"
    settings.parent.mkdir(parents=True)
    # The address as well: one of the workspace's waits for trust where headers of one's own would go to it.
    settings.write_text(
        f'[providers.llm.llamacpp]\nbase_url = "{server.base_url}"\n[providers.llm.llamacpp.headers]\n{header}\n'
    )
    done = ask("q", *FEW, "hi")
    assert done.status == "exited 1"
    assert said in done.stderr
    assert not server.requests
