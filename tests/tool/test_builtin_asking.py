"""`ask_user`, `describe_tools`, and what is said of all built-in tools."""

import importlib
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from jp.config.sections.tools import RUN_MODES
from jp.tool.builtin.catalogue import CATALOGUE
from jp.tool.definition import FORMAT
from jp.tool.outcome import Failure, Question, Success
from tests.tool.builtin_running import Tools, definition

NAMES = ["read_file", "list_files", "grep_files", "write_file", "modify_file"]
NAMES += ["run_command", "fetch_page", "describe_tools", "ask_user"]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


def test_a_question_and_its_answer(tools: Tools) -> None:
    asked = tools.asks("ask_user", question="Which?", kind="select", options=["a", "b"])
    assert asked.question == Question("answer", "Which?", "select", ["a", "b"], exclusive=True)
    for answer, content in (("b", "b"), (True, "yes"), (False, "no"), (3, "3"), ("", "")):
        outcome = tools.run("ask_user", {"question": "Which?"}, answers={asked.question.id: answer})
        assert outcome == Success(content)
    assert tools.asks("ask_user", question="Name?").question.kind == "text"
    assert tools.asks("ask_user", question="Sure?", kind="boolean").question.kind == "boolean"
    assert tools.asks("ask_user", question="Which?", options=["a"]).question.kind == "select"
    assert "needs `options`" in tools.fails("ask_user", question="Which?", kind="select")
    assert "must be one of text, boolean, select" in tools.fails("ask_user", question="?", kind="secret")


def test_descriptions(tools: Tools) -> None:
    shown = tools.ok("describe_tools", names=["grep_files", "nothing", "ask_user"])
    assert shown.startswith("# grep_files\n\n" + CATALOGUE["grep_files"].summary)
    assert '"ignore_case"' in shown
    assert "## Examples\n\n" + CATALOGUE["grep_files"].examples in shown
    assert "# ask_user" in shown
    assert "There is no tool called nothing; there are: ask_user, " in shown
    assert "There is no tool called x" in tools.fails("describe_tools", names=["x"])
    assert "`names` is empty" in tools.fails("describe_tools", names=[])


def test_the_catalogue(tools: Tools) -> None:
    assert list(CATALOGUE) == NAMES
    unattended = {"read_file", "list_files", "grep_files", "describe_tools", "ask_user"}
    for name, tool in CATALOGUE.items():
        assert tool.name == name
        assert tool.run in RUN_MODES
        assert (tool.run == "unattended") is (name in unattended)
        module = importlib.import_module(tool.module)
        assert callable(getattr(module, name))
        assert hasattr(module, f"format_{name}") is tool.formats is tools.executor.formats(definition(name))
        schema = jsonschema_rs.validator_for(tool.parameters)
        for example in tool.examples.splitlines():
            schema.validate(msgspec.json.decode(example))
        assert not schema.is_valid({"unknown": 1})
    assert [name for name, tool in CATALOGUE.items() if tool.always_ask] == ["run_command"]


def test_the_catalogue_costs_nothing() -> None:
    code = "import sys, msgspec; old = {*sys.modules}; import jp.tool.builtin.catalogue; print(*{*sys.modules} - old)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(loaded.split()) == {"jp", "jp.tool", "jp.tool.builtin", "jp.tool.builtin.catalogue"}


# --- the executor ---


def test_tools_that_there_are_not(tools: Tools) -> None:
    unknown = msgspec.structs.replace(definition("read_file"), name="rm_rf")
    started = tools.start("read_file", {"path": "a"}, action=FORMAT)
    assert started.outcome() == Failure("read_file does not format its arguments")
    assert not tools.executor.formats(unknown)


def test_a_workspace_that_is_gone(tmp_path: Path) -> None:
    tools = Tools(tmp_path / "gone")
    for name, arguments in (
        ("read_file", {"path": "a"}),
        ("grep_files", {"pattern": "x"}),
        ("run_command", {"command": "true"}),
    ):
        outcome = tools.run(name, arguments)
        assert isinstance(outcome, Failure)
        assert "no such file" in outcome.message


def test_a_fault_of_ours_is_an_outcome_too(tmp_path: Path) -> None:
    def broken() -> list:
        raise RuntimeError("a fault")

    tools = Tools(tmp_path, describe=broken)
    assert tools.fails("describe_tools", names=["x"]) == "describe_tools failed inside JP: RuntimeError: a fault"


def test_many_at_once(tmp_path: Path, tools: Tools) -> None:
    for n in range(20):
        (tmp_path / f"f{n}").write_text(f"{n}\n")
    started = [tools.start("read_file", {"path": f"f{n}"}) for n in range(20)]
    assert [each.outcome() for each in started] == [Success(f"     1\t{n}\n") for n in range(20)]


def test_no_thread_is_left(tools: Tools) -> None:
    assert tools.fails("read_file", path="none")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tool-read")]


def test_when_no_thread_can_be_started(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert tools.fails("read_file", path="a") == "read_file could not be started: can't start new thread"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"question": "x" * 70_000}, "`question.text` is longer than 64 KiB"),
        ({"question": "x", "options": ["x"] * 1001}, "it has more than 1,000 options"),
        ({"question": "x", "options": ["x" * 5000]}, "it has an option of more than 4 KiB"),
    ],
)
def test_a_question_that_is_too_large_is_not_asked(tools: Tools, arguments: dict[str, Any], said: str) -> None:
    assert tools.fails("ask_user", **arguments) == f"that can't be asked: {said}"
