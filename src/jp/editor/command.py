"""Which editor, and how it is started: from the `editor` section and the environment, as data.

What does not work: giving everything to a shell (a missing editor is then an exit status like a cancelled edit, and a
path with a `$` in it is code), and splitting at blanks (a quoted argument comes in pieces). So a command is split into
words by the shell's quoting rules and started directly; a shell gets it only where `shell = true` asks for one, and
paths always reach it as positional parameters.
"""

import os.path
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.config.sections.interaction import Editor
    from jp.config.sections.tools import Command

CONFIG_KEY = "editor.cmd"
ALL_PATHS = '"$@"'
_NAME = "jp-editor"  # what the shell calls itself in its complaints

# What the shell reads as one piece, so that a parameter is found where it is expanded and nowhere else.
_ESCAPED, _DOUBLE, _SINGLE, _PARAMETER = r"\\.", r'"(?:\\.|[^"\\])*"', r"'[^']*'", r"\$(?:[@*1-9]|\{[@*1-9])"
_PIECES = re.compile(f"{_ESCAPED}|({_DOUBLE})|{_SINGLE}|({_PARAMETER})", re.DOTALL)
_IN_DOUBLE = re.compile(f"{_ESCAPED}|({_PARAMETER})", re.DOTALL)


class Invocation(NamedTuple):
    """How the editor is started: `prefix` and the paths are its arguments.

    `shown` is the command as the user wrote it, `source` where: `editor.cmd` or the name of a variable. `shell`: a
    shell runs it, whose exit status 126 or 127 means that it did not run.
    """

    prefix: tuple[str, ...]
    shell: bool
    source: str
    shown: str

    def argv(self, paths: Iterable[str]) -> list[str]:
        """The whole argument list; a path that would be taken for an option is led by `./`."""
        return [*self.prefix, *(os.path.join(".", path) if path.startswith("-") else path for path in paths)]


class Resolution(NamedTuple):
    """The editor found (None: none is configured), what a person should know, and what belongs in the log."""

    invocation: Invocation | None
    notices: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()


def resolve(editor: "Editor", environ: Mapping[str, str], shell: str | None) -> Resolution:
    """`editor.cmd`, else the first usable of the variables `editor.envs`.

    `shell` is a POSIX shell, None where the platform has none. An `editor.cmd` that can't be read is not replaced by
    another editor: there is none then.
    """
    cmd = editor.cmd
    if isinstance(cmd, str) and cmd.strip():
        words = _words(cmd, posix=shell is not None)
        if isinstance(words, str):
            return Resolution(None, (f"{CONFIG_KEY} = `{cmd}` is no command: {words}",))
        return Resolution(Invocation(words, False, CONFIG_KEY, cmd))
    if cmd is not None and not isinstance(cmd, str) and cmd.program.strip():
        return _from_table(cmd, shell)
    notices: list[str] = []
    for name in editor.envs:
        value = environ.get(name, "")
        if not value:
            continue
        words = _words(value, posix=shell is not None)
        if not isinstance(words, str):
            return Resolution(Invocation(words, False, name, value), tuple(notices))
        notices.append(f"{name} = `{value}` is no command: {words}")
    return Resolution(None, tuple(notices))


def _words(text: str, *, posix: bool) -> tuple[str, ...] | str:
    """The command's words, or why it has none."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if not posix:
        lexer.escape = ""  # there a backslash divides the names of a path
    try:
        words = tuple(lexer)
    except ValueError as error:
        return str(error).lower()
    return words if words and words[0].strip() else "it names no program"


def _from_table(cmd: "Command", shell: str | None) -> Resolution:
    shown = shlex.join([cmd.program, *cmd.args]) if not cmd.shell else _text(cmd)
    direct = Invocation((cmd.program, *cmd.args), False, CONFIG_KEY, shown)
    if not cmd.shell:
        return Resolution(direct)
    if shell is None:
        entry = f"{CONFIG_KEY}: shell = true is not supported on this platform; {cmd.program} is started directly"
        return Resolution(direct, entries=(entry,))
    text = _text(cmd)
    whole = text if _takes_paths(text) else f"{text} {ALL_PATHS}"
    return Resolution(Invocation((shell, "-c", whole, _NAME), True, CONFIG_KEY, shown))


def _text(cmd: "Command") -> str:
    """What the shell reads: the program is its language, the arguments are literal but for the paths."""
    args = [ALL_PATHS if arg in ("$@", ALL_PATHS) else shlex.quote(arg) for arg in cmd.args]
    return " ".join([cmd.program.rstrip(), *args])


def _takes_paths(text: str) -> bool:
    """Whether the shell would expand a positional parameter somewhere in `text`."""
    for piece in _PIECES.finditer(text):
        double, parameter = piece.groups()
        if parameter or (double and any(found[1] for found in _IN_DOUBLE.finditer(double[1:-1]))):
            return True
    return False
