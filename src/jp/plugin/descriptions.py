"""What plugins have said of themselves, remembered: `$XDG_CACHE_HOME/jp/plugins.json`.

A description is used again while the file is what it was when it was asked: same path and same stamp (`fingerprint`;
the hash is beside it, of what was read then). It is not hashed again for that: nothing is run on the strength of it. A
broken file is an empty one, and is made anew. Only plugins that might be run were asked, so that one has a description
here says that it was once admitted; taking an approval back drops it.
"""

import json
import os
import time
from typing import Any, NamedTuple

from jp.places import cache_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.plugin.fingerprint import Fingerprint, Stamp
    from jp.plugin.messages import Description

VERSION = 1
AGAIN_SECS = 3600  # after which one is asked again that did not answer: what it needs may be there now


class Remembered(NamedTuple):
    """What a plugin said, or why it said nothing; and the hash of its file."""

    description: "Description | None"
    problem: str
    sha256: str


class Descriptions:
    """The descriptions. `path` is empty where the user has no directory for caches: then nothing is remembered."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._entries: dict[str, Any] = _read(path) if path else {}
        self._changed = False

    @classmethod
    def of(cls, environ: "Mapping[str, str]") -> "Descriptions":
        """Those of the user whose environment this is."""
        home = cache_home(environ)
        return cls(os.path.join(home, "plugins.json") if home else "")

    def get(self, path: str, stamp: "Stamp | None") -> Remembered | None:
        """What the file at `path` said when it was what `stamp` says it is now."""
        entry = self._entries.get(path)
        if stamp is None or not isinstance(entry, dict) or entry.get("stamp") != list(stamp):
            return None
        sha256, problem, said = entry.get("sha256"), entry.get("problem"), entry.get("description")
        if not isinstance(sha256, str):
            return None
        if said is None and isinstance(problem, str):
            asked = entry.get("asked_at")
            fresh = isinstance(asked, int) and 0 <= time.time() - asked < AGAIN_SECS
            return Remembered(None, problem, sha256) if fresh else None
        description = _description(said)
        return Remembered(description, "", sha256) if description is not None else None

    def put(self, path: str, fingerprint: "Fingerprint", answer: "Description | str") -> None:
        """Remember what was said, or why nothing was."""
        import msgspec

        said = None if isinstance(answer, str) else msgspec.to_builtins(answer)
        self._entries[path] = {
            "stamp": list(fingerprint.stamp),
            "sha256": fingerprint.sha256,
            "asked_at": int(time.time()),
            "description": said,
            "problem": answer if isinstance(answer, str) else "",
        }
        self._changed = True

    def drop(self, path: str) -> None:
        """Forget what the file at `path` said."""
        self._changed = self._entries.pop(path, None) is not None or self._changed

    def save(self) -> None:
        """Write what has changed, without what is of files that are gone; where that can't be done, it is asked again.

        Of two that write at the same time the last one counts, and the other's descriptions are asked for again.
        """
        if not self._changed or not self._path:
            return
        from jp.storage import files
        from jp.storage.errors import WriteError

        plugins = {path: entry for path, entry in self._entries.items() if os.path.exists(path)}
        text = json.dumps({"version": VERSION, "plugins": plugins}, separators=(",", ":"))
        try:
            files.make_directory(os.path.dirname(self._path), 0o700)
            files.write_atomic(self._path, text.encode())
        except WriteError:
            return
        self._changed = False


def _read(path: str) -> dict[str, Any]:
    from jp.storage import files
    from jp.storage.errors import UnreadableFileError

    try:
        found = json.loads(files.read(path))
    except (OSError, UnreadableFileError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("version") != VERSION:
        return {}
    plugins = found.get("plugins")
    return plugins if isinstance(plugins, dict) else {}


def _description(said: Any) -> "Description | None":
    import msgspec

    from jp.plugin.messages import Description

    try:
        return msgspec.convert(said, Description)
    except msgspec.ValidationError:
        return None
