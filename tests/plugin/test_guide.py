"""The plugins that the guide for authors prints work as they are printed."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from jp.plugin import check, messages, sdk
from jp.plugin.fake import Conversation
from jp.plugin.testing import CANCELLED, SHUTDOWN, UNAVAILABLE, FakeHost
from tests.conftest import Jp

GUIDE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
CONVERSATIONS = {
    "17800836875": Conversation(title='A "title" \\ of two\nlines 你好'),
    "17800812345": Conversation(),
}

needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


def blocks(language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@needs_jq
@pytest.mark.req("PROTO-58")
def test_the_ten_lines_are_a_plugin(tmp_path: Path) -> None:
    plugin = script(tmp_path / "jp-titles", blocks("sh")[0])
    assert plugin.read_text().startswith("#!")
    assert FakeHost().describe(plugin).name == "titles"
    result = FakeHost(conversations=CONVERSATIONS).run(plugin)
    assert (result.code, result.stderr) == (0, "")
    assert result.printed["content"] == 'A "title" \\ of two\nlines 你好\nUntitled\n'


@needs_jq
@pytest.mark.req("PROTO-58", "PROTO-7", "PROTO-8")
def test_the_ten_lines_are_a_command_of_jp(tmp_path: Path, jp: Jp) -> None:
    plugin = script(tmp_path / "bin" / "jp-titles", blocks("sh")[0])
    installed = jp("plugin", "install", plugin)
    assert installed.status == "exited 0", installed
    assert jp("init").status == "exited 0"
    assert re.search(r"  titles +Print the title of each conversation\n", jp("--help").stdout)
    assert "Print the title" in jp("titles", "--help").stdout
    none = jp("titles")
    assert (none.status, none.stdout, none.stderr) == ("exited 0", "", "")
    python = PYTHON.replace("/usr/bin/env python3", sys.executable)
    assert jp("plugin", "install", script(tmp_path / "bin" / "jp-note", python)).status == "exited 0"
    asked = jp("note", "buy", "milk")
    assert (asked.status, asked.stdout) == ("exited 2", ""), asked
    assert "give the note as words: " in asked.stderr
    unasked = script(tmp_path / "bin" / "jp-note", python.replace("if not host.confirm", "if False and host.confirm"))
    assert jp("plugin", "install", unasked, "--force").status == "exited 0"
    kept = jp("note", "buy", '"milk"')
    assert (kept.status, re.sub(r"\d+", "1", kept.stdout)) == ("exited 0", "jp-c1\n"), kept
    assert jp("titles").stdout == 'buy "milk"\n'


@needs_jq
@pytest.mark.req("D60-6")
@pytest.mark.parametrize(
    ("answer", "code", "printed"),
    [(True, 0, "true"), (False, 0, "false"), (CANCELLED, 0, "false"), (UNAVAILABLE, 1, ""), (SHUTDOWN, 1, "")],
)
def test_the_lines_that_ask_tell_the_outcomes_apart(tmp_path: Path, answer: Any, code: int, printed: str) -> None:
    tell = """jq -cn --arg text "$sure" '{type: "print", text: $text}'\necho '{"type":"exit","code":0}'\n"""
    asking = script(tmp_path / "jp-ask", f"#!/bin/sh\nIFS= read -r init\n{blocks('sh')[1]}{tell}")
    result = FakeHost(answers=[answer]).run(asking)
    assert (result.code, result.printed["content"]) == (code, printed)
    assert result.prompts[0].default is False


@needs_jq
def test_the_ten_lines_are_sound(tmp_path: Path) -> None:
    plugin = script(tmp_path / "jp-titles", blocks("sh")[0])
    failed = [
        finding for finding in check.check(str(plugin), environ=os.environ, cwd=str(tmp_path)) if finding.ok is False
    ]
    assert not failed


PYTHON, TEST = blocks("python")[:2]


def namespace() -> dict[str, Any]:
    """What the module of the example holds."""
    found: dict[str, Any] = {"__name__": "jp_note"}
    exec(compile(PYTHON, "jp-note", "exec"), found)
    return found


def test_the_plugin_in_python_passes_the_tests_that_are_printed_for_it() -> None:
    found = namespace()
    exec(compile(TEST, "test_note", "exec"), found)
    tests = [name for name in found if name.startswith("test_")]
    assert len(tests) == 2
    for name in tests:
        found[name]()


def test_the_plugin_in_python_says_what_it_is() -> None:
    plugin = namespace()["plugin"]
    assert isinstance(plugin, sdk.Plugin)
    described = FakeHost().describe(plugin)
    assert (described.name, described.command) == ("note", ["note"])


def test_the_prints_that_are_shown_are_messages() -> None:
    from jp.plugin.wire import decode

    lines = blocks("json")[0].splitlines()
    assert len(lines) == 5
    assert all(isinstance(decode(line.encode()), messages.Print) for line in lines)


def test_the_methods_that_are_named_are_there() -> None:
    named = re.findall(r"`host\.(\w+)\(", GUIDE)
    assert len(named) > 6
    for name in named:
        assert hasattr(sdk.Host, name) or hasattr(FakeHost, name), name


def test_the_commands_that_are_shown_exist() -> None:
    shown = set(re.findall(r"^\$ jp plugin (\w+)", GUIDE, re.M))
    assert shown == {"check", "install", "ls", "show", "update", "trust", "rm"}
    commands = Path(__file__).parents[2] / "src" / "jp" / "cli" / "commands"
    assert shown == {path.stem.removeprefix("plugin_") for path in commands.glob("plugin_*.py")}
