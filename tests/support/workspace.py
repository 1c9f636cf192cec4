"""A workspace whose model is a scripted server, for tests of the whole program; a conftest imports its fixtures."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Jp, Result
from tests.wire.model_server import ModelServer, Reply

CONFIG = """\
[assistant.model]
id = "llamacpp/test"

[providers.llm.llamacpp]
base_url = "{url}"

[conversation.title.generate]
auto = false

[assistant.request]
base_backoff_ms = 20
max_backoff_secs = 1

[style.streaming.progress]
delay_secs = 0
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model server that answers with a greeting; `then(...)` scripts it."""
    from tests.wire.model_server import text

    with ModelServer(text("Hello from the test model.")) as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path, server: ModelServer) -> Path:
    """A workspace that asks `server`."""
    root = tmp_path / "project"
    (root / ".jp").mkdir(parents=True)
    (root / ".jp" / ".id").write_text("# test\nabcde\n")
    (root / ".jp" / "config.toml").write_text(CONFIG.format(url=server.base_url))
    return root


Ask = Callable[..., Result]


@pytest.fixture
def ask(jp: Jp, workspace: Path, server: ModelServer) -> Ask:
    """`jp …` in the workspace; `replies` script the server first."""

    def run(
        *args: str, replies: tuple[Reply, ...] = (), env: Mapping[str, str | None] | None = None, **options: Any
    ) -> Result:
        if replies:
            server.then(*replies)
        return jp(*args, env={"JP_SESSION": "test", **(env or {})}, cwd=workspace, **options)

    return run


def events(workspace: Path) -> list[dict[str, Any]]:
    """The events of the only conversation of the workspace."""
    (folder,) = (workspace / ".jp" / "conversations").iterdir()
    found: list[dict[str, Any]] = json.loads((folder / "events.json").read_text())
    return found


def messages(workspace: Path) -> list[str]:
    """The messages of the model in it."""
    return [e["message"] for e in events(workspace) if e["type"] == "chat_response" and "message" in e]
