"""Which conversation is active in which terminal tab (contracts, sections 1 and 5).

A session is `$JP_SESSION`, else the POSIX session, else what the terminal says about its pane. Each has a file
`<user dir>/sessions/<source-key>.json` with the conversations activated in it, the latest first; the names and the
content are those of the original, so both programs agree on what is active.
"""

import json
import os
import re

from jp.conversation import ids
from jp.conversation.timestamps import parse_timestamp
from jp.storage import files
from jp.storage.errors import UnreadableFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_PANES = ("TMUX_PANE", "WEZTERM_PANE", "TERM_SESSION_ID", "ITERM_SESSION_ID")
_KEPT = 100


class Session:
    """Who asks: where the identity comes from (`getsid`, or the name of a variable) and its value."""

    __slots__ = ("source", "value")

    def __init__(self, source: str, value: str) -> None:
        self.source = source
        self.value = value

    @property
    def key(self) -> str:
        """The name of its file: `getsid-4711`, `env-TMUX_PANE-<hash>`."""
        if self.source == "getsid":
            return f"getsid-{self.value}"
        from hashlib import sha256

        return f"env-{self.source}-{sha256(self.value.encode(errors='surrogateescape')).hexdigest()[:16]}"


def session(environ: "Mapping[str, str]", sid: int | None) -> Session | None:
    """The session of a process with this environment and POSIX session id (`os.getsid(0)`; None: there is none)."""
    if value := environ.get("JP_SESSION"):
        return Session("JP_SESSION", value)
    if sid:
        return Session("getsid", str(sid))
    return next((Session(name, environ[name]) for name in _PANES if environ.get(name)), None)


def current(environ: "Mapping[str, str]") -> Session | None:
    """The session of this process."""
    return session(environ, os.getsid(0) if hasattr(os, "getsid") else None)


class Entry:
    """A conversation that was activated, and when."""

    __slots__ = ("activated_at", "id")

    def __init__(self, conversation_id: str, activated_at: "datetime | None") -> None:
        self.id = conversation_id
        self.activated_at = activated_at


class Sessions:
    """The session files of one workspace. `user_dir` None: nothing is remembered."""

    __slots__ = ("_session", "folder")

    def __init__(self, user_dir: str | None, of: Session | None) -> None:
        self.folder = os.path.join(user_dir, "sessions") if user_dir else None
        self._session = of

    @property
    def path(self) -> str | None:
        """This session's file."""
        return os.path.join(self.folder, f"{self._session.key}.json") if self.folder and self._session else None

    def history(self) -> list[Entry]:
        """The conversations activated in this session, the latest first. A file that can't be read counts as empty."""
        return _entries(_read(self.path) if self.path else {})

    def active(self) -> str | None:
        """The conversation that is active in this session; it may have been removed since."""
        return next((entry.id for entry in self.history()), None)

    def activate(self, conversation_id: str, now: "datetime") -> None:
        """Makes a conversation the active one. Raises `WriteError`; without a session there is nothing to do."""
        if not self.path or not self.folder or not self._session:
            return
        found = _read(self.path)
        kept = [one for one in _raw_entries(found) if _id_of(one) not in (None, conversation_id)]
        found["history"] = [
            {"id": int(conversation_id), "activated_at": now.isoformat().replace("+00:00", "Z")},
            *kept[: _KEPT - 1],
        ]
        source = self._session.source
        found["source"] = {"type": "getsid"} if source == "getsid" else {"type": "env", "key": source}
        found["id"] = self._session.value
        files.make_directory(self.folder, 0o700)
        try:
            text = json.dumps(found, indent=2)
        except RecursionError:  # something foreign in it could be read and can't be written
            text = json.dumps({key: found[key] for key in ("source", "id")} | {"history": _bare(found)}, indent=2)
        files.write_atomic(self.path, text.encode() + b"\n", follow=True)

    def actives(self) -> set[str]:
        """The active conversation of every session of the workspace."""
        found: set[str] = set()
        try:
            names = os.listdir(self.folder) if self.folder else []
        except OSError:
            names = []
        for name in names:
            if name.endswith(".json"):
                entries = _entries(_read(os.path.join(self.folder or "", name)))
                found.update(entry.id for entry in entries[:1])
        return found


def _read(path: str) -> "dict[str, object]":
    """A session's file; nothing where it is not there or can't be read."""
    try:
        found = json.loads(files.read(path))
    except (OSError, UnreadableFileError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _raw_entries(found: "Mapping[str, object]") -> "list[dict[str, object]]":
    entries = found.get("history")
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []


def _bare(found: "Mapping[str, object]") -> "list[dict[str, object]]":
    known = ((_id_of(one), one.get("activated_at")) for one in _raw_entries(found))
    return [{"id": int(one), "activated_at": when if isinstance(when, str) else None} for one, when in known if one]


def _entries(found: "Mapping[str, object]") -> list[Entry]:
    known = ((_id_of(one), parse_timestamp(one.get("activated_at"))) for one in _raw_entries(found))
    return [Entry(one, when) for one, when in known if one]


def _id_of(entry: "Mapping[str, object]") -> str | None:
    found = entry.get("id")
    match = re.search(r"[0-9]+", str(found)) if isinstance(found, str | int) else None
    return match.group() if match else None


class Choice:
    """What to do when no conversation was named: take `id`, begin a `new` one, or `ask`."""

    __slots__ = ("id", "what")

    def __init__(self, what: str, conversation_id: str | None = None) -> None:
        self.what = what
        self.id = conversation_id

    def __repr__(self) -> str:
        return f"Choice({self.what!r}, {self.id!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and (self.what, self.id) == (other.what, other.id)

    def __hash__(self) -> int:
        return hash((self.what, self.id))


def choose(
    default_id: str | None,
    history: "Sequence[str]",
    existing: "Sequence[str]",
    last_activated: str | None,
) -> Choice:
    """Which conversation a command without an id takes (contracts, section 5).

    `history` is this session's, the latest first; `existing` the ids that are not archived; `last_activated` the one
    activated last in any session; `default_id` the configured `conversation.default_id`.
    """
    if not existing:
        return Choice("new")
    known = set(existing)
    here = [one for one in history if one in known]
    if history and history[0] in known:
        return Choice("id", history[0])
    if default_id == "last_activated":
        return Choice("id", last_activated) if last_activated else Choice("ask")
    if default_id == "last_created":
        return Choice("id", max(existing, key=int))
    if default_id == "previous":
        return Choice("id", here[0]) if here else Choice("ask")
    found = ids.matching(default_id, existing) if default_id else []
    return Choice("id", found[0]) if len(found) == 1 and found[0] in known else Choice("ask")
