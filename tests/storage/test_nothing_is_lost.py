"""Turns, ends of processes, pulls and damage in any order: every word that was shown is in some conversation."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from jp.conversation.events import ChatRequest, ChatResponse
from jp.conversation.stream import NotEventsError, Stream
from jp.storage import files
from jp.storage.journal import TurnWriter
from jp.storage.lock import Lock
from jp.storage.store import Store
from jp.storage.workspace import Workspace
from tests.storage.conftest import Clock, T, said


class Life(RuleBasedStateMachine):
    """The life of one conversation, its words numbered so that none can stand for another."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        environ = {"HOME": os.path.join(self.folder, "home"), "JP_SESSION": "x"}
        root = os.path.join(self.folder, "project")
        os.mkdir(root)
        self.store = Store(Workspace.init(root, environ), environ, Clock())
        made = self.store.create(title="x")
        assert made.lock
        made.lock.release()
        self.id = made.id
        self.lock: Lock | None = None
        self.writer: TurnWriter | None = None
        self.words: list[str] = []
        self.since_fold: list[str] = []
        self.partial: list[str] = []
        self.damaged = False
        self.n = 0
        # Power cuts are not what this is about, and syncing takes most of the time.
        self.sync, files.sync = files.sync, lambda fd: None

    def word(self) -> str:
        self.n += 1
        return f"<{self.n}>"

    def teardown(self) -> None:
        self.nothing_is_lost()
        files.sync = self.sync
        if self.lock:
            self.lock.release()
        if self.writer:
            self.writer.close()
        shutil.rmtree(self.folder)

    @precondition(lambda self: self.writer is None)
    @rule()
    def begin(self) -> None:
        self.lock = self.store.lock(self.id)
        self.writer = TurnWriter.begin(self.store.open(self.id, self.lock), self.lock)
        self.first, self.before = self.writer.length, (0, 0)

    @precondition(lambda self: self.writer is not None)
    @rule()
    def ask(self) -> None:
        assert self.writer
        word = self.word()
        self.before = (self.writer.length, len(self.since_fold))
        self.writer.append(ChatRequest(timestamp=T, content=word))
        self.since_fold.append(word)

    @precondition(lambda self: self.writer is not None)
    @rule()
    def piece(self) -> None:
        assert self.writer
        word = self.word()
        self.writer.partial("message", word)
        self.partial.append(word)

    @precondition(lambda self: self.writer is not None and self.partial)
    @rule()
    def complete(self) -> None:
        assert self.writer
        self.writer.complete_partial(ChatResponse(timestamp=T, message="".join(self.partial)))
        self.since_fold += self.partial
        self.partial = []

    @precondition(lambda self: self.writer is not None)
    @rule()
    def fold(self) -> None:
        assert self.writer
        self.writer.fold()
        self.damaged = self.damaged and not self.since_fold and not self.partial
        self.words += self.since_fold + self.partial
        self.since_fold, self.partial = [], []
        self.first, self.before = self.writer.length, (0, 0)

    @precondition(lambda self: self.writer is not None)
    @rule(whole=st.booleans())
    def forget(self, whole: bool) -> None:
        """The last question and all behind it, or the whole turn."""
        assert self.writer
        length, words = (self.first, 0) if whole else (max(self.first, self.before[0]), self.before[1])
        self.writer.undo(min(length, self.writer.length))
        self.since_fold, self.partial = self.since_fold[:words], []

    @precondition(lambda self: self.writer is not None)
    @rule(cut=st.integers(0, 30))
    def die(self, cut: int) -> None:
        """The process ends; perhaps in the middle of a line that was not shown yet."""
        assert self.writer
        assert self.lock
        path = self.writer._conversation.journal_path()
        self.writer.close()
        self.lock.release()
        if cut and path and os.path.exists(path):
            with open(path, "ab") as file:
                file.write(b'{"partial":"message","text":"half'[:cut])
        self.writer = self.lock = None
        self.words += self.since_fold + self.partial
        self.since_fold, self.partial = [], []

    @precondition(lambda self: self.writer is None)
    @rule()
    def pull(self) -> None:
        """The project's copy goes on somewhere else."""
        path = Path(self.store.place(self.id).projection or "", "events.json")
        try:
            stream = Stream(path.read_bytes())
        except NotEventsError:
            return
        word = self.word()
        stream.append(ChatRequest(timestamp=T, content=word))
        path.write_bytes(b"".join(stream.document()))
        self.words.append(word)

    @precondition(lambda self: self.writer is None and not self.damaged and not self.ahead())
    @rule(which=st.booleans())
    def damage(self, which: bool) -> None:
        """One copy is destroyed while both say the same."""
        place = self.store.place(self.id)
        Path((place.durable if which else place.projection) or "", "events.json").write_bytes(b"[{")
        self.damaged = True

    def ahead(self) -> bool:
        place = self.store.place(self.id)
        copies = [Path(folder, "events.json").read_bytes() for folder in place.existing]
        return len(set(copies)) > 1 or os.path.exists(os.path.join(place.durable or "", "journal.jsonl"))

    @rule()
    def nothing_is_lost(self) -> None:
        # Looked at as another process would, at copies of the files, so that looking settles nothing.
        other = tempfile.mkdtemp()
        shutil.copytree(self.folder, other, dirs_exist_ok=True)
        environ = {"HOME": os.path.join(other, "home"), "JP_SESSION": "y"}
        store = Store(Workspace.find(os.path.join(other, "project"), environ), environ, Clock())
        store.open(self.id)
        found = ["".join(said(store, one)) for one in store.ids()]
        shutil.rmtree(other)
        for word in self.words + self.since_fold + self.partial:
            assert any(word in text for text in found), f"{word} is lost"
        # And nothing is there twice.
        assert all(text.count(word) <= 1 for text in found for word in self.words)


TestLife = pytest.mark.slow(Life.TestCase)
TestLife.settings = settings(max_examples=25, stateful_step_count=14, deadline=None)
