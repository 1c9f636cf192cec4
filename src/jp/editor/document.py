"""The query document, `QUERY_MESSAGE.md`: the query, a line that cuts, settings that may be edited, recent history.

Pure text. What a person left is never rebuilt: `parse` reads it, `with_error` adds and replaces the lines of an error
and nothing else. A query may hold the cut itself: there it gets a backslash, which reading takes away again.
"""

import re
from typing import Any, NamedTuple

from jp.errors import JpError

NAME = "QUERY_MESSAGE.md"
CUT = "-------- 8< -------- the query ends above this line -------- 8< --------"
NOTES = (
    "Saving an empty query sends nothing. The settings in the TOML block may be edited;",
    "all that follows the block is for reference.",
)
SETTINGS = "# These settings hold from this query on. A line that is taken out changes nothing."
HISTORY = "## Recent history, for reference"
ERROR = "# !!! "

_CUT = re.compile(rf"^{re.escape(CUT)}[ \t\r]*$", re.MULTILINE)
_WRITTEN_CUT = re.compile(rf"^(\\*{re.escape(CUT)}[ \t\r]*)$", re.MULTILINE)
_ESCAPED_CUT = re.compile(rf"^\\(\\*{re.escape(CUT)}[ \t\r]*)$", re.MULTILINE)
_OPENING = re.compile(r"^(`{3,})toml[ \t\r]*$", re.MULTILINE)
_REST = re.compile(rf"^(?:{'|'.join(re.escape(line) for line in (*NOTES, SETTINGS, HISTORY))})[ \t\r]*$", re.MULTILINE)
_HISTORY = re.compile(rf"^{re.escape(HISTORY)}[ \t\r]*$", re.MULTILINE)
_ERRORS = re.compile(rf"(?:{re.escape(ERROR.rstrip())}(?: [^\n]*)?\r?(?:\n|\Z))+")
_FINAL_ERRORS = re.compile(rf"(?:^{re.escape(ERROR)}[^\n]*(?:\n|\Z))+\Z", re.MULTILINE)


class DocumentError(JpError):
    """A query document that can't be understood; `metadata` holds the line or the key where there is one."""

    code = "query_document"


class Parsed(NamedTuple):
    """What a document says: the query, and what was changed of the settings as a partial config (None: nothing)."""

    query: str
    config: dict[str, Any] | None = None


def compose(query: str, config_toml: str, history: str, error: str = "") -> str:
    """The document. `config_toml` is TOML text (`settings.editable`), `history` any text, empty for none."""
    longest = max((len(found) for found in re.findall(r"^`+", config_toml, re.MULTILINE)), default=0)
    fence = "`" * max(3, longest + 1)
    if config_toml and not config_toml.endswith("\n"):
        config_toml += "\n"
    lines = [_WRITTEN_CUT.sub(r"\\\1", query), "", CUT, *NOTES, "", f"{fence}toml", SETTINGS, f"{config_toml}{fence}"]
    if history:
        lines += ["", HISTORY, "", _OPENING.sub(r" \g<0>", history.rstrip("\n"))]
    text = "\n".join(lines) + "\n"
    return with_error(text, error) if error else text


def with_query(text: str, query: str) -> str:
    """`text`, an earlier document, with another query above its cut; what is below stays as it was left."""
    cut = _CUT.search(text)
    if cut is None:
        return text
    return _WRITTEN_CUT.sub(r"\\\1", query) + "\n\n" + text[cut.start() :]


def parse(text: str, config_toml: str = "") -> Parsed:
    """What `text` says, `config_toml` being what the block held before. Raises `DocumentError`.

    Without a cut the whole text is the query, unless it still holds what stands below the cut. The first of several
    cuts counts. In a text whose lines end in CR LF the query's lines end in LF.
    """
    cut = _CUT.search(text)
    if cut is None:
        return Parsed(_whole(text))
    before = text[: cut.start()]
    converted = cut[0].endswith("\r") or before.endswith("\r\n\r\n")
    end = "\r\n" if converted else "\n"
    query = before.removesuffix(end).removesuffix(end)
    if converted:
        query = query.replace("\r\n", "\n")
    return Parsed(_ESCAPED_CUT.sub(r"\1", query), _settings(text, cut.end(), config_toml))


def with_error(text: str, error: "str | JpError") -> str:
    """`text` with the error as comments at the top of the TOML block, in the place of an earlier one.

    Everything else stays as it is, byte for byte. Where there is no block the error is at the very end. An empty error
    takes the earlier one away.
    """
    said = [error.message, *error.hints] if isinstance(error, JpError) else [error]
    lines = [f"{ERROR}{_printable(line)}" for line in "\n".join(said).splitlines()]
    cut = _CUT.search(text)
    history = _HISTORY.search(text, cut.end()) if cut else None
    opening = _OPENING.search(text, cut.end(), history.start() if history else len(text)) if cut else None
    if opening is None:
        rest = _FINAL_ERRORS.sub("", text)
        return rest + ("" if not rest or not lines or rest.endswith("\n") else "\n") + "".join(f"{x}\n" for x in lines)
    at = opening.end()
    if not text.startswith("\n", at):
        return text[:at] + "".join(f"\n{line}" for line in lines)
    end = "\r\n" if opening[0].endswith("\r") else "\n"
    earlier = _ERRORS.match(text, at + 1)
    return text[: at + 1] + "".join(line + end for line in lines) + text[earlier.end() if earlier else at + 1 :]


def _printable(line: str) -> str:
    """`line` as a comment in TOML can hold it."""
    return "".join(char if char.isprintable() else " " for char in line)


def _whole(text: str) -> str:
    """The query that a text without a cut is; raises where it is more than that."""
    rest = _REST.search(text)
    if rest is not None:
        line = text.count("\n", 0, rest.start()) + 1
        raise DocumentError(
            f"{NAME}:{line}: the line that ends the query is gone, but what follows it is still there",
            hints=[f"put it back: {CUT}", "or take out everything that is not the query"],
            metadata={"line": line},
        )
    text = _FINAL_ERRORS.sub("", text)
    text = text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")
    return _ESCAPED_CUT.sub(r"\1", text)


def _settings(text: str, start: int, config_toml: str) -> dict[str, Any] | None:
    """What was changed in the block; a block that was taken out changes nothing."""
    # Never from the history: what was said there, by whomever, sets nothing.
    history = _HISTORY.search(text, start)
    opening = _OPENING.search(text, start, history.start() if history else len(text))
    if opening is None:
        return None
    begins = min(opening.end() + 1, len(text))
    closing = re.compile(rf"^{opening[1]}`*[ \t\r]*$", re.MULTILINE).search(text, begins)
    line = text.count("\n", 0, begins) + 1
    if closing is None:
        raise DocumentError(
            f"{NAME}:{line - 1}: the TOML block that begins here has no end",
            hints=[f"end it with a line {opening[1]}"],
            metadata={"line": line - 1},
        )
    from jp.editor.settings import changed

    return changed(text[begins : closing.start()], config_toml, line)
