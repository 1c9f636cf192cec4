"""One run of `jp query` with a person at the terminal, a volley of signals in it, and what must hold afterwards."""

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from jp.storage.files import is_temp
from tests.support.points import argv, at
from tests.support.terminal import Terminal, session
from tests.sweep import expected
from tests.sweep.cases import COMPOSE, END, POINTS, SPREAD_SECS, START, Case
from tests.sweep.person import CHANCE_SECS, MENU, QUERY, Person, menu_left
from tests.sweep.place import ANSWER, Place

DEADLINE_SECS = 15.0
LATE_SECS = 0.3  # a signal this short before the end may have come too late to change it
UNSAVED_SECS = 0.1  # what was typed so shortly before an immediate end may not be on disk
ARMED = "jp.interrupt.router:Router.arm"


class Outcome(NamedTuple):
    """How it went: the end in words, the menu that was answered, what was wrong, and the screen for that."""

    case: Case
    status: str
    menu: str
    wrong: list[str]
    screen: str
    secs: float
    menu_secs: float | None = None

    @property
    def kind(self) -> str:
        """Its place in a table of counts."""
        end = self.status.replace("killed SIG", "").replace("exited ", "")
        menu = f"{self.menu}→" if self.menu else ""
        return f"{menu}{end}" + (" WRONG" if self.wrong else "")


def run(case: Case | None, folder: Path, base_url: str) -> Outcome:
    """Do one run in `folder`, which is new; None: a run that nothing disturbs."""
    place = Place(folder, base_url)
    case_or_none = case or Case("TERM", secs=1e9)
    with Terminal(_command(case, place), cwd=place.workspace, env=place.env) as terminal:
        person = Person(terminal, case_or_none.answer)
        driver = _Driver(case_or_none, terminal, person, place)
        driver.drive()
        wrong = driver.wrong + (driver.check() if driver.status else [])
        return Outcome(
            case_or_none,
            driver.status or "hangs",
            "".join(sorted(person.menu or "")),
            wrong,
            f"{terminal.screen!r}\nraw end: {terminal.output[-600:]!r}" if wrong else "",
            driver.secs,
            driver.menu_secs,
        )


def _command(case: Case | None, place: Place) -> list[str]:
    if case is None or not case.point:
        where = at(ARMED, signals=["STOP"], when="after")
    else:
        point = POINTS[case.point]
        where = at(point.name, signals=case.signals[:1], when=point.when, call=point.call)
    return argv(where, args=["query"], reached=place.reached)


class _Driver:
    def __init__(self, case: Case, terminal: Terminal, person: Person, place: Place) -> None:
        self.case, self.terminal, self.person, self.place = case, terminal, person, place
        self.wrong: list[str] = []
        self.status = ""
        self.secs = 0.0
        self.menu_secs: float | None = None
        self.sent_at: list[float] = []
        self._left = list(case.signals)

    # --- the run

    def drive(self) -> None:
        """From the start to the end, or to the deadline."""
        if not self.case.point:
            pid = self.terminal.pid
            self.terminal.until(lambda _: os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None)
            self.terminal.kill(signal.SIGCONT)
        began = time.monotonic()
        while self.terminal.process.poll() is None:
            now = time.monotonic()
            last = self.sent_at[-1] if self.sent_at else began
            if now - max(last, began) > DEADLINE_SECS:
                self._hangs()
                return
            self._send(now, began)
            self.person.look()
            if self.menu_secs is None and self.person.menu and self.sent_at:
                self.menu_secs = time.monotonic() - self.sent_at[0]
            self.terminal.pump(0.004)
        self.secs = time.monotonic() - began
        self.status = self.terminal.wait()

    def _send(self, now: float, began: float) -> None:
        if not self._left:
            return
        if self.case.point and not self.sent_at:
            if not self.place.reached.exists():
                return
            self._left.pop(0)  # the point has sent it
            self.sent_at.append(now)
            return
        gap = SPREAD_SECS / max(1, len(self.case.signals) - 1)
        due = self.sent_at[-1] + gap if self.sent_at else began + self.case.secs
        if now >= due and self.terminal.process.poll() is None:
            self.terminal.kill(signal.Signals[f"SIG{self._left.pop(0)}"])
            self.sent_at.append(time.monotonic())

    def _hangs(self) -> None:
        self.wrong.append(f"still running {DEADLINE_SECS:.0f} s after the last signal")
        before = len(self.terminal.output)
        self.terminal.kill(signal.SIGABRT)
        try:
            self.terminal.wait(3)
        except AssertionError:
            pass
        self.wrong.append("threads:\n" + self.terminal.output[before:].decode(errors="replace").replace("\r", ""))

    # --- what must hold

    def check(self) -> list[str]:
        """What is wrong with the end and with what is left."""
        ended = time.monotonic()
        self.person.prompted |= "Enter sends" in self.terminal.screen.contents or b"\x1b[?2004h" in self.terminal.output
        wrong = [*self.person.wrong, *self._end(ended), *self._terminal(), *self._processes(), *self._locks()]
        return [*wrong, *self._temporary(), *self._store()]  # the store last: looking at it cleans up

    def _composing(self) -> bool:
        if self.case.phase:
            return self.case.phase == COMPOSE
        return self.person.prompted and f"> {QUERY}" not in self.terminal.screen.contents

    def _end(self, ended: float) -> Iterator[str]:
        case, person = self.case, self.person
        if case.point and not self.place.reached.exists():
            yield "the point was never reached"
            return
        late = not self.sent_at or case.phase == END or ended - self.sent_at[0] < LATE_SECS
        menu = person.menu if case.answer else None
        composing = self._composing()
        allowed = expected.statuses(case, menu, composing=composing, late=late)
        if self.status not in allowed:
            by_menu = f" after the menu [{''.join(sorted(menu))}]" if menu else " without a menu"
            yield f"{self.status}{by_menu}; allowed: {', '.join(sorted(allowed)) or 'only by a menu'}"
        if menu is not None and menu - {"b"} not in expected.MENUS[case.phase]:
            yield f"the menu [{''.join(sorted(menu))}] in the phase {case.phase or '?'}"
        contents = self.terminal.screen.contents
        told = expected.GRACEFUL in contents
        must = expected.says_graceful(case, self.status, menu, composing=composing)
        if must is not None and told != must:
            yield f"the message of the graceful shutdown is {'' if told else 'not '}there"
        if contents.count(expected.GRACEFUL) > 1 or contents.count(expected.TERMINATING) > 1:
            yield "a message more than once"
        if case.answer in ("c", "ESC", "q") and menu is not None and menu_left(contents):
            yield "something of the menu is left on the screen"

    def _terminal(self) -> Iterator[str]:
        terminal = self.terminal
        if terminal.modes() != terminal.modes_before:
            yield "the modes of the terminal are not as before"
        if not terminal.screen.mode(25):
            yield "the cursor is hidden"
        for number, name in ((2004, "bracketed paste"), (1049, "the alternate screen"), (2027, "grapheme clusters")):
            if terminal.screen.mode(number):
                yield f"{name} is still on"
        pushed, popped = terminal.output.count(b"\x1b[>1u"), terminal.output.count(b"\x1b[<u")
        if pushed > popped:
            yield f"keyboard flags pushed {pushed} times, popped {popped} times"
        for word in ("Traceback", "Exception", "internal error", "Fatal"):
            if word in terminal.screen.contents:
                yield f"{word} on the screen"
        if any(path.name.startswith("crash-") for path in self.place.files()):
            yield "a crash report"

    def _processes(self) -> Iterator[str]:
        end = time.monotonic() + CHANCE_SECS
        while (left := session(self.terminal.leader)) and time.monotonic() < end:
            self.terminal.pump(0.01)
        if left:
            yield f"still running: {left}"

    def _locks(self) -> Iterator[str]:
        for path in self.place.files():
            if path.suffix == ".lock":
                with path.open("rb+") as file:
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        yield f"{path.name} is still locked"

    def _temporary(self) -> Iterator[str]:
        """After an immediate end one of the kind that the next run removes may be there."""
        for path in self.place.files():
            name = path.name
            if not (name.endswith(".tmp") or name.startswith((".tmp", "tmp"))) or any(
                is_temp(p) for p in path.parts[:-1]
            ):
                continue
            if not (expected.immediate(self.case) and is_temp(name)):
                yield f"a temporary file: {path}"

    def _store(self) -> Iterator[str]:
        place, case = self.place, self.case
        status, said = place.jp("conversation", "ls")
        if status != "exited 0":
            yield f"`jp c ls` {status}: {said}"
        made = any(path.name == "events.json" for path in place.files() if not any(map(is_temp, path.parts)))
        if made:
            status, said = place.jp("conversation", "print", "newest")
            if status != "exited 0":
                yield f"`jp c print` {status}: {said}"
        try:
            events = place.events()
        except ValueError as error:
            yield f"a stored file is no JSON: {error}"
            return
        if unknown := {each["type"] for each in events} - {
            "turn_start",
            "chat_request",
            "chat_response",
            "config_delta",
        }:
            yield f"unusual events: {unknown}"
        asked = {each["content"] for each in events if each["type"] == "chat_request"}
        said_by_model = [each["message"] for each in events if each["type"] == "chat_response" and "message" in each]
        if any(each not in QUERY for each in asked) or any(not ANSWER.startswith(each) for each in said_by_model):
            yield f"stored is what was never said: {asked} {said_by_model}"
        shown = self._shown()
        if not ANSWER.startswith(shown):
            yield f"below the query is what is no answer: {shown}"
        elif not any(each.startswith(shown) for each in ("", *said_by_model)):
            yield f"shown is {shown!r}, stored {said_by_model}"
        whole = self.status == "exited 0" and not (case.answer == "q" and self.person.menu)
        if whole and (asked != {QUERY} or ANSWER not in said_by_model or shown != ANSWER):
            yield f"not a whole answer: {asked} {said_by_model} {shown}"
        yield from self._typed(asked)

    def _shown(self) -> str:
        """The answer as it is on the screen, the messages taken out of it.

        After an immediate end a menu and the line that says what is waited for may still be there.
        """
        lines = self.terminal.screen.contents.partition(f"> {QUERY}")[2].splitlines()
        over = {expected.GRACEFUL, expected.TERMINATING}
        lines = [line for line in lines if line.strip() not in over]
        if expected.immediate(self.case):
            lines = [line for line in lines if not MENU.search(line.rstrip()) and "Waiting" not in line]
        return " ".join(" ".join(lines).split())

    def _typed(self, asked: set[str]) -> Iterator[str]:
        seen = self.person.seen_at
        if seen is None or QUERY in asked or (self.sent_at and self.sent_at[0] < seen and not self.case.point):
            return  # typed when the end had begun: nobody may have read it
        if expected.immediate(self.case) and (
            self.case.phase in (START, COMPOSE) or self.sent_at[0] - seen < UNSAVED_SECS
        ):
            return
        drafts = [path for path in self.place.files() if path.suffix == ".md" and path.is_file()]
        if not any(QUERY in path.read_text(errors="replace") for path in drafts):
            yield f"what was typed is nowhere (drafts: {[path.name for path in drafts]})"
