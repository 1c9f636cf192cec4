"""`list_files` and `grep_files`."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from jp.tool.builtin.finding import matches
from tests.support.marked import still_marked
from tests.tool.builtin_running import Tools


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
def tools(ws: Path) -> Tools:
    return Tools(ws)


def make(ws: Path, *names: str) -> None:
    for name in names:
        (ws / name).parent.mkdir(parents=True, exist_ok=True)
        (ws / name).write_text(f"in {name}\n")


def git(ws: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments], cwd=ws, check=True, capture_output=True
    )


# --- list_files ---


def test_without_git_the_usual_directories_are_left_out(ws: Path, tools: Tools) -> None:
    make(
        ws,
        "b",
        "a/x.py",
        "a/target/o",
        "node_modules/m",
        ".venv/v",
        "a/__pycache__/c",
        ".jp/conversations/1/e",
        ".jp/c",
    )
    assert tools.ok("list_files").splitlines() == [".jp/c", "a/x.py", "b"]
    assert tools.ok("list_files", path="a/target").splitlines() == ["a/target/o"]
    assert tools.ok("list_files", path=".jp/conversations").splitlines() == [".jp/conversations/1/e"]


def test_git_knows_what_is_meant(ws: Path, tools: Tools) -> None:
    make(ws, "kept.py", "gone.py", "build/out", "sub/local", "sub/x", "target/tracked", ".jp/conversations/1/e", "ü\n")
    (ws / ".gitignore").write_text("build\n")
    (ws / "sub" / ".gitignore").write_text("local\n")
    git(ws, "init")
    git(ws, "add", "kept.py", "gone.py", "target", ".jp")
    (ws / "gone.py").unlink()
    assert tools.ok("list_files").splitlines() == [
        ".gitignore", "kept.py", "sub/.gitignore", "sub/x", "target/tracked", "'ü\\n'",
    ]  # fmt: skip
    assert tools.ok("list_files", path="sub").splitlines() == ["sub/.gitignore", "sub/x"]
    assert tools.ok("list_files", path="build").splitlines() == ["build/out"]
    assert tools.ok("list_files", path="build/out").splitlines() == ["build/out"]


def test_a_workspace_below_the_root_of_the_work_tree(ws: Path) -> None:
    make(ws, "a", "sub/b", "sub/ignored")
    (ws / ".gitignore").write_text("ignored\n")
    git(ws, "init")
    assert Tools(ws / "sub").ok("list_files").splitlines() == ["b"]


def test_repositories_in_the_repository(ws: Path, tools: Tools) -> None:
    make(ws, "a", "inner/b", "module/c", "module/deep/d")
    for place in ("inner", "module", "."):
        git(ws / place, "init")
        git(ws / place, "config", "advice.addEmbeddedRepo", "false")
    git(ws / "module", "add", ".")
    git(ws / "module", "commit", "-m", "x")
    git(ws, "add", "module", "a")
    assert tools.ok("list_files").splitlines() == ["a", "inner/", "module/"]
    assert tools.ok("list_files", path="inner").splitlines() == ["inner/b"]
    assert tools.ok("list_files", path="module").splitlines() == ["module/c", "module/deep/d"]
    assert tools.ok("list_files", path="module/deep").splitlines() == ["module/deep/d"]


def test_no_program_of_the_repository_is_run(ws: Path, tools: Tools) -> None:
    make(ws, "a")
    git(ws, "init")
    git(ws, "config", "core.fsmonitor", f"touch {ws.parent}/ran; false")
    git(ws, "status")
    assert (ws.parent / "ran").exists()  # that is how it would be
    (ws.parent / "ran").unlink()
    assert tools.ok("list_files") == "a\n"
    assert not (ws.parent / "ran").exists()


def test_the_environment_of_another_repository_does_not_matter(ws: Path) -> None:
    make(ws, "a", "ignored")
    (ws / ".gitignore").write_text("ignored\n")
    git(ws, "init")
    tools = Tools(ws, {**os.environ, "GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index"})
    assert tools.ok("list_files").splitlines() == [".gitignore", "a"]


def test_depth_and_pattern(ws: Path, tools: Tools) -> None:
    make(ws, "a.py", "src/b.py", "src/c.txt", "src/deep/er/d.py")
    assert tools.ok("list_files", depth=1).splitlines() == ["a.py", "src/"]
    assert tools.ok("list_files", depth=2, path="src").splitlines() == ["src/b.py", "src/c.txt", "src/deep/er/"]
    assert tools.ok("list_files", pattern="*.py").splitlines() == ["a.py", "src/b.py", "src/deep/er/d.py"]
    assert tools.ok("list_files", pattern="src/*.py").splitlines() == ["src/b.py"]
    assert tools.ok("list_files", pattern="**/*.txt").splitlines() == ["src/c.txt"]
    assert tools.ok("list_files", path="src", pattern="deep/**").splitlines() == ["src/deep/er/d.py"]
    assert tools.ok("list_files", pattern="*.md") == "(no files match *.md)\n"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("b.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**", "a/b/c.py", True),
        ("a/**/c.py", "a/c.py", True),
        ("**/a/**/z", "x/a/y/y/z", True),
        ("**/a/**/z", "x/b/y/y/z", False),
        ("**", "a/b", True),
        ("./a/?.py", "a/b.py", True),
        ("a/[ab]/c", "a/d/c", False),
        ("/".join(["**"] * 30) + "/x", "/".join("a" * 30), False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches(path, pattern) is expected


def test_many_files(ws: Path, tools: Tools) -> None:
    for n in range(10_000):
        (ws / f"{n:05}").touch()
    began = time.monotonic()
    lines = tools.ok("list_files").splitlines()
    assert time.monotonic() - began < 5
    assert len(lines) == 501
    assert lines[499] == "00499"
    assert lines[500] == "(500 of 10000 are shown; narrow it down with path, pattern or depth)"
    assert tools.ok("grep_files", pattern="x") == "(nothing matches x in 10000 files)\n"


def test_links_are_not_descended_into(ws: Path, tools: Tools) -> None:
    make(ws, "a/x")
    (ws / "a" / "loop").symlink_to("..")
    (ws / "out").symlink_to("/etc")
    (ws / "dangling").symlink_to("nothing")
    assert tools.ok("list_files").splitlines() == ["a/loop/", "a/x", "out"]
    assert "leads out of the workspace" in tools.fails("list_files", path="out")
    assert "there is no such file" in tools.fails("list_files", path="none")


def test_an_empty_workspace(tools: Tools) -> None:
    assert tools.ok("list_files") == "(no files)\n"


# --- grep_files ---


def test_matches_and_context(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\nONE\n")
    (ws / "b").write_text("stone\r\nx\r\n")
    assert tools.ok("grep_files", pattern="one").splitlines() == ["a:2:one", "b:1:stone"]
    assert tools.ok("grep_files", pattern="^one$", ignore_case=True).splitlines() == ["a:2:one", "a:9:ONE"]
    assert tools.ok("grep_files", pattern="one|three|seven", context=1, paths=["a"]).splitlines() == [
        "a-1-zero", "a:2:one", "a-3-two", "a:4:three", "a-5-four", "--", "a-7-six", "a:8:seven", "a-9-ONE",
    ]  # fmt: skip
    assert tools.ok("grep_files", pattern="nowhere") == "(nothing matches nowhere in 2 files)\n"


def test_which_files_are_searched(ws: Path, tools: Tools) -> None:
    make(ws, "a.py", "sub/b.py", "sub/c", "target/d", ".jp/conversations/1/e")
    (ws / "binary").write_bytes(b"in\0")
    (ws / "out").symlink_to("/etc/passwd")
    os.mkfifo(ws / "pipe")
    assert tools.ok("grep_files", pattern="^in").splitlines() == [
        "a.py:1:in a.py", "sub/b.py:1:in sub/b.py", "sub/c:1:in sub/c",
    ]  # fmt: skip
    assert tools.ok("grep_files", pattern="in", paths=["sub/c", "target", "sub/c"]).splitlines() == [
        "sub/c:1:in sub/c", "target/d:1:in target/d",
    ]  # fmt: skip
    assert "there is no such file" in tools.fails("grep_files", pattern="in", paths=["none"])
    assert "outside of the workspace" in tools.fails("grep_files", pattern="in", paths=["../.."])
    assert "leads out of the workspace" in tools.fails("grep_files", pattern="root", paths=["out"])


def test_the_number_of_matches_is_bounded(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text("x\n" * 150)
    (ws / "b").write_text("x\n" * 150)
    lines = tools.ok("grep_files", pattern="x").splitlines()
    assert len(lines) == 201
    assert lines[199] == "b:50:x"
    assert lines[200] == "(the first 200 matches are shown, and there may be more; narrow it down)"


def test_the_size_of_the_answer_is_bounded(ws: Path, tools: Tools) -> None:
    (ws / "a").write_text(("y" * 10_000 + "x" + "z" * 10_000 + "\n") * 100)
    lines = tools.ok("grep_files", pattern="x", context=10).splitlines()
    assert sum(map(len, lines)) < 130 * 1024
    assert "x" in lines[0]
    assert lines[0].startswith("a:1:…y")
    assert len(lines[0]) < 520
    (ws / "b").write_bytes(b"x" * (17 << 20))
    assert "(1 files are too large and were not searched)" in tools.ok("grep_files", pattern="x", paths=["b"])


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(?<=a+)b", "[z-a]"])
def test_patterns_that_are_none(ws: Path, tools: Tools, pattern: str) -> None:
    make(ws, "a")
    assert "is not a regular expression that can be used" in tools.fails("grep_files", pattern=pattern)


def test_a_pattern_that_never_ends(ws: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jp.tool.builtin.searching.SECS", 1.5)
    (ws / "a").write_text("aaa\n")
    (ws / "b").write_text("a" * 60 + "!\n")
    began = time.monotonic()
    message = tools.fails("grep_files", pattern="(a+)+$", paths=["b"])
    assert time.monotonic() - began < 8
    assert message == (
        "the search was given up after 1.5 s, in b, and had found nothing: use a simpler pattern or fewer files"
    )
    found = tools.ok("grep_files", pattern="(a+)+$").splitlines()
    assert found == ["a:1:aaa", "(the search was given up after 1.5 s, in b; the files after that were not searched)"]
    assert not still_marked(within=5)


def test_a_search_is_cancelled_at_once(ws: Path, tools: Tools) -> None:
    (ws / "b").write_text("a" * 60 + "!\n")
    started = tools.start("grep_files", {"pattern": "(a+)+$"})
    limit = time.monotonic() + 10
    while not any("grep_worker" in line for line in still_marked(within=0).values()):
        assert time.monotonic() < limit
    assert started.run is not None
    began = time.monotonic()
    started.run.cancel()
    assert time.monotonic() - began < 0.1
    assert started.run.over(5)
    assert time.monotonic() - began < 3
    assert not started.outcomes
    assert not still_marked(within=5)
