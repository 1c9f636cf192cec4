"""One of many: a list, narrowed by what is typed."""

from jp.prompt.backend import PromptTerminal
from jp.prompt.choice import ENTER
from jp.prompt.keys import Key, Paste
from jp.prompt.outcomes import Cancelled, Outcome, ShowWhole, Submitted
from jp.prompt.questions import Item, Select
from jp.prompt.reading import Keys
from jp.prompt.rows import BOLD_BLUE, DIM, RESET, Picture, Row, body_rows, styled
from jp.prompt.showing import FIRST, show
from jp.terminal.sanitize import one_line
from jp.terminal.width import display_width, truncate

NO_MATCH = "no match"
_ITEMS_FIRST = 10  # lines that the list has before the body gets any


def select(question: Select, terminal: PromptTerminal) -> Outcome:
    """Ask for one item. Enter takes the marked one; ESC, and Ctrl-D with nothing typed, cancel."""
    return show(Selector(question, colour=terminal.colour), terminal)


class Matches:
    """The items that have every word of the filter, in any case, in their label or detail."""

    def __init__(self, items: tuple[Item, ...]) -> None:
        self.labels = [one_line(item.label) for item in items]
        self.details = [one_line(item.detail) for item in items]
        self._texts = [f"{label} {detail}".casefold() for label, detail in zip(self.labels, self.details, strict=True)]

    def find(self, text: str) -> list[int]:
        """Indices of the items that match."""
        words = text.casefold().split()
        return [index for index, where in enumerate(self._texts) if all(word in where for word in words)]


class Selector:
    """The state of a selection. `filter` is what was typed, `mark` the place in the list of matches."""

    guard = FIRST

    def __init__(self, question: Select, *, colour: bool) -> None:
        self._question = question
        self._message = one_line(question.message)
        self._matches = Matches(question.items)
        self._colour = colour
        self._page = 1
        self._top = 0
        self.filter = one_line(question.filter)
        self._found = self._matches.find(self.filter)
        marked = (n for n, index in enumerate(self._found) if question.items[index].value == question.marked)
        self.mark = next(marked, 0)

    def picture(self, columns: int, lines: int) -> Picture:
        """Body, message, filter and as much of the list as fits; what fits least is left out first."""
        above: list[Row] = []
        if lines > 2:
            style = BOLD_BLUE if self._colour else ""
            above = [styled(truncate(self._asking(columns), columns), style)]
        wanted = min(max(1, len(self._found)), _ITEMS_FIRST)
        room = lines - len(above) - 1 - wanted
        body = body_rows(self._question.body, columns, room, colour=self._colour, more=self._question.more)
        above = body + above
        typed = "> "[: max(0, columns - 1)] + _end_of(self.filter, columns - 3)
        self._page = max(1, lines - len(above) - 1)
        listed = self._list(columns, self._page) if lines > 1 else []
        return Picture([*above, styled(typed, ""), *listed], len(above), display_width(typed))

    def _asking(self, columns: int) -> str:
        """The message, with the way to all of the items where one of them does not fit."""
        if self._question.more and any(display_width(label) + 2 > columns for label in self._matches.labels):
            return self._message + self._question.more
        return self._message

    def _list(self, columns: int, room: int) -> list[Row]:
        if not self._found:
            return [styled(truncate(f"  {NO_MATCH}", columns), DIM if self._colour else "")]
        self._top = max(0, min(self._top, self.mark, len(self._found) - room), self.mark - room + 1)
        shown = enumerate(self._found[self._top : self._top + room], self._top)
        return [self._item(index, columns, marked=place == self.mark) for place, index in shown]

    def _item(self, index: int, columns: int, *, marked: bool) -> Row:
        label = truncate(("› " if marked else "  ") + self._matches.labels[index], columns)
        width = display_width(label)
        text = f"{BOLD_BLUE}{label}{RESET}" if marked and self._colour else label
        detail = truncate(self._matches.details[index], columns - width - 2) if columns - width > 2 else ""
        if not detail:
            return Row(text, width)
        shown = f"{DIM}{detail}{RESET}" if self._colour else detail
        return Row(f"{text}  {shown}", width + 2 + display_width(detail))

    def keys(self, keys: Keys) -> Outcome | None:
        """Arrows move the mark, characters and pastes narrow the list; Enter counts only when alone in its read."""
        for token in keys.tokens:
            if isinstance(token, Paste):
                self._narrow(self.filter + one_line(token.text))
            elif isinstance(token, Key) and not token.alt:
                name = token.name
                if name == "escape" or (name == "c-d" and not self.filter):
                    return Cancelled(self.filter)
                if name == "c-o" and self._question.more:
                    return ShowWhole(self.filter)
                if name in ENTER:
                    if keys.alone and self._found:
                        return Submitted(self._question.items[self._found[self.mark]].value)
                elif len(name) == 1:
                    self._narrow(self.filter + name)
                else:
                    self._key(name)
        return None

    def _key(self, name: str) -> None:
        if name in ("backspace", "c-h"):
            self._narrow(self.filter[:-1])
        elif name == "c-u":
            self._narrow("")
        elif name == "c-w":
            kept = self.filter.rstrip()
            self._narrow(kept[: kept.rfind(" ") + 1])
        else:
            to = {
                "up": self.mark - 1,
                "c-p": self.mark - 1,
                "down": self.mark + 1,
                "c-n": self.mark + 1,
                "pageup": self.mark - self._page,
                "pagedown": self.mark + self._page,
                "home": 0,
                "end": len(self._found) - 1,
            }.get(name, self.mark)
            self.mark = max(0, min(to, len(self._found) - 1))

    def _narrow(self, text: str) -> None:
        marked = self._found[self.mark] if self._found else -1
        self.filter = text
        self._found = self._matches.find(text)
        self.mark = self._found.index(marked) if marked in self._found else 0

    def text(self) -> str:
        """The filter."""
        return self.filter


def _end_of(text: str, columns: int) -> str:
    """The end of `text` that fits."""
    text = text[-max(0, columns) :] if columns > 0 else ""
    while text and display_width(text) > columns:
        text = text[1:]
    return text
