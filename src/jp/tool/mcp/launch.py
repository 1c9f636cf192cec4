"""How the program of an MCP server is started: which one, checked, and with what environment."""

import os

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


def environment(environ: "Mapping[str, str]", variables: "Sequence[str]", hidden: "Collection[str]") -> dict[str, str]:
    """What a server gets of `environ`: what every program may know unless it is hidden, and the named variables."""
    free = {name for name in environ if name.upper() in ALWAYS or name.startswith(ALWAYS_BEGINNING)}
    return {name: environ[name] for name in (*sorted(free - set(hidden)), *variables) if name in environ}


def resolve(command: str, path: str, root: str) -> str:
    """The file that `command` is: a path is relative to `root`, a name is looked up in `path`.

    Raises RefusedError when there is none that can be run.
    """
    import shutil

    if os.path.dirname(command):
        command = os.path.join(root, command)
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
