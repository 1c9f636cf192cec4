"""Plugins that ask, print, log or complain without end: they are slowed or stopped, and JP's memory stays bounded."""

import threading
import time

import pytest

from jp import log
from jp.interrupt.end import Cause
from jp.interrupt.token import Shutdown
from jp.plugin import intake, outbox, paced
from jp.plugin.errors import PluginError
from jp.prompt.backend import PromptTerminal
from jp.prompt.outcomes import Broken, Outcome, Submitted
from jp.prompt.questions import Question
from jp.terminal.capabilities import Format
from jp.terminal.printer import Printer
from tests.plugin.hostile import SOON, Logged, failure, when
from tests.plugin.hosting import Hosting
from tests.support.marked import still_marked
from tests.support.memory import MIB, Peak


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that reads nothing has half a second."""
    monkeypatch.setattr(intake, "STALLED_SECS", 0.5)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less may wait for it: it takes less time to get there."""
    monkeypatch.setattr(outbox, "FULL", MIB)


def conversations(hosting: Hosting, count: int, size: int) -> None:
    """Some in the workspace, with so many bytes of text each."""
    hosting.run(
        f"""
        for number in range({count}):
            made = ask(type="create_conversation", title="x" * 5000)["conversation"]
            if {size}:
                ask(type="push_events", conversation=made, events=[{{"type": "chat_request", "content": "x" * {size}}}])
            note(made)
        send(type="exit")
        """
    )


# --- requests


@pytest.mark.usefixtures("impatient", "narrow")
@pytest.mark.req("D60-76", "PROTO-57")
@pytest.mark.parametrize(
    "request_",
    [
        '{"type":"read_config"}',
        '{"type":"read_config","id":1}',
        '{"type":"nope"}',
        '{"type":"prompt","kind":"text"}',
    ],
)
def test_a_million_requests_and_no_answer_read(hosting: Hosting, request_: str) -> None:
    error = failure(hosting, f"for _ in range(1000): out.write(b'{request_}\\n' * 1000)\ntime.sleep(600)", within=25)
    assert "does not read" in error.message


@pytest.mark.usefixtures("impatient", "narrow")
@pytest.mark.parametrize("request_", ["list_conversations", "read_events"])
def test_small_requests_with_large_answers(hosting: Hosting, request_: str) -> None:
    """Each of a thousand that fit into one piece of the pipe makes 50 KiB or 1 MiB."""
    conversations(hosting, *((10, 0) if request_ == "list_conversations" else (1, MIB)))
    body = f"""
        out.write(b'{{"type":"{request_}","conversation":"{hosting.notes[0]}"}}\\n' * 5000)
        out.flush()
        time.sleep(1.5)  # it does something else, which is its affair
        sys.exit(3)
    """
    error = failure(hosting, body, within=15)
    assert "exit status 3" in error.message


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("ident", ["", ',"id":7'])
def test_requests_behind_a_prompt_that_waits(hosting: Hosting, ident: str) -> None:
    """Without ids all answers wait for the person; there is a bound on these too, and time is not up meanwhile."""
    conversations(hosting, 10, 0)
    over = threading.Event()

    def answer(question: Question) -> Submitted:
        over.wait(1.5)
        return Submitted("late")

    body = f"""
        send(type="prompt", kind="text", message="?")
        while True: raw(b'{{"type":"list_conversations"{ident}}}\\n' * 100)
    """
    began = time.monotonic()
    assert "does not read" in failure(hosting, body, [answer], within=15).message
    assert ident or time.monotonic() - began > 1.5
    over.set()


@pytest.mark.usefixtures("impatient")
@pytest.mark.req("D60-43")
def test_who_reads_slowly_is_waited_for(hosting: Hosting) -> None:
    """Far more is asked for than may wait, and it takes far longer to read it than a plugin that reads nothing has."""
    conversations(hosting, 10, 0)
    status = hosting.run(
        """
        import threading
        count = 400
        def asks():
            for number in range(count): send(type="list_conversations", id=number)
        threading.Thread(target=asks).start()
        for number in range(count):
            assert read()["id"] == number
            time.sleep(0.005)
        send(type="exit", code=2)
        """
    )
    assert status == 2


@pytest.mark.usefixtures("impatient")
def test_who_asks_for_much_and_reads_it_later_has_its_time(hosting: Hosting) -> None:
    """As much as may wait, and not more: it keeps nobody up."""
    conversations(hosting, 1, MIB)
    status = hosting.run(
        f"""
        request = {{"type": "read_events", "conversation": {hosting.notes[0]!r}}}
        send(**request); send(**request)
        time.sleep(1.5)
        assert read() == read()
        send(type="exit", code=2)
        """
    )
    assert status == 2


def test_who_closes_its_stdin_and_asks_on(hosting: Hosting) -> None:
    with Peak() as peak:
        status = hosting.run(
            """
            os.close(0)
            for _ in range(20): raw(b'{"type":"read_config"}\\n' * 100)
            send(type="exit", code=2)
            """
        )
    assert status == 2
    assert peak.grown < 64 * MIB


# --- what it prints


@pytest.mark.parametrize("count", [20, 37])
def test_a_printer_that_is_slow_slows_the_plugin_and_nothing_is_lost(hosting: Hosting, count: int) -> None:
    """It has left, with the rest in the pipe, long before its output is out."""
    shown: list[int] = []
    flush = hosting.printer.flush

    def slow(timeout: float | None) -> bool:
        shown.append(len(hosting.out.data))
        threading.Event().wait(0.8)
        return flush(timeout)

    hosting.printer.flush = slow  # type: ignore[method-assign]
    status = hosting.run(
        f"""
        for number in range({count}): send(type="print", text=chr(65 + number % 26) * 65536)
        send(type="exit", code=3)
        """
    )
    assert status == 3
    assert hosting.out.text == "".join(chr(65 + number % 26) * 65536 for number in range(count))
    assert shown
    for before, after in zip([0, *shown], shown, strict=False):
        assert after - before <= paced.AHEAD + 512 * 1024


@pytest.mark.req("D60-76")
@pytest.mark.parametrize(("format_", "text"), [(Format.TEXT, "x" * 1000), (Format.JSON, "")])
def test_a_printer_that_is_stuck_stops_the_plugin_and_no_press(hosting: Hosting, format_: Format, text: str) -> None:
    """stdout is a pipe that nobody reads: the plugin waits, also where it prints nothing, which makes records."""
    hosting.printer, hosting.out, hosting.err = Printer.memory(format_)
    stuck = threading.Event()
    hosting.printer.flush = lambda timeout: stuck.wait(SOON * 4)  # type: ignore[method-assign]

    def press_once_stuck() -> None:
        seen = -1
        while seen < len(hosting.out.data) or not seen:
            seen = len(hosting.out.data)
            time.sleep(0.2)
        hosting.router.press()

    threading.Thread(target=press_once_stuck, daemon=True).start()
    began = time.monotonic()
    with Peak() as peak, pytest.raises(Shutdown):
        hosting.run(
            f"""
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            while True: raw(b'{{"type":"print","text":"{text}"}}\\n' * 10)
            """
        )
    stuck.set()
    assert time.monotonic() - began < SOON
    assert len(hosting.out.data) < paced.AHEAD + 512 * 1024
    assert peak.grown < 64 * MIB
    assert still_marked(SOON) == {}


@pytest.mark.req("D60-54", "D60-77")
def test_what_is_printed_under_a_prompt_has_a_bound_and_a_plugin_that_leaves_ends_it(hosting: Hosting) -> None:
    """The output waits for the prompt, the plugin for the output, and the prompt for nobody."""
    up, gone = threading.Event(), threading.Event()
    hosting.printer.flush = lambda timeout: gone.wait(SOON * 4)  # type: ignore[method-assign]

    class UntilTold:
        def ask(self, question: Question, terminal: PromptTerminal) -> Outcome:
            up.set()
            until = time.monotonic() + SOON * 4
            while time.monotonic() < until and "end" not in terminal.notices():
                time.sleep(0.005)
            gone.set()
            return Broken()

    path = hosting.plugin(
        """
        send(type="prompt", kind="confirm", message="?")
        for _ in range(20): send(type="print", text="x" * 65536)
        send(type="exit", code=3)
        """
    )
    hosting.prompts = UntilTold()  # type: ignore[assignment]
    began = time.monotonic()
    assert hosting.host(path).run() == 3
    assert time.monotonic() - began < SOON
    assert up.is_set()
    assert len(hosting.out.data) == 20 * 65536


def test_a_flood_of_print(hosting: Hosting) -> None:
    with Peak() as peak:
        status = hosting.run(
            """
            for _ in range(100): raw(b'{"type":"print","text":"x"}\\n' * 100)
            send(type="exit", code=3)
            """
        )
    assert status == 3
    assert len(hosting.out.data) == 10_000
    assert peak.grown < 64 * MIB


# --- what it logs, and its stderr


@pytest.mark.req("PROTO-47")
def test_a_flood_of_log(hosting: Hosting, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = []
    monkeypatch.setattr(log, "_level", log.INFO)
    monkeypatch.setattr(log, "_write", lambda line: lines.append(len(line)))
    with Peak() as peak:
        status = hosting.run(
            """
            line = {"type": "log", "level": "info", "message": "x" * 100, "fields": {"a": ["x" * 100]}}
            line = json.dumps(line).encode()
            for _ in range(200): raw((line + b"\\n") * 100)
            for _ in range(200): raw(line.replace(b'"info"', b'"debug"') + b"\\n")  # below what is logged
            send(type="exit", code=3)
            """
        )
    assert status == 3
    assert len(lines) == 20_000
    assert peak.grown < 64 * MIB
    assert hosting.out.text == hosting.err.text == ""


@pytest.mark.req("PROTO-48", "PROTO-49")
@pytest.mark.parametrize("piece", ["b'error\\n' * 10_000", "b'x' * 60_000", "b'\\xff\\x1b[2J\\0' * 10_000"])
def test_a_flood_on_stderr(hosting: Hosting, logged: Logged, piece: str) -> None:
    """Not held up, not kept, and logged as far as anybody could want to read it."""
    with Peak() as peak:
        status = hosting.run(
            f"""
            piece = {piece}
            began = time.monotonic()
            for _ in range(2000):
                view = memoryview(piece)
                while view: view = view[os.write(2, view):]
            note(time.monotonic() - began)
            note(ask(type="list_conversations")["type"])
            send(type="exit", code=3)
            """
        )
    assert status == 3
    assert hosting.notes[0] < SOON * 2
    assert hosting.notes[1] == "conversations"
    assert peak.grown < 64 * MIB
    lines = [line for line in logged.lines if line["fields"].get("stream") == "stderr"]
    assert 1 <= len(lines) <= 1001 * (1 + int(hosting.notes[0] / 10))
    assert all(len(line["message"]) <= 2001 for line in lines)
    assert hosting.out.text == hosting.err.text == ""


def test_stderr_is_read_while_all_else_waits(hosting: Hosting) -> None:
    """The person thinks about the prompt, the plugin complains meanwhile."""
    done = threading.Event()

    def answer(question: Question) -> Submitted:
        done.wait(SOON)
        return Submitted("x")

    when(1, hosting, done.set)
    assert (
        hosting.run(
            """
        send(type="prompt", kind="text", message="?")
        for _ in range(200): os.write(2, b"x" * 65536)
        note("written")
        note(read()["outcome"])
        send(type="exit", code=3)
        """,
            [answer],
        )
        == 3
    )
    assert hosting.notes == ["written", "answered"]


def test_a_shutdown_is_heard_in_the_middle_of_a_long_text(hosting: Hosting) -> None:
    """A million escapes take the sanitizer ten seconds and more."""
    hosting.grace_secs = 1.0
    when(1, hosting, lambda: hosting.router.shutdown(Cause.TERM))
    began = time.monotonic()
    with pytest.raises(PluginError):  # its time is over before all of it is shown
        hosting.run(r"""
            send(type="print", text="\x1b[31m" * (1 << 20)); note(1)
            note(read()); time.sleep(600)
        """)
    assert hosting.notes[1] == {"type": "shutdown"}
    assert time.monotonic() - began < SOON * 2
