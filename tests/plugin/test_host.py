"""A plugin from its start to its end, as the host sees it: no terminal, no command line (RFD D60, plugin protocol)."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from jp.interrupt.end import Cause
from jp.interrupt.token import Shutdown
from jp.plugin.errors import PluginError
from jp.prompt.outcomes import Broken, Cancelled, Outcome, Submitted
from jp.prompt.questions import Choice, Edit, Question, Secret, Select
from jp.terminal.promptability import NotPromptable, Promptability, Request, Why
from tests.plugin.hosting import UNATTENDED, Hosting
from tests.support.marked import MARK, still_marked


@pytest.fixture
def hosting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hosting:
    monkeypatch.setenv(MARK, str(tmp_path))
    return Hosting(tmp_path)


@pytest.mark.req("PROTO-6", "PROTO-16", "PROTO-22", "PROTO-24", "PROTO-50")
def test_init_is_the_first_line_and_the_plugin_leads_a_group_of_its_own(hosting: Hosting) -> None:
    status = hosting.run(
        """
        import stat
        pipes = [stat.S_ISFIFO(os.fstat(fd).st_mode) for fd in (0, 1, 2)]
        note([init["type"], init["version"], init["args"], os.getpgrp() == os.getpid(), pipes])
        send(type="ready")
        send(type="exit", code=0)
        """,
        args=["-v", "--format", "json", "--", "x y"],
    )
    assert status == 0
    assert hosting.notes == [["init", 1, ["-v", "--format", "json", "--", "x y"], True, [True] * 3]]


@pytest.mark.req(
    "D60-1", "D60-3", "D60-5", "D60-7", "D60-8", "D60-16", "D60-18", "D60-19", "D60-27", "D60-30", "D60-31"
)
@pytest.mark.req("D60-61", "D60-37")
def test_every_kind_and_outcome(hosting: Hosting) -> None:
    status = hosting.run(
        """
        for kind in ("confirm", "confirm", "select", "text", "secret"):
            more = {"options": ["main", "develop"]} if kind == "select" else {}
            note(ask(type="prompt", kind=kind, message=f"A {kind}?", **more))
            note(ask(type="prompt", kind=kind, message=f"A {kind}?", **more))
        send(type="exit", code=7)
        """,
        [
            Submitted("y"), Submitted("n"), Submitted("n"), Cancelled(), Submitted("1"), Cancelled(),
            Submitted(" Größe \n2"), Cancelled("half"), Submitted("s3cret"), Cancelled(),
        ],
    )  # fmt: skip
    answered = [note.get("value") for note in hosting.notes]
    assert answered == [True, False, False, None, "develop", None, " Größe \n2", None, "s3cret", None]
    outcomes = [note["outcome"] for note in hosting.notes]
    assert outcomes == ["answered"] * 3 + ["cancelled"] + ["answered", "cancelled"] * 3
    assert all(set(note) <= {"type", "outcome", "value"} for note in hosting.notes)
    assert all(("value" in note) == (note["outcome"] == "answered") for note in hosting.notes)
    kinds = [type(question) for question in hosting.prompts.asked]
    assert kinds == [Choice] * 4 + [Select] * 2 + [Edit] * 2 + [Secret] * 2
    assert "A text?" in [question.message for question in hosting.prompts.asked]
    assert status == 7


@pytest.mark.req("D60-32", "D60-33", "D60-34", "D60-44", "D60-45", "D60-52")
def test_nobody_to_ask_is_unavailable_with_the_reason_at_once(tmp_path: Path) -> None:
    hosting = Hosting(tmp_path, UNATTENDED)
    began = time.monotonic()
    hosting.run(
        """
        for kind, more in (("confirm", {"default": True}), ("text", {"default": "x"}), ("secret", {}),
                           ("select", {"options": ["a"], "default": "a"})):
            note(ask(type="prompt", kind=kind, message="?", **more))
        send(type="prompt", kind="confirm", message="1", id="one")
        send(type="prompt", kind="confirm", message="2", id="two")
        note(read()); note(read())
        send(type="exit")
        """
    )
    assert time.monotonic() - began < 5
    assert all(note["outcome"] == "unavailable" and note["reason"] for note in hosting.notes)
    assert all("value" not in note for note in hosting.notes)
    assert "/dev/tty" in hosting.notes[0]["reason"]
    assert [note.get("id") for note in hosting.notes] == [None] * 4 + ["one", "two"]
    assert hosting.prompts.asked == []
    assert hosting.out.text == hosting.err.text == ""


@pytest.mark.parametrize("kind", ["confirm", "text", "secret"])
@pytest.mark.req("D60-51")
def test_an_asserted_person_who_is_not_there_fails_the_run(tmp_path: Path, kind: str) -> None:
    hosting = Hosting(tmp_path, Promptability(True, Request.FORCED_ON, Why.FLAG))
    hosting.promptability.promptable = False  # at the moment of asking
    with pytest.raises(NotPromptable):
        hosting.run(f'note(1); ask(type="prompt", kind="{kind}", message="?"); note(2)')
    assert hosting.notes == [1]


@pytest.mark.req("D60-2")
def test_the_blocking_read_waits_as_long_as_the_person_does(hosting: Hosting) -> None:
    decided = threading.Event()
    idle: list[float] = []

    def slowly(question: Question) -> Outcome:
        hosting.noted(1)
        idle.append(len(hosting.notes))
        decided.wait(10)
        return Submitted("y")

    threading.Timer(0.5, decided.set).start()
    hosting.run(
        """
        import select
        send(type="prompt", kind="confirm", message="?")
        note(bool(select.select([0], [], [], 0.2)[0]))
        note(read()["value"])
        send(type="exit")
        """,
        [slowly],
    )
    assert hosting.notes == [False, True]


@pytest.mark.req("PROTO-46", "PROTO-29")
def test_a_failed_request_is_an_error_and_the_plugin_goes_on(hosting: Hosting) -> None:
    hosting.run(
        """
        note(ask(type="read_events", conversation="1"))
        note(ask(type="no such"))
        note(ask(type="read_config", path=5))
        note(ask(type="list_conversations", id="last"))
        send(type="exit")
        """
    )
    errors = hosting.notes[:3]
    assert [(note["type"], note["request"]) for note in errors] == [
        ("error", "read_events"), ("error", "no such"), ("error", "read_config"),
    ]  # fmt: skip
    assert "path" in errors[2]["message"]
    assert hosting.notes[3] == {"type": "conversations", "id": "last", "data": []}


@pytest.mark.req("PROTO-17")
def test_everything_that_is_written_is_one_object_with_a_type_on_one_line(hosting: Hosting) -> None:
    hosting.run(
        """
        requests = [{"type": "read_config"}, {"type": "list_conversations"},
            {"type": "create_conversation", "title": "two\\nlines \\u2028 and more"},
            {"type": "nothing"}, {"type": "prompt", "kind": "text", "message": "?"}]
        for request in requests:
            send(**request)
        for _ in requests:
            line = sys.stdin.buffer.readline()
            note([line.count(b"\\n"), line.endswith(b"\\n"), type(json.loads(line)["type"]).__name__])
        send(type="exit")
        """,
        [Submitted("a\nb\r\u2028c")],
    )
    assert hosting.notes == [[1, True, "str"]] * 5


@pytest.mark.req("PROTO-50", "PROTO-51")
@pytest.mark.parametrize("code", [0, 1, 42, 255])
def test_the_status_is_that_of_exit(hosting: Hosting, code: int) -> None:
    assert hosting.run(f'send(type="exit", code={code}); sys.exit(9)') == code


@pytest.mark.req("PROTO-52")
def test_the_reason_of_a_failure_is_the_error(hosting: Hosting) -> None:
    with pytest.raises(PluginError) as raised:
        hosting.run('send(type="exit", code=4, reason="use --web")')
    assert raised.value.message == "use --web"
    assert raised.value.status == 4
    assert raised.value.metadata["plugin"] == "jp-it"


@pytest.mark.req("PROTO-53", "D60-77")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("os.close(1); time.sleep(60)", "closed its stdout"),
        ("raw(b'{\"type\":'); os._exit(0)", "exit status 0"),
    ],
)
def test_an_end_without_exit_is_a_failure_that_names_the_plugin(hosting: Hosting, body: str, said: str) -> None:
    with pytest.raises(PluginError) as raised:
        hosting.run(body)
    assert raised.value.message.startswith("jp-it ended unexpectedly")
    assert said in raised.value.message
    assert raised.value.status == 1


@pytest.mark.req("PROTO-57")
@pytest.mark.parametrize("end", ['send(type="exit")', "sys.exit(1)", 'raw(b"garbage\\n"); time.sleep(60)'])
def test_nothing_of_the_group_is_left(hosting: Hosting, end: str) -> None:
    body = f"""
    import subprocess
    subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL)
    subprocess.Popen(["sleep", "300"])
    {end}
    """
    try:
        hosting.run(body)
    except PluginError:
        pass
    assert still_marked(5) == {}


@pytest.mark.req("D60-77")
def test_a_prompt_is_withdrawn_when_the_plugin_dies(hosting: Hosting) -> None:
    withdrawn = threading.Event()

    class UntilTold:
        def ask(self, question: Question, terminal: object) -> Outcome:
            until = time.monotonic() + 10
            while time.monotonic() < until:
                if "end" in terminal.notices():  # type: ignore[attr-defined]
                    withdrawn.set()
                    return Broken()
                time.sleep(0.005)
            return Submitted("y")

    plugin = hosting.plugin('send(type="prompt", kind="confirm", message="?"); time.sleep(0.3); sys.exit(5)')
    hosting.prompts = UntilTold()  # type: ignore[assignment]
    with pytest.raises(PluginError, match="exit status 5"):
        hosting.host(plugin).run()
    assert withdrawn.is_set()


@pytest.mark.req("D60-64", "D60-74", "D60-75", "PROTO-55")
@pytest.mark.parametrize("cause", [Cause.PRESS, Cause.TERM])
def test_a_shutdown_is_told_and_awaited(hosting: Hosting, cause: Cause) -> None:
    threading.Thread(target=lambda: (hosting.noted(1), hosting.router.shutdown(cause))).start()
    began = time.monotonic()
    with_signal = hosting.plugin(
        """
        signal.signal(signal.SIGINT, lambda *_: note("INT"))
        signal.signal(signal.SIGTERM, lambda *_: note("TERM"))
        note("up")
        note(read())
        time.sleep(0.3)
        note("saved")
        send(type="exit", code=9)
        """
    )
    assert hosting.host(with_signal).run() == 9  # the process itself dies by the cause: its checkpoints raise
    assert hosting.notes == ["up", {"type": "shutdown"}, "saved"]
    assert time.monotonic() - began < 5


@pytest.mark.req("PROTO-56", "D60-68")
def test_who_does_not_end_in_time_is_killed_with_all_of_its_group(hosting: Hosting) -> None:
    hosting.grace_secs = 0.4
    threading.Thread(target=lambda: (hosting.noted(1), hosting.router.shutdown(Cause.TERM))).start()
    began = time.monotonic()
    with pytest.raises(PluginError):
        hosting.run(
            """
            import subprocess
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            subprocess.Popen(["sleep", "300"])
            note("up")
            time.sleep(300)
            """
        )
    assert 0.4 <= time.monotonic() - began < 6
    assert still_marked(5) == {}


@pytest.mark.req("D60-70", "092-143")
def test_the_first_press_reaches_the_whole_group_once_and_says_nothing_on_the_wire(hosting: Hosting) -> None:
    threading.Thread(target=lambda: (hosting.noted(2), hosting.router.press())).start()
    status = hosting.run(
        """
        import select, threading
        got = threading.Event()
        def handler(*_):
            note("INT " + role); got.set()
        signal.signal(signal.SIGINT, handler)
        role = "parent"
        if (pid := os.fork()) == 0:
            role = "child"
            note("up")
            time.sleep(0.6) if not got.wait(10) else time.sleep(0.2)
            os._exit(0)
        note("up")
        got.wait(10)
        note("stdin " + str(bool(select.select([0], [], [], 0.3)[0])))
        os.waitpid(pid, 0)
        send(type="exit", code=0)
        """
    )
    assert status == 0
    assert sorted(hosting.notes) == ["INT child", "INT parent", "stdin False", "up", "up"]


@pytest.mark.req("D60-71", "092-144")
def test_a_plugin_that_dies_of_the_press_takes_jp_along(hosting: Hosting) -> None:
    threading.Thread(target=lambda: (hosting.noted(1), hosting.router.press())).start()
    with pytest.raises(Shutdown) as raised:
        hosting.run("signal.signal(signal.SIGINT, signal.SIG_DFL); note(1); time.sleep(60)")
    assert raised.value.cause is Cause.PRESS
    assert hosting.said == ["jp-it was interrupted"]


@pytest.mark.req("D60-81", "092-151")
def test_a_stopped_plugin_is_noticed_and_does_not_hang_jp(hosting: Hosting) -> None:
    def press_when_stopped() -> None:
        until = time.monotonic() + 10
        while not hosting.said and time.monotonic() < until:
            time.sleep(0.005)
        hosting.router.press()

    threading.Thread(target=press_when_stopped).start()
    with pytest.raises(Shutdown):
        hosting.run(
            "signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGSTOP); time.sleep(60)"
        )
    assert "kill -CONT" in hosting.said[0]


@pytest.mark.req("PROTO-54")
@pytest.mark.parametrize("end", ['send(type="exit")', "sys.exit(1)", "os.kill(os.getpid(), 9)", "time.sleep(60)"])
def test_locks_are_free_afterwards(hosting: Hosting, end: str) -> None:
    hosting.grace_secs = 0.2
    if end.startswith("time"):
        threading.Thread(target=lambda: (hosting.noted(1), hosting.router.shutdown(Cause.TERM))).start()
    try:
        hosting.run(f'note(ask(type="create_conversation", title="Mine")["conversation"]); {end}')
    except PluginError:
        pass
    (made,) = hosting.notes
    hosting.store.lock(made).release()


def test_what_comes_behind_exit_is_not_taken(hosting: Hosting) -> None:
    hosting.run('send(type="print", text="a"); send(type="exit"); send(type="print", text="b")')
    assert hosting.out.text == "a"


@pytest.mark.slow
def test_ten_thousand_requests_in_a_second(hosting: Hosting) -> None:
    switch = 0.0005
    import sys

    before = sys.getswitchinterval()
    sys.setswitchinterval(switch)  # as boot does
    try:
        hosting.run(
            """
            began = time.monotonic()
            for number in range(10000):
                out.write(b'{"type":"unlock","id":%d,"conversation":"1"}\\n' % number); out.flush()
                assert b'"id":%d,' % number in sys.stdin.buffer.readline()
            note(time.monotonic() - began)
            send(type="exit")
            """
        )
    finally:
        sys.setswitchinterval(before)
    assert hosting.notes[0] < 5  # measured 0.5; the benchmark has the number


def test_a_plugin_that_can_not_be_started_is_named(hosting: Hosting) -> None:
    broken = hosting.place / "jp-broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(PluginError, match="could not be started"):
        hosting.host(broken).run()
    assert os.path.exists(broken)
    assert signal.getsignal(signal.SIGINT) is not None


def test_a_press_in_the_middle_costs_no_output_at_the_end(hosting: Hosting) -> None:
    """A plugin that has handled a press, and then prints more than a slow reader takes at once, is waited for."""
    threading.Thread(target=lambda: (hosting.noted(1), hosting.router.press())).start()
    flush = hosting.printer.flush

    def slowly(timeout: float | None) -> bool:
        time.sleep(1.0)
        return flush(timeout)

    hosting.printer.flush = slowly  # type: ignore[method-assign]
    status = hosting.run(
        """
        signal.signal(signal.SIGINT, lambda *_: note("INT"))
        note("up")
        while len(open(os.environ["NOTES"]).readlines()) < 2: time.sleep(0.01)
        for _ in range(30): send(type="print", text="x" * 100_000)
        send(type="exit", code=7)
        """
    )
    assert status == 7
    assert len(hosting.out.text) == 3_000_000


@pytest.mark.req("PROTO-48")
def test_its_last_words_are_heard(tmp_path: Path) -> None:
    from jp import log

    lines: list[bytes] = []
    log.open_log(lines.append, log.TRACE)
    try:
        for number in range(10):
            place = tmp_path / str(number)
            place.mkdir()
            with pytest.raises(PluginError):
                Hosting(place).run("for n in range(50): sys.stderr.write(f'word {n}\\n')\nos._exit(3)")
    finally:
        log.open_log(lambda _: None, -1)
    assert sum(b"word 49" in line for line in lines) == 10
