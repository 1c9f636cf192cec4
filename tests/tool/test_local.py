"""Local tools: rendered, run, heard of once, and over when they are over."""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from jp.config.sections.tools import Access, Command, FileRule, ToolStyle
from jp.interrupt import standing
from jp.tool.definition import FORMAT
from jp.tool.outcome import Failure, Success
from tests.support.marked import still_marked
from tests.tool.running import DEADLINE, Runner, Started, invocation, shell

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.fixture
def tools(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def await_up(log: Path) -> None:
    until = time.monotonic() + DEADLINE
    while not (log.exists() and log.read_text() == "up\n"):
        assert time.monotonic() < until, "it did not begin"
        threading.Event().wait(0.005)


def reply(value: Any) -> Command:
    return Command("printf", ["%s", json.dumps(value)], False)


class TestRun:
    def test_what_it_prints_is_its_content(self, tools: Runner) -> None:
        assert tools.content("printf %s {{tool.arguments.text}}", {"text": "a  b\n\x1b[1m\r"}) == "a  b\n\x1b[1m\r"
        assert tools.content("true") == ""

    def test_it_runs_in_the_workspace_without_input(self, tools: Runner, tmp_path: Path) -> None:
        assert tools.content(shell("pwd -P; cat")) == f"{tmp_path.resolve()}\n"

    def test_it_is_told_of_the_call(self, tmp_path: Path) -> None:
        tools = Runner(tmp_path, workspace_id="abcde", conversation_id="17800836875")
        access = Access([FileRule("."), FileRule("./a/", read=True, external=False)])
        said = tools.content("printf '%s\n%s' {{tool}} {{context}}", {"a": 1}, options={"o": [2]}, access=access)
        tool, context = map(json.loads, said.split("\n"))
        assert tool == {"name": "t", "arguments": {"a": 1}, "answers": {}, "options": {"o": [2]}}
        assert context == {
            "action": "run",
            "root": str(tmp_path),
            "workspace_id": "abcde",
            "conversation_id": "17800836875",
            "access": {"fs": [{"lexical_path": ""}, {"lexical_path": "a", "external": False, "read": True}]},
        }

    def test_keys_of_providers_are_not_inherited(self, tmp_path: Path) -> None:
        environ = {"PATH": os.environ["PATH"], "KEY": "hidden", "OTHER": "told", "TEST_MARK": os.environ["TEST_MARK"]}
        tools = Runner(tmp_path, environ=environ, hidden={"KEY", "NONE"})
        assert tools.content(shell("echo ${KEY-none} $OTHER")) == "none told\n"

    def test_an_outcome_object_is_one(self, tools: Runner) -> None:
        assert tools.content(reply({"type": "success", "content": "x"})) == "x"
        outcome = tools.outcome(reply({"type": "error", "message": "m", "trace": ["a"], "transient": True}))
        assert outcome == Failure("m", ["a"], True)

    @pytest.mark.parametrize("status", [0, 3])
    def test_whatever_the_exit_status(self, tools: Runner, status: int) -> None:
        assert tools.content(shell(f"""echo '{{"type":"success","content":"x"}}'; exit {status}""")) == "x"

    def test_a_question_and_the_run_with_its_answer(self, tools: Runner) -> None:
        command = shell("""case {{tool.answers.sure | default('')}} in
            '') echo '{"type":"needs_input","question":{"id":"sure","text":"Sure?","answer_type":"Boolean"}}' ;;
            *) echo {{tool.answers}} ;; esac""")
        assert tools.question(command).id == "sure"
        assert tools.content(command, answers={"sure": True}) == '{"sure":true}\n'

    def test_an_impossible_question_is_a_failure(self, tools: Runner) -> None:
        assert "question" in tools.failure(reply({"type": "needs_input", "question": {"id": "x"}}))

    def test_what_it_says_on_stderr_is_logged_and_not_its_content(self, tools: Runner) -> None:
        assert tools.content(shell("echo out; echo one >&2; printf two >&2")) == "out\n"
        assert tools.logged == ["one", "two"]


class TestFailures:
    def test_an_exit_status_with_all_it_has_said(self, tools: Runner) -> None:
        said = tools.failure(shell("echo out; echo err >&2; exit 7"))
        assert said == "t failed with exit status 7\n\nstdout:\nout\n\nstderr:\nerr"
        assert tools.failure("false") == "t failed with exit status 1"

    def test_a_signal(self, tools: Runner) -> None:
        assert tools.failure(shell("kill -SEGV $$")) == "t was killed by SIGSEGV"

    def test_half_an_outcome_is_text(self, tools: Runner) -> None:
        assert tools.content(Command("printf", ["%s", '{"type":"success","con'], False)) == '{"type":"success","con'

    @pytest.mark.parametrize(
        ("command", "said"),
        [
            (None, "t has no command to run"),
            ("no-such-program x", "there is no program `no-such-program`"),
            ("./nowhere/x", "there is no program `./nowhere/x`"),
            ("/etc/passwd", "`/etc/passwd` is not a program that can be run"),
            ("/", "`/` is not a program that can be run"),
            ("echo {{tool.arguments.missing}}", "`tool.arguments.missing` is undefined"),
            ("echo 'x", "no closing quotation"),
        ],
    )
    def test_what_cannot_be_run_names_tool_program_and_key(self, tools: Runner, command: str | None, said: str) -> None:
        failure = tools.failure(command)
        assert said in failure
        assert "conversation.tools.t.command" in failure
        assert " t " in failure or failure.startswith("t ")

    def test_more_than_a_command_line_holds(self, tools: Runner) -> None:
        said = tools.failure("echo {{tool.arguments.a}}", {"a": "x" * 3_000_000})
        assert "more than a command line holds (a word of 3,000,000 bytes)" in said

    def test_a_workspace_that_is_gone(self, tmp_path: Path) -> None:
        said = Runner(tmp_path / "gone").failure("true")
        assert f"there is no directory {tmp_path}/gone" in said

    def test_one_that_fails_tells_all_that_fits(self, tools: Runner) -> None:
        said = tools.failure(shell("yes out | head -c 300000; yes err | head -c 300000 >&2; exit 1"))
        assert "the whole is in" in said
        assert said.endswith("\nerr")
        assert len(said) < 300_000


class TestLongOutput:
    def test_text(self, tools: Runner) -> None:
        text = tools.content(shell("yes 0123456789 | head -c 1000000"))
        (path,) = tools.spilled()
        assert f"the whole is in {path}" in text
        assert path.stat().st_size == 1_000_000
        assert len(text) < 140_000

    def test_content_of_an_outcome(self, tools: Runner) -> None:
        made = Command(
            "python3", ["-c", "import json; print(json.dumps({'type':'success','content':'é\\n'*200000}))"], False
        )
        text = tools.content(made)
        (path,) = tools.spilled()
        assert f"the whole is in {path}" in text
        assert path.read_text() == "é\n" * 200_000

    def test_an_error(self, tools: Runner) -> None:
        made = Command(
            "python3",
            ["-c", "import json; print(json.dumps({'type':'error','message':'m','trace':['x'*99]*9999}))"],
            False,
        )
        outcome = tools.outcome(made)
        assert isinstance(outcome, Failure)
        assert len(outcome.content) < 140_000
        (path,) = tools.spilled()
        assert str(path) in outcome.message

    def test_without_need_there_is_no_file(self, tools: Runner) -> None:
        tools.content(shell("yes | head -c 100000"))
        assert tools.spilled() == []


class TestSecrets:
    CALL: ClassVar[dict[str, Any]] = {"answers": {"pw": "hunter22"}, "secret": frozenset({"pw"})}

    def test_reach_the_tool_and_come_back_from_nowhere(self, tools: Runner) -> None:
        command = shell("test {{tool.answers.pw}} = hunter22 && echo is {{tool.answers.pw}}; echo {{tool}} >&2")
        assert tools.content(command, **self.CALL) == "is [redacted]\n"
        assert len(tools.logged) == 1
        assert '"pw":"[redacted]"' in tools.logged[0]

    def test_nor_from_failures(self, tools: Runner) -> None:
        said = tools.failure(shell("echo {{tool.answers.pw}}; echo {{tool.answers.pw}} >&2; exit 1"), **self.CALL)
        assert said == "t failed with exit status 1\n\nstdout:\n[redacted]\n\nstderr:\n[redacted]"
        assert "hunter22" not in tools.failure("{{tool.answers.pw}}", **self.CALL)

    def test_nor_from_outcomes_and_files(self, tools: Runner) -> None:
        code = "import json,sys; print(json.dumps({'type':'success','content':(sys.argv[1]+' ')*20000}))"
        said = tools.content(Command("python3", ["-c", code, "{{tool.answers.pw}}"], False), **self.CALL)
        (path,) = tools.spilled()
        assert said.startswith("[redacted] [redacted] ")
        assert "hunter22" not in said + path.read_text()


class TestFormat:
    def test_which_tools_do(self, tools: Runner) -> None:
        def formats(parameters: str | Command | None) -> bool:
            style = ToolStyle(parameters=parameters)
            return tools.tools.formats(invocation("x", style=style).tool)

        assert formats("just show {{tool}}")
        assert formats(Command("x", [], False))
        assert not any(map(formats, ("json", "function_call", "off", None)))
        assert not tools.tools.formats(invocation("x").tool)

    def test_the_other_command_is_run_and_told_so(self, tools: Runner) -> None:
        style = ToolStyle(parameters="echo {{context.action}} {{tool.arguments.a}}")
        assert tools.content("false", {"a": 1}, style=style, action=FORMAT) == "format_arguments 1\n"

    def test_failures_name_its_key(self, tools: Runner) -> None:
        said = tools.failure("true", style=ToolStyle(parameters="no-such-program"), action=FORMAT)
        assert "conversation.tools.t.style.parameters" in said


class TestCancel:
    WAITS = shell("trap 'echo ended >>log; exit' TERM; echo up >>log; while :; do sleep 0.01; done")
    DEAF = shell("trap '' TERM; echo up >>log; while :; do sleep 0.01; done")

    def begun(self, tools: Runner, command: Command, tmp_path: Path, **more: Any) -> Started:
        started = tools.start(command, **more)
        await_up(tmp_path / "log")
        return started

    def test_it_may_put_things_in_order(self, tools: Runner, tmp_path: Path) -> None:
        started = self.begun(tools, self.WAITS, tmp_path)
        assert not started.run.over(0)
        began = time.monotonic()
        started.run.cancel()
        assert time.monotonic() - began < 0.05
        assert started.run.over(DEADLINE)
        assert (tmp_path / "log").read_text() == "up\nended\n"
        assert started.outcome() == Failure("t was cancelled")

    def test_but_not_for_ever(self, tools: Runner, tmp_path: Path) -> None:
        started = self.begun(tools, self.DEAF, tmp_path)
        began = time.monotonic()
        started.run.cancel()
        started.run.cancel()
        assert started.run.over(DEADLINE)
        assert 0.4 < time.monotonic() - began < 2

    def test_at_once_where_that_is_asked(self, tools: Runner, tmp_path: Path) -> None:
        started = self.begun(tools, self.DEAF, tmp_path)
        began = time.monotonic()
        started.run.cancel()
        started.run.cancel(now=True)
        assert started.run.over(DEADLINE)
        assert time.monotonic() - began < 0.4

    def test_the_rest_of_its_group_has_the_grace_too(self, tools: Runner, tmp_path: Path) -> None:
        inner = "trap 'sleep 0.1; echo inner >>log; exit' TERM; echo up >>log; while :; do sleep 0.01; done"
        started = self.begun(tools, shell(f"sh -c \"{inner}\" & trap 'exit' TERM; wait"), tmp_path)
        started.run.cancel()
        assert started.run.over(DEADLINE)
        assert (tmp_path / "log").read_text() == "up\ninner\n"

    def test_right_after_its_start_and_after_its_end(self, tools: Runner) -> None:
        for now in (False, True):
            started = tools.start("sleep 60")
            started.run.cancel(now=now)
            assert started.run.over(DEADLINE)
        started = tools.start("true")
        assert started.run.over(DEADLINE)
        started.run.cancel()
        started.run.cancel(now=True)
        assert started.outcome() == Success("")

    def test_many_at_once_from_many_threads(self, tools: Runner) -> None:
        started = [tools.start("sleep 60") for _ in range(20)]
        for each in started:
            for now in (False, True):
                threading.Thread(target=each.run.cancel, kwargs={"now": now}).start()
        for each in started:
            assert each.run.over(DEADLINE)
            each.outcome()
        assert not still_marked(5)


class TestAfter:
    def test_the_earlier_run_is_over_before_it_begins(self, tools: Runner, tmp_path: Path) -> None:
        first = tools.start(shell("trap 'sleep 0.2; echo first >>log; exit' TERM; echo up >>log; sleep 60 & wait"))
        await_up(tmp_path / "log")
        first.run.cancel()
        second = tools.start(shell("echo second >>log"), after=first.run)
        assert second.outcome() == Success("")
        assert (tmp_path / "log").read_text() == "up\nfirst\nsecond\n"

    def test_but_one_that_does_not_end_is_not_waited_for_long(self, tools: Runner) -> None:
        first = tools.start("sleep 60")
        began = time.monotonic()
        second = tools.start("true", after=first.run)
        assert second.outcome() == Success("")
        assert 1.9 < time.monotonic() - began < 4
        first.run.cancel(now=True)
        assert first.run.over(DEADLINE)

    def test_a_run_that_is_cancelled_meanwhile_does_not_begin(self, tools: Runner, tmp_path: Path) -> None:
        first = tools.start("sleep 60")
        second = tools.start(shell("echo second >log"), after=first.run)
        second.run.cancel()
        assert second.run.over(1)
        first.run.cancel(now=True)
        assert first.run.over(DEADLINE)
        assert not (tmp_path / "log").exists()


class TestTimeLimit:
    def test_it_is_ended_and_the_key_is_named(self, tools: Runner) -> None:
        began = time.monotonic()
        said = tools.failure(shell("echo begun; sleep 60"), timeout_secs=1)
        assert 0.9 < time.monotonic() - began < 2.5
        assert said == (
            "t took longer than 1 seconds and was ended (conversation.tools.t.timeout_secs)\n\nstdout:\nbegun"
        )

    def test_zero_is_none(self, tools: Runner) -> None:
        assert tools.content("sleep 0.1", timeout_secs=0) == ""

    def test_it_stands_still_while_a_question_is_up(self, tools: Runner) -> None:
        go_on = standing.stand()
        try:
            assert tools.content("sleep 1.3", timeout_secs=1) == ""
        finally:
            go_on()


def test_fifty_at_once(tools: Runner) -> None:
    tools.content("true")  # what is imported once is
    began = time.monotonic()
    started = [tools.start("sleep 0.01") for _ in range(50)]
    for each in started:
        assert each.outcome() == Success("")
    took = time.monotonic() - began
    assert took < 2, "some 0.15 s on a quiet machine"
    assert all(each.run.over(5) for each in started)


def test_no_descriptor_is_left(tools: Runner) -> None:
    tools.content("true")
    before = set(os.listdir("/dev/fd"))
    for command in ("true", "no-such-program", shell("yes | head -c 5000000"), shell("sleep 60 & echo x"), "sleep 60"):
        started = tools.start(command, timeout_secs=1)
        started.outcome()
        assert started.run.over(DEADLINE)
    assert set(os.listdir("/dev/fd")) == before
