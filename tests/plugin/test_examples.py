"""The example plugins: each keeps to the protocol, and does what its help says.

`Example.run` is all that knows of the host: whoever has another one (`jp` itself) runs the same with it.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jp.plugin.check import check
from jp.plugin.testing import CANCELLED, SHUTDOWN, UNAVAILABLE, Answer, Conversation, FakeHost, Result
from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "examples" / "plugins"

ODD = 'A "quoted" \\ title\nwith $(two) `lines` %s 日本語 \x1b[31mred\x1b[0m \u2028'
ODD_LINE = 'A "quoted" \\ title with $(two) `lines` %s 日本語 \x1b[31mred\x1b[0m'


class Example(NamedTuple):
    """A plugin of the folder, and the programs that it needs."""

    name: str
    needs: tuple[str, ...]

    @property
    def path(self) -> Path:
        return FOLDER / self.name

    def need(self) -> None:
        """Skips the test where one of them is missing."""
        missing = [each for each in self.needs if not shutil.which(each)]
        if missing:
            pytest.skip(f"{self.name} needs {', '.join(missing)}")

    def run(self, *args: str, answers: Iterable[Answer] = (), output_format: str = "text", **found: Any) -> Result:
        """Run it with these conversations."""
        self.need()
        host = FakeHost(
            args=args, answers=answers, conversations=found.get("conversations"), output_format=output_format
        )
        result = host.run(self.path, timeout=60)
        assert result.stderr == ""
        assert host.answers == []
        return result


TITLES = Example("jp-titles", ("bash", "jq"))
ASK = Example("jp-ask-sh", ("bash", "jq"))
PRUNE = Example("jp-prune", ())
STATS = Example("jp-stats", ("node",))
WORDS = Example("jp-words", ("awk", "jq"))
ALL = (TITLES, ASK, PRUNE, STATS, WORDS)


@pytest.fixture(autouse=True)
def python_with_jp(monkeypatch: pytest.MonkeyPatch, no_leftovers: None) -> None:
    """The `python3` of the environment comes first."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def test_these_are_all_of_them():
    assert sorted(each.name for each in FOLDER.iterdir() if each.name.startswith("jp-")) == sorted(
        each.name for each in ALL
    )
    assert all(f"[`{each.name}`]({each.name})" in (FOLDER / "README.md").read_text() for each in ALL)


@pytest.mark.slow
@pytest.mark.parametrize("example", ALL, ids=lambda each: each.name)
def test_it_keeps_to_the_protocol(example: Example):
    example.need()
    findings = check(os.fspath(example.path), environ=os.environ, cwd=os.fspath(FOLDER), seconds=60)
    assert [each for each in findings if each.ok is False] == []
    assert [each.hint for each in findings if each.ok and each.hint] == []
    assert "JP ignores" not in str(findings)


@pytest.mark.parametrize("awk", ["gawk", "mawk", "original-awk"])
def test_any_awk_will_do(awk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = shutil.which(awk)
    if found is None:
        pytest.skip(f"there is no {awk}")
    (tmp_path / "awk").symlink_to(found)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    result = WORDS.run(conversations={"1": [{"type": "chat_request", "content": f"naïve naïve {ODD}"}]})
    assert result.printed["content"].splitlines()[0].split() == ["2", "naïve"]
    assert result.code == 0


@pytest.mark.parametrize("example", ALL, ids=lambda each: each.name)
def test_its_description(example: Example):
    example.need()
    said = FakeHost().describe(example.path, timeout=60)
    assert isinstance(said.command, list)
    assert f"jp-{'-'.join(said.command)}" == example.name
    assert str(said.help).startswith(f"Usage: jp {' '.join(said.command)}")


class TestTitles:
    def test_each_title_on_a_line(self):
        conversations = {"1": Conversation(title="One"), "2": Conversation(title=ODD), "3": Conversation(title=None)}
        result = TITLES.run(conversations=conversations)
        assert result.printed == {"content": f"One\n{ODD_LINE} \nUntitled\n"}
        assert result.code == 0

    def test_no_conversations(self):
        assert TITLES.run().printed == {}


class TestAsk:
    def test_answers(self):
        result = ASK.run(answers=[False, "release", ODD, "t0ken"])
        assert result.printed["content"] == f"confirm: false\nselect: release\ntext: {ODD}\nsecret: 5 characters\n"
        assert [each.kind for each in result.prompts] == ["confirm", "select", "text", "secret"]
        assert result.code == 0

    def test_each_prompt_may_be_dismissed(self):
        result = ASK.run(answers=[CANCELLED, "main", CANCELLED, CANCELLED])
        assert result.printed["content"] == "confirm: cancelled\nselect: main\ntext: cancelled\nsecret: cancelled\n"

    def test_nobody_is_there(self):
        result = ASK.run(answers=[True, UNAVAILABLE])
        assert (result.code, result.reason) == (1, "jp ask-sh needs somebody to answer: no interactive terminal")

    def test_a_shutdown(self):
        assert ASK.run(answers=[True, SHUTDOWN]).code == 1


AGES = {
    "11": Conversation(title=ODD, last_activated_at="2020-01-01T00:00:00Z"),
    "12": Conversation(title="Pinned", last_activated_at="2020-01-01T00:00:00Z", pinned_at="2020-01-01T00:00:00Z"),
    "13": Conversation(title="New", last_activated_at="2999-01-01T00:00:00Z"),
    "14": Conversation(title="Nobody knows", last_activated_at=None),
    "15": Conversation(title="Old", last_activated_at="2021-01-01T00:00:00Z"),
}


class TestPrune:
    def test_what_is_old_and_not_pinned(self):
        result = PRUNE.run("--days", "30", answers=[True], conversations=AGES)
        assert result.prompts[0].message == "Print the commands that remove 2 conversations?"
        first, second = result.printed["content"].splitlines()
        assert first.startswith("jp conversation rm jp-c11  # A ")
        assert second == "jp conversation rm jp-c15  # Old"
        assert "Old" in result.printed["chrome"]

    @pytest.mark.parametrize("answer", [False, CANCELLED])
    def test_a_no(self, answer):
        result = PRUNE.run(answers=[answer], conversations=AGES)
        assert result.printed["content"] == ""
        assert result.code == 0

    def test_nobody_is_there(self):
        result = PRUNE.run(answers=[UNAVAILABLE], conversations=AGES)
        assert result.code == 1
        assert "`--yes`" in (result.reason or "")
        assert PRUNE.run("--yes", conversations=AGES).printed["content"].count("\n") == 2

    def test_nothing_is_old(self):
        assert "left alone" in PRUNE.run("--days=9999").printed["chrome"]

    @pytest.mark.parametrize("args", [("--days",), ("--days", "x"), ("--no",)])
    def test_wrong_arguments(self, args):
        assert PRUNE.run(*args).code == 2


COUNTED = {
    "11": Conversation(title=ODD, events=[{"type": "turn_start"}, {"type": "chat_request", "content": ODD}]),
    "12": Conversation(title=None, events=[{"type": "turn_start"}, {"type": "turn_start"}]),
}


class TestStats:
    def test_a_table(self):
        (said,) = [each for each in STATS.run(conversations=COUNTED).messages if hasattr(each, "format")]
        assert said.format == "markdown"
        lines = said.text.splitlines()
        assert lines[0] == "| Conversation | Events | chat\\_request | turn\\_start |"
        assert lines[3] == "| jp\\-c12 | 2 |  | 2 |"
        assert len(lines) == 4

    def test_json(self):
        result = STATS.run("jp-c12", conversations=COUNTED, output_format="json")
        rows = json.loads(result.printed["content"])
        assert rows == [{"id": "12", "title": None, "total": 2, "counts": {"turn_start": 2}}]

    def test_no_conversations(self):
        assert STATS.run().printed["content"] == "No conversations.\n"


class TestWords:
    def test_the_most_used_words_of_the_last_conversation(self):
        events = [
            {"type": "chat_request", "content": f"The parser borrows, and {ODD}"},
            {"type": "chat_response", "message": "model model model"},
            {"type": "chat_request", "content": "parser: don't 'borrow' parser\\parser"},
        ]
        conversations = {
            "11": Conversation(events=[{"type": "chat_request", "content": "other"}], last_activated_at="2020-01-01"),
            "12": Conversation(events=events, last_activated_at="2025-01-01"),
        }
        lines = WORDS.run(conversations=conversations).printed["content"].splitlines()
        assert lines[0].split() == ["4", "parser"]
        assert [line.split()[1] for line in lines if "don" in line] == ["don't"]
        assert "model" not in str(lines)
        assert "other" not in str(lines)

    def test_no_conversations(self):
        assert WORDS.run().printed == {"chrome": "There is no conversation yet.\n"}
