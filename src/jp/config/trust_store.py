"""What the user trusts, by workspace: digests of keys with their values, in one file of the user's own.

Beside what is trusted in a workspace the file holds what was declined there, what was in effect when one of its
conversations recorded it (trusted in that conversation alone), and whether the user's own file for the workspace's id,
which anybody can write into a `.jp/.id`, is his in that place too.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from jp.places import data_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.config.trust import Withheld

VERSION = 1


class TrustStore:
    """`$XDG_DATA_HOME/jp/trust.json`. An unreadable store trusts nothing.

    `path` is empty where the user has no directory for data. What changes the store gives its new text, for the caller
    to write atomically, while nobody else changes it.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "TrustStore":
        """The store of the user whose environment this is."""
        home = data_home(environ)
        return cls(os.path.join(home, "trust.json") if home else "")

    def trusted(self, workspace_root: str) -> frozenset[str]:
        """The digests that are trusted in a workspace."""
        return self._read().of("workspaces", workspace_root)

    def declined(self, workspace_root: str) -> frozenset[str]:
        """The digests of what the user was asked about and has said no to: no reason to ask again."""
        return self._read().of("declined", workspace_root)

    def recorded(self, workspace_root: str, conversation_id: str) -> frozenset[str]:
        """The digests that are trusted in one conversation of a workspace."""
        return self._read().in_conversation(workspace_root, conversation_id)

    def confirmed(self, workspace_root: str, user_dir: str) -> bool:
        """Whether the user's own settings in `user_dir` are for the workspace in this place."""
        return _private(user_dir) in self._read().of("private", workspace_root)

    def count(self, workspace_root: str) -> int:
        """How many values are trusted in a workspace or in one of its conversations."""
        found = self._read()
        return len(found.of("workspaces", workspace_root)) + sum(
            len(_texts(each)) for each in found.conversations(workspace_root).values()
        )

    def with_trusted(
        self, workspace_root: str, withheld: "Iterable[Withheld]", *, confirmed_dir: str | None = None
    ) -> str:
        """The text of the store with `withheld` trusted in a workspace, and all that the user's own settings in
        `confirmed_dir` say.
        """
        digests = {each.digest for each in withheld}
        found = self._read()
        if confirmed_dir:
            found.put("private", workspace_root, found.of("private", workspace_root) | {_private(confirmed_dir)})
            if not digests:
                return found.text()
        found.put("workspaces", workspace_root, found.of("workspaces", workspace_root) | digests)
        if declined := found.of("declined", workspace_root):
            found.put("declined", workspace_root, declined - digests)
        return found.text()

    def with_declined(self, workspace_root: str, withheld: "Iterable[Withheld]") -> str:
        """The text of the store with `withheld` asked about, and not trusted, in a workspace."""
        found = self._read()
        digests = found.of("declined", workspace_root) | {each.digest for each in withheld}
        found.put("declined", workspace_root, digests)
        return found.text()

    def without(self, workspace_root: str) -> str | None:
        """The text of the store with nothing known of a workspace; None when nothing is."""
        found = self._read()
        root = os.path.realpath(workspace_root)
        known = [table.pop(root) for table in found.tables.values() if root in table]
        return found.text() if known else None

    def with_recorded(
        self, workspace_root: str, in_effect: "Iterable[Withheld]", conversation_id: str = ""
    ) -> str | None:
        """The text of the store with what is `in_effect` (see `commands`) trusted in a conversation; None when nothing
        is new.
        """
        found = self._read()
        known = found.in_conversation(workspace_root, conversation_id)
        fresh = {each.digest for each in in_effect} - known
        if not fresh:
            return None
        found.put_conversation(workspace_root, conversation_id, known | fresh)
        return found.text()

    def with_fork(self, workspace_root: str, conversation_id: str, fork_id: str) -> str | None:
        """The text of the store with what is trusted in a conversation trusted in its fork; None when nothing is."""
        found = self._read()
        known = found.in_conversation(workspace_root, conversation_id)
        if not known:
            return None
        found.put_conversation(workspace_root, fork_id, known | found.in_conversation(workspace_root, fork_id))
        return found.text()

    def _read(self) -> "_Tables":
        import json

        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError, RecursionError):
            found = None
        return _Tables(found if isinstance(found, dict) else {})


def _private(user_dir: str) -> str:
    return os.path.realpath(user_dir)


class _Tables:
    """The store's tables by the root of a workspace: digests, or digests by conversation, or directories."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.tables: dict[str, dict[str, Any]] = {}
        for name in ("workspaces", "declined", "conversations", "private"):
            table = found.get(name)
            self.tables[name] = dict(table) if isinstance(table, dict) else {}

    def of(self, name: str, workspace_root: str) -> frozenset[str]:
        return _texts(self.tables[name].get(os.path.realpath(workspace_root)))

    def conversations(self, workspace_root: str) -> dict[str, Any]:
        found = self.tables["conversations"].get(os.path.realpath(workspace_root))
        return found if isinstance(found, dict) else {}

    def in_conversation(self, workspace_root: str, conversation_id: str) -> frozenset[str]:
        return _texts(self.conversations(workspace_root).get(conversation_id))

    def put_conversation(self, workspace_root: str, conversation_id: str, digests: Iterable[str]) -> None:
        known = {**self.conversations(workspace_root), conversation_id: sorted(digests)}
        self.tables["conversations"][os.path.realpath(workspace_root)] = known

    def put(self, name: str, workspace_root: str, digests: Iterable[str]) -> None:
        self.tables[name][os.path.realpath(workspace_root)] = sorted(digests)

    def text(self) -> str:
        import json

        tables = {name: table for name, table in self.tables.items() if table or name == "workspaces"}
        return json.dumps({"version": VERSION, **tables}, indent=2, sort_keys=True) + "\n"


def _texts(found: Any) -> frozenset[str]:
    return frozenset(each for each in found if isinstance(each, str)) if isinstance(found, list) else frozenset()
