"""Small models and the places they come from: wheels in a directory, a package index and a hub on loopback."""

import hashlib
import http.server
import random
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from jp.llm.embedded.catalogue import Hub, Model, Packages
from jp.llm.embedded.pieces import Piece


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def noise(size: int, seed: int = 1) -> bytes:
    """Bytes that don't compress, the same each time."""
    return random.Random(seed).randbytes(size)


def build_wheel(directory: Path, package: str, member: str, data: bytes) -> Path:
    """A valid wheel of `package` 1.0 that holds `data` as `member`."""
    directory.mkdir(parents=True, exist_ok=True)
    module = package.replace("-", "_")
    path = directory / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{module}/__init__.py", "raise SystemExit('code of a package was run')\n")
        archive.writestr(member, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def build_model(directory: Path, pieces: Sequence[bytes], *, hub: str | None = None, name: str = "toy") -> Model:
    """A model whose pieces are `pieces`, with its wheels in `directory`; `hub` is a URL that is tried first."""
    rows = []
    for number, data in enumerate(pieces, 1):
        package = f"toy-model-part{number}"
        member = f"toy_model_part{number}/data/part{number:02d}.bin"
        path = build_wheel(directory, package, member, data)
        wheel = path.read_bytes()
        rows.append(Piece(package, "1.0", len(wheel), sha256(wheel), member, len(data), sha256(data)))
    whole = b"".join(pieces)
    return Model(
        name=name,
        aliases=(),
        title="Toy",
        summary="a toy",
        licence="Apache-2.0",
        size=len(whole),
        sha256=sha256(whole),
        pieces=tuple(rows),
        sources=(Hub(hub), Packages()) if hub else (Packages(),),
        memory=1_000_000,
        context=64,
        trained_context=64,
        answer=16,
    )


class Server:
    """An HTTP server on loopback; `handle(request)` answers each GET on a thread of its own. A context manager."""

    def __init__(self, handle: "Callable[[http.server.BaseHTTPRequestHandler], None]") -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.close_connection = True
                handle(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def answer(
    request: http.server.BaseHTTPRequestHandler,
    body: bytes,
    *,
    status: int = 200,
    length: int | None = None,
    content_type: str = "application/octet-stream",
) -> None:
    """Send one answer; a `length` greater than the body is a connection that is cut."""
    request.send_response(status)
    request.send_header("Content-Length", str(len(body) if length is None else length))
    request.send_header("Content-Type", content_type)
    request.send_header("Connection", "close")
    request.end_headers()
    try:
        request.wfile.write(body)
    except OSError:
        pass


class Index:
    """A package index over the wheels of a directory. `fault(name, count)` may answer other bytes for a wheel.

    `count` is how often that wheel was asked for, from 1; `asked` is the wheels asked for, in order.
    """

    def __init__(self, directory: Path, fault: "Callable[[str, int], bytes | None] | None" = None) -> None:
        self._directory = directory
        self._fault = fault or (lambda name, count: None)
        self.asked: list[str] = []

    def __call__(self, request: http.server.BaseHTTPRequestHandler) -> None:
        parts = request.path.strip("/").split("/")
        if parts[0] == "simple":
            module = parts[1].replace("-", "_")
            names = sorted(p.name for p in self._directory.glob(f"{module}-*.whl"))
            page = "".join(f'<a href="/files/{name}">{name}</a>' for name in names)
            answer(request, f"<!DOCTYPE html><html><body>{page}</body></html>".encode(), content_type="text/html")
            return
        name = parts[1]
        self.asked.append(name)
        wrong = self._fault(name, self.asked.count(name))
        answer(request, (self._directory / name).read_bytes() if wrong is None else wrong)


class FileHub:
    """A hub that serves `data` by ranges. `cut_after` is the bytes of an answer after which it hangs up, one an answer.

    `ranges` is what was asked for, in order.
    """

    def __init__(self, data: bytes, *, cut_after: Sequence[int] = (), by_ranges: bool = True) -> None:
        self._data = data
        self._cuts = list(cut_after)
        self._by_ranges = by_ranges
        self.ranges: list[str | None] = []

    def __call__(self, request: http.server.BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self._by_ranges else 0
        rest = self._data[start:]
        sent = rest[: self._cuts.pop(0)] if self._cuts else rest
        answer(request, sent, status=206 if wanted and self._by_ranges else 200, length=len(rest))
