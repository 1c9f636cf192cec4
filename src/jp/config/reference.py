"""The reference of all keys, from the schema: `python -m jp.config.reference docs/reference/configuration.md`."""

import sys

from jp.config.containers import Items
from jp.config.dump import value_text as toml
from jp.config.kinds import MISSING, SHOWN, Kind
from jp.config.schema import join_key, root
from jp.config.tables import OneOf, Path, Table

BEGIN = "<!-- keys: written by jp.config.reference -->"
END = "<!-- keys: end -->"


def rows(kind: Kind, path: Path, above: tuple[Kind, ...] = ()) -> list[tuple[str, str, str, str]]:
    """Key, type, default and purpose of every leaf at and below `kind`."""
    found: list[tuple[str, str, str, str]] = []
    table = kind.table if isinstance(kind, OneOf) else kind
    if kind.leaf:
        found.append((join_key(path), kind.allowed, _default(kind), kind.doc or (above[-1].doc if above else "")))
    if isinstance(kind, Items):
        items = (*path[:-1], f"{path[-1]}[]")
        return found + [row for row in rows(kind.item, items, above) if row[0] != join_key(items)]
    if not isinstance(table, Table):
        return found
    if table.like and above:
        return [*found, (join_key((*path, "…")), "", "", f"The keys of `{table.like}`.")] if not kind.leaf else found
    if table in above:
        return [*found, (join_key((*path, "…")), "", "", "The same keys again.")]
    inside = (*above, table)
    for name, child in table.fields.items():
        found += rows(child, (*path, name), inside)
    if table.rest is not None:
        found += rows(table.rest, (*path, "<name>"), inside)
    return found


def _default(kind: Kind) -> str:
    if kind.default is MISSING:
        return ""
    return toml(kind.write(kind.final(MISSING), SHOWN)).replace("\n", " ")


def reference() -> str:
    """The generated part of the reference, as Markdown."""
    lines: list[str] = []
    top = [(name, kind) for name, kind in root().fields.items() if not isinstance(kind, Table)]
    lines += ["", "### Loading", "", *_markdown([row for name, kind in top for row in rows(kind, (name,))])]
    for name, kind in root().fields.items():
        if isinstance(kind, Table):
            lines += ["", f"### {name}", "", kind.doc, "", *_markdown(rows(kind, (name,)))]
    return "\n".join([BEGIN, *lines, "", END])


def _markdown(found: list[tuple[str, str, str, str]]) -> list[str]:
    head = ["| key | type | default | what it is for |", "| --- | --- | --- | --- |"]
    return head + [
        f"| `{key}` | {_cell(allowed)} | {f'`{_cell(default)}`' if default else ''} | {_cell(doc)} |"
        for key, allowed, default, doc in found
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") if "`" not in text else text.replace("|", "\\|")


def renewed(text: str) -> str:
    """The text of the reference with its generated part made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + reference() + after


def main() -> None:
    """Write the generated part of the file that is named on the command line."""
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(renewed(text))


if __name__ == "__main__":
    main()
