"""`write_file` and `modify_file`: the diff that is shown is what happens, or nothing does."""

import os
import stat
from pathlib import Path

import pytest

from jp.tool.outcome import Failure, Success
from tests.tool.builtin_running import Tools

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a").write_text(TEXT)
    return tmp_path / "ws"


@pytest.fixture
def tools(ws: Path) -> Tools:
    return Tools(ws)


def edit(old: str, new: str, **more: object) -> dict[str, object]:
    return {"old": old, "new": new, **more}


# --- write_file ---


def test_a_new_file(ws: Path, tools: Tools) -> None:
    arguments = {"path": "x/y/new", "content": "grüße\nno end"}
    assert tools.shown("write_file", **arguments) == (
        "new file x/y/new\n--- /dev/null\n+++ b/x/y/new\n@@ -0,0 +1,2 @@\n+grüße\n+no end\n"
        "\\ No newline at end of file\n"
    )
    assert not (ws / "x").exists()
    assert tools.ok("write_file", **arguments) == "made x/y/new (2 lines)"
    assert (ws / "x" / "y" / "new").read_text() == "grüße\nno end"


def test_an_existing_file(ws: Path, tools: Tools) -> None:
    (ws / "a").chmod(0o755)
    arguments = {"path": "a", "content": TEXT.replace("five", "FIVE")}
    assert tools.shown("write_file", **arguments) == (
        "--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+FIVE\n six\n seven\n eight\n"
    )
    assert (ws / "a").read_text() == TEXT
    assert tools.ok("write_file", **arguments) == "replaced a (10 lines)"
    assert (ws / "a").read_text() == arguments["content"]
    assert stat.S_IMODE((ws / "a").stat().st_mode) == 0o755
    assert tools.ok("write_file", **arguments) == "a holds that already"


def test_an_empty_file(ws: Path, tools: Tools) -> None:
    assert tools.shown("write_file", path="e", content="") == "new file e, which is empty\n"
    assert tools.ok("write_file", path="e", content="") == "made e (0 lines)"
    assert (ws / "e").read_bytes() == b""


def test_what_changed_after_the_diff_is_not_lost(ws: Path, tools: Tools) -> None:
    tools.shown("write_file", path="a", content="x")
    (ws / "a").write_text("what somebody has written meanwhile")
    assert "changed after the diff was shown" in tools.fails("write_file", path="a", content="x")
    assert (ws / "a").read_text() == "what somebody has written meanwhile"
    tools.shown("write_file", path="a", content="x")
    os.utime(ws / "a")  # the same words
    assert tools.ok("write_file", path="a", content="x")


def test_what_appears_after_the_diff_is_not_lost(ws: Path, tools: Tools) -> None:
    tools.shown("write_file", path="b", content="x")
    (ws / "b").write_text("mine")
    assert "changed after the diff was shown" in tools.fails("write_file", path="b", content="x")
    assert (ws / "b").read_text() == "mine"


def test_another_call_has_another_diff(ws: Path, tools: Tools) -> None:
    tools.shown("write_file", path="a", content="x")
    (ws / "a").write_text("y")
    assert isinstance(tools.run("write_file", {"path": "a", "content": "x"}, call_id="another"), Success)


def test_a_change_of_line_ends_is_said(ws: Path, tools: Tools) -> None:
    (ws / "a").write_bytes(b"one\r\ntwo\r\n")
    shown = tools.shown("write_file", path="a", content="one\ntwo\n")
    assert shown.startswith("line ends change from CRLF to LF\n--- a/a\n")
    tools.ok("write_file", path="a", content="one\r\ntwo\r\nthree")
    assert (ws / "a").read_bytes() == b"one\r\ntwo\r\nthree"


def test_over_something_that_is_no_text(ws: Path, tools: Tools) -> None:
    (ws / "a").write_bytes(bytes(100))
    assert tools.shown("write_file", path="a", content="x\n").startswith(
        "a, which is not a text file (100 bytes), is replaced\n"
    )


@pytest.mark.parametrize("name", ["write_file", "modify_file"])
@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".jp/config.toml", "../x", "pipe", "out", "readonly", "dir"])
def test_where_nothing_is_written(ws: Path, tools: Tools, name: str, path: str) -> None:
    os.mkfifo(ws / "pipe")
    (ws / "out").symlink_to(ws.parent / "outside")
    (ws / "readonly").write_text("x")
    (ws / "readonly").chmod(0o444)
    (ws / "dir").mkdir()
    arguments = {"path": path, "content": "z", "edits": [edit("x", "y")]}
    for action in ("format_arguments", "run"):
        outcome = tools.start(name, arguments, action=action).outcome()
        assert isinstance(outcome, Failure), action
    assert sorted(os.listdir(ws)) == ["a", "dir", "out", "pipe", "readonly"]
    assert not (ws.parent / "outside").exists()


def test_where_a_link_leads_is_shown(ws: Path, tools: Tools) -> None:
    """A harmless name may be that of a file which programs believe in."""
    (ws / ".github").mkdir()
    (ws / ".github" / "ci.yml").write_text("one\n")
    (ws / "docs").mkdir()
    (ws / "docs" / "notes.md").symlink_to("../.github/ci.yml")
    (ws / "docs" / "new.md").symlink_to("../.github/new.yml")
    (ws / "dir").symlink_to(".github")
    diff = "--- a/.github/ci.yml\n+++ b/.github/ci.yml\n@@ -1 +1 @@\n-one\n+two\n"
    arrow = "docs/notes.md -> .github/ci.yml\n"
    assert tools.shown("modify_file", path="docs/notes.md", edits=[edit("one", "two")]) == arrow + diff
    assert tools.shown("write_file", path="docs/notes.md", content="two\n") == arrow + diff
    for path, to in {"docs/new.md": ".github/new.yml", "dir/sub/x": ".github/sub/x"}.items():
        shown = tools.shown("write_file", path=path, content="x\n")
        assert shown.startswith(f"{path} -> {to}\nnew file {to}\n--- /dev/null\n+++ b/{to}\n")
    assert tools.ok("write_file", path="docs/notes.md", content="two\n") == "replaced .github/ci.yml (1 lines)"
    assert (ws / ".github" / "ci.yml").read_text() == "two\n"
    assert (ws / "docs" / "notes.md").is_symlink()
    for path in ("./docs/../a", str(ws / "a")):
        assert tools.shown("write_file", path=path, content="x").startswith("--- a/a\n+++ b/a\n")


@pytest.mark.parametrize("name", ["write_file", "modify_file"])
def test_a_link_that_leads_elsewhere_after_the_diff(ws: Path, tools: Tools, name: str) -> None:
    (ws / "b").write_text(TEXT)
    (ws / "link").symlink_to("a")
    arguments = {"path": "link", "content": "x", "edits": [edit("five", "FIVE")]}
    tools.shown(name, **arguments)
    (ws / "link").unlink()
    (ws / "link").symlink_to("b")
    assert "since the diff was shown" in (said := tools.fails(name, **arguments)) or "after the diff was shown" in said
    assert (ws / "b").read_text() == TEXT


@pytest.mark.parametrize("name", ["write_file", "modify_file"])
@pytest.mark.parametrize(
    "path", ["a\n+++ b/README.md", "a\r", "a\x1b[;m", "a\x9b", "a\u2028b", "a\x85b", "x\n/a", "forged"]
)
def test_a_path_that_could_forge_a_line_of_the_diff(ws: Path, tools: Tools, name: str, path: str) -> None:
    (ws / "forged").symlink_to("a\n+++ b/README.md")
    before = sorted(os.listdir(ws))
    for action in ("format_arguments", "run"):
        outcome = tools.start(name, {"path": path, "content": "z", "edits": [edit("x", "y")]}, action=action).outcome()
        assert isinstance(outcome, Failure), action
        assert "control characters" in outcome.message
        assert outcome.message.isprintable()
    assert sorted(os.listdir(ws)) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": "x"}, "the argument `path` is missing"),
        ({"path": "a"}, "the argument `content` is missing"),
        ({"path": "a", "content": 5}, "the argument `content` must be a string"),
        ({"path": "a", "content": "\ud800"}, "`content` holds half of a character, which no file can"),
    ],
)
def test_bad_arguments(tools: Tools, arguments: dict[str, object], message: str) -> None:
    assert tools.fails("write_file", **arguments) == message


# --- modify_file ---


def test_edits(ws: Path, tools: Tools) -> None:
    arguments = {"path": "a", "edits": [edit("two\n", "2\n3\n2.5\n"), edit("2\n", "zwei\n"), edit("ten", "TEN")]}
    assert tools.shown("modify_file", **arguments) == (
        "--- a/a\n+++ b/a\n@@ -1,5 +1,7 @@\n one\n-two\n+zwei\n+3\n+2.5\n three\n four\n five\n"
        "@@ -7,4 +9,4 @@\n seven\n eight\n nine\n-ten\n+TEN\n"
    )
    assert (ws / "a").read_text() == TEXT
    assert tools.ok("modify_file", **arguments) == "modified a: 3 edits, +4 −2 lines"
    assert (ws / "a").read_text() == "one\nzwei\n3\n2.5\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN\n"


def test_all_of_them(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("x y x y x")
    tools.ok("modify_file", path="a", edits=[edit("x", "xx", all=True)])
    assert (ws / "a").read_text() == "xx y xx y xx"


def test_all_or_none(ws: Path, tools: Tools) -> None:
    message = tools.fails("modify_file", path="a", edits=[edit("one", "1"), edit("eleven", "11")])
    assert message.startswith("edit 2 of 2 of a can't be made: `old` is not in the file")
    assert (ws / "a").read_text() == TEXT


def test_more_than_once(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("x\n" * 3 + "y\n" + "x\n" * 4)
    message = tools.fails("modify_file", path="a", edits=[edit("x\n", "z\n")])
    assert "`old` is there more than once (in lines 1, 2, 3, 5, 6, …)" in message
    (ws / "a").write_text("aaa")
    assert "more than once" in tools.fails("modify_file", path="a", edits=[edit("aa", "b")])


def test_the_nearest_lines_are_told(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("def f():\n    return compute_total(items)\n\ndef g():\n    pass\n")
    message = tools.fails("modify_file", path="a", edits=[edit("return compute_totals(item)", "x")])
    assert "the nearest lines are:\n     1\tdef f():\n     2\t    return compute_total(items)\n" in message
    message = tools.fails("modify_file", path="a", edits=[edit("def g():\n\tpass\n", "x")])
    assert message.endswith("differ from it in white space alone:\n     4\tdef g():\n     5\t    pass")
    assert tools.fails("modify_file", path="a", edits=[edit("@@@@@", "x")]).endswith("`old` is not in the file")


def test_edits_that_say_nothing(tools: Tools) -> None:
    assert "`old` is empty" in tools.fails("modify_file", path="a", edits=[edit("", "x")])
    assert "changes nothing" in tools.fails("modify_file", path="a", edits=[edit("one", "one")])
    assert "cancel each other" in tools.fails("modify_file", path="a", edits=[edit("one", "y"), edit("y", "one")])
    assert "`edits` is empty" in tools.fails("modify_file", path="a", edits=[])
    for wrong in ("text", {"old": "x"}, {"old": 1, "new": "x"}, {"old": "x", "new": "y", "all": "yes"}):
        assert "must have `old` and `new`" in tools.fails("modify_file", path="a", edits=[wrong])


def test_what_can_not_be_modified(ws: Path, tools: Tools) -> None:
    (ws / "b").write_bytes(bytes(50))
    assert tools.fails("modify_file", path="b", edits=[edit("a", "b")]) == "b is not a text file (50 bytes)"
    assert "there is no such file" in tools.fails("modify_file", path="c", edits=[edit("a", "b")])


def test_bytes_that_are_not_meant_stay(ws: Path, tools: Tools) -> None:
    (ws / "a").write_bytes(b"\xef\xbb\xbfone\r\nstra\xdfe\r\nlast")
    tools.ok("modify_file", path="a", edits=[edit("one\n", "1\n2\n"), edit("last", "end")])
    assert (ws / "a").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\nstra\xdfe\r\nend"
    (ws / "a").write_bytes(b"a\r\nb\nc\n")
    tools.ok("modify_file", path="a", edits=[edit("b\n", "x\n")])
    assert (ws / "a").read_bytes() == b"a\r\nx\nc\n"


def test_another_change_between_diff_and_run(ws: Path, tools: Tools) -> None:
    arguments = {"path": "a", "edits": [edit("five", "5")]}
    tools.shown("modify_file", **arguments)
    (ws / "a").write_text(TEXT.replace("one", "ONE"))
    tools.ok("modify_file", **arguments)
    assert (ws / "a").read_text() == TEXT.replace("one", "ONE").replace("five", "5")
    assert "is not in the file" in tools.fails("modify_file", **arguments)


def test_a_huge_diff_takes_no_minutes(ws: Path, tools: Tools) -> None:
    """Every line is like thousands of others, which is the worst that the comparison can get."""
    rows = [f"{n % 97}\n" for n in range(60_000)]
    (ws / "a").write_text("start\n" + "".join(rows) + "end\n")
    shown = tools.shown("write_file", path="a", content="start\n" + "".join(reversed(rows)) + "end\n")
    assert shown.count("\n") > 100_000
    (ws / "b").write_text("".join(f"{n}\n" for n in range(100_000)))
    shown = tools.shown("modify_file", path="b", edits=[edit("\n500\n", "\nx\n"), edit("\n99000\n", "\ny\n")])
    assert shown.count("@@") == 4
