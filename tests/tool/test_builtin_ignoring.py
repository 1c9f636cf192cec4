"""What `.gitignore` says, and that nobody but us reads it."""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from jp.tool.builtin.ignore_rules import Rules
from tests.tool.builtin_running import Tools

PARTS = [
    *("a", "b", "ab", "*", "**", "?", "[ab]", "[!a]", "a*", "*b", "a*b", "a*a", "\\a", "[[:alpha:]]", "[^b]*", "c.py"),
    *("*.py", "*.p*", "a?b", "[b-a]", "[]a]", "[a-]", "***", "b**a", "\\*", "[a\\]]"),
]
NAMES = ["a", "b", "ab", "aab", "c.py", "x.py", "aa", "a]", "-", "*", "bxa", "]"]


def ignored(rules: str, path: str) -> bool:
    """What comes of it for a file, whose directories are entered one by one."""
    parts, known = path.split("/"), Rules(rules.encode())
    verdicts = [known.ignored(parts[: n + 1], directory=n + 1 < len(parts)) for n in range(len(parts))]
    return any(verdicts[:-1]) or bool(verdicts[-1])


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("build", "a/build/x", True),
        ("/build", "a/build", False),
        ("build/", "build", False),
        ("build/", "build/x", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("!keep.log\n*.log", "keep.log", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("a/**/c", "a/c", True),
        ("**/c", "c", True),
        ("a/*/c", "a/b/b/c", False),
        ("# a", "# a", False),
        ("\\# a", "# a", True),
        ("\\!a", "!a", True),
        ("a   ", "a", True),
        ("a\\ ", "a ", True),
        ("a\r", "a", True),
        ("\ufeffa", "a", True),
        ("a*a", "a", False),
        ("[a", "[a", False),
        ("a\\", "a\\", False),
        ("/", "a", False),
        ("*.tar.gz", "x.tar.gz", True),
        ("*.gz", "x.tar.gz", True),
        ("*.GZ", "x.gz", False),
    ],
)
def test_rules(rules: str, path: str, expected: bool) -> None:
    assert ignored(rules, path) is expected


def test_the_same_as_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    rnd = random.Random(7)

    def pattern() -> str:
        parts = "/".join(rnd.choice(PARTS) for _ in range(rnd.choice([1, 1, 2, 3])))
        return rnd.choice(["", "", "!"]) + rnd.choice(["", "", "/"]) + parts + rnd.choice(["", "", "/"])

    for _ in range(40):
        rules = "\n".join(pattern() for _ in range(rnd.choice([1, 2, 5]))) + "\n"
        paths = sorted({"/".join(rnd.choice(NAMES) for _ in range(rnd.randint(1, 4))) for _ in range(60)})
        (tmp_path / ".gitignore").write_text(rules)
        told = subprocess.run(
            ["git", "check-ignore", "--no-index", "-z", "--stdin"],
            cwd=tmp_path,
            input="\0".join(paths) + "\0",
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split("\0")
        assert [path for path in paths if ignored(rules, path)] == told[:-1], rules


@pytest.mark.parametrize(
    "rules",
    ["*a" * 12 + "*b\n", ("*a" * 100 + "*b\n") * 300, "*?" * 400 + "*b\n", "**/" * 20_000 + "x\n", "[ab]*" * 12_000],
)
def test_a_pattern_takes_no_time(rules: str) -> None:
    began = time.process_time()
    known = Rules(rules.encode())
    known.ignored(["a"] * 500 + ["a" * 255], directory=False)
    assert time.process_time() - began < 2


def test_git_is_not_run_at_all(tmp_path: Path) -> None:
    """A repository's configuration and its index name programs that git runs."""
    ws, ran = tmp_path / "ws", tmp_path / "ran"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f'#!/bin/sh\ntouch "{ran}"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    (ws / ".git").mkdir(parents=True)
    (ws / "a").write_text("found\n")
    tools = Tools(ws, {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert tools.ok("list_files") == "a\n"
    assert "a:1:found" in tools.ok("grep_files", pattern="found")
    assert not ran.exists()


def test_an_index_that_is_completed_from_a_remote_runs_nothing(tmp_path: Path) -> None:
    """The same attack in full: a sparse index whose trees a remote has, which is a program."""
    ws, ran = tmp_path / "ws", tmp_path / "ran"
    (ws / "sub" / "deep").mkdir(parents=True)
    (ws / "a").write_text("")
    (ws / "sub" / "deep" / "b").write_text("b\n")

    def git(*arguments: str) -> str:
        said = ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments]
        return subprocess.run(said, cwd=ws, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "x")
    git("sparse-checkout", "init", "--cone", "--sparse-index")
    tree = git("rev-parse", "HEAD:sub").strip()
    (ws / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for key, value in {
        "remote.evil.url": str(ws),
        "remote.evil.promisor": "true",
        "remote.evil.partialCloneFilter": "blob:none",
        "remote.evil.uploadpack": f"touch {ran}; false",
        "extensions.partialClone": "evil",
        "core.repositoryFormatVersion": "1",
    }.items():
        git("config", key, value)
    subprocess.run(["git", "ls-files"], cwd=ws, capture_output=True, check=False)
    if not ran.exists():
        pytest.skip("this git does not fetch for it")
    ran.unlink()
    assert tools_list(ws) == ["a"]
    assert not ran.exists()


def tools_list(ws: Path) -> list[str]:
    return Tools(ws).ok("list_files").splitlines()


def test_what_git_knows_besides(tmp_path: Path) -> None:
    home, ws = tmp_path / "home", tmp_path / "ws"
    for name, text in {
        home / ".config/git/ignore": "*.swp\n",
        ws / ".git/info/exclude": "mine\n!kept.swp\n",
        ws / ".gitignore": "out\n",
        ws / "sub/.gitignore": "!out\n",
        ws / "out": "", ws / "sub/out": "", ws / "mine": "", ws / "x.swp": "", ws / "kept.swp": "", ws / "a": "",
    }.items():  # fmt: skip
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(text)
    environ = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
    tools = Tools(ws, {**environ, "HOME": str(home)})
    expected = [".gitignore", "a", "kept.swp", "sub/.gitignore", "sub/out"]
    assert tools.ok("list_files").splitlines() == expected
    assert tools.ok("list_files", path="out").splitlines() == ["out"]


def test_rules_hold_without_a_repository_too(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    (ws / "inner" / ".git").mkdir(parents=True)
    for name in ("a", "b", "inner/b", "inner/c"):
        (ws / name).write_text("")
    (ws / ".gitignore").write_text("b\n")
    (ws / "inner" / ".gitignore").write_text("c\n")
    assert tools_list(ws) == [".gitignore", "a", "inner/.gitignore", "inner/b"]


def test_a_named_pipe_for_rules_holds_nobody_up(tmp_path: Path) -> None:
    ws = tmp_path / "ws" / "in"
    ws.mkdir(parents=True)
    (ws / "a").write_text("")
    (ws.parent / ".git" / "info").mkdir(parents=True)
    os.mkfifo(ws.parent / ".gitignore")
    os.mkfifo(ws / ".gitignore")
    assert tools_list(ws) == ["a"]
    assert tools_list(ws.parent) == ["in/a"]
