"""The schema, the typed tree and the reference say the same."""

import types
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jp.config.containers import Items
from jp.config.kinds import MISSING, Kind
from jp.config.reference import BEGIN, END, reference, renewed
from jp.config.schema import AppConfig, keys, root
from jp.config.sections.providers import Llm, Provider
from jp.config.sections.tools import Tool, ToolDefaults, Tools
from jp.config.tables import OneOf, Table

DOCUMENT = Path(__file__).parents[2] / "docs/reference/configuration.md"


def test_the_reference_is_that_of_the_schema() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert renewed(text) == text, "run: python -m jp.config.reference docs/reference/configuration.md"


def test_every_key_is_in_the_reference_with_what_it_is_for() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert len(rows) > 200
    for row in rows:
        assert row.replace("\\|", "").split("|")[-2].strip(), f"says nothing: {row}"


def row(key: str) -> str:
    text = DOCUMENT.read_text(encoding="utf-8")
    return next(line for line in text.splitlines() if line.startswith(f"| `{key}` |"))


@pytest.mark.req("088-143")
def test_the_reference_tells_of_composing_and_editors() -> None:
    for scope in ("streaming", "tool_call", "turn"):
        line = row(f"interrupt.{scope}.compose_in_editor")
        assert 'false, true, "always", "never" | `false`' in line
        assert "inline if it cannot open" in line
        assert '"always": in the editor only' in line
        assert '"never": inline only' in line
    assert '"emacs", "vi" | `"emacs"`' in row("editor.inline.edit_mode")
    line = row("editor.cmd")
    assert '"code --wait", or { program, args, shell }' in line
    assert '"$@"' in line
    assert "on Windows use shell = false" in line
    assert "`false`" in row("editor.cmd.shell")


@pytest.mark.req("092-167")
def test_the_reference_tells_of_interrupts_and_what_zero_means() -> None:
    for key in keys():
        if key.startswith("interrupt.") and key.count(".") + (key == "interrupt.escalation_cooldown_secs") > 1:
            assert row(key)
    assert "`2`" in row("interrupt.escalation_cooldown_secs")
    assert "0 counts as 1" in row("interrupt.escalation_cooldown_secs")
    assert "`1`" in row("interrupt.shutdown.delay_secs")
    assert "0 is at once" in row("interrupt.shutdown.delay_secs")
    assert "`100`" in row("interrupt.shutdown.interval_ms")
    assert "for 0 too" in row("interrupt.shutdown.interval_ms")
    assert "`10`" in row("interrupt.shutdown.timeout_secs")
    assert "0 ends it at once" in row("interrupt.shutdown.timeout_secs")
    assert "a slow but healthy teardown too" in row("interrupt.shutdown.timeout_secs")
    assert "the deadline holds all the same" in row("interrupt.shutdown.show")


def test_the_generated_part_is_marked() -> None:
    assert reference().startswith(BEGIN)
    assert reference().endswith(END)


# --- the typed tree -----------------------------------------------------------------------------------------------


def structs(annotation: Any) -> list[type[msgspec.Struct]]:
    """The structs in a type."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return [annotation]
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is not None:
        return [struct for part in typing.get_args(annotation) for struct in structs(part)]
    return []


def tables(kind: Kind | None) -> list[Table]:
    """The tables that a value of `kind` may be or hold, one level down."""
    if isinstance(kind, Items):
        return tables(kind.item)
    if isinstance(kind, OneOf):
        return [table for each in kind.kinds for table in tables(each)]
    if isinstance(kind, Table):
        return [kind] if kind.fields else tables(kind.rest)
    return []


def agree(struct: type[msgspec.Struct], table: Table, path: str, seen: set[Any]) -> None:
    """Assert that the fields of `struct` are the keys of `table`, and optional where the schema may leave them out."""
    if (struct, id(table)) in seen:
        return
    seen.add((struct, id(table)))
    hints = typing.get_type_hints(struct)
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    extra = set(fields) - set(table.fields)
    assert not set(table.fields) - set(fields), f"{path}: not in {struct.__name__}"
    assert not extra or struct is Provider, f"{path}: {extra} of {struct.__name__} are no keys"
    for name, kind in table.fields.items():
        field = fields[name]
        always = kind.final(MISSING) is not None or name in table.required
        assert always or not field.required, f"{path}.{name} may be unset"
        for inner in structs(hints[field.name]):
            below = tables(kind)
            if inner in (Tools, Llm):
                continue
            assert below, f"{path}.{name}: {inner.__name__} has no table"
            agree(inner, below[0], f"{path}.{name}", seen)


def test_every_key_has_a_typed_field_and_every_field_a_key() -> None:
    agree(AppConfig, root(), "", set())
    tools = root().fields["conversation"].child("tools")
    assert isinstance(tools, Table)
    agree(ToolDefaults, tables(tools.fields["*"])[0], "tools.*", set())
    agree(Tool, tables(tools.rest)[0], "tools.<name>", set())
    llm = root().fields["providers"].child("llm")
    assert isinstance(llm, Table)
    for name, kind in [*llm.fields.items(), ("<name>", llm.rest)]:
        if name != "aliases":
            agree(Provider, tables(kind)[0], f"llm.{name}", set())
