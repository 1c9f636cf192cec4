"""Where the weights lie and what is there: `$XDG_DATA_HOME/jp/models`.

`<name>.gguf` is a whole, verified file. `<name>.gguf.part` is what has come so far. `.<name>.fetch/` holds the one
package being fetched, `.<name>.lock` is held by the process that installs or removes (never unlinked by us).
"""

import os
from typing import NamedTuple

import jp.places
from jp.llm.embedded.catalogue import DEFAULT, Model
from jp.llm.embedded.errors import InstallError, NotInstalledError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Places(NamedTuple):
    """The paths of one model."""

    directory: str
    weights: str
    part: str
    fetch: str
    lock: str


def data_dir(environ: "Mapping[str, str]") -> str:
    """`$XDG_DATA_HOME/jp/models`, `~/.local/share/jp/models` by default; raises InstallError where there is no home."""
    return os.path.join(_known(jp.places.data_home(environ), "XDG_DATA_HOME"), "models")


def cache_dir(environ: "Mapping[str, str]") -> str:
    """`$XDG_CACHE_HOME/jp`, `~/.cache/jp` by default; raises InstallError where there is no home."""
    return _known(jp.places.cache_home(environ), "XDG_CACHE_HOME")


def _known(place: str | None, variable: str) -> str:
    if place is None:
        raise InstallError("there is no home directory", hints=[f"set HOME or {variable} to an absolute path"])
    return place


def places(model: Model, environ: "Mapping[str, str]") -> Places:
    """The paths of `model`; nothing is made."""
    directory = data_dir(environ)
    weights = os.path.join(directory, f"{model.name}.gguf")
    return Places(
        directory=directory,
        weights=weights,
        part=weights + ".part",
        fetch=os.path.join(directory, f".{model.name}.fetch"),
        lock=os.path.join(directory, f".{model.name}.lock"),
    )


def size_of(path: str) -> int:
    """Bytes of the file at `path`; 0 when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def installed(model: Model, environ: "Mapping[str, str]") -> bool:
    """Whether a file of the right size is in place (its hash was checked before it got there)."""
    return size_of(places(model, environ).weights) == model.size


def require(model: Model, environ: "Mapping[str, str]") -> str:
    """The path of the installed weights; raises NotInstalledError, which says how to install them."""
    path = places(model, environ).weights
    if size_of(path) == model.size:
        return path
    words = "" if model is DEFAULT else f" {model.name}"
    raise NotInstalledError(
        f"the embedded model {model.name} is not installed",
        hints=[f"`jp model install{words}` fetches it ({human_size(model.size)})"],
        metadata={"model": model.id, "path": path, "size": model.size},
    )


def human_size(count: int) -> str:
    """Bytes in decimal units, as disks and networks are sold: `1.12 GB`, `491 MB`."""
    if count >= 1_000_000_000:
        return f"{count / 1_000_000_000:.2f} GB"
    if count >= 1_000_000:
        return f"{count / 1_000_000:.0f} MB"
    return f"{count / 1000:.0f} kB"
