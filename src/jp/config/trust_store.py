"""What the user trusts, by workspace: digests of keys with their values, in one file of the user's own."""

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
    to write atomically.
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

    def with_trusted(self, workspace_root: str, withheld: "Iterable[Withheld]") -> str:
        """The text of the store with `withheld` trusted in a workspace."""
        digests = {each.digest for each in withheld}
        found = self._read()
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

    def remembering(self, workspace_root: str, in_effect: "Iterable[Withheld]") -> str | None:
        """The text of the store with what is `in_effect` (see `commands`) trusted; None when nothing is new."""
        known = self.trusted(workspace_root)
        fresh = [each for each in in_effect if each.digest not in known]
        return self.with_trusted(workspace_root, fresh) if fresh else None

    def _read(self) -> "_Tables":
        import json

        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError, RecursionError):
            found = None
        return _Tables(found if isinstance(found, dict) else {})


class _Tables:
    """The store's two tables, digests by the root of a workspace."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.tables: dict[str, dict[str, Any]] = {}
        for name in ("workspaces", "declined"):
            table = found.get(name)
            self.tables[name] = dict(table) if isinstance(table, dict) else {}

    def of(self, name: str, workspace_root: str) -> frozenset[str]:
        found = self.tables[name].get(os.path.realpath(workspace_root), [])
        return frozenset(each for each in found if isinstance(each, str)) if isinstance(found, list) else frozenset()

    def put(self, name: str, workspace_root: str, digests: Iterable[str]) -> None:
        self.tables[name][os.path.realpath(workspace_root)] = sorted(digests)

    def text(self) -> str:
        import json

        tables = {name: table for name, table in self.tables.items() if table or name == "workspaces"}
        return json.dumps({"version": VERSION, **tables}, indent=2, sort_keys=True) + "\n"
