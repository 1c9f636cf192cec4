"""Drafts: what was written is on disk, whatever ends the process, and typing never waits for it."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.ask.draft_writer import DraftWriter
from jp.ask.drafts import Drafts
from tests.terminal_unit.properties import patient

KEY = "query-17800836875"
TEXT = "a question that is not sent yet " * 6


@pytest.fixture
def drafts(tmp_path: Path) -> Drafts:
    return Drafts(str(tmp_path / "user" / "drafts"))


def until(done: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether `done` became true in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


def program(body: str, *args: str) -> subprocess.Popen[bytes]:
    """A process that runs `body` with `sys`, `os`, `time`, `Drafts` and `DraftWriter` at hand."""
    head = "import os, sys, time\nfrom jp.ask.drafts import Drafts\nfrom jp.ask.draft_writer import DraftWriter\n"
    return subprocess.Popen([sys.executable, "-c", head + body, *args], stdout=subprocess.PIPE)


# --- the store of drafts


@pytest.mark.parametrize("write", ["keep", "settle"])
def test_a_draft_is_there_until_it_is_dropped(drafts: Drafts, write: str):
    assert drafts.load(KEY) is None
    getattr(drafts, write)(KEY, TEXT)
    getattr(drafts, write)(KEY, "newer\r\nthan that\n")
    assert drafts.failed is None
    assert drafts.load(KEY) == "newer\r\nthan that\n"
    assert Path(drafts.path(KEY)).read_bytes() == b"newer\r\nthan that\n"
    drafts.drop(KEY)
    assert drafts.load(KEY) is None
    drafts.drop(KEY)
    assert drafts.failed is None
    assert os.listdir(drafts.directory) == []


def test_nobody_else_may_read_them(drafts: Drafts):
    before = os.umask(0o002)
    drafts.keep(KEY, TEXT)
    os.umask(before)
    assert stat.S_IMODE(os.stat(drafts.directory).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(drafts.path(KEY)).st_mode) == 0o600
    assert drafts.path(KEY).endswith(".md")


@patient
@given(text=st.text(st.characters()))
def test_any_text_comes_back_as_it_was(text: str):
    with tempfile.TemporaryDirectory() as folder:
        drafts = Drafts(folder)
        drafts.keep(KEY, text)
        assert drafts.failed is None
        assert drafts.load(KEY) == text


@patient
@given(keys=st.lists(st.one_of(st.text(st.characters()), st.just("a/../b"), st.just("..")), min_size=2, unique=True))
def test_every_key_has_a_file_of_its_own_inside_the_directory(keys: list[str]):
    drafts = Drafts("/folder")
    paths = [drafts.path(key) for key in keys]
    assert len(set(paths)) == len(keys)
    for path in paths:
        folder, name = os.path.split(path)
        assert folder == "/folder"
        assert not name.startswith(".")
        assert len(name) < 128
        assert name.isascii()


def test_a_key_that_is_a_name_is_the_name(drafts: Drafts):
    assert os.path.basename(drafts.path(KEY)) == f"{KEY}.md"
    assert os.path.basename(drafts.path("query-new-pts-3")) == "query-new-pts-3.md"


def test_a_draft_that_cannot_be_read_is_set_aside_and_said(drafts: Drafts):
    drafts.keep(KEY, TEXT)
    Path(drafts.path(KEY)).write_bytes(b"half \xff a draft")
    assert drafts.load(KEY) is None
    assert Path(drafts.path(KEY) + ".aside").read_bytes() == b"half \xff a draft"
    assert "not valid UTF-8" in drafts.notices[0]
    assert ".aside" in drafts.notices[0]


def test_a_link_in_the_place_of_a_draft_is_not_followed(drafts: Drafts, tmp_path: Path):
    drafts.keep(KEY, TEXT)
    target = tmp_path / "other"
    target.write_text("mine")
    os.unlink(drafts.path(KEY))
    os.symlink(target, drafts.path(KEY))
    assert drafts.load(KEY) is None
    drafts.keep(KEY, TEXT)
    assert target.read_text() == "mine"
    assert drafts.load(KEY) == TEXT


def test_a_directory_that_cannot_be_made_is_remembered_not_raised(tmp_path: Path):
    (tmp_path / "file").write_text("")
    drafts = Drafts(str(tmp_path / "file" / "drafts"))
    drafts.keep(KEY, TEXT)
    assert isinstance(drafts.failed, OSError)
    assert drafts.load(KEY) is None


def test_a_directory_that_vanished_is_made_again(drafts: Drafts):
    drafts.keep(KEY, TEXT)
    os.unlink(drafts.path(KEY))
    os.rmdir(drafts.directory)
    drafts.keep(KEY, TEXT)
    assert drafts.failed is not None
    drafts.keep(KEY, TEXT)
    assert drafts.failed is None
    assert drafts.load(KEY) == TEXT


def test_keeping_costs_less_than_a_millisecond(drafts: Drafts):
    drafts.keep(KEY, TEXT)
    took = []
    for number in range(200):
        began = time.perf_counter()
        drafts.keep(KEY, TEXT + str(number))
        took.append(time.perf_counter() - began)
    assert sorted(took)[20] < 0.001, "the fastest tenth: what a busy machine adds is not ours"


FULL = """
import resource
drafts = Drafts(sys.argv[1])
drafts.keep("k", "short")
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
drafts.keep("k", "x" * 100)
assert drafts.failed is not None
assert drafts.load("k") == "short"
assert os.listdir(sys.argv[1]) == ["k.md"]
writer = DraftWriter(drafts, "k")
writer.changed("y" * 100)
assert writer.close("y" * 100) is None
assert drafts.load("k") == "short"
assert drafts.rescue("y" * 100, os.environ) is None
writer = DraftWriter(drafts, "k")
writer.changed("z" * 100)
while drafts.failed is None:
    pass
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert writer.close("z" * 101) == drafts.path("k")
assert drafts.load("k") == "z" * 101
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limit is POSIX")
def test_a_full_disk_leaves_the_last_draft_whole_and_is_said(tmp_path: Path):
    with program(FULL, str(tmp_path / "drafts")) as running:
        assert running.wait(30) == 0


def test_a_text_without_a_place_is_rescued_to_the_next_one(tmp_path: Path, hermetic: Path, monkeypatch):
    (tmp_path / "file").write_text("")
    drafts = Drafts(str(tmp_path / "file" / "drafts"))
    found = drafts.rescue(TEXT, os.environ)
    assert found is not None
    assert os.path.dirname(found) == tempfile.gettempdir()
    assert Path(found).read_text() == TEXT
    assert stat.S_IMODE(os.stat(found).st_mode) == 0o600
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    found = drafts.rescue(TEXT, os.environ)
    assert found is not None
    assert os.path.dirname(found) == str(hermetic)
    assert drafts.rescue(TEXT, {}) is None


# --- the writer


def test_what_was_typed_last_is_on_disk_soon(drafts: Drafts):
    writer = DraftWriter(drafts, KEY)
    for end in range(1, len(TEXT)):
        writer.changed(TEXT[:end])
    assert until(lambda: drafts.load(KEY) == TEXT[:-1])
    assert writer.close(TEXT) == drafts.path(KEY)
    assert drafts.load(KEY) == TEXT


def test_an_emptied_text_has_no_draft(drafts: Drafts):
    writer = DraftWriter(drafts, KEY)
    writer.changed("a")
    assert until(lambda: drafts.load(KEY) == "a")
    writer.changed("")
    assert until(lambda: drafts.load(KEY) is None)
    assert writer.close("") is None
    assert drafts.load(KEY) is None


def test_closing_without_a_text_removes_the_draft(drafts: Drafts):
    drafts.keep(KEY, "from the last time")
    assert DraftWriter(drafts, KEY).close(None) is None
    assert drafts.load(KEY) is None
    writer = DraftWriter(drafts, KEY)
    writer.changed(TEXT)
    writer.close(None)
    assert drafts.load(KEY) is None


class Slow(Drafts):
    """Drafts on a disk that answers when it is told to, counting what is written and how."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self.gate_read, self.gate = os.pipe()
        self.calls: list[tuple[str, bool]] = []

    def _write(self, key: str, text: str, *, durable: bool) -> None:
        self.calls.append((text, durable))
        os.read(self.gate_read, 1)
        super()._write(key, text, durable=durable)


def test_a_disk_that_hangs_holds_neither_the_typing_nor_the_end(tmp_path: Path):
    drafts = Slow(str(tmp_path))
    writer = DraftWriter(drafts, KEY)
    began = time.monotonic()
    for end in range(1, 1000):
        writer.changed("x" * end)
    assert time.monotonic() - began < 0.5
    assert until(lambda: len(drafts.calls) == 1)
    began = time.monotonic()
    assert writer.close("x" * 1000) is None
    assert 0.9 < time.monotonic() - began < 3
    os.write(drafts.gate, b"....")
    assert until(lambda: Drafts.load(drafts, KEY) == "x" * 1000)
    assert [len(text) for text, _ in drafts.calls][-1] == 1000
    assert len(drafts.calls) < 5, "what came while the disk was busy is not written key by key"


def test_it_is_synced_once_the_keys_are_quiet(tmp_path: Path):
    drafts = Slow(str(tmp_path))
    os.write(drafts.gate, b"." * 1000)
    writer = DraftWriter(drafts, KEY)
    began = time.monotonic()
    writer.changed("a")
    assert until(lambda: ("a", True) in drafts.calls)
    assert time.monotonic() - began >= 0.3
    assert drafts.calls == [("a", False), ("a", True)]
    assert writer.close("a") == drafts.path(KEY)
    assert drafts.calls[-1] == ("a", True)


TYPING = """
writer = DraftWriter(Drafts(sys.argv[1]), "k")
for n in range(1, 400):
    writer.changed("x" * n)
    os.write(1, b".")
    time.sleep(0.002)
time.sleep(60)
"""


@pytest.mark.parametrize("keys", [1, 40, 200])
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_kill_while_typing_leaves_a_whole_draft_of_almost_everything(tmp_path: Path, keys: int):
    typing = program(TYPING, str(tmp_path / "drafts"))
    assert typing.stdout is not None
    typed = 0
    while typed < keys:
        typed += len(os.read(typing.stdout.fileno(), keys - typed))
    drafts = Drafts(str(tmp_path / "drafts"))
    # The bound: what was typed is there within half a second, on a machine that does other things, too.
    assert until(lambda: len(drafts.load("k") or "") >= keys, 0.5)
    typing.send_signal(signal.SIGKILL)
    typing.wait()
    typing.stdout.close()
    text = drafts.load("k")
    assert text is not None
    assert set(text) == {"x"}
    assert len(text) >= keys


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_kill_at_once_leaves_no_half_draft(tmp_path: Path):
    for _ in range(5):
        typing = program(TYPING, str(tmp_path / "drafts"))
        assert typing.stdout is not None
        typed = 0
        while typed < 60:
            typed += len(os.read(typing.stdout.fileno(), 60 - typed))
        typing.kill()
        typing.wait()
        typing.stdout.close()
        text = Drafts(str(tmp_path / "drafts")).load("k")
        assert text is not None
        assert set(text) == {"x"}
        assert len(text) >= 40, "no more than some tens of milliseconds are lost"
        os.unlink(tmp_path / "drafts" / "k.md")


def test_two_compositions_at_once_have_a_draft_each(tmp_path: Path) -> None:
    one, other = Drafts(str(tmp_path)), Drafts(str(tmp_path))
    key = one.claim("query-1")
    assert key == "query-1"
    one.keep(key, "the first one's words")
    beside = other.claim("query-1")
    assert beside != "query-1"
    assert other.load(beside) is None
    other.keep(beside, "the other's words")
    other.drop(beside)
    assert one.load("query-1") == "the first one's words"


def test_what_a_dead_process_has_left_beside_is_taken_over(tmp_path: Path) -> None:
    code = (
        "import sys; from jp.ask.drafts import Drafts; a, b = Drafts(sys.argv[1]), Drafts(sys.argv[1]); a.claim('k'); "
        "b.keep(b.claim('k'), 'left behind')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    drafts = Drafts(str(tmp_path))
    assert drafts.claim("k") == "k"
    assert drafts.load("k") == "left behind"


def test_a_key_that_another_has_is_the_same_one_beside_it_each_time(tmp_path: Path) -> None:
    other, mine = Drafts(str(tmp_path)), Drafts(str(tmp_path))
    assert other.claim("query-x") == "query-x"
    other.settle("query-x", "theirs")
    beside = mine.claim("query-x")
    assert beside != "query-x"
    assert mine.claim("query-x") == beside
    mine.add("query-x", "mine")
    assert other.load("query-x") == "theirs"
    assert mine.load(beside) == "mine"
    mine.add("query-x", "and before it")
    assert mine.load(beside) == "and before it\n\nmine"
