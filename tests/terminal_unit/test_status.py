"""The status line, on buffers and a clock that the test moves."""

import os
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyghostty import Terminal  # type: ignore[import-untyped]

from jp.terminal.printer import Buffer, ChannelCaps, Format, Printer
from jp.terminal.status import StatusHandle, duration
from tests.support.process import Process
from tests.support.terminal import Terminal as RealTerminal
from tests.terminal_unit.children import child
from tests.terminal_unit.clock import Clock
from tests.terminal_unit.properties import patient

BOTH, NONE = ChannelCaps(True, True), ChannelCaps(False, False)


class Stage:
    """A terminal with a Printer on it, and what a person sees there."""

    def __init__(self, columns: int = 60, *, out: ChannelCaps = BOTH, declared: bool = True) -> None:
        self.clock = Clock()
        self.columns = columns
        environ = {"COLUMNS": str(columns)} if declared else {}
        self.printer, self.out, self.err = Printer.memory_with(
            Format.AUTO, out, BOTH, tty=True, clock=self.clock, environ=environ
        )

    def after(self, seconds: float) -> "Stage":
        self.clock.now += seconds
        self.printer.tick()
        return self

    @property
    def contents(self) -> list[str]:
        emulator = Terminal(self.columns, 12)
        emulator.feed(self.printer.transcript.data.replace(b"\n", b"\r\n"))
        lines = [line.rstrip() for line in emulator.contents().split("\n")]
        emulator.close()
        return lines

    @property
    def lines(self) -> list[str]:
        emulator = Terminal(self.columns, 12)
        emulator.feed(self.printer.transcript.data.replace(b"\n", b"\r\n"))
        lines = [line.rstrip() for line in emulator.text().rstrip().split("\n")]
        emulator.close()
        return lines


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.req("104-131", "104-133", "104-134")
def test_subject_time_and_detail(stage: Stage) -> None:
    status = stage.printer.status("Waiting…", interval=0.1)
    stage.after(9.2)
    assert stage.lines == ["⏱ Waiting… 9.2s"]
    status.detail("receiving response data")
    assert stage.lines == ["⏱ Waiting… 9.2s (receiving response data)"]
    stage.after(0.1)
    assert stage.lines == ["⏱ Waiting… 9.3s (receiving response data)"]
    status.detail("")
    stage.after(0.1)
    assert stage.lines == ["⏱ Waiting… 9.4s"]


@pytest.mark.req("104-132")
def test_nothing_is_drawn_before_the_delay(stage: Stage) -> None:
    status = stage.printer.status("Waiting…", delay=2)
    status.detail("x")
    stage.after(1.9)
    assert stage.printer.transcript.data == b""
    stage.after(0.2)
    assert stage.lines == ["⏱ Waiting… 2.1s (x)"]


def test_a_claim_that_ends_in_its_delay_writes_nothing(stage: Stage) -> None:
    with stage.printer.status("Waiting…", delay=2):
        stage.after(1)
    stage.after(5)
    assert stage.printer.transcript.data == b""


@pytest.mark.req("104-135")
def test_whoever_may_change_the_detail_cannot_end_the_line(stage: Stage) -> None:
    status = stage.printer.status("Waiting…")

    def part() -> Callable[[str], None]:
        detail = status.detail
        detail("from the part")
        return detail

    part()
    stage.after(1)
    assert stage.lines == ["⏱ Waiting… 1.0s (from the part)"]


@pytest.mark.req("104-136")
def test_gone_when_it_is_ended_left_or_failed(stage: Stage) -> None:
    status = stage.printer.status("Waiting…")
    status.end()
    status.detail("late")
    status.end()
    assert stage.after(1).lines == [""]
    with stage.printer.status("Waiting…"):
        assert "Waiting" in stage.lines[0]
    assert stage.after(1).lines == [""]
    with pytest.raises(RuntimeError), stage.printer.status("Waiting…"):
        raise RuntimeError
    assert stage.after(1).lines == [""]


@pytest.mark.req("104-137")
def test_counting_down(stage: Stage) -> None:
    stage.printer.status("Shutting down…", countdown_from=10)
    assert stage.lines == ["⏱ Shutting down… 10s left"]
    assert stage.after(0.5).lines == ["⏱ Shutting down… 10s left"]
    assert stage.after(0.6).lines == ["⏱ Shutting down… 9s left"]
    assert stage.after(60).lines == ["⏱ Shutting down… 0s left"]


def test_a_countdown_stands_still_while_the_job_is_stopped(stage: Stage) -> None:
    stage.printer.status("Waiting…", countdown_from=10)
    stage.after(1)
    stage.printer.suspend()
    stage.after(60)
    stage.printer.resume()
    assert stage.after(1).lines == ["⏱ Waiting… 8s left"]


@pytest.mark.req("104-138")
@pytest.mark.parametrize("channel", ["out", "note", "chrome", "terminal", "announce"])
def test_any_write_clears_it_first_and_it_is_redrawn_below(stage: Stage, channel: str) -> None:
    stage.printer.status("Waiting…", interval=1)
    stage.after(1)
    getattr(stage.printer, channel)("written\n")
    stage.after(0.2)
    assert stage.lines[0] == "written"
    assert stage.lines[1].startswith("⏱ Waiting… 1.")
    assert len(stage.lines) == 2


@pytest.mark.req("104-138")
def test_a_write_to_another_device_clears_it_too() -> None:
    stage = Stage(out=NONE)
    stage.printer.status("Waiting…", interval=1)
    stage.printer.out("data\n")
    assert stage.err.text.endswith("\r\x1b[K")
    stage.after(0.2)
    assert "Waiting" in stage.err.text.rpartition("\x1b[K")[0].rpartition("\r")[2]


@pytest.mark.req("104-139")
@pytest.mark.parametrize("text", ["\n", "\x1b[0m", "\x1b]2;title\x1b\\"])
def test_newlines_and_control_sequences_clear_it_as_well(stage: Stage, text: str) -> None:
    stage.printer.status("Waiting…", interval=5)
    before = len(stage.printer.transcript.data)
    stage.printer.out(text)
    assert stage.printer.transcript.data[before:].startswith(b"\r\x1b[K" + text.encode())


@pytest.mark.req("104-139")
def test_an_empty_write_neither_clears_nor_redraws(stage: Stage) -> None:
    stage.printer.status("Waiting…", interval=5)
    before = stage.printer.transcript.data
    stage.printer.out("")
    stage.printer.chrome("")
    assert stage.printer.transcript.data == before


@pytest.mark.req("104-140")
def test_ended_and_then_printed_it_is_not_seen_again(stage: Stage) -> None:
    status = stage.printer.status("Waiting…")
    status.end()
    stage.printer.out("answer\n")
    stage.after(5)
    assert stage.lines == ["answer"]
    assert "Waiting" not in stage.printer.transcript.text.partition("answer")[2]


@pytest.mark.req("104-141")
def test_ended_by_one_thread_while_others_print(stage: Stage) -> None:
    for _ in range(50):
        status = stage.printer.status("Waiting…")
        thread = threading.Thread(target=lambda: [stage.printer.out("line\n") for _ in range(20)])
        thread.start()
        status.end()
        thread.join()
        stage.printer.flush(5)
        assert "Waiting" not in stage.lines[-1]


@pytest.mark.req("104-143")
def test_the_later_claim_is_shown_and_then_the_earlier_with_its_own_time(stage: Stage) -> None:
    stage.printer.status("First…")
    stage.after(5)
    second = stage.printer.status("Second…")
    assert stage.after(1).lines == ["⏱ Second… 1.0s"]
    second.end()
    assert stage.lines == ["⏱ First… 6.0s"]


@pytest.mark.req("104-144")
def test_the_earlier_ends_first(stage: Stage) -> None:
    first = stage.printer.status("First…")
    stage.after(5)
    second = stage.printer.status("Second…")
    first.end()
    assert stage.after(1).lines == ["⏱ Second… 1.0s"]
    second.end()
    assert stage.after(1).lines == [""]


def test_a_later_claim_in_its_delay_leaves_the_earlier_shown(stage: Stage) -> None:
    stage.printer.status("First…")
    stage.printer.status("Second…", delay=3)
    assert stage.after(1).lines == ["⏱ First… 1.0s"]
    assert stage.after(2.5).lines == ["⏱ Second… 3.5s"]


@pytest.mark.req("104-145", "104-146")
def test_dark_while_the_terminal_is_lent(stage: Stage) -> None:
    status = stage.printer.status("Waiting…", interval=0.1)
    stage.after(1)
    with stage.printer.lend() as loan:
        assert stage.lines == [""]
        before = stage.printer.transcript.data
        loan.write("really? ")
        status.detail("x")
        stage.after(30)
        assert stage.printer.transcript.data == before + b"really? "
        loan.write("y\n")
    stage.after(0.1)
    assert stage.lines == ["really? y", "⏱ Waiting… 31.1s (x)"]


@pytest.mark.req("104-24", "104-25", "104-147", "104-151", "104-152")
@pytest.mark.parametrize("caps", [NONE, ChannelCaps(True, False), ChannelCaps(False, True)])
def test_where_it_cannot_be_drawn_claims_write_nothing(caps: ChannelCaps) -> None:
    clock = Clock()
    printer, _, err = Printer.memory_with(Format.TEXT, BOTH, caps, clock=clock)
    with printer.status("Waiting…", countdown_from=5) as status:
        for _ in range(10):
            clock.now += 1
            status.detail("x")
            printer.tick()
    assert err.data == printer.transcript.data == b""


@pytest.mark.req("104-147", "104-153")
def test_dark_while_a_log_goes_to_stderr() -> None:
    printer, _, err = Printer.memory_with(Format.AUTO, BOTH, BOTH, log_on_stderr=True)
    with printer.status("Waiting…"):
        printer.tick()
    assert err.data == b""


def drawn(printer: Printer, err: Buffer) -> bool:
    with printer.status("Waiting…"):
        printer.tick()
    return "Waiting" in err.text


@pytest.mark.req("104-22", "104-148", "104-149", "104-150", "104-151")
@pytest.mark.parametrize(
    ("format_", "wanted"),
    [
        (Format.AUTO, True),
        (Format.TEXT_PRETTY, True),
        (Format.TEXT, False),
        (Format.JSON, False),
        (Format.JSON_PRETTY, False),
    ],
)
def test_drawn_by_format_where_stderr_is_a_terminal(format_: Format, wanted: bool) -> None:
    printer, _, err = Printer.memory(format_)
    assert drawn(printer, err) is wanted
    if not wanted:
        assert err.data == b""


def test_drawn_with_stdout_piped() -> None:
    printer, _, err = Printer.memory_with(Format.AUTO, NONE, BOTH)
    assert drawn(printer, err)


def test_only_at_column_0(stage: Stage) -> None:
    stage.printer.out("half a line")
    stage.printer.status("Waiting…", interval=0.1)
    assert stage.after(3).lines == ["half a line"]
    stage.printer.out(" and its end\x1b[0m\n\x1b[1m")
    assert stage.after(0.1).lines == ["half a line and its end", "⏱ Waiting… 3.1s"]


@pytest.mark.parametrize("columns", [20, 12, 8, 3, 2, 1])
def test_never_wider_than_the_window(columns: int) -> None:
    stage = Stage(columns)
    status = stage.printer.status("Waiting…")
    status.detail("漢字" * 40)
    stage.printer.out("first\n" if columns > 5 else "")
    stage.after(10)
    status.end()
    assert all("⏱" not in line and "漢" not in line for line in stage.lines)


def test_what_others_wrote_in_it_is_one_clean_line(stage: Stage) -> None:
    status = stage.printer.status("Wai\x1b[2J\nting…")
    status.detail("a\x1b]0;t\x07b\nc\r\x9bJd")
    assert stage.lines == ["⏱ Wai ting… 0.0s (ab c d)"]


def test_the_window_changed() -> None:
    stage = Stage(declared=False)
    stage.printer.status("Waiting…")
    stage.printer.resized()
    assert stage.after(1).lines == ["⏱ Waiting… 1.0s"]


def test_closing_takes_it_away_whoever_claims_it(stage: Stage) -> None:
    stage.printer.status("Waiting…")
    stage.printer.out("answer\n")
    stage.after(1)
    assert stage.printer.close(1)
    assert stage.after(5).lines == ["answer"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0s"),
        (9.24, "9.2s"),
        (59.94, "59.9s"),
        (59.96, "1m 00s"),
        (65.4, "1m 05s"),
        (3599, "59m 59s"),
        (3720, "1h 02m"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_in_the_background_it_is_neither_drawn_nor_cleared(stage: Stage) -> None:
    """What a shell has printed since stands where the line was."""
    status = stage.printer.status("Waiting…")
    drawn = stage.printer._worker.status
    assert drawn is not None
    drawn._may_draw = lambda: False
    before = stage.printer.transcript.text
    stage.printer.out("answer\n")
    stage.after(5)
    assert stage.printer.transcript.text == before + "answer\n"
    drawn._may_draw = lambda: True
    stage.after(5)
    assert "Waiting" in stage.printer.transcript.text.removeprefix(before)
    status.end()


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["out", "note", "chrome", "terminal", "claim", "end", "detail", "tick", "lend", "half", "flush"]
        ),
        st.integers(0, 3),
    ),
    max_size=30,
)


@pytest.mark.req("104-138", "104-143", "104-144")
@patient
@given(OPERATIONS)
def test_whatever_happens_no_remnant_and_never_two_lines(operations: list[tuple[str, int]]) -> None:
    stage = Stage(columns=50)
    claims: list[StatusHandle] = []
    expected: list[str] = []
    for number, (operation, which) in enumerate(operations):
        if operation in ("out", "note", "chrome", "terminal"):
            getattr(stage.printer, operation)(f"line {number}\n")
            expected.append(f"line {number}")
        elif operation == "half":
            stage.printer.out(f"line {number}")
            stage.after(1)
            stage.printer.out(" whole\n")
            expected.append(f"line {number} whole")
        elif operation == "lend":
            with stage.printer.lend() as loan:
                loan.write(f"ask {number}")
                stage.after(which)
                loan.write("\n")
            expected.append(f"ask {number}")
        elif operation == "claim":
            claims.append(stage.printer.status(f"Claim {number}…", delay=which))
        elif operation == "detail" and claims:
            claims[which % len(claims)].detail(f"detail {number}")
        elif operation == "end" and claims:
            claims.pop(which % len(claims)).end()
        elif operation == "tick":
            stage.after(which / 2)
        elif operation == "flush":
            assert stage.printer.flush(1)
        shown = [line for line in stage.contents if line]
        text = [line for line in shown if "⏱" not in line]
        assert text == expected
        assert shown[: len(text)] == text, "the status line is below everything"
        assert len(shown) - len(text) <= (1 if claims else 0)
    stage.printer.close(1)
    assert [line for line in stage.contents if line] == expected


@pytest.mark.req("104-142")
def test_ending_it_waits_for_no_worker() -> None:
    read, write = os.pipe()
    body = """
printer.out("x" * 1_000_000)
status = printer.status("Waiting…")
began = time.monotonic()
for number in range(1000):
    status.detail(str(number))
status.end()
assert time.monotonic() - began < 5
os._exit(0)
"""
    with Process(child(body), stdout=write) as process:
        assert process.wait() == "exited 0", process.err
    stopped = 'time.sleep(0.1)\nprinter.out("y" * 1_000_000)\n'
    with RealTerminal(child(stopped + body)) as terminal:
        assert terminal.process.wait(30) == 0
        terminal.status = "exited 0"
    os.close(read)
    os.close(write)
