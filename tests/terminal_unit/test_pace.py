"""Typewriter pacing, on a clock that the test moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.terminal.pace import Pace, units
from jp.terminal.printer import Buffer, ChannelCaps, Format, Printer
from tests.terminal_unit.clock import Clock
from tests.terminal_unit.properties import patient

BOTH, NONE = ChannelCaps(True, True), ChannelCaps(False, False)


def made(caps: ChannelCaps = BOTH, latency: float | None = None) -> tuple[Printer, Buffer, Clock]:
    clock = Clock()
    printer, out, _ = Printer.memory_with(Format.AUTO, caps, BOTH, tty=True, clock=clock)
    printer.max_latency = latency
    return printer, out, clock


def test_one_character_after_the_other() -> None:
    printer, out, clock = made()
    printer.typed("hello", 0.1)
    assert out.text == "h"
    for seconds, text in [(0.05, "h"), (0.06, "he"), (0.1, "hel"), (0.2, "hello"), (1, "hello")]:
        clock.now += seconds
        printer.tick()
        assert out.text == text


def test_what_comes_after_it_waits_for_its_turn() -> None:
    printer, out, clock = made()
    printer.typed("ab", 0.1)
    printer.out("!")
    assert out.text == "a"
    clock.now += 0.11
    printer.tick()
    assert out.text == "ab!"


@pytest.mark.parametrize("caps", [NONE, ChannelCaps(True, False), ChannelCaps(False, True)])
def test_only_a_terminal_that_shows_escapes_is_paced(caps: ChannelCaps) -> None:
    printer, out, _ = made(caps)
    printer.typed("hello", 0.1)
    assert out.text == "hello"


def test_no_lag_is_no_pacing() -> None:
    printer, out, _ = made(latency=0)
    printer.typed("hello", 0.1)
    assert out.text == "hello"


def test_no_delay_is_no_pacing() -> None:
    printer, out, _ = made()
    printer.typed("hello", 0)
    assert out.text == "hello"


def test_the_lag_is_bounded() -> None:
    printer, out, clock = made(latency=1.0)
    for _ in range(100):
        printer.typed("x" * 100, 0.1)
    clock.now += 0.5
    printer.tick()
    assert 0 < len(out.text) < 10_000
    for _ in range(6):
        clock.now += 0.1
        printer.tick()
    assert len(out.text) == 10_000


def test_a_flush_writes_it_at_once() -> None:
    printer, out, _ = made()
    printer.typed("hello", 0.1)
    printer.typed(" world", 0.1)
    assert printer.flush(1)
    assert out.text == "hello world"


def test_a_lend_writes_it_at_once() -> None:
    printer, out, _ = made()
    printer.typed("hello\n", 0.1)
    with printer.lend():
        assert out.text == "hello\n"


def test_the_end_writes_it_at_once() -> None:
    printer, out, _ = made()
    printer.typed("hello", 0.1)
    assert printer.close(1)
    assert out.text == "hello"


def test_later_text_is_paced_again_after_a_flush() -> None:
    printer, out, _ = made()
    printer.typed("hello", 0.1)
    printer.flush(1)
    printer.typed("world", 0.1)
    assert out.text == "hellow"


def test_a_sequence_or_a_marked_character_is_one_step() -> None:
    assert units("a\x1b[31mb\u0301👩\u200d👧\x1b[0m") == ["a", "\x1b[31mb\u0301", "👩\u200d", "👧", "\x1b[0m"]


@patient
@given(st.text(max_size=200), st.floats(0.0001, 0.5), st.one_of(st.none(), st.floats(0.001, 2)))
def test_all_of_it_arrives_in_order(text: str, delay: float, latency: float | None) -> None:
    pace = Pace()
    pace.start(text, delay, 0.0)
    given_out, now = "", 0.0
    while pace:
        given_out += pace.take(now, 0, latency)
        assert not pace or pace.due > now
        now = max(now, pace.due)
    assert given_out == text
    assert now <= delay * len(text) + 1
