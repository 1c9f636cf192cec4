"""A workspace of its own for every test, with a clock that the test moves."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jp.conversation.events import ChatRequest, ChatResponse, TurnStart
from jp.storage.conversation import Conversation
from jp.storage.journal import TurnWriter
from jp.storage.store import Store
from jp.storage.workspace import Workspace

T = "2026-05-29 19:42:36.46732"


class Clock:
    """A clock that goes a second further with every look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, 12, 0, 0, 250000, UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty directory."""
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def environ(hermetic: Path) -> dict[str, str]:
    return {"HOME": str(hermetic), "JP_SESSION": "test"}


@pytest.fixture
def workspace(tmp_path: Path, environ: dict[str, str]) -> Workspace:
    root = tmp_path / "project"
    root.mkdir()
    return Workspace.init(str(root), environ)


@pytest.fixture
def store(workspace: Workspace, environ: dict[str, str], clock: Clock) -> Store:
    return Store(workspace, environ, clock)


@pytest.fixture
def make(store: Store) -> Callable[..., Conversation]:
    """Makes conversations with one turn, and lets go of their locks."""

    def made(title: str | None = "A title", *, turns: int = 1, **more) -> Conversation:
        conversation = store.create(title=title, base_config={"assistant": {"name": "x"}}, **more)
        for _ in range(turns):
            turn(conversation)
        if conversation.lock:
            conversation.lock.release()
        return conversation

    return made


def turn(conversation: Conversation, question: str = "q", answer: str = "a") -> None:
    """One whole turn; the conversation's lock is held."""
    writer = TurnWriter.begin(conversation, conversation.lock)
    writer.append(TurnStart(timestamp=T))
    writer.append(ChatRequest(timestamp=T, content=question))
    writer.append(ChatResponse(timestamp=T, message=answer))
    writer.fold()


def said(store: Store, conversation_id: str) -> list[str]:
    """Questions and answers of a conversation as it is on disk."""
    out = []
    for event in store.open(conversation_id).stream.events():
        for name in ("content", "message", "reasoning"):
            text = getattr(event, name, None)
            if isinstance(text, str):
                out.append(text)
    return out


def tree(root: str | Path) -> dict[str, bytes]:
    """Every file below `root` with its content; links as what they point to."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            content = os.readlink(path).encode() if os.path.islink(path) else Path(path).read_bytes()
            found[os.path.relpath(path, root)] = content
    return found
