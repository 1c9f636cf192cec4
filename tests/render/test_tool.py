"""Calls and results of tools as text: how much of them, and that nothing in them is more than text."""

from __future__ import annotations

import json
import time
from pathlib import PurePosixPath
from typing import Any

import pytest
from msgspec.structs import replace

from jp.config.sections.tools import Command, ErrorStyle
from jp.render.style import MarkdownStyle
from jp.render.tool import (
    APPROVAL_ROWS,
    DEFAULT,
    PREVIEW_LINES,
    Look,
    approval,
    call,
    call_message,
    label,
    result,
    result_message,
)
from jp.terminal.width import display_width
from tests.render.showing import Screen, plain

PIPE = Look()
TTY = Look(MarkdownStyle(), 60)
CALL = replace(DEFAULT, parameters="function_call")
CUSTOM = replace(DEFAULT, parameters=Command("fmt", [], False))
ARGUMENTS: dict[str, Any] = {"path": "src/a.rs", "start_line": 3}
DIFF = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n"
HOSTILE = "a\x1b[2J\x1b]0;title\x07b\x9b5mc\x08\rd"


@pytest.mark.parametrize(
    ("name", "source", "shown"),
    [
        ("ls", None, "ls"),
        ("ls", "local", "ls"),
        ("gh", "mcp.github.search", "github/search"),
        ("gh", "mcp.github", "github/gh"),
        ("a\nb\x1b[2J", "builtin", "a b"),
    ],
)
def test_a_tool_of_a_server_is_shown_with_it(name: str, source: str | None, shown: str) -> None:
    assert label(name, source) == shown


# -- calls


def test_arguments_are_json_in_the_call() -> None:
    text = call("fs_read_file", ARGUMENTS, DEFAULT, PIPE)
    assert text == 'Calling tool fs_read_file({\n  "path": "src/a.rs",\n  "start_line": 3\n})\n'
    assert plain(call("fs_read_file", ARGUMENTS, DEFAULT, TTY)) == text
    assert call("now", {}, DEFAULT, PIPE) == "Calling tool now()\n"


def test_json_is_highlighted_where_there_may_be_colour() -> None:
    screen = Screen(call("ls", ARGUMENTS, DEFAULT, TTY))
    assert screen.style("src/a.rs")["fg"] != Screen("plain").style("plain")["fg"]
    assert "38;" not in call("ls", ARGUMENTS, DEFAULT, Look(MarkdownStyle(colour=False), 60))
    assert "38;" not in call("ls", ARGUMENTS, DEFAULT, Look(MarkdownStyle(code_colour=False), 60))


def test_a_call_on_one_line() -> None:
    text = call("fs_read_file", ARGUMENTS, CALL, Look(columns=80))
    assert text == 'Calling tool fs_read_file(path: "src/a.rs", start_line: 3)\n'
    assert call("a", {'x: 1, "y': 2}, CALL, PIPE) == 'Calling tool a("x: 1, \\"y": 2)\n'


@pytest.mark.parametrize("columns", [1, 20, 40, 80, None])
@pytest.mark.parametrize("value", ["x" * 10_000, "端" * 10_000, ["y"] * 5000, {"a": {"b": "z" * 5000}}, "\n" * 500])
def test_a_call_on_one_line_fits_the_terminal(columns: int | None, value: object) -> None:
    text = call("ls", {"path": "src", "value": value}, CALL, Look(columns=columns))
    assert text.count("\n") == 1
    assert text.startswith("Calling tool ls")
    if columns != 1:
        assert "…" in text
        assert display_width(text) <= (columns or 200)
    if columns in (80, None):
        assert 'path: "src"' in text


def test_strings_are_cut_before_the_line_is() -> None:
    text = call("ls", {"a": "x" * 500, "b": "y"}, CALL, Look(columns=80))
    assert text == f'Calling tool ls(a: "{"x" * 30}…", b: "y")\n'


def test_only_the_name_of_a_call() -> None:
    off = replace(DEFAULT, parameters="off")
    assert call("ls", ARGUMENTS, off, PIPE) == "Calling tool ls\n"
    assert call("ls", ARGUMENTS, off, PIPE, formatted="x") == "Calling tool ls\n"


def test_a_hidden_tool_shows_nothing() -> None:
    hidden = replace(DEFAULT, hidden=True)
    assert call("ls", ARGUMENTS, hidden, TTY, formatted="x") == ""
    assert result("ls", "x", hidden, TTY, is_error=True, file="/x") == ""
    assert call_message("ls", ARGUMENTS, hidden) == ""
    assert result_message("ls", hidden) == ""


def test_a_diff_that_a_tool_formatted_is_coloured() -> None:
    text = call("patch", ARGUMENTS, CUSTOM, TTY, formatted=DIFF)
    assert plain(text) == f"Calling tool patch\n{DIFF}"
    screen = Screen(text)
    assert [screen.style(word)["fg"] for word in ("-old", "+new", "@@")] == [("palette", n) for n in (1, 2, 6)]
    assert screen.style("same")["fg"] == Screen("x").style("x")["fg"]
    assert call("patch", ARGUMENTS, CUSTOM, PIPE, formatted=DIFF) == plain(text)
    assert "\x1b[3" not in call("patch", ARGUMENTS, CUSTOM, Look(MarkdownStyle(colour=False)), formatted=DIFF)


def test_a_list_is_no_diff() -> None:
    assert "\x1b[3" not in call("todo", {}, CUSTOM, TTY, formatted="- one\n+ two\n")


def test_markdown_that_a_tool_formatted_is_rendered_where_it_has_a_fence() -> None:
    screen = Screen(call("x", {}, CUSTOM, TTY, configured=True, formatted="Some **bold**\n```sh\nleft open"))
    assert screen.style("bold")["bold"]
    assert "left open" in screen.text
    assert "**not**" in call("x", {}, CUSTOM, TTY, configured=True, formatted="**not** markdown")
    assert call("x", {}, CUSTOM, PIPE, configured=True, formatted="```\na\n```") == "Calling tool x\n```\na\n```\n"


def test_what_was_to_be_formatted_and_is_not_is_json() -> None:
    assert call("ls", ARGUMENTS, CUSTOM, PIPE) == call("ls", ARGUMENTS, DEFAULT, PIPE)
    assert call("ls", ARGUMENTS, CUSTOM, PIPE, formatted="") == "Calling tool ls\n"


@pytest.mark.parametrize("look", [PIPE, TTY])
def test_a_long_preview_is_bounded(look: Look) -> None:
    text = plain(call("ls", {"list": list(range(1000))}, DEFAULT, look))
    assert text.endswith(f"\n… {1000 + 4 - PREVIEW_LINES} more lines\n")
    assert text.count("\n") == PREVIEW_LINES + 1
    for lines in ("line\n" * 300, "```\n" + "line\n" * 299):
        text = plain(call("ls", {}, CUSTOM, look, formatted=lines))
        assert "… 100 more lines\n" in text
        assert text.count("line\n") <= PREVIEW_LINES
    text = call("ls", {"content": "x" * 100_000}, DEFAULT, look)
    assert len(text) < 1000


@pytest.mark.parametrize("look", [PIPE, TTY])
@pytest.mark.parametrize("style", [DEFAULT, CALL, CUSTOM])
def test_nothing_in_a_call_is_more_than_text(style: Any, look: Look) -> None:
    arguments = {HOSTILE: HOSTILE, "bidi": "\u202e"}
    formatted = f"{HOSTILE}\n```\n{HOSTILE}" if style is CUSTOM else None
    for text in (
        call(HOSTILE, arguments, style, look, formatted=formatted),
        approval(HOSTILE, arguments, style, formatted, look=look),
        call_message(HOSTILE, arguments, style),
        result(HOSTILE, HOSTILE, style, look, file=f"/{HOSTILE}"),
    ):
        assert all(c == "\n" or c.isprintable() for c in plain(text)), text


def test_arguments_of_any_depth_are_survived() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for text in (
        call("x", {"a": deep}, DEFAULT, TTY),
        call("x", {"a": deep}, CALL, TTY),
        approval("x", {"a": deep}, CALL),
    ):
        assert "nested too deeply" in text


# -- results


def lines_of(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(count))


@pytest.mark.parametrize(
    ("inline", "shown", "more"),
    [(10, 10, "… 13 more lines"), (22, 22, "… 1 more line"), (23, 23, ""), ("full", 23, "")],
)
def test_so_many_lines_of_a_result_are_shown(inline: str | int, shown: int, more: str) -> None:
    text = result("ls", lines_of(23), replace(DEFAULT, inline_results=inline), PIPE)
    expected = ["Tool ls is done", *(f"  line {number}" for number in range(shown)), *([f"  {more}"] if more else [])]
    assert text.splitlines() == expected


def test_of_a_result_nothing_is_shown() -> None:
    assert result("ls", lines_of(3), replace(DEFAULT, inline_results="off"), PIPE) == "Tool ls is done\n"
    assert result("ls", lines_of(3), replace(DEFAULT, inline_results=0), PIPE) == "Tool ls is done\n  … 3 more lines\n"
    assert result("ls", "\n\n", DEFAULT, PIPE) == "Tool ls is done\n"


def test_what_took_long_says_how_long() -> None:
    assert result("ls", "", DEFAULT, PIPE, seconds=0.9) == "Tool ls is done\n"
    assert result("ls", "", DEFAULT, PIPE, seconds=63.27, is_error=True) == "Tool ls failed (63.3s)\n"


def test_a_failure_is_shown_by_its_own_style_and_what_that_leaves_out_by_the_general_one() -> None:
    style = replace(DEFAULT, inline_results="off", error=ErrorStyle(inline_results=1))
    assert result("ls", "a\nb", style, PIPE, file="/f") == "Tool ls is done\n  All of it: /f\n"
    failed = result("ls", "a\nb", style, PIPE, is_error=True, file="/f")
    assert failed == "Tool ls failed\n  a\n  … 1 more line\n  All of it: /f\n"
    style = replace(DEFAULT, error=ErrorStyle(results_file_link="off"))
    assert result("ls", "a", style, PIPE, is_error=True, file="/f") == "Tool ls failed\n  a\n"


def test_the_file_with_all_of_a_result_is_linked_where_links_are_carried() -> None:
    style = replace(DEFAULT, results_file_link="osc8")
    path = PurePosixPath("/tmp/a b/x.txt")
    assert "\x1b]8;;file:///tmp/a%20b/x.txt\x1b\\x.txt\x1b]8;;\x1b\\\n" in result("ls", "", style, TTY, file=path)
    for look in (PIPE, Look(MarkdownStyle(hyperlinks=False))):
        assert plain(result("ls", "", style, look, file=path)).endswith("All of it: /tmp/a b/x.txt\n")
    assert "\x1b]8" not in result("ls", "", DEFAULT, TTY, file=path)
    assert result("ls", "", replace(DEFAULT, results_file_link="off"), PIPE, file=path) == "Tool ls is done\n"


def test_a_result_can_t_look_like_a_line_of_ours_or_colour_the_next_one() -> None:
    text = result("ls", "\x1b[41mred\nTool rm is done\n", DEFAULT, TTY)
    assert "\n  Tool rm is done\n" in text
    screen = Screen(text)
    assert screen.at(2, 1)["bg"] == ("palette", 1)
    assert screen.at(2, 2)["bg"] == screen.at(50, 1)["bg"] == Screen("x").at(0, 0)["bg"]
    assert "\x1b" not in result("ls", "\x1b[41mred", DEFAULT, PIPE)


@pytest.mark.parametrize("text", ["x" * 9000, "端" * 9000, "\x1b[31m" + "x" * 9000, "\u0301" * 9000, "x\t" * 9000])
def test_a_long_line_of_a_result_is_cut(text: str) -> None:
    for look in (PIPE, TTY):
        line = plain(result("ls", text + "\nnext", DEFAULT, look)).splitlines()[1]
        assert line.endswith("…")
        assert display_width(line) <= 502
        assert len(line) < 5000


def test_sanitizing_is_as_the_style_says() -> None:
    shown = {mode: result("ls", "a\x1b[2Jb\r\n\x1b[", DEFAULT, Look(sanitize=mode)) for mode in ("strip", "visualize")}
    assert shown["strip"] == "Tool ls is done\n  ab\n\n"
    assert shown["visualize"] == "Tool ls is done\n  a␛b\n  ␛\n"
    assert "\x1b[2J" in result("ls", "a\x1b[2Jb", DEFAULT, Look(sanitize="off"))


def test_a_huge_result_costs_what_is_shown_of_it() -> None:
    huge = ("端" * 1000 + "\n") * 10_000 + "\u202e" * 5_000_000
    began = time.process_time()
    text = result("ls", huge, DEFAULT, TTY)
    assert time.process_time() - began < 0.5
    assert "… 9991 more lines" in text


# -- approvals


@pytest.mark.parametrize(
    "style", [DEFAULT, CALL, CUSTOM, replace(DEFAULT, parameters="off"), replace(DEFAULT, hidden=True)]
)
def test_an_approval_shows_every_argument_whatever_the_style(style: Any) -> None:
    text = approval("ls", {"path": "x" * 1000, "n": [1, 2]}, style)
    assert text.startswith("Calling tool ls(")
    assert text.endswith(")\n")
    assert "x" * 1000 in text
    assert "n" in text
    assert "…" not in text


def test_an_approval_looks_like_the_header() -> None:
    for look in (PIPE, TTY):
        for style, formatted in ((DEFAULT, None), (CUSTOM, DIFF)):
            shown = approval("ls", ARGUMENTS, style, formatted, look=look)
            assert shown == call("ls", ARGUMENTS, style, look, formatted=formatted)
    assert approval("ls", ARGUMENTS, CALL) == 'Calling tool ls(path: "src/a.rs", start_line: 3)\n'
    assert approval("ls", ARGUMENTS, CUSTOM, " \n") == approval("ls", ARGUMENTS, DEFAULT)


@pytest.mark.parametrize(
    "code",
    [
        *(
            0x200B,
            0x200C,
            0x200D,
            0x200E,
            0x200F,
            0x202A,
            0x202B,
            0x202C,
            0x202D,
            0x202E,
            0x2066,
            0x2067,
            0x2068,
            0x2069,
        ),
        *(0x061C, 0x00AD, 0x2060, 0xFEFF, 0x00A0, 0x2028, 0x3164, 0xFE0F, 0x7F, 0x85, 0x9B, 0xE0041, 0xE0101, 0xD800),
    ],
)
@pytest.mark.parametrize("style", [DEFAULT, CALL, CUSTOM])
@pytest.mark.parametrize("look", [PIPE, TTY])
def test_in_an_approval_what_can_t_be_seen_is_an_escape(code: int, style: Any, look: Look) -> None:
    evil = f"rm{chr(code)} -rf"
    shown = f"rm\\u{code:04x} -rf" if code < 0x10000 else f"rm\\U{code:08x} -rf"
    text = approval("run", {"key": evil}, style, f"$ {evil}" if style is CUSTOM else None, look=look)
    assert shown in plain(text)
    assert chr(code) not in text
    text = approval("run", {evil: 1}, style, look=look)
    assert shown in plain(text)
    assert shown in plain(approval(evil, {}, style, look=look))


def test_in_an_approval_control_sequences_are_seen_and_colours_of_a_formatter_are_not() -> None:
    assert json.loads(approval("run", {"a": "\x1b[8mx\x9b8m"}, DEFAULT)[17:-2])["a"] == "\x1b[8mx\x9b8m"
    text = approval(
        "run", {}, CUSTOM, configured=True, formatted="\x1b[8mhidden\x1b[0m \x1b[2Jrest\r\n\x1b]0;t\x07end\x1b"
    )
    assert text == "Calling tool run\nhidden \\u001b[2Jrest\n\\u001b]0;t\\u0007end\\u001b\n"


SPLIT = (
    "git log \x1b[;make deploy",
    "git log \x9b;make deploy",
    "x \x1b[1;;make",
    "x \x1b[:make",
    "x \x1b[1m",
    "x \x9bm",
)


@pytest.mark.parametrize("evil", SPLIT)
@pytest.mark.parametrize("look", [PIPE, TTY])
@pytest.mark.parametrize("configured", [False, True])
def test_no_part_of_a_command_is_taken_for_a_colour(evil: str, look: Look, configured: bool) -> None:
    """`ESC [;m` selects nothing on a terminal, and `;m` is the next command for a shell."""
    shown = evil.replace("\x1b", "\\u001b").replace("\x9b", "\\u009b")
    arguments = {"deep": [{"command": evil}]}
    assert shown in plain(approval("run", arguments, CUSTOM, evil, configured=configured, look=look))
    assert shown in plain(call("run", arguments, CUSTOM, look, formatted=evil, configured=configured))


def test_a_colour_that_says_nothing_is_no_formatter_s() -> None:
    for text in ("a \x1b[;m b", "a \x9b;m b", "a \x1b[1;m b", "a \x1b[:m b"):
        assert "\\u00" in approval("run", {}, CUSTOM, text, configured=True)
        assert "m b" in approval("run", {}, CUSTOM, text, configured=True)
    assert approval("run", {}, CUSTOM, "a \x1b[1;31mred\x1b[m b", configured=True) == "Calling tool run\na red b\n"


def test_what_is_no_configured_command_s_is_not_markdown() -> None:
    assert "**bold**" in call("run", {}, CUSTOM, TTY, formatted="```\n**bold**\n```\n**bold**")


def test_letters_of_any_script_are_themselves_in_an_approval() -> None:
    for word in ("Grüße", "端\u3000末", "שלום", "Привет", "e\u0301", "🎉"):
        assert word in approval("say", {"text": word}, DEFAULT)


@pytest.mark.parametrize(
    "value", ["x" * 20_000, "端" * 20_000, "\u0301" * 20_000, "\u202e" * 20_000, list(range(9000))]
)
def test_a_long_approval_says_how_much_is_not_there_and_shows_what_is_short(value: object) -> None:
    arguments = {"content": value, "path": "/etc/passwd"}
    for style in (DEFAULT, CALL):
        text = approval("write", arguments, style, look=Look(columns=80))
        *shown, last = text.rstrip("\n").split("\n")
        assert '"path": "/etc/passwd"' in text
        assert sum(max(1, -(-display_width(line) // 80)) for line in shown) <= APPROVAL_ROWS
        assert last.startswith("… ")
        assert last.endswith(" more lines; p prints all")
        assert int(last.split()[1]) > 100
    assert json.loads(approval("write", arguments, DEFAULT, rows=None)[19:-2].replace("\\U", "")) == arguments


def test_a_long_diff_in_an_approval_is_counted_too() -> None:
    text = approval("patch", {}, CUSTOM, DIFF + "+x\n" * 100, look=TTY)
    assert plain(text).endswith("+x\n… 46 more lines; p prints all\n")
    assert plain(text).count("\n") == 1 + APPROVAL_ROWS + 1
    assert "…" not in approval("patch", {}, CUSTOM, DIFF + "+x\n" * 100, rows=None)


def test_a_huge_approval_costs_what_is_shown_of_it() -> None:
    began = time.process_time()
    approval("write", {"content": "\u202e端\n" * 1_000_000, "x": 1}, DEFAULT, look=TTY)
    assert time.process_time() - began < 1.0


# -- records


def test_messages_for_json_are_one_line() -> None:
    assert call_message("ls", {"a": "\n", "b": "x" * 1000}, DEFAULT) == f'Calling tool ls(a: "\\n", b: "{"x" * 60}…")'
    assert call_message("ls", ARGUMENTS, replace(DEFAULT, parameters="off")) == "Calling tool ls"
    assert result_message("ls", DEFAULT, seconds=1.26) == "Tool ls is done (1.3s)"
    assert result_message("ls", DEFAULT, is_error=True) == "Tool ls failed"
