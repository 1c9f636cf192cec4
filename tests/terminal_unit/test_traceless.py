"""A prompt over running output, drawn and erased: afterwards the terminal shows what it would without it."""

from collections.abc import Iterator
from typing import Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyghostty import Terminal  # type: ignore[import-untyped]

from jp.terminal.device import Device
from jp.terminal.escapes import Strip
from jp.terminal.sink import Buffer, MemorySink
from jp.terminal.target import Target
from jp.terminal.worker import Gate, Worker, urgent_line
from tests.terminal_unit.clock import Clock

TARGETS = (Target.OUT, Target.ERR, Target.TTY)
ROWS = 12
patient = settings(deadline=None, max_examples=100)


def cooked(data: bytes) -> bytes:
    """What a terminal's line discipline makes of it."""
    return data.replace(b"\n", b"\r\n")


class Window(MemorySink):
    """A terminal that takes at most `step` bytes a write and `room` in all."""

    def __init__(self, columns: int, rows: int = ROWS) -> None:
        self.emulator = Terminal(columns, rows)
        self.room = 1 << 40
        self.step = 1 << 40
        super().__init__({target: Buffer() for target in TARGETS}, terminal=True, order=Buffer())
        self.width = columns

    def watched(self) -> int | None:
        return 99

    def write(self, target: Target, data: memoryview) -> int:
        taken = min(self.room, self.step, len(data))
        self.room -= taken
        self.emulator.feed(cooked(bytes(data[:taken])))
        return super().write(target, data[:taken])

    def resize(self, columns: int) -> None:
        self.emulator.resize(columns, ROWS)
        self.width = columns

    def look(self) -> tuple[str, int]:
        return str(self.emulator.contents()).rstrip(), int(self.emulator.cursor[0])


class Stage:
    """A worker on a window."""

    def __init__(self, columns: int, *, dumb: bool = False, rows: int = ROWS) -> None:
        self.window = Window(columns, rows)
        self.clock = Clock()
        self.device = Device(self.window, TARGETS, {Target.TTY: Strip()} if dumb else {})
        self.worker = Worker([self.device], self.clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.window.emulator.close()

    def work(self) -> None:
        """Let the worker write as far as the window takes it."""
        self.worker._polled(99, False)
        while self.worker.work() == 0.0:
            pass

    def out(self, text: str) -> None:
        self.worker.post(self.worker.write, Target.OUT, text, False, 0.0)
        self.work()

    def begin(self) -> Gate:
        gate = Gate()
        self.worker.post(self.worker.lend, gate)
        self.work()
        self.clock.now += 0.06
        self.work()
        assert gate.wait(0)
        return gate

    def draw(self, text: str) -> None:
        self.worker.post(self.worker.write, Target.TTY, text, False, 0.0)
        self.work()

    def end(self, gate: Gate, *, clean: bool = True) -> None:
        self.worker.post(self.worker.take_back, gate, clean)
        self.work()

    def ask(self, rows: int = 2, *, clean: bool = True) -> None:
        gate = self.begin()
        self.draw(drawn(rows))
        self.draw(erased(rows))
        self.end(gate, clean=clean)


def drawn(rows: int) -> str:
    return "\r\n".join(["\x1b[7mreally?\x1b[0m"] + ["[y]"] * (rows - 1))


def erased(rows: int) -> str:
    return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + "\x1b[J"


def without(columns: int, text: str, *, rows: int = ROWS) -> Terminal:
    """The terminal that got the text and nothing else."""
    emulator = Terminal(columns, rows)
    emulator.feed(cooked(text.encode()))
    return emulator


def agree(stage: Stage, text: str) -> None:
    """Same contents and same column; the styles, too, from the cursor's row up."""
    emulator = stage.window.emulator
    columns, rows = emulator.size
    other = without(columns, text, rows=rows)
    try:
        assert stage.window.look() == (str(other.contents()).rstrip(), other.cursor[0])
        row, other_row = emulator.cursor[1], other.cursor[1]
        assert styles(emulator, row, min(row, other_row), columns) == styles(
            other, other_row, min(row, other_row), columns
        )
    finally:
        other.close()


def styles(emulator: Terminal, last: int, count: int, columns: int) -> list[object]:
    lines = emulator.text().split("\n")
    return [
        (line, [emulator.style(column, row) for column in range(columns) if line[column : column + 1].strip()])
        for row in range(last - count, last + 1)
        if (line := lines[row].rstrip() if row < len(lines) else "").isascii()
    ]


@pytest.fixture(params=[20, 7, 80])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    with Stage(request.param) as made:
        yield made


CASES = {
    "short": "half",
    "wrapped": "x" * 50,
    "at the margin": "y" * 140,
    "at the margin, styled": "\x1b[31m" + "y" * 140,
    "wide": "漢字" * 33,
    "wide, odd": "a" + "漢字" * 33,
    "marks": "e\u0301" * 41,
    "styled": "a\x1b[1mb\x1b[31m" + "c" * 45,
    "style over lines": "\x1b[32mone\ntwo",
    "a style without text": "one\n\x1b[32m",
    "a link": "see \x1b]8;;http://x/\x1b\\here and " + "there " * 9,
    "tab": "a\tb",
    "tab at the margin": "\n" + "y" * 140 + "\t",
    "bell and title": "\x1b]0;title\x07ring\x07",
    "overwritten": "12345\rab",
    "backspace": "12345\b\b",
    "long": "z" * 50_001,
    "long with styles": "z\x1b[1mbc\x1b[0m" * 9_001,
    "long and wide": "漢z" * 9_001,
}


@pytest.mark.req("092-138", "092-140")
@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_the_output_goes_on_where_it_stopped(stage: Stage, text: str) -> None:
    stage.out(text)
    before = stage.window.look()[1]
    gate = stage.begin()
    assert stage.window.emulator.cursor[0] == 0, "the prompt starts on a clean line"
    stage.draw(drawn(3))
    stage.draw(erased(3))
    stage.end(gate)
    assert stage.window.look()[1] == before
    agree(stage, text)
    stage.out("more\nand more")
    agree(stage, text + "more\nand more")


@pytest.mark.req("092-139", "092-140")
@pytest.mark.parametrize("rows", [1, 5, ROWS - 1])
def test_a_prompt_that_scrolls_the_screen(stage: Stage, rows: int) -> None:
    text = "".join(f"{number}\n" for number in range(30)) + "half a line"
    stage.out(text)
    stage.ask(rows)
    agree(stage, text)
    stage.out(" that goes on\n")
    agree(stage, text + " that goes on\n")


@pytest.mark.req("092-140")
@pytest.mark.parametrize("room", range(40))
def test_what_is_half_out_is_cut_between_characters_and_sequences(room: int) -> None:
    text = "aé漢\x1b[1;31mred\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\ e\u0301 \x1b[0mplain\nnext"
    with Stage(20) as stage:
        stage.window.room = room
        stage.out(text)
        gate = stage.begin()
        stage.window.room = 1 << 40
        stage.draw(drawn(2))
        lines = stage.window.emulator.text().split("\n")
        assert [line for line in lines if line.strip()][-2:] == ["really?", "[y]"]
        assert "�" not in stage.window.emulator.text()
        row = [line.startswith("really?") for line in lines].index(True)
        assert stage.window.emulator.style(0, row)["fg"] is None
        stage.draw(erased(2))
        stage.end(gate)
        assert stage.device.drained
        agree(stage, text)


@pytest.mark.req("092-140")
def test_a_sequence_whose_end_has_not_come_yet(stage: Stage) -> None:
    stage.out("half \x1b[3")
    stage.ask()
    stage.out("1mred")
    agree(stage, "half \x1b[31mred")


def shown(stage: Stage) -> list[str]:
    return [line.rstrip() for line in stage.window.emulator.text().rstrip().split("\n")]


def test_a_lend_that_is_not_clean_has_the_line_written_again() -> None:
    with Stage(20) as stage:
        stage.out("\x1b[1mhalf")
        stage.ask(clean=False)
        stage.out(" whole")
        assert shown(stage) == ["half", "half whole"]


def test_a_notice_stays_whatever_the_caller_says() -> None:
    with Stage(20) as stage:
        stage.out("half")
        gate = stage.begin()
        stage.worker.post(stage.worker.write_now, Target.ERR, "notice\n")
        stage.work()
        stage.end(gate)
        stage.out(" whole")
        assert shown(stage) == ["half", "notice", "half whole"]


def test_an_announcement_past_the_queue_stays() -> None:
    with Stage(20) as stage:
        stage.out("half")
        gate = stage.begin()
        stage.window.write(Target.ERR, memoryview(urgent_line("news\n", stage.device, repaint=True)))
        stage.end(gate)
        stage.out(" whole")
        assert shown(stage) == ["half", "", "news", "half whole"]


def test_a_line_that_an_announcement_has_cut_is_written_again() -> None:
    with Stage(20) as stage:
        stage.window.room = 2
        stage.out("half")
        stage.window.room = 1 << 40
        stage.window.write(Target.ERR, memoryview(urgent_line("news\n", stage.device, repaint=True)))
        stage.work()
        stage.ask()
        stage.out(" whole")
        assert shown(stage) == ["ha", "news", "lf", "half whole"]
        stage.out("\nnext")
        stage.ask()
        stage.out(" line")
        assert shown(stage) == ["ha", "news", "lf", "half whole", "next line"]


def test_nested_lends_are_not_clean() -> None:
    with Stage(20) as stage:
        stage.out("half")
        outer, inner = stage.begin(), stage.begin()
        stage.end(inner)
        stage.end(outer)
        stage.out(" whole")
        assert shown(stage) == ["half", "half whole"]
        stage.ask()
        stage.out("!")
        assert shown(stage) == ["half", "half whole!"]


@pytest.mark.parametrize("case", ["dumb", "no width", "moved", "no flow"])
def test_where_there_is_no_way_back_the_line_is_written_again(case: str) -> None:
    with Stage(20, dumb=case == "dumb") as stage:
        text = {"moved": "half\x1b[s\x1b[u", "no flow": "aaaaaaaaaaaaaaaaaaaaaa\thalf"}.get(case, "half")
        stage.out(text)
        if case == "no width":
            stage.window.width = None
        gate = stage.begin()
        if case == "no flow":
            stage.window.resize(12)
        stage.end(gate)
        assert stage.window.order.text == text + "\n" + text


@pytest.mark.req("092-140")
@pytest.mark.parametrize("to", [7, 10, 33, 60])
@pytest.mark.parametrize("text", ["half", "a long line over several rows " * 3, "漢字 and so on " * 4, "w" * 9_999])
def test_a_window_resized_during_the_lend(text: str, to: int) -> None:
    with Stage(20) as stage:
        stage.out(text)
        gate = stage.begin()
        stage.window.resize(to)
        stage.end(gate)
        stage.out("more\nand more")
        agree(stage, text + "more\nand more")


_TEXTS = ("\n", " ", "a", "word ", "漢", "字字字", "e\u0301", "x" * 19, "y" * 20, "z" * 5000, "가", "é")
_MOVES = ("\n\t", "\nab\tc", "\r", "\b")
_INKS = ("\x1b[1m", "\x1b[31m", "\x1b[0m", "\x1b[48;5;4m", "\x1b]8;;http://x/\x1b\\", "\x1b]8;;\x1b\\")
PIECES = st.one_of(
    st.sampled_from(_TEXTS + _MOVES + _INKS),
    st.text("ab漢é ", max_size=30),
)


@pytest.mark.req("092-138", "092-139", "092-140")
@patient
@given(
    pieces=st.lists(PIECES, max_size=25),
    columns=st.sampled_from([8, 13, 20, 21, 80]),
    step=st.sampled_from([1, 2, 3, 7, 4096]),
    data=st.data(),
)
def test_any_output_with_prompts_at_any_moment(pieces: list[str], columns: int, step: int, data: st.DataObject) -> None:
    text = "".join(pieces)
    size = len(text.encode())
    with Stage(columns) as stage:
        stage.window.step = step
        rest = text
        for _ in range(data.draw(st.integers(0, 4))):
            cut = data.draw(st.integers(0, len(rest)))
            piece, rest = rest[:cut], rest[cut:]
            if data.draw(st.booleans()):
                stage.window.room = data.draw(st.integers(0, min(size, 200)))
            stage.out(piece)
            gate = stage.begin()
            rows = data.draw(st.integers(1, ROWS - 2))
            stage.window.room = 1 << 40 if data.draw(st.booleans()) else data.draw(st.integers(0, 30))
            stage.draw(drawn(rows))
            stage.draw(erased(rows))
            stage.end(gate)
        stage.window.room = 1 << 40
        stage.out(rest)
        stage.work()
        assert stage.device.drained
        agree(stage, text)


@pytest.mark.req("092-140")
def test_a_prompt_is_not_part_of_a_link_or_a_string_that_the_output_has_begun() -> None:
    for text in ("see \x1b]8;;http://x/\x1b\\he", "half \x1b]2;tit", "half \x1b[3"):
        with Stage(20) as stage:
            stage.out(text)
            gate = stage.begin()
            link = "\x1b]8;;\x1b\\" if "http" in text else "\x18"
            assert stage.window.order.text == text + link + "\n"
            stage.draw("really?")
            assert "really?" in stage.window.emulator.text()
            stage.draw(erased(1))
            stage.end(gate)
            assert stage.window.order.text.endswith(text)


@pytest.mark.req("092-140")
def test_a_cluster_that_terminals_measure_differently_is_trusted_on_one_row_only() -> None:
    family = "👩\u200d💻"
    for count, back in ((2, True), (20, False)):
        with Stage(20) as stage:
            stage.out(family * count)
            stage.ask(1)
            assert ("\x1b[A" in stage.window.order.text) is back
