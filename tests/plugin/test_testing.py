"""The host for authors' tests: what passes there keeps to the protocol, and what does not says so."""

import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jp.plugin import messages, sdk
from jp.plugin.testing import CANCELLED, SHUTDOWN, Conversation, FakeHost, Result, Unavailable

pytestmark = pytest.mark.usefixtures("no_leftovers")

HEAD = """\
import json, os, sys, time
def send(**message):
    print(json.dumps(message), flush=True)
def read():
    return json.loads(sys.stdin.readline())
def ask(**message):
    send(**message)
    return read()
init = read()
"""

Program = Callable[[str], Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Makes a program of a script, which has `send`, `read`, `ask` and `init`."""

    def make(script: str) -> Path:
        path = tmp_path / "jp-x"
        path.write_text(f"#!{sys.executable} -S\n{HEAD}{textwrap.dedent(script)}")
        path.chmod(0o755)
        return path

    return make


def plugin(main: Callable[[sdk.Host], int | None]) -> sdk.Plugin:
    made = sdk.Plugin("x", version="1", description="Does x")
    made.main(main)
    return made


class TestResult:
    def test_it_holds_what_came_of_a_run(self):
        def main(host: sdk.Host) -> int:
            host.print("a")
            host.print("b", channel="error")
            host.print("c")
            host.log("info", "done")
            host.lock("7")
            host.push("7", [{"type": "chat_request", "content": host.text("What?")}])
            return 3

        result = FakeHost(conversations={"7": []}, answers=["this"]).run(plugin(main))
        assert result.code == 3
        assert result.printed == {"content": "ac", "error": "b"}
        assert result.printed["chrome"] == ""
        assert [each.message for each in result.logs] == ["done"]
        assert [each.message for each in result.prompts] == ["What?"]
        assert [each["type"] for each in result.pushed["7"]] == ["turn_start", "chat_request"]
        assert result.pushed["7"][1]["content"] == "this"
        assert isinstance(result.messages[0], messages.Ready)
        assert isinstance(result.messages[-1], messages.Exit)

    def test_runs_of_a_host_see_each_others_changes_and_no_locks(self):
        def main(host: sdk.Host) -> int:
            host.lock("7")
            host.push("7", [{"type": "chat_request", "content": "more"}])
            return len(host.events("7").data)

        host = FakeHost(conversations={"7": []})
        first, second = host.run(plugin(main)), host.run(plugin(main))
        assert (first.code, second.code) == (2, 3)
        assert (len(first.pushed["7"]), len(second.pushed["7"])) == (2, 1)

    def test_a_program_in_any_language(self, program: Program):
        path = program("""
            send(type="ready")
            sys.stderr.write("for the log\\n")
            data = ask(type="list_conversations", id="a")
            assert data["id"] == "a"
            assert "id" not in ask(type="read_config")
            send(type="print", text=data["data"][0]["title"] + init["args"][0])
            send(type="exit", code=4, reason="so")
        """)
        result = FakeHost(args=["!"], conversations={"7": Conversation(title="T")}).run(path)
        assert (result.code, result.reason) == (4, "so")
        assert result.printed == {"content": "T!"}
        assert result.stderr == "for the log\n"

    def test_a_program_that_ends_without_exit_has_failed(self, program: Program):
        result = FakeHost().run(program("send(type='ready')"))
        assert (result.code, result.reason) == (1, "it ended without `exit`")

    def test_descriptions(self, program: Program):
        said = FakeHost().describe(program("send(type='describe', name='x', version='1', description='Does x')"))
        assert (said.name, said.command) == ("x", messages.UNSET)
        with pytest.raises(AssertionError, match="Ready"):
            FakeHost().describe(program("send(type='ready')"))


class TestAnswers:
    def run(self, *answers: bool | str | sdk.Cancelled | Unavailable) -> Result:
        return FakeHost(answers=answers).run(plugin(lambda host: int(host.confirm("Sure?"))))

    def test_one_that_is_missing(self):
        with pytest.raises(AssertionError, match=r"no answer is left for the prompt 'Sure\?'"):
            self.run()

    def test_one_that_nobody_can_give(self):
        with pytest.raises(AssertionError, match="'yes' is no answer to `confirm`"):
            self.run("yes")
        choosing = plugin(lambda host: len(host.select("Which?", ["a", "b"])))
        with pytest.raises(AssertionError, match="'c' is not among the options"):
            FakeHost(answers=["c"]).run(choosing)

    def test_outcomes(self):
        assert self.run(True).code == 1
        assert self.run(CANCELLED).reason == "cancelled"
        assert self.run(Unavailable("in the background")).reason == "nobody can be asked: in the background"

    def test_those_that_are_left(self):
        host = FakeHost(answers=[True, False])
        host.run(plugin(lambda host: int(host.confirm("Sure?"))))
        assert host.answers == [False]

    def test_a_program_hears_of_a_shutdown(self, program: Program):
        path = program("""
            said = ask(type="prompt", kind="confirm", message="Sure?")
            send(type="exit", code=7 if said == {"type": "shutdown"} else 8)
        """)
        assert FakeHost(answers=[SHUTDOWN]).run(path).code == 7


class TestRefusals:
    """As JP itself refuses."""

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            ({"type": "read_events", "conversation": "5"}, "no conversation 5"),
            ({"type": "read_events", "conversation": "x"}, "no conversation x"),
            ({"type": "lock", "conversation": "8"}, "the lock is held"),
            ({"type": "unlock", "conversation": "7"}, "the lock of jp-c7 is not held"),
            ({"type": "push_events", "conversation": "7", "events": []}, "the lock of jp-c7 is not held"),
            ({"type": "read_config", "path": "user.nam"}, "no key of the configuration"),
            ({"type": "prompt", "kind": "select", "message": "Which?"}, "`options`"),
            ({"type": "prompt", "kind": "secret", "message": "Token?", "default": "x"}, "`default`"),
        ],
    )
    def test_a_request_that_cannot_be_done(self, program: Program, request_, message):
        path = program(f"send(type='exit', code=0, reason=ask(**{request_!r})['message'])")
        held = {"7": Conversation(), "8": Conversation(locked=True)}
        result = FakeHost(conversations=held, config={"user": {"name": "x"}}).run(path)
        assert message in (result.reason or "")
        assert [each.request for each in result.refused] == [request_["type"]]

    def test_events_that_do_not_fit(self):
        def main(host: sdk.Host) -> None:
            with host.locked("7"):
                host.push("7", [{"type": "chat_request", "content": "x"}, {"type": "tool_call_response", "id": "1"}])

        result = FakeHost(conversations={"7": []}).run(plugin(main))
        assert "event 2 of 2 (`tool_call_response`)" in (result.reason or "")
        assert result.pushed == {}


class TestFaults:
    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("send(type='print')", "missing required field `text`"),
            ("send(type='prnt', text='x')", "unknown message type"),
            ("print('hello', flush=True)", "no JSON object"),
            ("print('{\"type\":\"exit\"}', end='', flush=True)", "its last line has no end"),
            ("send(type='exit'); send(type='ready')", "after `exit`"),
        ],
    )
    def test_a_line_that_is_wrong(self, program: Program, script, message):
        with pytest.raises(AssertionError, match=message):
            FakeHost().run(program(script))

    def test_one_that_does_not_end(self, program: Program):
        path = program("send(type='ready'); time.sleep(1000)")
        began = time.monotonic()
        with pytest.raises(AssertionError, match=r"has not ended; the last that it wrote is Ready\(\)"):
            FakeHost().run(path, timeout=1)
        assert time.monotonic() - began < 15

    def test_one_that_runs_on_after_exit(self, program: Program):
        path = program("send(type='exit'); os.close(1); time.sleep(1000)")
        with pytest.raises(AssertionError, match="it has said `exit` and runs on"):
            FakeHost().run(path, timeout=1)

    def test_a_plugin_in_this_process_that_does_not_end(self):
        def main(host: sdk.Host) -> None:
            host.shutting_down.wait(60)  # which is set when the host is gone

        with pytest.raises(AssertionError, match="has not ended"):
            FakeHost().run(plugin(main), timeout=0.2)
