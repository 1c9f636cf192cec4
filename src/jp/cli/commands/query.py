"""`jp query`: ask a question, stream the answer, keep the conversation."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context

VALUE_BEHIND_EQUALS = {"--tmp": "--tmp-for", "--tool-use": "--tool-used", "--no-tools": "--no-tool", "-T": "--no-tool"}
VALUE_IF_NAME = {"-t": "--tool-named", "--tool": "--tool-named"}

EPILOG = """\
The text is the words given, then what is piped in; `@FILE` alone takes it from a file, `@` is the character. Without
any, it is written at the prompt: Enter sends, Alt+Enter makes a new line, Ctrl+X opens your editor.

examples:
  jp query "why does this borrow fail?"
  git diff | jp q "write a commit message"
  jp q -n -m ollama/qwen3 @question.md
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    from argparse import SUPPRESS

    parser.add_argument("text", nargs="*", help="the question; `@FILE` alone takes it from a file")
    where = parser.add_argument_group("which conversation")
    where.add_argument("-n", "--new", action="store_true", help="start a new conversation")
    where.add_argument(
        "--id", metavar="TARGET", help="continue this one: an id, a unique prefix of one, `session`, `newest`, …"
    )
    where.add_argument(
        "-l", "--local", action="store_true", help="keep the new conversation out of the workspace directory"
    )
    where.add_argument("--title", metavar="TEXT", help="the title of the conversation")
    where.add_argument("--no-title", action="store_true", help="don't generate a title")
    where.add_argument(
        "--tmp", action="store_const", const="", help="a conversation that expires (--tmp=2h; default 24h)"
    )
    where.add_argument("--tmp-for", dest="tmp", metavar="DURATION", help=SUPPRESS)
    where.add_argument(
        "-!", "--no-persist", action="store_true", help="store nothing; with --id the stored conversation is only read"
    )
    how = parser.add_argument_group("how to answer")
    how.add_argument("-m", "--model", metavar="MODEL", help="a model id (provider/name) or an alias")
    how.add_argument(
        "-p",
        "--param",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a model parameter, such as temperature=0.2",
    )
    how.add_argument("-r", "--reasoning", metavar="EFFORT", help="auto, low, medium, high, … or a number of tokens")
    how.add_argument("-R", "--no-reasoning", action="store_true", help="ask for no reasoning")
    how.add_argument("--hide-reasoning", action="store_true", help="don't show reasoning (it is stored all the same)")
    tools = parser.add_argument_group("tools")
    tools.add_argument(
        "-t", "--tool", dest="tools", action="append_const", const=("on", ""), help="turn a tool on (`-t NAME`), or all"
    )
    tools.add_argument(
        "-T",
        "--no-tools",
        dest="tools",
        action="append_const",
        const=("off", ""),
        help="turn all tools off, or one (`--no-tools=NAME`); these flags are read from left to right",
    )
    tools.add_argument("--tool-named", dest="tools", action="append", type=_on, help=SUPPRESS)
    tools.add_argument("--no-tool", dest="tools", action="append", type=_off, help=SUPPRESS)
    use = tools.add_mutually_exclusive_group()
    use.add_argument(
        "-u",
        "--tool-use",
        action="store_const",
        const="required",
        help="have the model use a tool (`--tool-use=NAME`: this one)",
    )
    use.add_argument("--tool-used", dest="tool_use", metavar="NAME", help=SUPPRESS)
    use.add_argument("-U", "--no-tool-use", dest="tool_use", action="store_const", const="none", help="use no tool")
    tools.add_argument("--hide-tool-calls", action="store_true", help="don't show tool calls and their results")
    write = parser.add_argument_group("where it is written")
    edit = write.add_mutually_exclusive_group()
    edit.add_argument("-e", "--edit", action="store_true", help="begin in the external editor, also with a text given")
    edit.add_argument(
        "-E", "--no-edit", action="store_true", help="write nothing: only what is given or piped in is sent"
    )
    write.add_argument("--quote", action="store_true", help="begin with the last answer, quoted")


def _on(name: str) -> tuple[str, str]:
    return "on", _named(name)


def _off(name: str) -> tuple[str, str]:
    return "off", _named(name)


def _named(name: str) -> str:
    if not name:  # of an empty variable, most likely: that is not all of them
        from argparse import ArgumentTypeError

        raise ArgumentTypeError("the name of a tool is empty")
    return name


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.ask import Query

    return Query(args, ctx).run()
