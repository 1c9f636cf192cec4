"""The SDK: what a plugin's main function can ask, and how its runs end."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jp.plugin import messages, sdk, wire
from jp.plugin.exchange import Exchange
from jp.plugin.testing import CANCELLED, SHUTDOWN, UNAVAILABLE, Conversation, FakeHost, Result
from tests.support.terminal import Terminal

DEADLINE = 30


def plugin(main: Callable[[sdk.Host], int | None] | None = None) -> sdk.Plugin:
    made = sdk.Plugin("x", version="1", description="Does x", help="Usage: jp x", command=["x"])
    if main is not None:
        made.main(main)
    return made


def run(main: Callable[[sdk.Host], int | None], **host: Any) -> Result:
    """Run a plugin with this main function; what it asserts counts."""
    result = FakeHost(**host).run(plugin(main))
    assert not (result.reason or "").startswith(("AssertionError", "Failed")), result.reason
    return result


class Talk:
    """A host that does what a test says, over pipes to a plugin on a thread."""

    def __init__(self, main: Callable[[sdk.Host], int | None]) -> None:
        source, to_plugin = os.pipe()
        from_plugin, sink = os.pipe()
        self.code: list[int] = []
        self._thread = threading.Thread(target=lambda: self.code.append(plugin(main).serve(source, sink)))
        self._thread.start()
        self._exchange = Exchange(to_plugin, from_plugin)
        self._lines: list[bytes] = []
        self.send(FakeHost().init)
        assert isinstance(self.read(), messages.Ready)

    def send(self, message: messages.Message | bytes) -> None:
        self._exchange.send(message if isinstance(message, bytes) else wire.encode(message))
        self._lines += self._exchange.step(0)

    def read(self) -> Any:
        while not self._lines:
            assert not self._exchange.over, "it has ended"
            self._lines = self._exchange.step(DEADLINE)
        return wire.decode(self._lines.pop(0))

    def hang_up(self) -> None:
        self._exchange.hang_up()

    def close(self) -> int:
        """Its exit status."""
        self._exchange.close()
        self._thread.join(DEADLINE)
        return self.code[0]


@contextmanager
def talk(main: Callable[[sdk.Host], int | None]) -> Iterator[Talk]:
    talking = Talk(main)
    try:
        yield talking
    finally:
        talking.close()


def test_it_costs_a_plugin_nothing_of_the_rest_of_jp():
    code = "import jp.plugin.sdk, sys; print(*(name for name in sys.modules if name.startswith('jp.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if not name.startswith("jp.plugin.sdk")} == {
        "jp.plugin",
        "jp.plugin.messages",
        "jp.plugin.wire",
    }


class TestRequests:
    def test_the_plugin_of_the_documentation_works_as_printed(self):
        assert sdk.__doc__ is not None
        code = textwrap.dedent(sdk.__doc__.partition("\n\n")[2].partition("\nHow a run ends")[0])
        names: dict[str, Any] = {"__name__": "titles"}
        exec(code, names)
        host = FakeHost(conversations={"1": Conversation(title='A "title"'), "2": Conversation()})
        assert host.run(names["plugin"]).printed == {"content": 'A "title"\nUntitled\n'}
        assert host.describe(names["plugin"]).command == ["titles"]

    def test_what_it_was_started_with(self):
        found: list[Any] = []

        def main(host: sdk.Host) -> None:
            found.extend([host.args, host.config, host.options, host.workspace.id, host.init.version])

        run(main, args=["-v", "--x=1"], config={"user": {"name": "x"}}, options={"token": 1})
        assert found == [["-v", "--x=1"], {"user": {"name": "x"}}, {"token": 1}, "fake0", 1]

    def test_reading(self):
        event = {"type": "chat_request", "content": "hi"}

        def main(host: sdk.Host) -> None:
            (one,) = host.conversations()
            assert host.events(one).data == host.events(one.id).data
            host.print(json.dumps([one.title, host.events(one).data, host.read_config("user.name")]))

        result = run(main, conversations={"7": Conversation(title="T", events=[event])}, config={"user": {"name": "N"}})
        assert json.loads(result.printed["content"]) == ["T", [event], "N"]

    def test_writing(self):
        def main(host: sdk.Host) -> None:
            with host.locked("7"):
                assert host.push("7", [{"type": "chat_request", "content": "half \ud800"}]) == 1
            assert host.push(host.create("New"), []) == 0

        result = run(main, conversations={"7": []})
        assert [each["type"] for each in result.pushed["7"]] == ["turn_start", "chat_request"]
        assert result.pushed["7"][1]["content"] == "half ?"
        assert result.refused == []

    def test_a_refused_request_names_itself_and_the_plugin_goes_on(self):
        def main(host: sdk.Host) -> int:
            with pytest.raises(sdk.RequestFailed, match="no conversation 5") as refused:
                host.events("5")
            assert refused.value.request == "read_events"
            return len(host.conversations())

        assert run(main).code == 0

    def test_a_lock_is_given_back_whatever_ends_the_block(self):
        def main(host: sdk.Host) -> None:
            locked = host.locked("7")
            with pytest.raises(sdk.RequestFailed, match="no conversation 5"), locked:
                host.print(str(host.events("7").lock) + str(host.events("5")))
            assert host.events("7").lock is messages.UNSET

        result = run(main, conversations={"7": []})
        assert [type(each) for each in result.messages[1:4]] == [
            messages.Lock,
            messages.ReadEvents,
            messages.ReadEvents,
        ]

    def test_many_threads_ask_at_once_and_each_gets_its_own_answer(self):
        answers: dict[str, str] = {}

        def ask(host: sdk.Host, name: str) -> None:
            answers[name] = host.text(name)

        def main(host: sdk.Host) -> None:
            threads = [threading.Thread(target=ask, args=(host, f"thread {n}")) for n in range(20)]
            for each in threads:
                each.start()
            for each in threads:
                each.join(DEADLINE)

        with talk(main) as host:
            prompts = [host.read() for _ in range(20)]
            assert len({each.id for each in prompts}) == 20
            for each in reversed(prompts):
                host.send(messages.PromptResponse(id=each.id, outcome="answered", value=f"to {each.message}"))
            assert isinstance(host.read(), messages.Exit)
        assert answers == {f"thread {n}": f"to thread {n}" for n in range(20)}

    def test_what_it_does_not_know_is_passed_over(self):
        def main(host: sdk.Host) -> int:
            return len(host.conversations())

        with talk(main) as host:
            ident = host.read().id
            host.send(b'{"type":"tomorrow"}\nnonsense\n{"type":"conversations","id":99,"data":[]}\n')
            host.send(b'{"type":"conversations","x":1,"id":%d,"data":[{"id":"1","title":null,"x":[],' % ident)
            host.send(b'"last_activated_at":null,"events_count":0}]}\n')
            assert host.read() == messages.Exit(code=1)

    def test_a_response_that_cannot_be_read_is_a_refusal_and_no_hang(self):
        def main(host: sdk.Host) -> None:
            host.conversations()

        with talk(main) as host:
            host.send(b'{"type":"conversations","id":%d,"data":[{}]}\n' % host.read().id)
            end = host.read()
        assert end.code == 1
        assert "can't be read" in end.reason

    @pytest.mark.parametrize("result", ["done", 1.0, [], ""])
    def test_what_is_returned_that_is_no_status(self, result: object):
        def main(_: sdk.Host) -> Any:
            return result

        end = run(main)
        assert end.code == 1
        kind = type(result).__name__
        assert end.reason == f"the plugin's main function returned a {kind}; it is to return an exit status or None"


class TestShowing:
    def test_print_and_log(self):
        def main(host: sdk.Host) -> None:
            host.print("a")
            host.print("b", channel="chrome", format="code", language="python")
            host.log("warn", "careful", number=1, thing=set)

        result = run(main)
        assert result.printed == {"content": "a", "chrome": "b"}
        (log,) = result.logs
        assert (log.level, log.message) == ("warn", "careful")
        assert log.fields == {"number": 1, "thing": "<class 'set'>"}

    def test_what_can_not_be_printed_is_an_error_here_and_not_at_the_host(self):
        def main(host: sdk.Host) -> None:
            with pytest.raises(TypeError):
                host.print(b"bytes")  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="16,777,216"):
                host.print("x" * wire.MAX_LINE)
            host.print("half \ud800")

        assert run(main).printed == {"content": "half \ufffd"}


class TestAsking:
    def test_the_four_kinds(self):
        def main(host: sdk.Host) -> None:
            found = [
                host.confirm("Sure?", default=False),
                host.select("Which?", ("main", "develop"), default="main"),
                host.text("What?", default="this"),
                host.secret("Token?"),
            ]
            host.print(json.dumps(found))

        result = run(main, answers=[True, "develop", "two\nlines", "s3cret"])
        assert json.loads(result.printed["content"]) == [True, "develop", "two\nlines", "s3cret"]
        assert [(each.kind, each.default) for each in result.prompts] == [
            ("confirm", False),
            ("select", "main"),
            ("text", "this"),
            ("secret", messages.UNSET),
        ]

    def test_the_other_outcomes_are_raised(self):
        def main(host: sdk.Host) -> None:
            with pytest.raises(sdk.Cancelled):
                host.confirm("Sure?")
            with pytest.raises(sdk.Unavailable) as unavailable:
                host.text("What?")
            assert unavailable.value.reason == "no interactive terminal"

        assert run(main, answers=[CANCELLED, UNAVAILABLE]).code == 0

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [(CANCELLED, "cancelled"), (UNAVAILABLE, "nobody can be asked: no interactive terminal")],
    )
    def test_uncaught_they_end_the_plugin_without_a_traceback(self, answer, reason, capfd):
        result = run(lambda host: int(host.confirm("Sure?")), answers=[answer])
        assert (result.code, result.reason) == (1, reason)
        assert capfd.readouterr().err == ""


class TestEnding:
    @pytest.mark.parametrize(
        ("main", "code", "reason"),
        [
            (lambda host: None, 0, None),
            (lambda host: 3, 3, None),
            (lambda host: True, 1, None),
            (lambda host: host.exit(), 0, None),
            (lambda host: host.exit(4, "so"), 4, "so"),
            (lambda host: sys.exit(), 0, None),
            (lambda host: sys.exit(5), 5, None),
            (lambda host: sys.exit("because"), 1, "because"),
            (lambda host: 1 // 0, 1, "ZeroDivisionError: integer division or modulo by zero"),
            (lambda host: 300, 1, "ValueError: an exit status is 0 to 255, not 300"),
            (lambda host: host.events("5"), 1, "read_events: no conversation 5"),
        ],
    )
    def test_how_main_ends_is_what_exit_says(self, main, code, reason):
        result = run(main)
        assert (result.code, result.reason) == (code, reason)
        assert [type(each) for each in result.messages].count(messages.Exit) == 1

    def test_an_exception_is_in_the_log(self, capfd):
        run(lambda host: 1 // 0)
        assert "Traceback" in capfd.readouterr().err

    def test_nothing_is_sent_after_exit(self):
        go, refused = threading.Event(), threading.Event()

        def late(host: sdk.Host) -> None:
            go.wait(DEADLINE)
            try:
                host.print("too late")
            except sdk.HostGone:
                refused.set()

        def main(host: sdk.Host) -> None:
            threading.Thread(target=late, args=(host,)).start()

        result = run(main)
        go.set()
        assert refused.wait(DEADLINE)
        assert [type(each) for each in result.messages] == [messages.Ready, messages.Exit]

    def test_another_version_of_the_protocol(self):
        host = FakeHost()
        host.init.version = 2
        result = host.run(plugin(lambda host: 0))
        assert (result.code, result.reason) == (
            1,
            "JP speaks version 2 of the plugin protocol, this plugin version 1",
        )

    def test_without_a_main_function(self):
        assert "no main function" in (FakeHost().run(plugin()).reason or "")


class TestShutdown:
    def test_a_prompt_that_waits_is_left_through_every_except_exception(self):
        called = threading.Event()

        def main(host: sdk.Host) -> int:
            host.on_shutdown(called.set)
            try:
                host.confirm("Sure?")
            except Exception:
                return 77
            return 78

        assert run(main, answers=[SHUTDOWN]).code == 1
        assert called.is_set()

    def test_what_begins_is_refused_and_what_finishes_goes_through(self):
        seen: list[str] = []

        def main(host: sdk.Host) -> int:
            host.lock("7")
            with pytest.raises(sdk.ShuttingDown):
                host.confirm("Sure?")
            assert host.shutting_down.is_set()
            for begin in (host.conversations, lambda: host.events("7"), lambda: host.lock("7"), host.create):
                with pytest.raises(sdk.ShuttingDown):
                    begin()
            host.on_shutdown(lambda: seen.append("late"))
            host.push("7", [{"type": "chat_request", "content": "saved"}])
            host.unlock("7")
            host.print("saved")
            return 0

        result = run(main, conversations={"7": []}, answers=[SHUTDOWN])
        assert result.code == 0
        assert result.printed == {"content": "saved"}
        assert len(result.pushed["7"]) == 2
        assert seen == ["late"]

    def test_a_push_that_waits_gets_its_response(self):
        def main(host: sdk.Host) -> int:
            return host.push("7", [])

        with talk(main) as host:
            ident = host.read().id
            host.send(messages.Shutdown())
            host.send(messages.Pushed(id=ident, conversation="7", count=9))
            assert host.read() == messages.Exit(code=9)

    def test_a_callback_may_wait_for_a_thread_that_asks(self):
        asked = threading.Event()

        def ask(host: sdk.Host) -> None:
            with pytest.raises(sdk.ShuttingDown):
                host.conversations()
            asked.set()

        def main(host: sdk.Host) -> int:
            thread = threading.Thread(target=ask, args=(host,))
            host.on_shutdown(thread.join)
            thread.start()
            host.shutting_down.wait(DEADLINE)
            return 5

        with talk(main) as host:
            host.read()
            host.send(messages.Shutdown())
            assert host.read() == messages.Exit(code=5)
        assert asked.is_set()

    def test_a_callback_may_print_and_can_not_ask(self, capfd):
        def main(host: sdk.Host) -> None:
            def last() -> None:
                host.print("saving")
                host.conversations()

            host.on_shutdown(last)
            host.conversations()

        with talk(main) as host:
            host.read()
            host.send(messages.Shutdown())
            assert {type(host.read()), type(host.read())} == {messages.Print, messages.Exit}
        assert "a function given to on_shutdown can't ask" in capfd.readouterr().err


class TestHostGone:
    def test_who_waits_is_told(self):
        def main(host: sdk.Host) -> int:
            with pytest.raises(sdk.HostGone):
                host.conversations()
            with pytest.raises(sdk.HostGone):
                host.unlock("7")
            assert host.shutting_down.wait(DEADLINE)
            return 5

        with talk(main) as host:
            host.read()
            host.hang_up()
            assert host.read() == messages.Exit(code=5)

    def test_nobody_listens(self):
        def main(host: sdk.Host) -> int:
            host.shutting_down.wait(DEADLINE)
            while True:
                host.print("x")

        talking = Talk(main)
        assert talking.close() == 1

    def test_nothing_was_sent(self, capfd):
        source, sink = os.pipe(), os.pipe()
        os.close(source[1])
        assert plugin().serve(source[0], sink[1]) == 2
        os.close(sink[0])
        assert "Usage: jp x" in capfd.readouterr().err


SCRIPT = """\
#!{python}
import os, subprocess, sys, threading, time
from jp.plugin import sdk
plugin = sdk.Plugin("x", version="1", description="Does x", help="Usage: jp x")
@plugin.main
def main(host):
{main}
plugin.run()
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a plugin with this main function a program."""

    def make(main: str) -> Path:
        path = tmp_path / "jp-x"
        path.write_text(SCRIPT.format(python=sys.executable, main=textwrap.indent(textwrap.dedent(main), "    ")))
        path.chmod(0o755)
        return path

    return make


class TestProcess:
    def test_what_others_print_is_no_message(self, program):
        path = program("""
            print("stray")
            os.write(1, b"straight\\n")
            subprocess.run(["echo", "child"])
            try:
                input()
            except EOFError:
                host.print("no input")
        """)
        result = FakeHost().run(path)
        assert result.printed == {"content": "no input"}
        assert sorted(result.stderr.split()) == ["child", "straight", "stray"]

    def test_an_interrupt_kills_it_by_sigint(self, program):
        path = program("host.conversations()")
        with started(path) as process:
            wait_for(process, b"list_conversations")
            process.send_signal(signal.SIGINT)
            rest, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == -signal.SIGINT
        assert rest == b""
        assert b"Traceback" not in err

    def test_an_interrupt_that_it_catches_cuts_no_line(self, program):
        # The pipe is full, and the writer in the middle of a line.
        path = program("""
            try:
                host.print("x" * 1_000_000)
            except KeyboardInterrupt:
                host.print("interrupted")
        """)
        with started(path) as process:
            begin = wait_for(process, b"xxx")
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=DEADLINE)
        lines = [wire.decode(line) for line in (begin + rest).splitlines()]
        assert [type(each) for each in lines] == [messages.Ready, messages.Print, messages.Print, messages.Exit]

    def test_a_person_who_starts_it_gets_its_help(self, program):
        with Terminal([str(program("pass"))]) as terminal:
            assert terminal.wait() == "exited 2"
            assert "Usage: jp x" in terminal.screen
            assert "run it as `jp x`" in terminal.screen

    def test_nothing_on_its_input(self, program):
        done = subprocess.run([program("pass")], input=b"", capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"Usage: jp x" in done.stderr

    def test_its_exit_status_is_that_of_exit(self, program):
        with started(program("return 7")) as process:
            process.communicate(timeout=DEADLINE)
        assert process.returncode == 7


@contextmanager
def started(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The program, with `init` on its input."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([path], **pipes) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(wire.encode(FakeHost().init))
            process.stdin.flush()
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    """What it has written once `text` is in it."""
    assert process.stdout is not None
    data = b""
    while text not in data:
        more = os.read(process.stdout.fileno(), 100)
        assert more, data
        data += more
    return data
