"""Recorded exchanges with real providers, and a server that plays them back in pieces of any size."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from tests.wire.raw_server import Connection, ThreadedServer, head

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Recording:
    """One request and the raw response to it."""

    method: str
    path: str
    request: Any
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Case:
    """The recordings of one test of the original, and what it stored."""

    provider: str
    name: str
    file: Path

    def __str__(self) -> str:
        return f"{self.provider}-{self.name}"

    def exchanges(self) -> list[Recording]:
        """The exchanges in order."""
        return list(_exchanges(self.file))

    def snapshot(self) -> dict[str, Any]:
        """The conversation that the original stored."""
        text = self.file.with_name(f"{self.file.stem}__conversation_stream.snap").read_text()
        return json.loads(text.split("---\n", 2)[2])

    def stored(self) -> list[dict[str, Any]]:
        """The stored events that came from the model, without their time."""
        kinds = ("chat_response", "tool_call_request")
        events = [event for event in self.snapshot()["events"] if event["type"] in kinds]
        return [{key: value for key, value in event.items() if key != "timestamp"} for event in events]


@cache
def _exchanges(file: Path) -> tuple[Recording, ...]:
    return tuple(_recording(one) for one in yaml.load_all(file.read_bytes(), _LOADER) if one)


def cases(data_dir: Path, provider: str) -> Iterator[Case]:
    """The recorded conversations of a provider."""
    for file in sorted((data_dir / "provider-recordings" / provider).glob("test_*.yml")):
        if file.stem != "test_models":
            yield Case(provider, file.stem.removeprefix("test_"), file)


def models_snapshot(data_dir: Path, provider: str) -> list[dict[str, Any]]:
    """The model list that the original made, its Rust debug output as dictionaries."""
    text = (data_dir / "provider-recordings" / provider / "test_models__models.snap").read_text()
    body = text.split("---\n", 2)[2]
    found: list[dict[str, Any]] = []
    for block in re.split(r"^    ModelDetails \{\n", body, flags=re.MULTILINE)[1:]:
        one: dict[str, Any] = {}
        for key in ("display_name", "context_window", "max_output_tokens", "structured_output", "knowledge_cutoff"):
            value = re.search(rf"^        {key}: Some\(\n\s+(.*?),\n        \)", block, re.MULTILINE)
            one[key] = _rust(value.group(1)) if value else None
        name = re.search(r'name: Name\(\n\s+"(.*?)",\n', block)
        assert name is not None
        one["name"] = name.group(1)
        reasoning = re.search(r"^        reasoning: Some\(\n(.*?)\n        \),", block, re.MULTILINE | re.DOTALL)
        one["unsupported"] = bool(reasoning and reasoning.group(1).strip() == "Unsupported,")
        levels = re.findall(r"(xlow|low|medium|high|xhigh|max): true", reasoning.group(1)) if reasoning else []
        one["levels"] = levels
        found.append(one)
    return found


def _rust(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text.strip('"')


def _recording(one: dict[str, Any]) -> Recording:
    when, then = one["when"], one["then"]
    body = then.get("body")
    if body is None:
        body = then.get("json_body_str", "")
    return Recording(
        when["method"],
        when["path"],
        json.loads(when["json_body_str"]) if "json_body_str" in when else None,
        then["status"],
        {header["name"]: header["value"] for header in then.get("header", [])},
        body.encode(),
    )


def pieces(body: bytes, size: int) -> list[bytes]:
    """The body in pieces of `size` bytes; 0 splits inside every `data:` and every character that can be split."""
    if size:
        return [body[at : at + size] for at in range(0, len(body), size)]
    cuts = {match.start() + 2 for match in re.finditer(rb"data:", body)}
    cuts |= {at for at, byte in enumerate(body) if byte & 0xC0 == 0x80}
    edges = [0, *sorted(cuts), len(body)]
    return [body[a:b] for a, b in pairwise(edges) if a < b]


class ReplayServer(ThreadedServer):
    """Answers with recordings by method and path, in order, each body in pieces as chunks of chunked encoding.

    `size` as in `pieces`. Each piece is a write of its own, so that pieces arrive one by one when they are few.
    """

    def __init__(self, recordings: Sequence[Recording], *, size: int = 0) -> None:
        self._left = list(recordings)
        self._size = size
        super().__init__(self._replay)

    def _replay(self, connection: Connection) -> None:
        request = connection.read_request()
        if request is None:
            return
        self.record(request)
        with self._changed:
            wanted: Callable[[Recording], bool] = lambda one: (one.method, one.path) == (request.method, request.path)
            chosen = next((one for one in self._left if wanted(one)), None)
            if chosen is not None:
                self._left.remove(chosen)
        if chosen is None:
            connection.send(head("404 Not Recorded", content_length="0"))
            return
        headers = {name.replace("-", "_"): value for name, value in chosen.headers.items()}
        connection.send(head(f"{chosen.status} OK", transfer_encoding="chunked", **headers))
        for piece in pieces(chosen.body, self._size):
            connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        connection.send(b"0\r\n\r\n")
