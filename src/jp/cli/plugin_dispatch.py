"""From words that are no built-in command to a plugin, its help, or the error that names what is near.

All of this is before the channels are open: what is wrong with a command line is said as it is for built-in commands.
A plugin may have to be asked which command it answers to; nobody is asked anything meanwhile, and a press ends it.
"""

import os

from jp.cli.tree import ROOT
from jp.errors import UsageError, nearest
from jp.plugin.discovery import BUNDLED, find, route

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from jp.cli.context import Context
    from jp.cli.parse import Command, UnknownCommandError
    from jp.cli.tree import Node
    from jp.config.load import Config
    from jp.interrupt.router import Router
    from jp.plugin.discovery import Found, Words

LONGEST = 200  # characters of a line about a plugin


def free(claim: "Words") -> "Words | None":
    """A command by the names of the built-in groups that it is in; None where a built-in answers to it."""
    node = ROOT
    names: list[str] = []
    for place, word in enumerate(claim):
        child = node.child(word)
        if child is None:
            return (*names, *claim[place:])
        if not child.children:
            return None
        names.append(child.name)
        node = child
    return None


def reached(each: "Found", found: "Sequence[Found]") -> "list[Words]":
    """The commands that run a plugin: no built-in one and no other plugin of those `found` answers to them."""
    commands = [command for claim in each.claims if (command := free(claim)) is not None]
    return [command for command in commands if _owner(command, found) == each.name]


def unreached(each: "Found", found: "Sequence[Found]") -> str:
    """Why no command runs a plugin; empty where one does."""
    if reached(each, found):
        return ""
    for claim in each.claims:
        command = free(claim)
        if command is not None:
            return f"another plugin, {_owner(command, found)}, answers to `jp {' '.join(command)}`"
    return f"a built-in command answers to `jp {' '.join(each.claims[0])}`"


def _owner(command: "Words", found: "Sequence[Found]") -> str:
    """The name of the plugin that runs for a command that one has."""
    routed = route(command, found, free)
    return routed[0].name if routed is not None else ""


def dispatch(unknown: "UnknownCommandError", environ: "Mapping[str, str]", router: "Router") -> "Command":
    """The plugin that the words are for, as a command. Raises UsageError for those of none, Help, Version, Shutdown."""
    from jp.cli.parse import Command, global_flags

    group = tuple(node.name for node in unknown.path[1:])
    args = global_flags(unknown.flags)
    found = _known(find(environ), environ, router, args)
    words = [*group, *_leading(unknown.words)]
    routed = route(words, found, free)
    if routed is None:
        raise _nothing(unknown, group, words, found, help_=args.help)
    plugin, taken = routed
    rest = unknown.words[taken - len(group) :]
    if args.help or rest[:1] in (["-h"], ["--help"]):
        raise _help(plugin, words[:taken], environ, router, args)
    return Command(ROOT, _Plugin(plugin, rest), args)


class _Plugin:
    """The run of a plugin, as a command module."""

    def __init__(self, found: "Found", rest: "Sequence[str]") -> None:
        self._found = found
        self._rest = list(rest)

    def run(self, _args: "argparse.Namespace", ctx: "Context", /) -> int:
        from jp.cli.plugins import admit

        config = ctx.load_config()
        judged = admit(ctx, config, self._found)
        from jp.cli.plugin_run import run_plugin

        return run_plugin(ctx, config, self._found, self._rest, judged)


def _leading(words: "Sequence[str]") -> list[str]:
    """The words before the first flag: a command's words stand together."""
    flags = [place for place, word in enumerate(words) if word.startswith("-")]
    return list(words[: flags[0]] if flags else words)


# --- what plugins say


def _known(
    found: "Iterable[Found]",
    environ: "Mapping[str, str]",
    router: "Router",
    args: "argparse.Namespace | None" = None,
    *,
    own: bool = False,
) -> "list[Found]":
    """The plugins with what they say of themselves. Of what came with JP that is not needed to list or route it."""
    found = list(found)
    if all(each.origin == BUNDLED and not own for each in found):
        return found
    from jp.cli.plugins import described

    before = router.promptable

    def config() -> "Config | None":
        router.promptable = False  # a press while they are asked ends the run
        return None if args and args.interactive and not _has_terminal() else _config(environ, args)

    try:
        return described(found, environ, router.token, config, own=own)
    finally:
        if router.promptable is not before:
            router.promptable = before


def _has_terminal() -> bool:
    """Whether `--interactive` can be kept; where not, nothing is run, which is said when the channels are opened."""
    from jp.terminal.system import TERMINAL

    try:
        os.close(os.open(TERMINAL, os.O_RDWR))
    except OSError:
        return False
    return True


def _config(environ: "Mapping[str, str]", args: "argparse.Namespace | None") -> "Config | None":
    """The configuration, for what it says of plugins; None where it can't be had, which is said when one is run."""
    from jp.cli.lean import import_msgspec

    import_msgspec()
    from jp.cli.context import user_config_dir
    from jp.config.load import Paths, load
    from jp.errors import JpError
    from jp.storage.errors import NoWorkspaceError
    from jp.storage.workspace import Workspace

    try:
        cwd = os.getcwd()
        try:
            space = Workspace.find((args and args.workspace) or cwd, environ)
        except NoWorkspaceError:
            space = None
        paths = Paths(
            user_dir=user_config_dir(environ),
            workspace_root=space.root if space else None,
            cwd=cwd,
            user_workspace_dir=space.user_dir if space else None,
        )
        return load(paths, environ, cfg=args.cfg if args else ())
    except (JpError, OSError):
        return None


# --- help


def listed(path: "Sequence[Node]", environ: "Mapping[str, str]", router: "Router") -> str:
    """The part of a group's help that is about plugins; empty where it has none. Raises Shutdown."""
    group = tuple(node.name for node in path[1:])
    rows = _rows(_known(find(environ), environ, router), group)
    return _part(rows) if rows else ""


def _rows(found: "Sequence[Found]", prefix: "Words") -> "list[tuple[str, str]]":
    """The commands of plugins that begin with `prefix`, and what they do."""
    rows = []
    for each in found:
        for command in reached(each, found):
            if command[: len(prefix)] == prefix and len(command) > len(prefix):
                rows.append((" ".join(command), _line(each)))
                break
    return sorted(rows)


def _part(rows: "Sequence[tuple[str, str]]") -> str:
    from jp.cli.parse import listing

    return f"\nplugins:\n{listing(rows)}\n"


def _line(each: "Found") -> str:
    if each.description is not None:
        return _plain(each.description.description)
    if each.origin == BUNDLED:
        return each.summary
    from jp.cli.plugins import JUST_CHANGED, UNASKED

    known = each.problem in (*UNASKED.values(), JUST_CHANGED)
    return f"({each.problem if known else 'it does not say what it is'}; see `jp plugin show {each.name}`)"


def _plain(text: str) -> str:
    from jp.terminal.sanitize import one_line

    return one_line(text)[:LONGEST]


def _help(
    plugin: "Found",
    command: "Sequence[str]",
    environ: "Mapping[str, str]",
    router: "Router",
    args: "argparse.Namespace",
) -> Exception:
    """What a plugin says to `--help`, which is not to run its command."""
    from jp.cli.parse import Help

    (plugin,) = _known([plugin], environ, router, args, own=True)
    if plugin.description is not None:
        return Help(help_text(plugin))
    from jp.cli.trusting import visible

    name = "jp " + " ".join(command)
    lines = [f"{name} is the plugin {visible(plugin.path)}.", f"There is no help of it: {_plain(plugin.problem)}."]
    lines += ["", f"`jp plugin show {plugin.name}` tells what is known of it."]
    from jp.cli.plugins import NOT_ASKED

    if plugin.problem in NOT_ASKED:
        lines.append(f"It was not run. `jp plugin trust {plugin.name}` shows and approves it; `{name}` asks, too.")
    return Help("\n".join(lines) + "\n")


def help_text(plugin: "Found") -> str:
    """The help that a plugin gives, or its name, version and description; nothing in it but text."""
    from jp.terminal.sanitize import one_line

    said = plugin.description
    assert said is not None
    text = said.help if isinstance(said.help, str) and said.help.strip() else ""
    if not text:
        text = f"{said.name} {said.version}\n\n{said.description}"
    return "\n".join(one_line(line) for line in text.expandtabs(4).rstrip().splitlines()) + "\n"


# --- what is not there


def _nothing(
    unknown: "UnknownCommandError", group: "Words", words: "Sequence[str]", found: "Sequence[Found]", *, help_: bool
) -> Exception:
    """The answer to words that are nobody's command: they may be the beginning of a plugin's."""
    commands = [command for each in found for claim in each.claims if (command := free(claim)) is not None]
    shared = len(group)
    while shared < len(words) and any(c[: shared + 1] == tuple(words[: shared + 1]) for c in commands):
        shared += 1
    if shared == len(group):
        return unknown.explained(_next(commands, group), _renamed(unknown.words[0], found))
    prefix = tuple(words[:shared])
    behind = unknown.words[shared - len(group) :]
    return _group(prefix, behind, _rows(found, prefix), _next(commands, prefix), help_=help_)


def _group(
    prefix: "Words", behind: "Sequence[str]", rows: "Sequence[tuple[str, str]]", names: "Sequence[str]", *, help_: bool
) -> Exception:
    """A group that plugins alone make: its help, or the error for what stands behind it."""
    prog = "jp " + " ".join(prefix)
    if help_ or behind[:1] in (["-h"], ["--help"]):
        from jp.cli.parse import Help

        return Help(f"usage: {prog} <command> …\n{_part(rows)}\n`{prog} <command> --help` describes one.\n")
    listed_ = ", ".join(f"`jp {command}`" for command, _ in rows)
    if not behind or behind[0].startswith("-"):
        return UsageError(f"`{prog}` needs a command: {listed_}", hints=[f"`{prog} --help` describes them"])
    close = nearest(behind[0], list(names))
    nearby = [f"did you mean `{close}`?"] if close else []
    return UsageError(
        f"unknown command `{behind[0]}`",
        hints=[*nearby, f"with `{prog}` begin: {listed_}"],
        metadata={"command": behind[0], "nearest": close},
    )


def _next(commands: "Iterable[Words]", prefix: "Words") -> list[str]:
    """The words that can stand behind `prefix`."""
    size = len(prefix)
    return list(dict.fromkeys(each[size] for each in commands if each[:size] == prefix and len(each) > size))


def _renamed(word: str, found: "Sequence[Found]") -> list[str]:
    """A hint where the word is a plugin's name, which does not answer to it."""
    for each in found:
        if each.name == word:
            commands = reached(each, found)
            if commands:
                return [f"the plugin {word} answers to `jp {' '.join(commands[0])}`"]
            return [f"the plugin {word} has no command of its own: {unreached(each, found)}"]
    return []
