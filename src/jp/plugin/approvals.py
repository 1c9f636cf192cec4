"""What the user has approved: by a plugin's name the file and the hash of what was in it.

One file of the user's own, `$XDG_DATA_HOME/jp/plugin-approvals.json`:

    {"approved": {"<name>": {"path", "sha256", "approved_at", "installed"?, "source"?}}}

Fields that are not known are kept, of plugins and of the file.
"""

import json
import os
from typing import Any, NamedTuple

from jp.errors import JpError
from jp.places import data_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class NoApprovalsError(JpError):
    """Nothing can be approved, for there is no place to remember it."""

    code = "no_plugin_approvals"

    def __init__(self) -> None:
        super().__init__(
            "there is no place to remember which plugins are approved: neither XDG_DATA_HOME nor HOME is set",
            hints=["set HOME, or XDG_DATA_HOME to a directory that you can write to"],
        )


class Approval(NamedTuple):
    """An approved file: `path` is absolute, `sha256` in hexadecimal, `approved_at` RFC 3339 in UTC.

    `installed`: `jp plugin install` has put it there, from `source`.
    """

    path: str
    sha256: str
    approved_at: str = ""
    installed: bool = False
    source: str = ""

    def is_for(self, path: str) -> bool:
        """Whether `path` leads to the file that was approved, perhaps by a link."""
        return self.path == path or os.path.realpath(self.path) == os.path.realpath(path)


class Approvals:
    """The file. One that can't be read approves nothing. `path` is empty where the user has no directory for data."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def of(cls, environ: "Mapping[str, str]") -> "Approvals":
        """The file of the user whose environment this is."""
        home = data_home(environ)
        return cls(os.path.join(home, "plugin-approvals.json") if home else "")

    def all(self) -> dict[str, Approval]:
        """The approvals by the name of the plugin."""
        try:
            known = _plugins(self._read())
        except ValueError:
            return {}
        return {name: approval for name, fields in known.items() if (approval := _approval(fields)) is not None}

    def get(self, name: str) -> Approval | None:
        """The approval of the plugin of this name."""
        return self.all().get(name)

    def approve(self, name: str, path: str, sha256: str, *, source: str | None = None) -> None:
        """Remember that a file is approved; `source` is given where it was installed from there.

        What was known of the same file stays: that it was installed, and from where. Raises NoApprovalsError,
        UnreadableFileError, WriteError and LockedError.
        """
        from datetime import UTC, datetime

        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

        def made() -> str:
            found = self._read_to_write()
            known = _plugins(found)
            fields = dict(known[name]) if isinstance(known.get(name), dict) else {}
            if fields.get("path") != path:
                fields.pop("installed", None)
                fields.pop("source", None)
            fields |= {"path": path, "sha256": sha256, "approved_at": now}
            if source is not None:
                fields |= {"installed": True, "source": source}
            return _text({**found, "approved": {**known, name: fields}})

        self._change(made)

    def forget(self, name: str) -> Approval | None:
        """Take an approval back; returns what it was. Raises as `approve`."""
        gone: list[Approval | None] = []

        def made() -> str | None:
            found = self._read_to_write()
            known = dict(_plugins(found))
            if name not in known:
                return None
            gone.append(_approval(known.pop(name)))
            return _text({**found, "approved": known})

        self._change(made)
        return gone[0] if gone else None

    def _change(self, made: Any) -> None:
        from jp.storage import shared

        if not self.path:
            raise NoApprovalsError
        shared.change(self.path, made, what="the list of approved plugins", command="plugin")

    def _read(self) -> dict[str, Any]:
        """What the file holds. Raises ValueError where that is no such list."""
        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
        except FileNotFoundError:
            return {}
        except (OSError, RecursionError) as error:
            raise ValueError(getattr(error, "strerror", None) or str(error)) from error
        if not isinstance(found, dict) or not isinstance(found.get("approved", {}), dict):
            raise ValueError("it is no list of approved plugins")
        return found

    def _read_to_write(self) -> dict[str, Any]:
        """As `_read`; what can't be understood is not written over."""
        from jp.storage.errors import UnreadableFileError

        try:
            return self._read()
        except ValueError as error:
            raise UnreadableFileError(self.path, str(error)) from error


def _plugins(found: dict[str, Any]) -> dict[str, Any]:
    plugins: dict[str, Any] = found.get("approved", {})
    return plugins


def _approval(fields: Any) -> Approval | None:
    if not isinstance(fields, dict):
        return None
    path, sha256 = fields.get("path"), fields.get("sha256")
    if not (isinstance(path, str) and isinstance(sha256, str) and os.path.isabs(path)):
        return None
    said, source = fields.get("approved_at"), fields.get("source")
    return Approval(
        path,
        sha256.lower(),
        said if isinstance(said, str) else "",
        fields.get("installed") is True,
        source if isinstance(source, str) else "",
    )


def _text(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=2) + "\n"
