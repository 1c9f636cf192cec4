"""The example plugins, installed and run as a user would: in bash, Python, Node and awk."""

import json
import os
import shutil
import sys

import pytest

from tests.conftest import REPOSITORY
from tests.support.workspace import Ask
from tests.wire.model_server import text

EXAMPLES = REPOSITORY / "examples" / "plugins"
NEEDS = {
    "titles": ("bash", "jq"),
    "ask-sh": ("bash", "jq"),
    "prune": (),
    "stats": ("node",),
    "words": ("awk", "jq"),
}


@pytest.fixture
def talked(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Two conversations, one of them with a title that would break a careless script."""
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    ask("q", "-n", "--title", 'A "quoted"\ttitle; $(rm -rf /) 端', "hello words words words", replies=(text("Hi."),))
    ask("q", "-n", "--title", "Second", "other", replies=(text("Hi."),))
    return ask


def installed(ask: Ask, name: str) -> None:
    missing = [program for program in NEEDS[name] if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} missing")
    result = ask("plugin", "install", str(EXAMPLES / f"jp-{name}"))
    assert result.status == "exited 0", result


@pytest.mark.req("PROTO-58", "PROTO-1", "PROTO-27")
def test_the_shell_plugin_of_the_documentation_prints_each_title(talked: Ask) -> None:
    installed(talked, "titles")
    result = talked("titles")
    assert result.status == "exited 0"
    assert result.stdout.splitlines() == ["Second", 'A "quoted" title; $(rm -rf /) 端']
    assert result.stderr == ""


@pytest.mark.req("D60-32")
def test_a_shell_script_says_what_to_do_where_nobody_can_be_asked(talked: Ask) -> None:
    installed(talked, "ask-sh")
    result = talked("ask-sh")
    assert result.status.startswith("exited")
    assert "/dev/tty" in result.stdout + result.stderr


def test_the_python_plugin(talked: Ask) -> None:
    installed(talked, "prune")
    result = talked("prune", "--days", "0", "--yes")
    assert result.status == "exited 0", result
    assert len([line for line in result.stdout.splitlines() if line.startswith("jp conversation rm")]) == 2


def test_the_node_plugin_in_text_and_json(talked: Ask) -> None:
    installed(talked, "stats")
    assert "Second" in talked("stats").stdout
    record = json.loads(talked("-F", "json", "stats").stdout)
    rows = json.loads(record["text"])
    assert [row["counts"]["chat_request"] for row in rows] == [1, 1]


def test_the_awk_plugin(talked: Ask) -> None:
    installed(talked, "words")
    result = talked("words")
    assert result.status == "exited 0", result
    assert result.stdout.split()[:2] == ["1", "other"]
