"""Reading with a bound: what is kept in memory, what is in the file, and what is only counted."""

import errno
import os
import stat
import time
from functools import cache
from pathlib import Path

import pytest

from jp.tool import kept, output
from jp.tool.outcome import Failure, NeedsInput, Question, Success
from jp.tool.output import KEPT_ERRORS, MAX_CONTENT, MAX_REPLY, TAIL, Captured, Errors, Spill, shortened
from jp.tool.redaction import Redactor, redacted, secrets_of, without_secrets
from tests.tool.running import invocation


@pytest.fixture
def spill(tmp_path: Path) -> Spill:
    return Spill(str(tmp_path / "a" / "spill"), "fs/../read file")


def captured(spill: Spill, data: bytes, size: int = 65536) -> Captured:
    found = Captured(spill)
    for start in range(0, len(data), size):
        found.feed(data[start : start + size])
    return found


@cache
def many_lines() -> bytes:
    return b"".join(b"%d\n" % number for number in range(1_200_000))


def numbered(size: int) -> bytes:
    """So many bytes in which every line is another one."""
    assert size <= len(many_lines())
    return many_lines()[:size]


class TestCaptured:
    def test_what_is_short_is_kept_as_it_is(self, spill: Spill) -> None:
        found = captured(spill, b"a\xff\x1b[1m\r\n")
        assert found.whole == b"a\xff\x1b[1m\r\n"
        assert found.text() == "a\ufffd\x1b[1m\r\n"
        assert spill.path == ""
        assert not os.path.exists(os.path.dirname(spill._directory))

    @pytest.mark.parametrize("size", [MAX_CONTENT + 1, 500_000, MAX_REPLY, MAX_REPLY + 1, MAX_REPLY + 500_000])
    def test_what_is_long_is_cut_and_the_file_has_the_whole(self, spill: Spill, size: int) -> None:
        data = numbered(size)
        found = captured(spill, data)
        assert (found.whole is None) == (size > MAX_REPLY)
        text = found.text()
        head, gap, tail = text.partition("[… ")
        line, _, tail = tail.partition(" …]\n")
        assert gap
        assert data.startswith(head.encode())
        assert head.endswith("\n")
        assert data.endswith(b"\n" + tail.encode())
        assert MAX_CONTENT - 5000 < len(head) + len(tail) <= MAX_CONTENT
        assert TAIL - 3000 < len(tail) <= TAIL
        missing = size - len(head) - len(tail)
        assert line == f"{missing:,} of {size:,} bytes are left out here; the whole is in {spill.path}"
        assert Path(spill.path).read_bytes() == data

    def test_the_file_is_for_its_owner_alone(self, spill: Spill) -> None:
        captured(spill, numbered(MAX_CONTENT + 1)).text()
        assert stat.S_IMODE(os.stat(spill.path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(os.path.dirname(spill.path)).st_mode) == 0o700
        assert os.path.basename(spill.path).startswith("fs_read_file-")

    def test_undecodable_bytes_are_in_the_file_as_they_came(self, spill: Spill) -> None:
        data = b"\xff\xfe\r" * MAX_CONTENT
        assert "\ufffd" in captured(spill, data).text()
        assert Path(spill.path).read_bytes() == data

    @pytest.mark.parametrize("shift", range(9))
    @pytest.mark.parametrize("size", [MAX_CONTENT * 2, MAX_REPLY * 2])
    def test_no_character_is_cut_in_half(self, spill: Spill, shift: int, size: int) -> None:
        text = captured(spill, b"a" * shift + "é€😀".encode() * (size // 9) + b"b" * shift).text()
        assert "\ufffd" not in text
        assert text.startswith("a" * shift + "é€😀")
        assert text.endswith("é€😀" + "b" * shift)

    def test_binary_data_does_not_grow(self, spill: Spill) -> None:
        assert len(captured(spill, b"\xff\x80" * MAX_CONTENT).text().encode()) < MAX_CONTENT + 500

    def test_beyond_its_bound_the_file_ends_and_the_rest_is_counted(
        self, spill: Spill, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(output, "MAX_FILE", 5 * 1024 * 1024)
        spill = Spill(spill._directory, "x")
        data = numbered(6 * 1024 * 1024)
        text = captured(spill, data).text()
        assert Path(spill.path).read_bytes() == data[: 5 * 1024 * 1024]
        assert f"of {len(data):,} bytes are left out here; the first 5,242,880 bytes are in {spill.path}" in text
        assert text.endswith(data[-1000:].decode())

    def test_where_no_file_can_be_made_it_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        spill = Spill(str(tmp_path / "file" / "x"), "x")
        text = captured(spill, numbered(MAX_REPLY + 1)).text()
        assert f"the whole could not be kept: {os.strerror(errno.ENOTDIR)} …]" in text

    def test_two_outputs_never_share_a_file(self, tmp_path: Path) -> None:
        paths = set()
        for _ in range(20):
            spill = Spill(str(tmp_path), "x")
            captured(spill, numbered(MAX_CONTENT + 1)).text()
            paths.add(spill.path)
        assert len(paths) == 20


def test_a_text_is_shortened_the_same_way(spill: Spill) -> None:
    assert shortened("é" * (MAX_CONTENT // 2), spill) == "é" * (MAX_CONTENT // 2)
    assert spill.path == ""
    text = "é" * MAX_CONTENT
    short = shortened(text, spill)
    assert len(short.encode()) < MAX_CONTENT + 500
    assert Path(spill.path).read_text() == text


class TestErrors:
    def test_each_line_is_told(self) -> None:
        told: list[str] = []
        errors = Errors(told.append)
        for piece in (b"on", b"e\r\n\ntwo\nthr", b"ee\xff"):
            errors.feed(piece)
        errors.end()
        assert told == ["one", "", "two", "three\ufffd"]
        assert errors.text() == "one\r\n\ntwo\nthree\ufffd"

    def test_long_lines_are_cut_also_those_that_never_end(self) -> None:
        told: list[str] = []
        errors = Errors(told.append)
        errors.feed(b"a" * 3000 + b"\nb\n")
        for _ in range(1000):
            errors.feed(b"c" * 65536)
        errors.end()
        assert told == ["a" * 2000 + "…", "b", "c" * 2000 + "…"]

    def test_not_more_than_so_many_lines(self) -> None:
        told: list[str] = []
        errors = Errors(told.append)
        for _ in range(50):
            errors.feed(b"x\n" * 10_000)
        errors.end()
        assert told == ["x"] * 1000 + ["more than 1000 lines; the rest is not logged"]

    def test_the_last_of_it_is_kept(self) -> None:
        errors = Errors(lambda _: None)
        data = numbered(1_000_000)
        for start in range(0, len(data), 1000):
            errors.feed(data[start : start + 1000])
        first, _, rest = errors.text().partition("\n")
        assert data.endswith(b"\n" + rest.encode())
        assert first == f"[… {len(data) - len(rest):,} bytes are left out here …]"
        assert KEPT_ERRORS - 2048 < len(rest) <= KEPT_ERRORS


SECRET = 'pass"wörd\n'


class TestSecrets:
    def test_those_of_an_invocation_in_all_their_spellings(self) -> None:
        answers = {"a": SECRET, "b": "abc", "c": 1234, "d": "public"}
        call = invocation("x", answers=answers, secret=frozenset("abce"))
        found = secrets_of(call)
        assert set(found) == {SECRET, 'pass\\"wörd\\n', 'pass\\"w\\u00f6rd\\n'}
        assert redacted('x pass\\"w\\u00f6rd\\n ' + SECRET, found) == "x [redacted] [redacted]"

    def test_in_every_outcome(self) -> None:
        assert without_secrets(Success("a 1234 b"), ["1234"]) == Success("a [redacted] b")
        assert without_secrets(Failure("1234", ["x1234"], True), ["1234"]) == Failure(
            "[redacted]", ["x[redacted]"], True
        )
        question = Question("q", "1234?", default="1234", pre_amble="1234")
        assert without_secrets(NeedsInput(question), ["1234"]) == NeedsInput(
            Question("q", "[redacted]?", pre_amble="[redacted]")
        )

    def test_the_longer_one_first(self) -> None:
        call = invocation("x", answers={"a": "abcd", "b": "abcdef"}, secret=frozenset("ab"))
        assert redacted("abcdef abcd", secrets_of(call)) == "[redacted] [redacted]"

    @pytest.mark.parametrize("size", range(1, 12))
    def test_in_a_stream_however_it_is_cut(self, size: int) -> None:
        data = b"1234--12345678-1234123412 123 1234"
        redactor = Redactor(("12345678", "1234"))
        pieces = [redactor.feed(data[start : start + size]) for start in range(0, len(data), size)]
        assert b"".join(pieces) + redactor.end() == (b"[redacted]--[redacted]-[redacted][redacted]12 123 [redacted]")

    def test_in_the_file_and_where_the_text_is_cut(self, tmp_path: Path) -> None:
        secret = "0123456789" * 10
        spill = Spill(str(tmp_path), "x", (secret,))
        found = captured(spill, (secret + "-").encode() * 60_000, 4096)
        assert found.whole is None
        text = found.text((secret,))
        for each in (text, Path(spill.path).read_text()):
            assert "[redacted]-[redacted]" in each
            assert "0123456789" not in each.replace(spill.path, "")

    def test_in_errors_too(self) -> None:
        told: list[str] = []
        errors = Errors(told.append, ("1234",))
        errors.feed(b"a1234\n" + b"b" * 1998 + b"1234\n")
        assert told == ["a[redacted]", "b" * 1998 + "[r…"]
        assert "1234" not in errors.text()


def test_old_outputs_go_when_a_new_one_is_kept(tmp_path: Path) -> None:
    old, recent, other = tmp_path / "a-1.txt", tmp_path / "b-2.txt", tmp_path / "notes"
    for path in (old, recent, other):
        path.write_text("x")
    for path in (old, other):
        os.utime(path, (1, 1))
    spill = Spill(str(tmp_path), "new")
    spill.write(b"y")
    spill.end()
    assert not old.exists()
    assert recent.exists()
    assert other.exists()
    assert Path(spill.path).read_bytes() == b"y"


def test_the_oldest_go_where_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "KEPT_BYTES", 300)
    place = tmp_path / "kept"
    place.mkdir(mode=0o700)
    now = time.time()
    for age in range(1, 6):
        (place / f"x-{age}.txt").write_text("y" * 100)
        os.utime(place / f"x-{age}.txt", (now - age * 60, now - age * 60))
    spill = Spill(str(place), "new")
    spill.write(b"y" * 100)
    assert [path.name for path in sorted(place.iterdir())] == [
        Path(spill.path).name,
        "x-1.txt",
        "x-2.txt",
        "x-3.txt",
    ]
    spill.end()
    assert [path.name for path in sorted(place.iterdir())] == [Path(spill.path).name, "x-1.txt", "x-2.txt"]


@pytest.mark.parametrize("planted", ["link", "open", "group", "file", "link to none"])
def test_a_directory_that_others_may_have_made_is_not_used(tmp_path: Path, planted: str) -> None:
    """Its path is known to everybody on the machine."""
    theirs, place = tmp_path / "theirs", tmp_path / "place"
    theirs.mkdir(mode=0o700)
    (theirs / "old.txt").write_text("kept")
    os.utime(theirs / "old.txt", (1, 1))
    if planted == "file":
        place.write_text("x")
    elif planted.startswith("link"):
        place.symlink_to(theirs if planted == "link" else tmp_path / "none")
    else:
        place.mkdir()
        place.chmod(0o777 if planted == "open" else 0o750)
        (place / "x.txt").write_text("planted")
        os.utime(place / "x.txt", (1, 1))
    spill = Spill(str(place), "new")
    spill.write(b"secret")
    spill.end()
    assert spill.path == ""
    assert spill.error
    kept.sweep(str(place))
    assert [path.name for path in theirs.iterdir()] == ["old.txt"]
    assert not (tmp_path / "none").exists()
    assert not place.is_dir() or place.is_symlink() or [path.name for path in place.iterdir()] == ["x.txt"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir(mode=0o700)
    os.chown(tmp_path / "place", 12345, 12345)
    spill = Spill(str(tmp_path / "place"), "new")
    spill.write(b"secret")
    assert spill.path == ""
    assert list((tmp_path / "place").iterdir()) == []
