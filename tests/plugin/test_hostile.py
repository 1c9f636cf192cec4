"""Plugins that break the protocol, one way each: a typed error that names them, soon, and nothing of them is left."""

import re
import threading
import time

import pytest

from jp.interrupt.end import Cause
from jp.interrupt.token import Shutdown
from jp.plugin import host
from jp.prompt.outcomes import Submitted
from tests.plugin.hostile import SOON, Logged, failure, when
from tests.plugin.hosting import Hosting
from tests.support.marked import still_marked
from tests.support.memory import MIB, Peak

# --- what it writes is no message


@pytest.mark.req("PROTO-57")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("b'Hello, world!\\n'", "no JSON object"),
        ("b'null\\n'", "no JSON object"),
        ("b'[]\\n'", "no JSON object"),
        ("b'[' * 100_000 + b'\\n'", "no JSON object"),
        ('b\'{"type":"ready","x":\' + b"[" * 100_000 + b"\\n"', "no JSON object"),
        ('b\'{"type":"log","level":"info","message":"","fields":{"a":NaN}}\\n\'', "no JSON object"),
        ('b\'{"type":"list_conversations","id":\' + b"9" * 5000 + b"}\\n"', "no JSON object"),
        ('b\'{"type":"print","text":"\\xff"}\\n\'', "no UTF-8"),
        ('b\'\\xef\\xbb\\xbf{"type":"ready"}\\n\'', "no JSON object"),
        ('b\'{"type":"ready"}\\r{"type":"exit"}\\n\'', "no JSON object"),
        ('b\'{"type":"exit"}\\x00\\n\'', "no JSON object"),
    ],
)
def test_what_is_no_message_ends_the_run(hosting: Hosting, written: str, said: str) -> None:
    error = failure(hosting, f"raw({written}); note(read()); time.sleep(600)")
    assert said in error.message
    assert error.message.isprintable()
    assert len(error.message) < 300


def test_what_came_before_it_counts(hosting: Hosting) -> None:
    failure(hosting, 'send(type="print", text="before"); raw(b"oops\\n"); send(type="print", text="behind")')
    assert hosting.out.text == "before"


@pytest.mark.req("D60-103", "D60-111", "PROTO-44", "PROTO-46")
def test_a_wrong_message_is_an_error_and_the_plugin_goes_on(hosting: Hosting) -> None:
    status = hosting.run(
        """
        for line in (
            b'{}', b'{"type":null}', b'{"type":7}', b'{"type":"nope"}', b'{"type":"init"}', b'{"type":"print"}',
            b'{"type":"print","text":7}', b'{"type":"log","level":"loud","message":""}', b'{"type":"exit","code":256}',
            b'{"type":"print","text":"","type":"exit"}', b'{"type":"exit","code":' + b"9" * 5000 + b'}',
            b'{"type":"read_events","id":"a"}', b'{"type":"prompt","kind":"guess","message":"?","id":0}',
            b'{"type":"push_events","conversation":"1","events":7,"id":""}', b'{"type":"lock","id":{}}',
        ):
            raw(line + b"\\n")
            error = read()
            note([error["type"], error["request"], error.get("id", None), bool(error["message"])])
        note(ask(type="prompt", kind="confirm", message="?"))
        send(type="exit", code=3)
        """,
        [Submitted("y")],
    )
    assert status == 3
    *errors, answer = hosting.notes
    assert answer["value"] is True
    requests = ["", "", "", "nope", "init", "print", "print", "log", "exit", "exit", "exit"]
    assert errors[:11] == [["error", request, None, True] for request in requests]
    assert errors[11:] == [
        ["error", "read_events", "a", True],
        ["error", "prompt", 0, True],
        ["error", "push_events", "", True],
        ["error", "lock", None, True],
    ]


def test_a_log_message_is_nested_as_deep_as_can_be_read(hosting: Hosting, logged: Logged) -> None:
    """Deeper than what can be written."""
    error = failure(
        hosting,
        """
        for depth in (10, 100, *range(700, 1100), 100_000):
            raw(b'{"type":"log","level":"info","message":"m","fields":{"a":' + b"[" * depth + b"]" * depth + b"}}\\n")
        """,
    )
    assert "no JSON object" in error.message
    assert len(logged.raw) > 100


def test_line_ends_of_any_kind_and_writes_of_any_size(hosting: Hosting) -> None:
    status = hosting.run(
        """
        raw(b'\\n\\r\\n  \\n{"type":"ready"}\\r\\n' + '{"type":"print","text":"a\\u2028b\\\\n"}\\n\\n'.encode())
        for byte in '{"type":"print","text":"Größe 😀"}\\r\\n'.encode():
            raw(bytes([byte])); time.sleep(0.001)
        raw(b'{"type":"print","text":"' + b"x" * (1 << 20) + b'"}\\n{"type":"exit","code":2}')
        raw(b"\\n")
        """
    )
    assert status == 2
    assert hosting.out.text == "a\u2028b\nGröße 😀" + "x" * (1 << 20)


@pytest.mark.req("PROTO-57")
def test_ten_gigabytes_without_a_line_end(hosting: Hosting) -> None:
    error = failure(hosting, 'x = b"x" * (1 << 20)\nfor _ in range(10240): raw(x)')
    assert "more than 16,777,216 bytes" in error.message


def test_a_line_of_sixteen_mebibytes_is_taken(hosting: Hosting) -> None:
    assert hosting.run('send(type="print", text="x" * ((16 << 20) - 29)); send(type="exit", code=1)') == 1
    assert len(hosting.out.data) == (16 << 20) - 29
    assert "16,777,216" in failure(hosting, 'send(type="print", text="x" * ((16 << 20) - 28)); time.sleep(600)').message


# --- how it ends


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has said or shown that it is done has less than a second."""
    monkeypatch.setattr(host, "LEFT_SECS", 0.3)


@pytest.mark.req("PROTO-57")
def test_a_process_that_stays_after_exit_has_a_second(hosting: Hosting) -> None:
    began = time.monotonic()
    assert hosting.run('send(type="exit", code=4); time.sleep(0.5); note("done"); time.sleep(600)') == 4
    assert hosting.notes == ["done"]
    assert 0.9 < time.monotonic() - began < SOON
    assert still_marked(SOON) == {}


@pytest.mark.req("PROTO-53", "PROTO-57", "D60-77")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('raw(b\'{"type":"exit"}\')', "exit status 0"),  # a line without its end is none
        ('raw(b\'{"type":"pri\'); sys.exit(7)', "exit status 7"),
        ('raw(b\'{"type":"pri\'); os.kill(os.getpid(), signal.SIGSEGV)', "SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGABRT)", "SIGABRT"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGRTMIN + 3)", "signal "),
        ("os.close(1); time.sleep(600)", "closed its stdout"),
        ("os.close(0); os.close(1); os.close(2); time.sleep(600)", "closed its stdout"),
        ("pass", "exit status 0 and without `exit`"),
        ("os.execvp('false', ['false'])", "exit status 1"),
        ("if os.fork(): os._exit(4)\ntime.sleep(600)", "exit status 4"),  # somebody else has the pipes still
        ("os.close(1)\nif os.fork(): os._exit(4)\ntime.sleep(600)", "exit status 4"),
        ("if os.fork(): os._exit(4)\nwhile True: send(type='log', level='info', message='x' * 500)", "exit status 4"),
        ("if os.fork(): os._exit(4)\nwhile True: send(type='read_config')", "exit status 4"),
    ],
)
@pytest.mark.usefixtures("hasty")
def test_an_end_without_exit_says_how(hosting: Hosting, logged: Logged, body: str, said: str) -> None:
    assert said in failure(hosting, body).message


@pytest.mark.req("PROTO-51", "PROTO-57")
@pytest.mark.parametrize(
    "behind",
    [
        "sys.exit(7)",
        "time.sleep(600)",
        "os.close(1); time.sleep(600)",
        'send(type="print", text="late"); raw(b"oops\\n"); send(type="exit", code=0)',
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "signal.pause()",
        "os.fork() or os.fork() or os.fork(); time.sleep(600)",
        "while True: send(type='log', level='info', message='x' * 500)",
        "while True: send(type='read_config')",
        "while True: raw(b'x' * 65536)",
    ],
)
@pytest.mark.usefixtures("hasty")
def test_after_exit_nothing_counts_and_it_has_little_time(hosting: Hosting, logged: Logged, behind: str) -> None:
    began = time.monotonic()
    with Peak() as peak:
        assert hosting.run(f'send(type="exit", code=4)\n{behind}') == 4
    assert time.monotonic() - began < SOON
    assert peak.grown < 64 * MIB
    assert hosting.out.text == ""
    assert still_marked(SOON) == {}
    assert len([line for line in logged.lines if "after its exit" in line["message"]]) <= 1


@pytest.mark.req("PROTO-56", "D60-68", "PROTO-57")
@pytest.mark.parametrize(
    "goes_on",
    [
        "time.sleep(600)",
        "while True: os.kill(os.getpid(), signal.SIGSTOP)",
        "for _ in sys.stdin.buffer: pass\ntime.sleep(600)",
        "os.fork() or os.fork(); time.sleep(600)",
        "while True: send(type='log', level='info', message='x')",
        'while True: raw(b\'{"type":"log","level":"info","message":"x"}\\n\' * 1000)',
        'while True: raw(b\'{"type":"print","text":"x"}\\n\' * 1000)',
        'while True: raw(b\'{"type":"read_config"}\\n\' * 1000)',
        "while True: raw(b'\\n' * 65536)",
        "import threading\nthreading.Thread(target=lambda: [0 for _ in sys.stdin.buffer]).start()\n"
        'while True: raw(b\'{"type":"read_config","id":1}\\n\' * 1000)',
    ],
)
def test_what_ignores_the_shutdown_and_every_signal_is_killed(hosting: Hosting, logged: Logged, goes_on: str) -> None:
    hosting.grace_secs = 0.3
    when(1, hosting, lambda: hosting.router.shutdown(Cause.TERM))
    body = (
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):\n"
        f"    signal.signal(number, signal.SIG_IGN)\nnote(1)\n{goes_on}"
    )
    began = time.monotonic()
    assert "SIGKILL" in failure(hosting, body).message
    assert time.monotonic() - began >= 0.3


@pytest.mark.req("D60-81", "092-151")
def test_it_stops_itself_and_a_press_reaches_it(hosting: Hosting) -> None:
    """Nothing but a press may go on: it could be in a debugger."""

    def press_once_told() -> None:
        until = time.monotonic() + SOON
        while not hosting.said and time.monotonic() < until:
            time.sleep(0.005)
        hosting.router.press()

    threading.Thread(target=press_once_told, daemon=True).start()
    with pytest.raises(Shutdown):
        hosting.run("signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(0, signal.SIGSTOP); time.sleep(600)")
    assert re.search(r"jp-it: it is stopped; `kill -CONT \d+`", hosting.said[0])
    assert still_marked(SOON) == {}


@pytest.mark.req("D60-76", "D60-70", "D60-72")
def test_a_press_reaches_a_plugin_that_has_stopped_reading(hosting: Hosting) -> None:
    """Its stdin is full, and more waits to be written."""
    when(1, hosting, hosting.router.press)
    began = time.monotonic()
    status = hosting.run(
        """
        signal.signal(signal.SIGINT, lambda *_: (send(type="exit", code=5), os._exit(0)))
        for number in range(2000): out.write(b'{"type":"read_config"}\\n')
        out.flush()
        note(1)
        time.sleep(600)
        """
    )
    assert status == 5
    assert time.monotonic() - began < SOON


@pytest.mark.req("D60-76", "D60-75", "PROTO-56")
def test_a_shutdown_ends_a_plugin_that_has_stopped_reading(hosting: Hosting) -> None:
    hosting.grace_secs = 0.3
    when(1, hosting, lambda: hosting.router.shutdown(Cause.TERM))
    failure(hosting, "for _ in range(2000): send(type='read_config')\nnote(1)\ntime.sleep(600)")
