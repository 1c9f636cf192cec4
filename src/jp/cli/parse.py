"""From argv to a command and its arguments.

Global flags work anywhere on the line, so the command words are found first, by a scan that knows the global flags
alone; everything else, global flags included, goes to one argparse parser that is built for that command only.
"""

import argparse
import os
from importlib import import_module

from jp.cli.tree import ROOT, Node
from jp.errors import UsageError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import NoReturn, Protocol

    from jp.cli.context import Context

    class Runs(Protocol):
        """What can be run as a command."""

        def run(self, args: "argparse.Namespace", ctx: Context, /) -> int: ...


FORMATS = ("auto", "text", "text-pretty", "json", "json-pretty")

_VALUED = {"-F": "--format", "-c": "--cfg", "-w": "--workspace", "--log-file": "--log-file"}
_FLAGS = {"-v", "-q", "-h", "-V"}
_LONG_VALUED = {"--format", "--cfg", "--log-file", "--workspace"}
_LONG_FLAGS = {
    "--verbose",
    "--quiet",
    "--interactive",
    "--no-interactive",
    "--non-interactive",
    "--help",
    "--version",
}


class Help(Exception):  # not an error: the way `--help` leaves argparse
    """The text that `--help` prints on stdout.

    `group` are the nodes of the group that it lists, none for a command; plugins of that group come between `text` and
    `foot`.
    """

    def __init__(self, text: str, group: "tuple[Node, ...]" = (), foot: str = "") -> None:
        super().__init__()
        self.text = text
        self.group = group
        self.foot = foot


class Version(Exception):
    """`--version` was asked for, somewhere on the line."""


class UnknownCommandError(UsageError):
    """A word is no built-in command, so it may be a plugin's (`jp.cli.plugin_dispatch`).

    `path` are the nodes before it, `words` it and all that stands behind it, `flags` the global flags before it.
    """

    def __init__(self, path: "Sequence[Node]", words: "Sequence[str]", flags: "Sequence[str]") -> None:
        super().__init__(f"unknown command `{words[0]}`")
        self.path = tuple(path)
        self.words = list(words)
        self.flags = list(flags)

    def explained(self, others: "Sequence[str]" = (), hints: "Sequence[str]" = ()) -> "UnknownCommandError":
        """The same with what to do about it; `others` are the words that plugins have for the same place."""
        word, prog = self.words[0], " ".join(node.name for node in self.path)
        close = nearest(word, [*self.path[-1].words(), *others])
        nearby = [f"did you mean `{close}`?"] if close else []
        self.hints = (*nearby, *hints, f"`{prog} --help` lists the commands")
        self.metadata = {"command": word, "nearest": close}
        return self


class Command:
    """What the command line asks for: `module.run(args, context)` returns the exit status."""

    __slots__ = ("args", "module", "node")

    def __init__(self, node: Node, module: "ModuleType | Runs", args: argparse.Namespace) -> None:
        self.node = node
        self.module = module
        self.args = args


class _Parser(argparse.ArgumentParser):
    """argparse that raises instead of printing and exiting, and names the nearest flag."""

    group: "tuple[Node, ...]" = ()
    foot = ""

    def help(self) -> Help:
        """What `--help` prints."""
        return Help(self.format_help(), self.group, self.foot)

    def error(self, message: str) -> "NoReturn":
        hint = f"`{self.prog} --help` lists the arguments"
        raise UsageError(message, hints=[hint])

    def unknown(self, words: "Sequence[str]") -> "NoReturn":
        word = words[0]
        flag = word.split("=", 1)[0]
        known = list(self._option_string_actions)
        close = nearest(flag, [k for k in known if k.startswith("--")]) if flag.startswith("-") else None
        hints = [f"did you mean `{close}`?"] if close else []
        hints.append(f"`{self.prog} --help` lists the arguments")
        what = "unknown flag" if word.startswith("-") else "unexpected argument"
        raise UsageError(f"{what} `{word}`", hints=hints, metadata={"argument": word, "nearest": close})


def _formatter(prog: str) -> argparse.RawDescriptionHelpFormatter:
    """Help as wide as the terminal, up to what reads well. A width given keeps argparse from importing shutil."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        columns = 80
    return argparse.RawDescriptionHelpFormatter(prog, width=max(40, min(columns, 100)) - 2)


class _HelpAction(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> "NoReturn":
        assert isinstance(parser, _Parser)
        raise parser.help()


class _VersionAction(argparse.Action):
    def __call__(self, *_: object) -> "NoReturn":
        raise Version


def add_global_arguments(parser: argparse.ArgumentParser, *, has_help: bool = True) -> None:
    group = parser.add_argument_group("global flags (anywhere on the line; before a plugin's command)")
    if has_help:
        group.add_argument("-h", "--help", action=_HelpAction, nargs=0, help="print this help")
    group.add_argument("-V", "--version", action=_VersionAction, nargs=0, help="print the version")
    group.add_argument(
        "-F",
        "--format",
        choices=FORMATS,
        default="auto",
        help="how output looks; `auto` is decided for stdout and stderr each by itself, "
        "every other value holds for both (default: auto)",
    )
    group.add_argument(
        "-c",
        "--cfg",
        action="append",
        default=[],
        metavar="CFG",
        help="key=value, key:=json, key+=item, a file or a name",
    )
    group.add_argument(
        "-w",
        "--workspace",
        metavar="DIR",
        help="the workspace to use, in place of the one around the current directory",
    )
    group.add_argument(
        "-q", "--quiet", action="store_true", help="no notices or progress; data and errors are still printed"
    )
    group.add_argument("-v", "--verbose", action="count", default=0, help="more in the log file (up to -vvvvv)")
    group.add_argument("--log-file", metavar="PATH", help="where the log goes; `-` is stderr (also: JP_LOG_FILE)")
    group.add_argument(
        "--interactive", action="store_true", help="insist that somebody is there to answer; fail now if not"
    )
    group.add_argument(
        "--no-interactive", "--non-interactive", dest="no_interactive", action="store_true", help="never ask anything"
    )


def _cluster(token: str) -> "tuple[bool, bool]":
    """Whether a `-x…` token is made of global short flags alone, and whether its last one still wants a value."""
    for i, letter in enumerate(token[1:], 1):
        flag = "-" + letter
        if flag in _VALUED:
            return True, i == len(token) - 1
        if flag not in _FLAGS:
            return False, False
    return True, False


def find_command(argv: "Sequence[str]") -> "tuple[list[Node], list[str]]":
    """The nodes that the command words of `argv` name, and all that is left of it; raises UnknownCommandError."""
    path = [ROOT]
    rest: list[str] = []
    tokens = iter(argv)
    for token in tokens:
        node = path[-1]
        if not node.children or token == "--":
            rest.append(token)
            break
        if token.startswith("-") and token != "-":
            rest.append(token)
            if token.startswith("--"):
                name, eq, _ = token.partition("=")
                wants = name in _LONG_VALUED and not eq
                known = name in _LONG_VALUED or name in _LONG_FLAGS
            else:
                known, wants = _cluster(token)
            if not known:
                break
            if wants:
                value = next(tokens, None)
                if value is not None:
                    rest.append(value)
            continue
        child = node.child(token)
        if child is None:
            raise UnknownCommandError(path, [token, *tokens], rest)
        path.append(child)
    rest.extend(tokens)
    return path, rest


def parse(argv: "Sequence[str]", plugin: "Callable[[UnknownCommandError], Command] | None" = None) -> Command:
    """The command that `argv` names with its arguments; raises UsageError, Help or Version.

    `plugin` makes a command of what is no built-in one; without it that is the error.
    """
    try:
        path, rest = find_command(argv)
    except UnknownCommandError as error:
        if plugin is None:
            raise error.explained() from None
        return plugin(error)
    node = path[-1]
    prog = " ".join(n.name for n in path)
    if node.children:
        return _group(path, prog, rest)
    module = import_module(node.module)
    parser = _Parser(
        prog=prog,
        description=node.summary + ".",
        epilog=getattr(module, "EPILOG", None),
        add_help=False,
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    module.add_arguments(parser)
    add_global_arguments(parser)
    if not any(_may_ask_help(word) for word in rest):
        parser.usage = ""  # else argparse formats the usage before it parses, for messages that are never printed
    args, unknown = parser.parse_known_intermixed_args(_shielded(module, rest))
    if unknown:
        parser.unknown([word.removeprefix(_SHIELD) for word in unknown])
    _clean(args)
    return Command(node, module, args)


def global_flags(words: "Sequence[str]") -> "argparse.Namespace":
    """The flags before the word of a plugin; `help` says whether its help is asked for. Raises UsageError, Version."""
    parser = _Parser(prog="jp", add_help=False, allow_abbrev=False)
    add_global_arguments(parser, has_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    args = parser.parse_args(words)
    _clean(args)
    return args


def _clean(args: "argparse.Namespace") -> None:
    """Make texts of what was typed."""
    for name, value in vars(args).items():
        clean = _as_given if name in _PATHS else _as_text
        if isinstance(value, list):
            setattr(args, name, [clean(word) if isinstance(word, str) else word for word in value])
        elif isinstance(value, str):
            setattr(args, name, clean(value))


_PATHS = frozenset(("workspace", "log_file", "directory", "path", "text"))  # bytes to the system, text or not


def _as_given(word: str) -> str:
    return word.removeprefix(_SHIELD)


def _as_text(word: str) -> str:
    """A word that becomes JSON, TOML or a message: what is no UTF-8 is replaced."""
    return word.removeprefix(_SHIELD).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _may_ask_help(word: str) -> bool:
    """Whether the word could be `--help`, or a cluster of short flags with `-h` in it."""
    return word == "--help" or (word.startswith("-") and not word.startswith("--") and "h" in word)


_SHIELD = "\0"  # cannot stand in an argument; keeps a word behind `--` from being read as a flag


def _shielded(module: "ModuleType", words: "list[str]") -> "list[str]":
    """The words as argparse reads them right.

    Its intermixed parsing drops what stands behind `--`; and a flag with an optional value would eat the next word, so
    those take it only behind `=` (`--tmp=2h`), or where it looks like a name and like no question (`-t read_file`).
    """
    equals: dict[str, str] = getattr(module, "VALUE_BEHIND_EQUALS", {})
    named: dict[str, str] = getattr(module, "VALUE_IF_NAME", {})
    out: list[str] = []
    left = iter(range(len(words)))
    for i in left:
        word = words[i]
        if word == "--":
            return out + [_SHIELD + w for w in words[i + 1 :]]
        name, eq, value = word.partition("=")
        if eq and name in (equals | named):
            out += [(equals | named)[name], value]
        elif not word.startswith("--") and word[:2] in named and _is_name(word[2:]):
            out += [named[word[:2]], word[2:]]
        elif word in named and i + 1 < len(words) and _is_name(words[i + 1]):
            out += [named[word], words[next(left)]]
        else:
            out.append(word)
    return out


def _is_name(word: str) -> bool:
    return word[:1].isalnum() and all(letter.isalnum() or letter in "_-.," for letter in word)


def _group(path: "list[Node]", prog: str, rest: "list[str]") -> "NoReturn":
    """A group without a command: its help, or an error if anything but a plea for help was given."""
    node = path[-1]
    rows = [(", ".join((child.name, *child.aliases)), child.summary) for child in node.children]
    parser = _Parser(
        prog=prog,
        usage=f"{prog} [global flags] <command> …",
        description=node.summary + ("" if node.summary.endswith(".") else "."),
        epilog="commands:\n" + listing(rows),
        add_help=False,
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.group, parser.foot = tuple(path), f"\n`{prog} <command> --help` describes one.\n"
    add_global_arguments(parser)
    _, unknown = parser.parse_known_args(rest)
    if unknown:
        parser.unknown(unknown)
    if node is ROOT and not rest:
        raise parser.help()
    names = ", ".join(f"`{child.name}`" for child in node.children)
    raise UsageError(f"`{prog}` needs a command: {names}", hints=[f"`{prog} --help` describes them"])


def listing(rows: "Sequence[tuple[str, str]]") -> str:
    """Commands and what they do, a line each."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {summary}" for name, summary in rows)
