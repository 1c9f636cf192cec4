"""How the program of an MCP server is started: which one, checked, and with what environment."""

import os
from typing import NamedTuple

from jp.places import config_home, state_home
from jp.tool.mcp.errors import RefusedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from jp.config.sections.providers import Checksum

# What every program may know. The rest of the environment holds keys and tokens; a server gets those it is given.
ALWAYS = {"PATH", "HOME", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ", "USER", "SHELL", "LOGNAME"}
# Windows, where hardly a program starts without these
ALWAYS |= {"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE"}
ALWAYS |= {"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"}
ALWAYS_BEGINNING = ("LC_", "XDG_")


ROOT_VARIABLE = "JP_WORKSPACE_ROOT"  # tells a server where the workspace is


class Place(NamedTuple):
    """Where a server is started: its working directory, what a relative path of its command is relative to, the
    directories in which a name is looked up, and variables that it gets beside those of `environment`.
    """

    directory: str
    base: str
    path: str
    variables: dict[str, str]


def in_workspace(root: str, path: str) -> Place:
    """For a server that the workspace itself defines."""
    return Place(root, root, path, {})


def of_the_user(root: str, path: str, environ: "Mapping[str, str]", arguments: "Sequence[str]") -> Place:
    """For a server of the user's own: nowhere that whoever wrote the workspace at `root` has written anything.

    From a directory of theirs `python -m name` would take a `name.py` of theirs, and npx what is in their
    `node_modules`. Python is told to take nothing from there, too, unless it is a script that it is given: that may
    need what lies beside it.
    """
    absolute = os.pathsep.join(each for each in path.split(os.pathsep) if os.path.isabs(each))
    safe = {} if any(".py" in argument for argument in arguments) else {"PYTHONSAFEPATH": "1"}
    base = config_home(environ) or os.path.abspath(os.sep)
    return Place(_neutral(root, environ), base, absolute, safe)


def _neutral(root: str, environ: "Mapping[str, str]") -> str:
    """A directory of the user's with nothing in it, the system's root where there can't be one."""
    home = state_home(environ)
    nowhere = os.path.abspath(os.sep)
    if home is None:
        return nowhere
    place = os.path.join(home, "mcp")
    try:
        os.makedirs(place, 0o700, exist_ok=True)
        os.chmod(place, 0o700)
    except OSError:
        return nowhere
    real, top = os.path.realpath(place), os.path.realpath(root)
    inside = real == top or real.startswith(top.rstrip(os.sep) + os.sep)
    return nowhere if inside and not _holds_home(top, environ) else real


def _holds_home(top: str, environ: "Mapping[str, str]") -> bool:
    """Whether the workspace is the user's home, or holds it: then it is the user's own."""
    home = os.path.realpath(environ.get("HOME") or os.sep)
    return home == top or home.startswith(top.rstrip(os.sep) + os.sep)


def environment(environ: "Mapping[str, str]", variables: "Sequence[str]", hidden: "Collection[str]") -> dict[str, str]:
    """What a server gets of `environ`: what every program may know unless it is hidden, and the named variables."""
    free = {name for name in environ if name.upper() in ALWAYS or name.startswith(ALWAYS_BEGINNING)}
    return {name: environ[name] for name in (*sorted(free - set(hidden)), *variables) if name in environ}


def resolve(command: str, path: str, base: str) -> str:
    """The file that `command` is: a path is relative to `base`, a name is looked up in `path`.

    Raises RefusedError when there is none that can be run.
    """
    import shutil

    if os.path.dirname(command):
        command = os.path.join(base, command)
        if not os.path.exists(command):
            raise RefusedError("has not started: there is no such file")
    found = shutil.which(command, path=path)
    if found is None and os.path.dirname(command):
        raise RefusedError("has not started: the file is not executable")
    if found is None:
        raise RefusedError("has not started: its command was not found", "is it installed, and in a directory of PATH?")
    return os.path.abspath(found)


def verify(file: str, wanted: "Checksum") -> None:
    """Raise RefusedError unless the content of `file` has the hash that is wanted."""
    import hashlib

    try:
        with open(file, "rb") as program:
            found = hashlib.file_digest(program, wanted.algorithm).hexdigest()
    except OSError as error:
        raise RefusedError(f"was not started: {file} can't be hashed ({error.strerror})") from error
    if found != wanted.value.strip().lower():
        raise RefusedError(
            f"was not started: the {wanted.algorithm} of {file} is not the one that is configured",
            f"it is {found}; if that is what you expect, set it as checksum.value",
        )
