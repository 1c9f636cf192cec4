"""`read_file`: numbered lines, bounded."""

import os
from pathlib import Path

import pytest

from tests.tool.builtin_running import Tools


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
def tools(ws: Path) -> Tools:
    return Tools(ws)


def test_lines_have_numbers(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("one\n\n\tthree")
    assert tools.ok("read_file", path="a") == "     1\tone\n     2\t\n     3\t\tthree\n"


def test_some_lines(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("".join(f"{n}\n" for n in range(1, 101)))
    assert tools.ok("read_file", path="a", start_line=99) == "    99\t99\n   100\t100\n"
    assert tools.ok("read_file", path="a", start_line=2, end_line=3) == "     2\t2\n     3\t3\n"
    assert tools.ok("read_file", path="a", end_line=1.0) == "     1\t1\n"
    assert tools.ok("read_file", path="a", start_line=101) == "(a has 100 lines: none from 101 on)"
    assert tools.ok("read_file", path="a", start_line=5000) == "(a has 100 lines: none from 5000 on)"
    assert "is before start_line" in tools.fails("read_file", path="a", start_line=3, end_line=2)


def test_an_empty_file(ws: Path, tools: Tools) -> None:
    (ws / "a").touch()
    assert tools.ok("read_file", path="a") == "(a is empty)"


def test_a_long_file_says_how_to_read_on(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("".join(f"line {n}\n" for n in range(1, 5001)))
    shown, rest = 0, tools.ok("read_file", path="a")
    start = 1
    while "read on with start_line=" in rest:
        lines = rest.splitlines()
        assert lines[0].endswith(f"line {start}")
        assert len(lines) == 2001
        shown += 2000
        start = int(rest.rpartition("start_line=")[2].split()[0])
        assert start == shown + 1
        rest = tools.ok("read_file", path="a", start_line=start)
    assert rest.splitlines()[-1].endswith("line 5000")


def test_exactly_as_many_lines_as_are_shown(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("x\n" * 2000)
    assert "read on" not in tools.ok("read_file", path="a")


def test_many_bytes_in_few_lines(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text(("ü" * 1000 + "\n") * 200)
    shown = tools.ok("read_file", path="a")
    assert len(shown.encode()) < 129 * 1024
    assert "read on with start_line=66 " in shown


def test_an_endless_line_is_cut(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("first\n" + "y" * 3_000_000 + "\nlast\n")
    lines = tools.ok("read_file", path="a").splitlines()
    assert lines[0] == "     1\tfirst"
    assert lines[1] == "     2\t" + "y" * 2000 + " … (line cut)"
    assert lines[2:] == ["     3\tlast", "(1 long lines were cut)"]


def test_lines_over_the_ends_of_pieces(ws: Path, tools: Tools) -> None:
    """The file is read in pieces of 256 KiB."""
    rows = [f"{n:07}" + "é" * (n % 50) for n in range(30_000)]
    (ws / "a").write_text("\n".join(rows))
    for start in (1, 6000, 12_345, 29_990):
        shown = tools.ok("read_file", path="a", start_line=start, end_line=start + 9)
        assert [row.partition("\t")[2] for row in shown.splitlines()] == rows[start - 1 : start + 9]
    assert "has 30000 lines" in tools.ok("read_file", path="a", start_line=30_001)


def test_a_huge_file_from_its_middle(ws: Path, tools: Tools) -> None:
    with open(ws / "a", "wb") as file:
        for _ in range(64):
            file.write(b"0123456789abcde\n" * 65536)
    assert tools.ok("read_file", path="a", start_line=4_000_000, end_line=4_000_000) == "4000000\t0123456789abcde\n"


def test_not_text(ws: Path, tools: Tools) -> None:
    (ws / "a").write_bytes(b"\x7fELF\0\0\0" + bytes(1000))
    assert tools.fails("read_file", path="a") == "a is not a text file (1007 bytes)"
    with open(ws / "huge", "wb") as file:
        file.truncate(1 << 40)
    assert tools.fails("read_file", path="huge") == "huge is not a text file (1099511627776 bytes)"


def test_line_ends_and_encodings_are_told(ws: Path, tools: Tools) -> None:
    (ws / "crlf").write_bytes(b"a\r\nb\r\n")
    assert tools.ok("read_file", path="crlf") == "     1\ta\n     2\tb\n(lines end with CRLF)\n"
    (ws / "some").write_bytes(b"a\r\nb\n")
    assert tools.ok("read_file", path="some").endswith("(some lines end with CRLF)\n")
    (ws / "latin").write_bytes("straße\n".encode("latin-1"))
    assert tools.ok("read_file", path="latin") == (
        "     1\tstra\ufffde\n(not all of it is UTF-8; what is not is shown as \ufffd)\n"
    )
    (ws / "bom").write_bytes(b"\xef\xbb\xbfx\n")
    assert tools.ok("read_file", path="bom") == "     1\tx\n"


def test_what_can_not_be_read(ws: Path, tools: Tools) -> None:
    os.mkfifo(ws / "pipe")
    (ws / "zero").symlink_to("/dev/zero")
    assert "there is no such file" in tools.fails("read_file", path="none")
    assert "outside of the workspace" in tools.fails("read_file", path="../none")
    assert "leads out of the workspace" in tools.fails("read_file", path="zero")
    assert "is a named pipe" in tools.fails("read_file", path="pipe")
    assert "is a directory" in tools.fails("read_file", path=".")


def test_names_of_any_kind(ws: Path, tools: Tools) -> None:
    (ws / "grüße 日本").write_text("x")
    assert tools.ok("read_file", path="grüße 日本") == "     1\tx\n"
    assert tools.fails("read_file", path="\udcff").encode()


def test_what_jp_has_kept_of_a_long_output_may_be_read_and_nothing_beside_it(ws: Path, tools: Tools) -> None:
    kept = tools.spill
    kept.mkdir(mode=0o700)
    (kept / "deeper").mkdir()
    (kept / "out.txt").write_text("whole\n")
    (kept / "deeper" / "x.txt").write_text("no\n")
    (kept / "link.txt").symlink_to("/etc/passwd")
    assert tools.ok("read_file", path=str(kept / "out.txt")) == "     1\twhole\n"
    beside = (kept / "deeper" / "x.txt", kept / "link.txt", kept / ".." / "spill" / "deeper" / "x.txt", "/etc/passwd")
    for path in beside:
        tools.fails("read_file", path=str(path))
    tools.fails("write_file", path=str(kept / "out.txt"), content="mine")


def test_no_descriptor_is_left_open(ws: Path, tools: Tools) -> None:
    tools.spill.mkdir(mode=0o700)
    kept = tools.spill / "out.txt"
    kept.write_text("x\n")
    (ws / "a").write_text("x\n")
    for path in ("a", str(kept)):
        tools.ok("read_file", path=path)
    before = len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))
    for _ in range(20):
        tools.ok("read_file", path=str(kept))
        tools.ok("read_file", path="a")
        tools.fails("read_file", path=str(tools.spill / "none.txt"))
    assert len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd")) == before


def test_what_is_kept_is_read_where_only_the_person_can_have_put_it(ws: Path, tools: Tools) -> None:
    theirs = ws.parent / "theirs"
    theirs.mkdir(mode=0o700)
    (theirs / "x.txt").write_text("secret\n")
    tools.spill.symlink_to(theirs)
    assert "can't be read" in tools.fails("read_file", path=str(tools.spill / "x.txt"))
    tools.spill.unlink()
    theirs.rename(tools.spill)
    assert "secret" in tools.ok("read_file", path=str(tools.spill / "x.txt"))
    tools.spill.chmod(0o755)
    assert "can't be read" in tools.fails("read_file", path=str(tools.spill / "x.txt"))
