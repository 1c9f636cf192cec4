"""`jp tool run`: run a tool as a model's call would, with its result on stdout."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from jp.cli.context import Context
    from jp.cli.tool_words import Word
    from jp.cli.try_tool import Bench
    from jp.config.load import Config
    from jp.errors import JpError
    from jp.tool.definition import Definition
    from jp.tool.outcome import Failure, Success

EPILOG = """\
arguments:
  key=text        text, or what the tool takes: a number, true or false
  key:=JSON       anything else
  key=@FILE       the content of a file (key=@-: of stdin); key:=@FILE reads JSON

No approval is asked for: you have typed it. The tool's questions are asked on the terminal, unless `--answer` or
`conversation.tools.NAME.questions.ID.answer` answers them.

examples:
  jp tool run read_file path=README.md end_line=20
  jp tool run modify_file path=a.txt edits:='[{"old": "colour", "new": "color"}]'
  jp tool run write_file path=notes.md content=@- <draft.md
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("name", metavar="NAME", help="a name that `jp tool ls` lists")
    parser.add_argument("words", nargs="*", metavar="ARGUMENT", help="key=text, key:=JSON or key=@FILE")
    parser.add_argument(
        "--arguments", metavar="JSON", help="all arguments at once: an object, `@FILE`, or `-` for stdin"
    )
    parser.add_argument(
        "--answer", action="append", default=[], metavar="ID=VALUE", help="the answer to a question of the tool"
    )
    parser.add_argument(
        "--format-arguments", action="store_true", help="print how the tool shows the arguments, and don't run it"
    )


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    config = ctx.load_config()
    from jp.cli.known_tools import say_notices
    from jp.cli.tool_words import ArgumentsError, read_file, split
    from jp.cli.try_tool import Bench

    say_notices(ctx, config)
    bench = Bench(ctx, config)
    known = bench.known(args.name)  # before anything is waited for
    read = lambda name: read_file(ctx, name)
    words = [split(word, "key", read) for word in args.words]
    answers = {each.key: each for each in (split(word, "ID", read) for word in args.answer)}
    given = _given(args.arguments, ctx)
    try:
        tool = bench.definition(known)
        arguments, errors = _arguments(bench, tool, words, given)
        if errors:
            raise ArgumentsError(tool.name, errors)
        return _run(bench, tool, arguments, answers)
    finally:
        bench.close()


def _given(text: str | None, ctx: "Context") -> "dict[str, Any]":
    """What `--arguments` says."""
    from jp.cli.tool_words import read_file, whole

    if text is None:
        return {}
    if text == "-" or text.startswith("@"):
        text = read_file(ctx, text.removeprefix("@"))
    return whole(text)


def _arguments(
    bench: "Bench", tool: "Definition", words: "list[Word]", given: "dict[str, Any]"
) -> "tuple[dict[str, Any], list[str]]":
    """The arguments with defaults filled in, and what is wrong with them."""
    from jp.cli.tool_words import arguments

    found, wrong = arguments(words, given, tool.parameters)
    filled, errors = bench.box.checked(tool, found)
    others = [error for error in errors if not error.startswith(tuple(f"`{key}`" for key in wrong))]
    return filled, [*wrong.values(), *others]


def _run(bench: "Bench", tool: "Definition", arguments: "dict[str, Any]", answers: "dict[str, Word]") -> int:
    """Run it and print what came of it; returns the exit status."""
    from jp.cli.try_tool import Trial
    from jp.errors import DONE, FAILED
    from jp.tool.definition import FORMAT, RUN
    from jp.tool.outcome import Success

    ctx, printer = bench.ctx, bench.ctx.printer
    trial = Trial(bench, tool, answers)
    outcome: Success | Failure
    if not ctx.args.format_arguments:
        outcome = trial.run(arguments, RUN)
    elif bench.executor(tool).formats(tool):
        outcome = trial.run(arguments, FORMAT)
    else:
        from jp.ask.tool_prompts import as_json

        printer.note(f"{tool.name} does not format its arguments; they are shown as JSON")
        outcome = Success(as_json(arguments))
    unused = [key for key in answers if key not in trial.asked]
    if unused:
        printer.note(f"{tool.name} did not ask: {', '.join(unused)}")
    if printer.format.is_json:
        import json

        record = {"tool": tool.name, "arguments": arguments, **_record(outcome), "seconds": round(trial.seconds, 3)}
        printer.record(json.dumps(record, ensure_ascii=False, default=str))
    elif isinstance(outcome, Success):
        printer.out(_shown(outcome.content, ctx, bench.config))
    else:
        from jp.cli.report import report

        report(_error(tool, outcome), printer)
    return DONE if isinstance(outcome, Success) else FAILED


def _record(outcome: "Success | Failure") -> "dict[str, object]":
    from jp.tool.outcome import Success

    if isinstance(outcome, Success):
        return {"outcome": "success", "content": outcome.content, "message": None, "trace": [], "transient": False}
    return {
        "outcome": "error",
        "content": None,
        "message": outcome.message,
        "trace": outcome.trace,
        "transient": outcome.transient,
    }


def _error(tool: "Definition", outcome: "Failure") -> "JpError":
    """The failure for a person."""
    from jp.errors import JpError
    from jp.turn.calls import shown_name

    message = outcome.content
    if not message.startswith(tool.name):
        message = f"{shown_name(tool)}: {message}"
    return JpError(message, hints=["it may help to try again"] if outcome.transient else ())


def _shown(content: str, ctx: "Context", config: "Config") -> str:
    """A result for stdout: as it is, unless a terminal shows it."""
    from jp.terminal.escapes import Escapes
    from jp.terminal.sanitize import Sanitizer
    from jp.terminal.target import Target
    from jp.terminal.tty import is_terminal

    if not is_terminal(1):
        return content
    mode = config.root.style.sanitize
    sanitizer = Sanitizer(mode)
    text = sanitizer.feed(content) + sanitizer.end()
    if "\x1b" in text and mode != "off":
        if ctx.printer.colour(Target.OUT):
            text += "\x1b[0m"  # what it has begun ends with it
        else:
            text = "".join([piece for sequence, piece in Escapes().feed(text) if not sequence])
    return text if not text or text.endswith("\n") else text + "\n"
