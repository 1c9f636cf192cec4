"""Values in a shell's text: they are handed over as parameters and expanded where they stood, never part of the text.

What does not work: quoting each value (`'…'` inside the author's own double quotes quotes nothing, and `$(…)` in it is
run), and leaving it to the author (an argument of the model is then code). So the text is read as the shell reads it,
and where a value stands its variable is expanded, with the quotes that this place needs. Should this reading be wrong
somewhere, a value can fall into several words there, but it is never run.

That holds for this shell's own text. Where the author hands a value on as another program's text (`sh -c "… {{x}}"`,
`eval`), it is that program's code.
"""

import os
import re

NAME = "jp-tool"  # what the shell calls itself in its complaints

_SINGLE = re.compile("'")
_COMMENT = re.compile(r"(?:^|(?<=[\s;|&(]))#[^\n]*")


class UnclearError(Exception):
    """A value stands where it can't be put safely; the text says where."""


class Values:
    """The values of one rendering: `put` gives what to print in place of one, `argv` the shell's argument list."""

    def __init__(self) -> None:
        nonce = os.urandom(8).hex()  # so that no value can look like another's mark
        self._mark = re.compile(f"\ue000{nonce}:(\\d+)\ue001")
        self._form = f"\ue000{nonce}:%d\ue001"
        self.all: list[str] = []

    def put(self, value: str) -> str:
        """What stands for `value` in the text; marks in it (of a `{% set %}` block) become their values again."""
        self.all.append(self._mark.sub(lambda mark: self.all[int(mark[1])], value))
        return self._form % (len(self.all) - 1)

    def argv(self, text: str) -> list[str]:
        """The argument list that has `sh` run `text`; raises UnclearError."""
        used: list[int] = []
        body = "".join(_Reader(text, self._mark, used).pieces())
        if not used:
            return ["sh", "-c", body]
        # Variables, because a function has parameters of its own.
        taken = " ".join(f"jp_{place}=${{{number}}}" for number, place in enumerate(used, 1))
        return ["sh", "-c", f"{taken}; shift {len(used)}; {body}", NAME, *(self.all[place] for place in used)]


class _Reader:
    """Reads the text as a shell does, as far as quotes go.

    `_open` is what is open at this place, outermost first: `"`, `)` for a command substitution, "`", `}` for a
    parameter's expansion, `))` for arithmetic, and `(` for a parenthesis.
    """

    def __init__(self, text: str, mark: "re.Pattern[str]", used: list[int]) -> None:
        self._text = text
        self._mark = mark
        self._used = used
        self._open: list[str] = []
        self._document = False

    def pieces(self) -> list[str]:
        made: list[str] = []
        at = 0
        while at < len(self._text):
            piece, at = self._next(at)
            made.append(piece)
        return made

    def _next(self, at: int) -> tuple[str, int]:
        text = self._text
        mark = self._mark.match(text, at)
        if mark:
            return self._expanded(int(mark[1]), "plain" if not self._quoted() else "double"), mark.end()
        if text[at] == "\\":
            if self._mark.match(text, at + 1):
                raise UnclearError("a value stands behind a backslash; put it in quotes, or in a word of its own")
            return text[at : at + 2], at + 2
        if not self._quoted():
            comment = _COMMENT.match(text, at)
            if comment:
                return self._mark.sub("", comment[0]), comment.end()
            if text[at] == "'":
                return self._single(at)
            if text.startswith("<<", at) and not self._arithmetic():
                here = not text.startswith("<<<", at)
                self._document = self._document or here
                return (text[at : at + 2], at + 2) if here else ("<<<", at + 3)
        return self._nest(at)

    def _single(self, at: int) -> tuple[str, int]:
        """A part in single quotes; a value in it closes them for a moment."""
        ends = _SINGLE.search(self._text, at + 1)
        until = ends.end() if ends else len(self._text)
        part = self._text[at:until]
        return self._mark.sub(lambda mark: self._expanded(int(mark[1]), "single"), part), until

    def _nest(self, at: int) -> tuple[str, int]:
        """One piece that may open or close something."""
        text, opened = self._text, self._open
        top = opened[-1] if opened else ""
        for start, closer in (("$((", "))"), ("$(", ")"), ("${", "}")):
            if text.startswith(start, at):
                opened.append(closer)
                return start, at + len(start)
        if text.startswith("((", at) and not self._quoted():
            opened.append("))")
            return "((", at + 2
        if top and text.startswith(top, at):
            opened.pop()
            return top, at + len(top)
        if text[at] in '"`' or (text[at] == "(" and not self._quoted()):
            opened.append(")" if text[at] == "(" else text[at])
        return text[at], at + 1

    def _quoted(self) -> bool:
        """Whether this place is in double quotes; a substitution in them begins anew."""
        for each in reversed(self._open):
            if each != "}":
                return each == '"'
        return False

    def _arithmetic(self) -> bool:
        return "))" in self._open

    def _expanded(self, place: int, where: str) -> str:
        if self._arithmetic():
            raise UnclearError("a value stands in arithmetic, which would run it; assign it to a variable first")
        if self._document:
            raise UnclearError("a value stands in or after a here-document; use `printf '%s' …` instead")
        if place not in self._used:
            self._used.append(place)
        expansion = f"${{jp_{place}}}"
        return {"plain": f'"{expansion}"', "double": expansion, "single": f"'\"{expansion}\"'"}[where]
