"""What `jp model ls` shows."""

from typing import NamedTuple

from jp.llm.embedded import shelf
from jp.llm.embedded.catalogue import DEFAULT, MODELS, Model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Row(NamedTuple):
    """A model and its state here: `fetched` is bytes that are there, whole or in part."""

    model: Model
    installed: bool
    fetched: int
    path: str

    def record(self) -> dict[str, object]:
        """The row under `--format json`; the keys are documented and stay."""
        model = self.model
        return {
            "id": model.id,
            "aliases": list(model.aliases),
            "title": model.title,
            "summary": model.summary,
            "licence": model.licence,
            "size": model.size,
            "memory": model.memory,
            "context": model.context,
            "default": model is DEFAULT,
            "installed": self.installed,
            "fetched": self.fetched,
            "path": self.path,
        }

    def state(self) -> str:
        """The state in words."""
        if self.installed:
            return "installed"
        if self.fetched:
            return f"{self.fetched * 100 // self.model.size} % fetched"
        return "-"


def rows(environ: "Mapping[str, str]") -> list[Row]:
    """Every model of the catalogue, the default first."""
    found = []
    for model in MODELS:
        place = shelf.places(model, environ)
        there = shelf.installed(model, environ)
        fetched = model.size if there else min(shelf.size_of(place.part), model.size)
        found.append(Row(model, there, fetched, place.weights))
    return found


def text(found: "Sequence[Row]") -> str:
    """The rows as aligned columns, in plain text."""
    table = [("MODEL", "SIZE", "MEMORY", "STATE", "WHAT FOR")]
    table += [
        (
            row.model.id,
            shelf.human_size(row.model.size),
            shelf.human_size(row.model.memory),
            row.state(),
            row.model.summary,
        )
        for row in found
    ]
    widths = [max(len(line[i]) for line in table) for i in range(4)]
    return "".join("  ".join([*map(str.ljust, line, widths), line[4]]) + "\n" for line in table)
