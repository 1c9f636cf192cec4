"""The user's directories, by the XDG base directory specification; read from here alone.

A relative value is ignored, as the specification asks: it would be taken relative to whatever directory `jp` is run in,
and a cloned project could then supply what the user trusts.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def config_home(environ: "Mapping[str, str]") -> str | None:
    """`$XDG_CONFIG_HOME/jp`, by default `~/.config/jp`: the user's configuration. None as for `data_home`."""
    return _place(environ, "XDG_CONFIG_HOME", ".config")


def data_home(environ: "Mapping[str, str]") -> str | None:
    """`$XDG_DATA_HOME/jp`, by default `~/.local/share/jp`: conversations, models, trust.

    None where neither the variable nor HOME (USERPROFILE where HOME is not set) is an absolute path.
    """
    return _place(environ, "XDG_DATA_HOME", ".local", "share")


def state_home(environ: "Mapping[str, str]") -> str | None:
    """`$XDG_STATE_HOME/jp`, by default `~/.local/state/jp`: logs and crash reports. None as for `data_home`."""
    return _place(environ, "XDG_STATE_HOME", ".local", "state")


def cache_home(environ: "Mapping[str, str]") -> str | None:
    """`$XDG_CACHE_HOME/jp`, by default `~/.cache/jp`: what can be made again. None as for `data_home`."""
    return _place(environ, "XDG_CACHE_HOME", ".cache")


def temporary_directory() -> str | None:
    """The directory for temporary files; None where none can be written to (all disks are full)."""
    import tempfile

    try:
        return tempfile.gettempdir()
    except OSError:
        return None


def _place(environ: "Mapping[str, str]", variable: str, *default: str) -> str | None:
    base = environ.get(variable, "")
    if not os.path.isabs(base):
        home = environ.get("HOME") or environ.get("USERPROFILE", "")  # the second is Windows's
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, *default)
    return os.path.join(base, "jp")
