"""How an error looks: readable text, or one record under `--format json` (contracts, section 2)."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.errors import JpError
    from jp.terminal.printer import Printer


def text(error: "JpError", *, bold: bool = False) -> str:
    """`jp: what happened` with the hints indented below, ending in a newline."""
    from jp.terminal.sanitize import one_line

    head = "jp:"
    if bold:
        head = "\x1b[1;31mjp:\x1b[0m"
    lines = [one_line(line) for line in error.message.splitlines()] or [""]
    out = [f"{head} {lines[0]}", *(f"    {line}" for line in lines[1:])]
    out += [f"    → {one_line(hint)}" for hint in error.hints]
    return "\n".join(out) + "\n"


def record(error: "JpError") -> "dict[str, object]":
    """The documented error record."""
    metadata: dict[str, object] = dict(error.metadata)
    if error.hints:
        metadata["hints"] = list(error.hints)
    return {"message": error.message, "metadata": metadata, "code": error.code}


def text_or_record(error: "JpError", format_: str) -> str:
    """The error before there is a Printer."""
    if format_ in ("json", "json-pretty"):
        import json

        return json.dumps(record(error), ensure_ascii=False) + "\n"
    return text(error)


def report(error: "JpError", printer: "Printer") -> None:
    """Print the error on stderr."""
    from jp.terminal.printer import Target

    printer.error(record(error), text(error, bold=printer.colour(Target.ERR)))
