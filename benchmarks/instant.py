"""A model that answers at once, in chat completions or in the Responses API, whichever it is asked in.

    python -m benchmarks.instant --log FILE [--answer FILE] [--piece CHARACTERS]
    python -m benchmarks.instant --log FILE --stamps N [--per-second N] [--think MS] [--lines]

Prints its port; serves until its stdin ends. Appends one JSON line a POST to the log: {"first_ns", "at_ns", "path",
"size"}: when the first bytes of the request came, when all of it had, and how long its body was. Times are by the
monotonic clock, which is one clock for all processes of the machine.

With `--stamps` the answer is N pieces at an even rate, each `[<monotonic ns when it was sent>]`, after a pause.

`tests/wire/model_server.py` can be scripted; this one does nothing that could take time, so that what is measured is
the client: a request of 100 MB is counted and dropped, and an answer is encoded before the first request comes.
"""

import argparse
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ANSWER = "Hello from the instant server."


@dataclass(frozen=True)
class Answers:
    """The bodies of the answers, encoded, and the file in which requests are noted."""

    chat: bytes
    responses: bytes
    log: int
    drip: "Drip | None"


@dataclass(frozen=True)
class Drip:
    """An answer of stamps: how many, how many a second, after how many seconds, each a line or a word."""

    stamps: int
    per_second: float
    think: float
    end: str


def main() -> None:
    """Serve until the parent is gone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", required=True)
    parser.add_argument("--answer", help="a file with the text of the answer")
    parser.add_argument("--piece", type=int, default=24, help="characters an event")
    parser.add_argument("--stamps", type=int, default=0, help="answer with this many stamps")
    parser.add_argument("--per-second", type=float, default=200)
    parser.add_argument("--think", type=float, default=0, help="milliseconds before the first")
    parser.add_argument("--lines", action="store_true", help="a line a stamp, not a word")
    options = parser.parse_args()
    drip = Drip(options.stamps, options.per_second, options.think / 1000, "\n" if options.lines else " ")
    answer = ANSWER
    if options.answer:
        with open(options.answer, encoding="utf-8") as file:
            answer = file.read()
    log = os.open(options.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    answers = Answers(
        b"".join(chat(answer, options.piece)), b"".join(responses(answer)), log, drip if options.stamps else None
    )
    sys.setswitchinterval(0.0005)
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=serve, args=(listener, answers), daemon=True).start()
    sys.stdin.read()


def serve(listener: socket.socket, answers: Answers) -> None:
    """Accept, a thread a connection."""
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=converse, args=(connection, answers), daemon=True).start()


def converse(connection: socket.socket, answers: Answers) -> None:
    """Answer the requests of one connection, one after the other."""
    with connection:
        try:
            while answer_one(connection, answers):
                pass
        except OSError:
            pass


def answer_one(connection: socket.socket, answers: Answers) -> bool:
    """Read one request and answer it; False when the client is gone."""
    head, first = b"", 0
    while b"\r\n\r\n" not in head:
        data = connection.recv(65536)
        if not data:
            return False
        first = first or time.monotonic_ns()
        head += data
    head, _, body = head.partition(b"\r\n\r\n")
    size, got = content_length(head), len(body)
    if b"100-continue" in head.lower():
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    room = bytearray(1 << 20)
    while got < size:
        count = connection.recv_into(room)
        if not count:
            return False
        got += count
    now = time.monotonic_ns()
    method, path, _ = head.split(b" ", 2)
    if method != b"POST":
        send(connection, b"application/json", b'{"object": "list", "data": [], "models": []}')
        return True
    line = {"first_ns": first, "at_ns": now, "path": path.decode("latin-1"), "size": size}
    os.write(answers.log, json.dumps(line).encode() + b"\n")
    if answers.drip is not None:
        return send_stamps(connection, answers.drip)
    send(connection, b"text/event-stream", answers.responses if b"responses" in path else answers.chat)
    return True


def content_length(head: bytes) -> int:
    """The length of the body that the head promises."""
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def send(connection: socket.socket, kind: bytes, body: bytes) -> None:
    """Send one whole answer."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(body))
    connection.sendall(head + body)


def send_stamps(connection: socket.socket, drip: Drip) -> bool:
    """Send an answer of stamps, each when it is due; its length is told by the end of the connection."""
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
    begin = time.monotonic() + drip.think
    for number in range(drip.stamps):
        time.sleep(max(0.0, begin + number / drip.per_second - time.monotonic()))
        connection.sendall(chat_delta({"content": f"[{time.monotonic_ns()}]{drip.end}"}))
    connection.sendall(b"".join(chat_end()))
    return False


def chat(answer: str, piece: int) -> Iterator[bytes]:
    """The events of chat completions, an event every `piece` characters."""
    for at in range(0, len(answer), piece):
        yield chat_delta({"content": answer[at : at + piece]})
    yield from chat_end()


def chat_delta(delta: dict[str, str], finish: str | None = None) -> bytes:
    """One event of chat completions."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _data({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "test", "choices": [choice]})


def chat_end() -> Iterator[bytes]:
    """The reason, the usage, the end."""
    yield chat_delta({}, "stop")
    yield _data({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}})
    yield b"data: [DONE]\n\n"


def responses(answer: str) -> Iterator[bytes]:
    """The events of the Responses API, the answer in one."""
    content = [{"type": "output_text", "text": answer, "annotations": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    usage = {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 8,
    }
    shell: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    begun = {**item, "status": "in_progress", "content": []}
    delta = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": answer}
    done = {**shell, "status": "completed", "output": [item], "usage": usage}
    yield _event("response.created", {"response": shell})
    yield _event("response.output_item.added", {"output_index": 0, "item": begun})
    yield _event("response.output_text.delta", delta)
    yield _event("response.output_item.done", {"output_index": 0, "item": item})
    yield _event("response.completed", {"response": done})


def _event(kind: str, fields: dict[str, Any]) -> bytes:
    return f"event: {kind}\n".encode() + _data({"type": kind, **fields})


def _data(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


if __name__ == "__main__":
    main()
