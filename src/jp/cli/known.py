"""The workspaces that this user has worked in: for the choice where there is none around (RFD 104)."""

import json
import os

from jp.places import state_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = 20


def known_workspaces(environ: "Mapping[str, str]") -> list[str]:
    """Roots of workspaces that are still there, the one used last first."""
    return [root for root in _read(environ) if os.path.isdir(os.path.join(root, ".jp"))]


def remember_workspace(environ: "Mapping[str, str]", root: str) -> None:
    """Note that `root` is in use. Raises WriteError; without a place for it nothing is noted."""
    path = _path(environ)
    known = _read(environ)
    if path is None or known[:1] == [root]:
        return
    from jp.storage import files

    files.make_directory(os.path.dirname(path), 0o700)
    roots = [root, *(each for each in known if each != root)][:KEPT]
    files.write_atomic(path, json.dumps(roots, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _path(environ: "Mapping[str, str]") -> str | None:
    state = state_home(environ)
    return os.path.join(state, "workspaces.json") if state else None


def _read(environ: "Mapping[str, str]") -> list[str]:
    from jp.storage import files
    from jp.storage.errors import UnreadableFileError

    path = _path(environ)
    try:
        found = json.loads(files.read(path)) if path else []
    except (OSError, UnreadableFileError, ValueError, RecursionError):
        return []
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
