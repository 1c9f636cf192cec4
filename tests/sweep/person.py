"""The person at the terminal of a run."""

import re
import time

from tests.support.terminal import CTRL_C, ESC, Terminal

QUERY = "what is kept here?"
THINKS_SECS = 0.15  # between typing it and sending it
READS_SECS = 0.06  # a menu
CHANCE_SECS = 3.0  # for a menu to go, and for killed children to be gone
MENU = re.compile(r"\[((?:.,)+)\?\]\? ?$")


class Person:
    """Types the query when there is a prompt, sends it, and answers a menu."""

    def __init__(self, terminal: Terminal, key: str) -> None:
        self._terminal = terminal
        self._key = key
        self._typed = self._sent = False
        self._seen_at: float | None = None  # the menu
        self._answered = self._stuck = False
        self.seen_at: float | None = None  # when the whole query was on the screen
        self.prompted = False
        self.menu: frozenset[str] | None = None
        self.wrong: list[str] = []

    def look(self) -> None:
        """Do what there is to do."""
        shown = self._terminal.screen.text
        if keys := menu_on(shown):
            self._at_menu(keys)
            return
        self._seen_at = None
        if "Enter sends" in shown:
            self.prompted = True
            if not self._typed:
                self._typed = True
                self._terminal.send(QUERY.encode())
        if self._typed and not self._sent and QUERY in shown:
            self.seen_at = self.seen_at or time.monotonic()
            if time.monotonic() - self.seen_at > THINKS_SECS:
                self._sent = True
                self._terminal.send(b"\r")

    def _at_menu(self, keys: frozenset[str]) -> None:
        now = time.monotonic()
        if self._seen_at is None:
            self._seen_at = now
            self._answered = False
            self.menu = self.menu or keys
            line = self._terminal.screen.text.rstrip().splitlines()[-1]
            if not line.startswith("Interrupted:"):
                self.wrong.append(f"the menu has no line of its own: {line}")
        since = now - self._seen_at
        key = "s" if self._key == "q" and "q" not in keys else self._key
        # What ends the run does not count when it was typed before the menu was there, which the screen tells early.
        if key and not self._answered and (key in ("c", "ESC", "^C") or since > READS_SECS):
            self._answered = True
            self._terminal.send({"^C": CTRL_C, "ESC": ESC}.get(key, key.encode()))
        elif since > CHANCE_SECS and not self._stuck:
            self._stuck = True
            self.wrong.append(f"the menu [{''.join(sorted(keys))}] stayed, answered {self._key or 'by nobody'!r}")


def menu_on(shown: str) -> frozenset[str] | None:
    """The keys of the menu that waits on the last line of the screen."""
    lines = shown.rstrip("\n").rstrip().splitlines()
    found = MENU.search(lines[-1].rstrip()) if lines else None
    return frozenset(found[1].lower().replace(",", "")) if found else None


def menu_left(contents: str) -> bool:
    """Whether a line of a menu is on the screen or in its scrollback."""
    return any(MENU.search(line.rstrip()) for line in contents.splitlines())
