"""From the configuration's `style` to what rendering is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jp.config.load import Paths, load
from jp.render.style import background_code, markdown_style, reasoning_style, wrap_width
from tests.render.configured import STYLE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def configured(tmp_path: Path) -> Any:
    def style(*cfg: str) -> Any:
        return load(Paths(None, None, str(tmp_path)), {}, cfg=cfg).root.style

    return style


def test_the_defaults_of_the_configuration(configured: Any) -> None:
    style = markdown_style(configured(), environ={}, width=200)
    assert (style.width, style.table_width, style.theme, style.hr) == (80, 200, "gruvbox-dark", "line")
    assert (style.table_max_column_width, style.table_continuation_edge) == (40, True)
    assert (style.code_colour, style.line_numbers, style.hyperlinks, style.truecolor) == (True, False, True, False)
    reasoning = reasoning_style(configured())
    assert (reasoning.display, reasoning.background) == ("full", "48;5;236")


def test_what_is_configured_is_followed(configured: Any) -> None:
    keys = ["code.color=false", "code.line_numbers=true", "markdown.wrap_width=50", "markdown.theme=monokai"]
    keys += [
        "markdown.hr_style=markdown",
        "markdown.table_max_column_width=9",
        "markdown.table_continuation_edge=false",
    ]
    style = markdown_style(configured(*(f"style.{key}" for key in keys)), environ={"COLORTERM": "24bit"}, width=None)
    assert (style.code_colour, style.line_numbers, style.width, style.theme) == (False, True, 50, "monokai")
    assert (style.hr, style.table_max_column_width, style.table_continuation_edge) == ("markdown", 9, False)
    assert (style.truecolor, style.table_width) == (True, 50)


@pytest.mark.parametrize(
    ("display", "expected"), [("hidden", ("hidden", 0)), ("summary", ("summary", 0)), ("12", ("truncate", 12))]
)
def test_how_reasoning_is_shown(configured: Any, display: str, expected: tuple[str, int]) -> None:
    style = reasoning_style(configured(f"style.reasoning.display={display}"))
    assert (style.display, style.characters) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(236, "48;5;236"), ("#0a0b0c", "48;2;10;11;12"), (None, None), ("#zzzzzz", None), (256, None), (True, None)],
)
def test_a_background_is_an_index_or_a_colour(value: Any, expected: str | None) -> None:
    assert background_code(value) == expected


@pytest.mark.parametrize(
    ("wanted", "available", "expected"), [(80, None, 80), (80, 200, 80), (80, 60, 60), (0, 120, 120), (0, None, 80)]
)
def test_text_is_wrapped_at_the_smaller_of_two_widths(wanted: int, available: int | None, expected: int) -> None:
    assert wrap_width(wanted, available) == expected


def test_terminals_that_can_not_follow_links_get_their_targets() -> None:
    for environ in ({"TERM_PROGRAM": "Apple_Terminal"}, {"TERM": "linux"}):
        assert not markdown_style(STYLE, environ=environ, width=80).hyperlinks
