"""What is swept: which signals, and where they arrive in a run of `jp query`."""

import random
import re
from collections.abc import Iterator
from typing import NamedTuple


class Volley(NamedTuple):
    """Signals that come within 300 ms, and what the person does with a menu that is then on the screen."""

    signals: tuple[str, ...]
    answer: str = ""  # a key of the menu; `^C` and `ESC` are those keys; `q` is `s` where there is no `q`


VOLLEYS = {
    "INT+c": Volley(("INT",), "c"),
    "INT+ESC": Volley(("INT",), "ESC"),
    "INT+q": Volley(("INT",), "q"),
    "INT+^C": Volley(("INT",), "^C"),
    "INTx2": Volley(("INT",) * 2),
    "INTx3": Volley(("INT",) * 3),
    "INTx10": Volley(("INT",) * 10),
    "TERM": Volley(("TERM",)),
    "HUP": Volley(("HUP",)),
    "QUIT": Volley(("QUIT",)),
}
PRESSES = [name for name in VOLLEYS if "+" in name]
SPREAD_SECS = 0.27  # from the first signal of a volley to its last

# The phases, in the order in which a run passes them.
START, COMPOSE, GAP, STREAM, CLOSE, END = "start", "compose", "gap", "stream", "close", "end"


class Point(NamedTuple):
    """A function that the run passes, which call of it, at its entry or its exit, and the phase it belongs to."""

    name: str
    phase: str
    when: str = "before"
    call: int = 1


_ALL = [
    Point("jp.interrupt.router:Router.arm", START, "after"),
    Point("jp.cli.parse:parse", START),
    Point("jp.cli.channels:open_channels", START),
    Point("jp.cli.channels:open_channels", START, "after"),
    Point("jp.storage.workspace:Workspace.find", START),
    Point("jp.config.load:load", START),
    Point("jp.config.load:load", START, "after"),
    Point("jp.cli.compose:Writing.write", START),
    Point("jp.ask.asker:Asker.run", COMPOSE),
    Point("jp.ask.asker:Dialogue.ask", COMPOSE),
    Point("jp.prompt.inline:edit", COMPOSE),
    Point("jp.prompt.inline:edit", COMPOSE, "after"),
    Point("jp.ask.draft_writer:DraftWriter.changed", COMPOSE),
    Point("jp.ask.drafts:Drafts.keep", COMPOSE),
    Point("jp.ask.drafts:Drafts.keep", COMPOSE, "after"),
    Point("jp.ask.draft_writer:DraftWriter.close", COMPOSE),
    Point("jp.ask.asker:Asker.run", COMPOSE, "after"),
    Point("jp.storage.store:Store.create", GAP),
    Point("jp.storage.creation:make_directories", GAP),
    Point("jp.storage.creation:make_directories", GAP, "after"),
    Point("jp.storage.journal:TurnWriter.begin", GAP),
    Point("jp.storage.journal:TurnWriter.append", GAP),
    Point("jp.storage.journal:TurnWriter.append", GAP, "after", 2),
    Point("jp.conversation.thread:build", GAP),
    Point("jp.turn.loop:Turn.run", GAP),
    Point("jp.llm.source:Source.start", STREAM),
    Point("jp.storage.files:write_atomic", STREAM),
    Point("jp.llm.exchange:Exchange.send", STREAM),
    Point("jp.llm.exchange:Exchange.head", STREAM, "after"),
    Point("jp.storage.journal:TurnWriter.partial", STREAM),
    Point("jp.turn.screen:Screen.delta", STREAM, "after"),
    Point("jp.turn.screen:Screen.delta", STREAM, "before", 8),
    Point("jp.storage.journal:TurnWriter.complete_partial", GAP),
    Point("jp.storage.journal:TurnWriter.fold", GAP),
    Point("jp.storage.conversation:Conversation.write_events", GAP),
    Point("jp.storage.journal:TurnWriter.fold", GAP, "after"),
    Point("jp.turn.title:Title.wait", CLOSE),
    Point("jp.storage.conversation:Conversation.set_title", CLOSE),
    Point("jp.cli.context:Context.close", CLOSE),
    Point("jp.terminal.printer:Printer.close", END),
    Point("jp.cli.main:run", END, "after"),
    Point("jp.interrupt.end:finish", END),
]


def _name(point: Point) -> str:
    call = f"#{point.call}" if point.call > 1 else ""
    return f"{point.name}/{point.when}{call}"


POINTS = {_name(point): point for point in _ALL}


class Case(NamedTuple):
    """A volley at a point, or so many seconds after the router is armed. Its text names it for `--only`."""

    volley: str
    point: str = ""
    secs: float = 0.0

    def __str__(self) -> str:
        return f"{self.volley}@{self.point or f'{self.secs:.3f}s'}"

    @property
    def signals(self) -> tuple[str, ...]:
        """What is sent."""
        return VOLLEYS[self.volley].signals

    @property
    def answer(self) -> str:
        """What a menu is answered with."""
        return VOLLEYS[self.volley].answer

    @property
    def phase(self) -> str:
        """Where in the run it comes; empty where only the time is known."""
        return POINTS[self.point].phase if self.point else ""


def parse(text: str) -> Case:
    """The case of a name that a report gave. Raises ValueError."""
    volley, _, where = text.partition("@")
    if volley not in VOLLEYS:
        raise ValueError(f"no volley {volley!r}; there are {', '.join(VOLLEYS)}")
    if where in POINTS:
        return Case(volley, where)
    if not re.fullmatch(r"\d+(\.\d+)?s", where):
        raise ValueError(f"no point {where!r}")
    return Case(volley, secs=float(where[:-1]))


def everything(times: int, span: float) -> Iterator[Case]:
    """Every volley at every point, and at so many even times over `span` seconds (a press with one answer each)."""
    for point in POINTS:
        for volley in VOLLEYS:
            yield Case(volley, point)
    others = [name for name in VOLLEYS if name not in PRESSES]
    for number in range(times):
        secs = round(span * number / times, 3)
        for volley in (PRESSES[number % len(PRESSES)], *others):
            yield Case(volley, secs=secs)


def sample(seed: int, points: int, times: int, span: float) -> list[Case]:
    """A choice of cases: each volley as often as the others, no point twice, times over the whole span."""
    chance = random.Random(seed)
    volleys = list(VOLLEYS) * (1 + (points + times) // len(VOLLEYS))
    places = [Case(volley, point) for volley, point in zip(volleys, chance.sample(list(POINTS), points), strict=False)]
    moments = [
        Case(volley, secs=round(span * (number + chance.random()) / times, 3))
        for number, volley in zip(range(times), volleys[points:], strict=False)
    ]
    return places + moments
