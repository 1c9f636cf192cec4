"""What a plugin prints: which channel, in which form, and what never reaches a terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import jp.log
from jp.plugin import printing
from jp.plugin.messages import Print
from jp.plugin.printing import CHANNELS, FORMATS, Printing
from jp.terminal.capabilities import ChannelCaps, Format
from jp.terminal.printer import Printer
from tests.render.configured import STYLE
from tests.render.showing import Screen, plain

if TYPE_CHECKING:
    from jp.config.sections.style import Style

TERMINAL = ChannelCaps(escapes=True, addressable=True)
FILE = ChannelCaps(escapes=True, addressable=False)
PIPE = ChannelCaps(escapes=False, addressable=False)
STDERR = [channel for channel in CHANNELS if channel != "content"]
GREY = ("palette", 236)
ROOT = Path(__file__).parents[2]


class Shown:
    """A plugin's run on a Printer in memory, 60 columns wide."""

    def __init__(self, out: ChannelCaps = TERMINAL, err: ChannelCaps = TERMINAL, **options: Any) -> None:
        self.style: Style = replace(
            STYLE,
            sanitize=options.pop("sanitize", STYLE.sanitize),
            reasoning=replace(STYLE.reasoning, display=options.pop("display", "full")),
            tool_call=replace(STYLE.tool_call, show=options.pop("show", True)),
            code=replace(STYLE.code, line_numbers=options.pop("numbers", False)),
        )
        environ = {"COLUMNS": "60", **options.pop("environ", {})}
        self.printer, self._out, self._err = Printer.memory_with(
            options.pop("format", Format.AUTO), out, err, environ=environ, **options
        )
        self.printing = Printing(self.printer, self.style, environ, "demo")

    def print(self, text: str, channel: str = "content", format_: str = "plain", **more: Any) -> Shown:
        self.printing.show(Print(text=text, channel=channel, format=format_, **more))
        return self

    def end(self) -> Shown:
        self.printing.end()
        return self

    @property
    def out(self) -> str:
        return self._out.text

    @property
    def err(self) -> str:
        return self._err.text

    @property
    def screen(self) -> str:
        """Both streams, in order, without styles and the spaces that a background takes."""
        return "\n".join(line.rstrip() for line in plain(self.printer.transcript.text).split("\n"))


# --- plain text


@pytest.mark.req("D60-88", "D60-89", "D60-95")
@pytest.mark.parametrize("caps", [TERMINAL, FILE, PIPE])
def test_plain_content_is_on_stdout_to_the_byte(caps: ChannelCaps) -> None:
    pieces = ["one", " two\n", "\n\n  **three** `x` <b>\n", "# four", "\t5 你好 🎈"]
    shown = Shown(caps, caps)
    for piece in pieces:
        shown.print(piece)
        assert shown.out.endswith(piece)
    assert shown.end().out == "".join(pieces)
    assert shown.err == ""


@pytest.mark.req("D60-88")
@pytest.mark.parametrize("caps", [TERMINAL, PIPE])
def test_what_sets_plain_content_apart_is_never_on_stdout(caps: ChannelCaps) -> None:
    shown = Shown(caps, caps)
    for channel in STDERR:
        shown.print("a").print("x", channel).print("b\n").print("*y*", channel, "markdown")
    assert shown.end().out == "ab\n" * len(STDERR)


@pytest.mark.req("D60-90")
@pytest.mark.parametrize("caps", [TERMINAL, PIPE])
def test_chrome_is_on_stderr_as_it_is(caps: ChannelCaps) -> None:
    shown = Shown(caps, caps)
    shown.print("10%", "chrome").print(" 20%\n", "chrome").print("*done*\n", "chrome").end()
    assert (shown.out, shown.err) == ("", "10% 20%\n*done*\n")


def test_on_a_terminal_no_text_runs_into_that_of_another_channel() -> None:
    shown = Shown()
    shown.print("content").print("chrome", "chrome").print("more\n").print("x", "chrome").print("call", "tool_call")
    shown.print("more").print("bad", "error").print("end").end()
    assert shown.out == "contentmore\nmoreend"
    assert shown.screen == "content\nchrome\nmore\nx\n\ncall\n\nmore\njp-demo: bad\nend"


@pytest.mark.req("D60-101")
def test_a_status_line_leaves_nothing_of_itself() -> None:
    for channel in CHANNELS:
        for format_ in FORMATS:
            shown = Shown()
            status = shown.printer.status("Running a plugin…")
            assert "Running" in Screen(shown.printer.transcript.text).text
            shown.print('"words"\n', channel, format_)
            status.end()
            shown.end()
            assert "words" in Screen(shown.printer.transcript.text).text
            assert "Running" not in Screen(shown.printer.transcript.text).text, (channel, format_)


# --- channels


@pytest.mark.req("D60-89", "D60-90", "D60-91", "D60-92", "D60-93", "D60-94")
@pytest.mark.parametrize("caps", [TERMINAL, FILE, PIPE])
@pytest.mark.parametrize("format_", FORMATS)
def test_content_is_on_stdout_and_everything_else_on_stderr(caps: ChannelCaps, format_: str) -> None:
    for channel in CHANNELS:
        shown = Shown(caps, caps).print('"words"', channel, format_).end()
        assert ("words" in shown.out) == (channel == "content"), channel
        assert ("words" in shown.err) == (channel != "content"), channel


@pytest.mark.req("D60-94")
def test_an_error_looks_like_one_and_says_who_it_is_from() -> None:
    shown = Shown(PIPE, PIPE).print("it failed\nfor a reason\n", "error").print('{"a": 1}', "error", "json").end()
    assert shown.err == 'jp-demo: it failed\n    for a reason\njp-demo:\n{\n  "a": 1\n}\n'
    assert Shown().print("it failed", "error").end().err == "\x1b[1;31mjp-demo:\x1b[0m it failed\n"
    assert Shown(environ={"NO_COLOR": "1"}).print("it failed", "error").err == "jp-demo: it failed\n"
    shown = Shown().print("a", "chrome").print("it failed", "error").print("call", "tool_call").end()
    assert shown.screen == "a\njp-demo: it failed\ncall\n"
    assert Shown().print("\n", "error").print("", "error", "code").end().err == ""


@pytest.mark.req("D60-91", "D60-92")
def test_lines_about_tools_stand_together_and_blocks_of_them_apart() -> None:
    shown = Shown(PIPE, PIPE)
    shown.print("Calling a", "tool_call").print("Calling b\n", "tool_call").print("a result", "tool_result")
    shown.print("of two\nlines\n", "tool_result").print("Calling c", "tool_call").end()
    assert shown.err == "Calling a\nCalling b\n  a result\n\n  of two\n  lines\n\nCalling c\n"


@pytest.mark.req("D60-91", "D60-92")
def test_tools_are_set_apart_from_other_blocks_as_in_a_turn() -> None:
    shown = Shown()
    shown.print("thinking", "reasoning").print("call", "tool_call").print("*answer*", format_="markdown")
    shown.print("call", "tool_call").print("plain\n").print("call", "tool_call").end()
    assert shown.screen == "thinking\n\ncall\n\nanswer\n\ncall\n\nplain\n\ncall\n"
    screen = Screen(shown.printer.transcript.text)
    assert screen.style("call")["bg"] == GREY  # of the reasoning before it
    assert screen.style("answer")["bg"] != GREY
    shown = Shown().print("thinking", "reasoning").print("*chrome*", "chrome", "markdown").end()
    assert Screen(shown.err).style("chrome")["bg"] != GREY


@pytest.mark.req("D60-91", "D60-92")
@pytest.mark.parametrize("format_", [Format.AUTO, Format.JSON])
def test_tools_are_hidden_where_the_style_says_so(format_: Format) -> None:
    shown = Shown(format=format_, show=False).print("a", "tool_call").print("*b*", "tool_result", "markdown").end()
    assert (shown.out, shown.err) == ("", "")


@pytest.mark.req("D60-91", "D60-92")
def test_a_style_that_a_tool_line_sets_ends_with_it() -> None:
    for channel in ("tool_call", "tool_result"):
        screen = Screen(Shown().print("\x1b[31mred", channel).print("next", channel).end().err)
        assert screen.style("red")["fg"] != screen.style("next")["fg"]


@pytest.mark.req("D60-93")
def test_reasoning_is_shown_on_its_background_and_goes_on_while_it_is_plain() -> None:
    shown = Shown()
    shown.print("one *two* ", "reasoning")
    assert "two" in shown.err  # before its line is complete
    shown.print("three\nfour", "reasoning").print("**five**", "reasoning", "markdown").end()
    assert shown.screen == "one *two* three\nfour\n\nfive\n"
    screen = Screen(shown.err)
    for word in ("one", "three", "four", "five"):
        assert screen.style(word)["bg"] == GREY
    assert screen.style("five")["bold"]
    assert Screen(Shown(environ={"NO_COLOR": "1"}).print("dim", "reasoning").end().err).style("dim")["faint"]


@pytest.mark.req("D60-93")
@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ("full", "one two\n\nthree\n"),
        ("summary", "one two …\n"),
        (5, "one t …\n"),
        ("static", "Reasoning…\n"),
        ("hidden", ""),
        ("progress", ""),
        ("timer", ""),
    ],
)
def test_reasoning_is_shown_as_configured(display: str | int, expected: str) -> None:
    for format_ in ("plain", "markdown", "code"):
        for caps in (TERMINAL, PIPE):
            shown = Shown(caps, caps, display=display).print("one two\n\nthree", "reasoning", format_).end()
            assert shown.screen == expected, (format_, caps)
    shown = Shown(PIPE, PIPE, display=display)
    for piece in "one two\n\nthree":
        shown.print(piece, "reasoning")
    assert shown.end().err == expected
    shown = Shown(PIPE, PIPE, display=display, format=Format.JSON).print("one two\n\nthree", "reasoning")
    assert "".join(json.loads(line)["text"] for line in shown.err.splitlines()) == expected.removesuffix("\n")
    shown = Shown(PIPE, PIPE, display=display, format=Format.JSON)
    for piece in "one two\n\nthree":
        shown.print(piece, "reasoning")
    assert "".join(json.loads(line)["text"] for line in shown.err.splitlines()) == expected.removesuffix("\n")


def test_what_is_not_known_is_plain_content_and_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[bytes] = []
    monkeypatch.setattr(jp.log, "_write", lines.append)
    monkeypatch.setattr(jp.log, "_level", jp.log.WARN)
    shown = Shown().print("*a*", "side", "html").print("*b*", "content", "html").print("*c*", "side").print("*d*").end()
    assert (shown.out, shown.err) == ("*a**b**c**d*", "")
    logged = [json.loads(line) for line in lines]
    assert len(logged) == 3
    assert {(line["level"], line["target"]) for line in logged} == {("WARN", "plugin")}
    assert logged[0]["fields"] == {"plugin": "jp-demo", "channel": "side", "format": "html"}


@pytest.mark.parametrize("format_", [Format.AUTO, Format.JSON])
def test_quiet_silences_all_but_content_and_errors(format_: Format) -> None:
    for each in FORMATS:
        shown = Shown(PIPE, PIPE, format=format_, quiet=True)
        for channel in CHANNELS:
            shown.print('"words"', channel, each)
        shown.end()
        assert shown.out.count("words") == 1
        assert shown.err.count("words") == 1
        assert "demo" in shown.err or '"error"' in shown.err


# --- formats


@pytest.mark.req("D60-96")
def test_markdown_is_rendered_at_the_width_in_force_where_the_channel_has_escapes() -> None:
    text = "# Title\n\nSome **bold** " + "words " * 30
    shown = Shown().print(text, format_="markdown").end()
    for channel in CHANNELS:
        other = Shown().print("word " * 99, channel, "markdown").end()
        assert max(len(line) for line in other.screen.split("\n")) in range(55, 61), channel
    screen = Screen(shown.out)
    assert screen.style("bold")["bold"]
    assert screen.style("Title")["fg"] != screen.style("Some")["fg"]
    assert Shown(PIPE).print(text, format_="markdown").end().out == text + "\n"


@pytest.mark.req("D60-96")
def test_each_print_of_markdown_is_a_message_of_its_own_and_complete() -> None:
    for caps in (TERMINAL, PIPE):
        shown = Shown(caps, caps).print("```sh\nls", format_="markdown")
        assert shown.screen.endswith("ls\n")
        shown.print("| a | b |\n|---|---|\n| 1 | 2 |", format_="markdown")
        assert "2" in shown.screen
        shown.print("last", format_="markdown")
        assert shown.screen.endswith("\n\nlast\n")
        shown.print("plain").print("*m*", format_="markdown").end()
        assert shown.screen.endswith("plain\n\n*m*\n" if caps is PIPE else "\n\nplain\n\nm\n")


@pytest.mark.req("D60-97")
def test_json_is_indented_and_highlighted_where_the_channel_has_escapes() -> None:
    text, pretty = '{"b":[1,2],"a":"\\u00e9"}', '{\n  "b": [\n    1,\n    2\n  ],\n  "a": "\\u00e9"\n}\n'
    assert Shown(PIPE).print(text, format_="json").end().out == pretty
    shown = Shown().print(text, format_="json").end()
    assert (shown.screen, "\x1b[38;" in shown.out) == (pretty, True)
    shown = Shown(environ={"NO_COLOR": "1"}).print(text, format_="json").end()
    assert shown.out == pretty


@pytest.mark.req("D60-97", "D60-95")
@pytest.mark.parametrize("text", ["", "{", "[1,]", "nope\n", " *a* ", "{} {}", "[" * 5000])
def test_what_is_no_json_is_plain(text: str) -> None:
    assert Shown().print(text, format_="json").print("b").end().out == text + "b"


@pytest.mark.req("D60-97")
def test_json_that_would_grow_beyond_measure_is_shown_as_it_came() -> None:
    deep = "[" * 900 + ",".join("1" * 1000) + "]" * 900
    assert Shown(PIPE).print(deep, format_="json").end().out == deep + "\n"
    quoted = '["' + "[" * 900 + '\\""]'
    assert Shown(PIPE).print(quoted, format_="json").end().out == f"[\n  {quoted[1:-1]}\n]\n"


MARKED = st.text('[]{}",\\é:x', max_size=3)
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(0, 9), MARKED),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(MARKED, inner, max_size=3)),
    max_leaves=40,
)


@settings(max_examples=200, deadline=None)
@given(value=VALUES, deep=st.integers(0, 60), spaced=st.booleans())
def test_what_json_grows_to_has_a_bound(value: Any, deep: int, spaced: bool) -> None:
    for _ in range(deep):
        value = [value]
    text = json.dumps(value, separators=None if spaced else (",", ":"), ensure_ascii=False)
    pretty = json.dumps(value, indent=2, ensure_ascii=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printing, "LONGEST", 64)
        shown = printing._pretty(text)
    assert shown in (text, pretty)
    assert shown is not None
    assert len(shown) <= max(64, printing.GROWN * len(text))
    assert printing._pretty(text) == pretty


@pytest.mark.parametrize(
    "text",
    [
        "[" * 98 + "1," * 500_000 + "1" + "]" * 98,
        "[" + "[]," * 349_000 + "1]",
        "[" + '{"a":[{"b":[1,2]}]},' * 52_000 + "1]",
        "[" + '"\\"",' * 200_000 + "1]",
        "[" + "1," * 520_000 + "1]",
    ],
    ids=lambda text: text[-10:],
)
def test_json_as_long_as_may_be_holds_up_nobody(text: str) -> None:
    assert len(text) <= printing.LONGEST_JSON
    taken = []
    for _ in range(3):
        began = time.thread_time()
        shown = printing._pretty(text)
        taken.append(time.thread_time() - began)
    assert shown is not None
    assert len(shown) <= printing.GROWN * len(text)
    assert min(taken) < 0.1


def test_json_as_people_write_it_is_indented_as_long_as_may_be() -> None:
    value = [{"name": "hello", "value": 12.5, "tags": ["a", "b"], "more": {"deep": [{"x": n}]}} for n in range(13_000)]
    text = json.dumps(value, separators=(",", ":"))
    assert len(text) > 900_000
    assert printing._pretty(text) == json.dumps(value, indent=2)


@pytest.mark.req("D60-98")
def test_code_is_highlighted_without_fences_where_the_channel_has_escapes() -> None:
    text = "def f(a):\n    return '``` *a*'\n\n```\nf(1)"
    for channel in ("content", "chrome", "tool_call", "reasoning"):
        shown = Shown().print(text, channel, "code", language="python").end()
        assert shown.screen == text + "\n"
        screen = Screen(shown.printer.transcript.text)
        assert screen.style("def")["fg"] != screen.style("(a)")["fg"]
        shown = Shown().print(text, channel, "code").end()
        assert shown.screen == text + "\n"
        assert "38;" not in shown.out + shown.err
        assert Shown(PIPE, PIPE).print(text, channel, "code", language="python").end().screen == text + "\n"


def test_lines_of_code_are_numbered_where_the_style_says_so_and_no_others() -> None:
    shown = Shown(numbers=True).print("a\n\nb", format_="code").print("c", "reasoning").print("d").end()
    assert shown.screen == "   1 a\n   2\n   3 b\n\nc\n\nd"


@pytest.mark.parametrize("language", ["", " ", "klingon", "python" * 5000, None])
def test_a_language_that_nobody_knows_is_none(language: str | None) -> None:
    assert Shown().print("if a: b", format_="code", language=language).end().out == "if a: b\n"


def test_what_is_too_long_to_be_rendered_is_shown_as_it_is() -> None:
    text = "**a** " * (printing.LONGEST // 6 + 1)
    for format_ in ("markdown", "code"):
        for channel in CHANNELS:
            shown = Shown().print(text, channel, format_, language="python").end()
            assert "**a** **a**" in shown.out + shown.err, (channel, format_)


# --- what never gets through


@pytest.mark.req("D60-100")
@pytest.mark.parametrize(("sanitize", "mark"), [("strip", ""), ("visualize", "␛")])
@pytest.mark.parametrize("channel", CHANNELS)
def test_control_sequences_do_nothing_also_when_they_are_cut_in_two(channel: str, sanitize: str, mark: str) -> None:
    text = "a\x1b[2Jb\x1b]0;title\x07c\x1bPq\x1b\\d\x9b5me"
    for pieces in ([text], list(text)):
        shown = Shown(sanitize=sanitize)
        for piece in pieces:
            shown.print(piece, channel)
        shown.end()
        joined = "".join(shown.screen.replace("jp-demo:", "").split())
        assert joined == f"a{mark}b{mark}c{mark}d{mark if sanitize == 'visualize' else ''}e"


@pytest.mark.req("D60-100")
def test_colours_pass_and_what_is_left_open_ends_with_the_run() -> None:
    shown = Shown().print("\x1b[31mred\x1b[8m hidden\x1b[0m \x1b[1mbold").print("\x1b[3").end()
    assert shown.out == "\x1b[31mred hidden\x1b[0m \x1b[1mbold\x1b[0m"
    assert Shown(sanitize="visualize").print("a\x1b[3").end().out == "a␛"


def test_a_style_that_plain_text_leaves_in_force_is_not_that_of_the_next_block() -> None:
    for channel in ("content", "chrome"):
        shown = Shown().print("\x1b[31mred\n", channel).print("*call*", "tool_call", "markdown").print("e", "error")
        screen = Screen(shown.printer.transcript.text)
        assert screen.style("call")["fg"] != screen.style("red")["fg"]
    shown = Shown().print("\x1b[31mred").print("chrome", "chrome")
    assert Screen(shown.printer.transcript.text).style("chrome")["fg"] == Screen("a").style("a")["fg"]
    assert Shown(PIPE).print("\x1b[31mred\n").end().out == "red\n"


@pytest.mark.req("D60-100")
def test_a_block_is_not_part_of_a_sequence_that_was_begun_before_it() -> None:
    assert Shown(PIPE).print("a\x1b[").print('{"b":1}', format_="json").end().out == 'a\n\n{\n  "b": 1\n}\n'
    assert Shown(PIPE).print("a\x1b[", format_="markdown").print("2Jb").end().out == "a\n2Jb"


PIECES = ["a", " ", "\n", "\t", "\r", "**", "`", "```", "[x](http://u)", '{"a":1}', "|", "-", "你", "31m", "8;;u"]
PIECES += ["\x1b", "\x1b[", "\x1b[31m", "\x1b[8m", "\x1b[2J", "\x1b]0;", "\x07", "\x1b\\", "\x1bP"]
PIECES += ["\x9b", "\x9d", "\x7f", "\x00"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
PRINTS = st.lists(
    st.tuples(TEXTS, st.sampled_from([*CHANNELS, "x"]), st.sampled_from([*FORMATS, "x"]), st.sampled_from(["", "sh"])),
    max_size=8,
)
_OURS = re.compile("\x1b(?:\\[[0-9;:]*m|\\]8;(?:id=jp\\d+)?;[!-~]*\x1b\\\\)")


@pytest.mark.req("D60-99", "D60-100")
@settings(max_examples=150, deadline=None)
@given(prints=PRINTS, format_=st.sampled_from([Format.AUTO, Format.JSON]), quiet=st.booleans())
def test_no_channel_gets_an_escape_that_it_can_not_carry(
    prints: list[tuple[str, str, str, str]], format_: Format, quiet: bool
) -> None:
    for out, err in ((TERMINAL, TERMINAL), (PIPE, FILE), (FILE, PIPE)):
        shown = Shown(out, err, format=format_, quiet=quiet)
        for text, channel, format_name, language in prints:
            shown.print(text, channel, format_name, language=language)
        shown.end()
        for caps, text in ((out, shown.out), (err, shown.err)):
            left = _OURS.sub("", text) if caps.escapes else text
            if format_.is_json:
                assert [json.loads(line)["type"] for line in text.split("\n")[:-1]] == ["print"] * text.count("\n")
                left = left.replace("\x7f", "").replace("\x9b", "").replace("\x9d", "")
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", left)


@pytest.mark.req("D60-88", "D60-95")
@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["C"])), st.sampled_from(CHANNELS)), max_size=12))
def test_stdout_is_the_plain_content_whatever_is_printed_in_between(prints: list[tuple[str, str]]) -> None:
    for caps in (TERMINAL, PIPE):
        shown = Shown(caps, caps)
        for text, channel in prints:
            shown.print(text, channel)
        assert shown.end().out == "".join(text for text, channel in prints if channel == "content")


# --- records


@pytest.mark.req("D60-102")
def test_under_json_each_print_is_a_record_on_its_stream() -> None:
    shown = Shown(format=Format.JSON)
    for channel in CHANNELS:
        for format_ in FORMATS:
            shown.print("a\nb\x1b[2J é", channel, format_, language="sh")
    shown.print("c", language=None).print("d", "side", "html").end()
    out, err = ([json.loads(line) for line in text.splitlines()] for text in (shown.out, shown.err))
    first = {"type": "print", "channel": "content", "format": "plain", "text": "a\nb\x1b[2J é", "language": "sh"}
    assert out[0] == first
    assert out == [
        *({**first, "format": format_} for format_ in FORMATS),
        {"type": "print", "channel": "content", "format": "plain", "text": "c"},
        {"type": "print", "channel": "content", "format": "plain", "text": "d"},
    ]
    assert err == [{**first, "channel": channel, "format": format_} for channel in STDERR for format_ in FORMATS]


@pytest.mark.req("D60-102")
def test_under_json_pretty_stdout_alone_is_indented() -> None:
    shown = Shown(format=Format.JSON_PRETTY).print("a").print("b", "chrome").print("c", "error").end()
    assert shown.out.startswith('{\n  "type": "print",\n')
    assert [json.loads(line)["text"] for line in shown.err.splitlines()] == ["b", "c"]


# --- what it costs


@pytest.mark.parametrize("format_", [Format.AUTO, Format.JSON])
@pytest.mark.parametrize("caps", [TERMINAL, PIPE])
def test_it_tells_how_much_it_has_written(format_: Format, caps: ChannelCaps) -> None:
    text = '[1,[2,"*a* | é"]]\n' * 3
    for channel in CHANNELS:
        for each in FORMATS:
            shown = Shown(caps, caps, format=format_)
            told = [shown.printing.show(Print(text=more, channel=channel, format=each)) for more in (text, "[1]", "")]
            written = len(shown.out) + len(shown.err)
            assert sum(told) <= written + 40
            assert sum(told) >= written * 0.8, (channel, each)
    assert Shown(quiet=True).printing.show(Print(text="a", channel="chrome")) == 0


def test_many_prints_and_long_ones_are_cheap() -> None:
    shown = Shown(PIPE, PIPE)
    began = time.process_time()
    for index in range(10_000):
        shown.print(f"line {index}\n")
    assert time.process_time() - began < 2.0
    text = "x" * 79 + "\n"
    shown = Shown(PIPE, PIPE).print(text * 50_000)
    assert shown.end().out == text * 50_000


LOADS = """
import sys
from jp.plugin.messages import Print
from jp.plugin.printing import CHANNELS, FORMATS, Printing
from jp.terminal.capabilities import ChannelCaps, Format
from jp.terminal.printer import Printer
from tests.render.configured import STYLE
printer, out, err = Printer.memory_with(Format.AUTO, *[ChannelCaps(ESCAPES, False)] * 2)
printing = Printing(printer, STYLE, {}, "demo")
for channel in CHANNELS:
    for format in FORMATS:
        printing.show(Print(text='{"a": 1}', channel=channel, format=format, language="python"))
printing.end()
print(*{"pygments", "wcwidth", "jp.render.markdown", "jp.render.page"} & set(sys.modules))
"""


def test_a_channel_without_escapes_loads_nothing_of_markdown() -> None:
    for escapes in (False, True):
        code = LOADS.replace("ESCAPES", str(escapes))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        assert bool(done.stdout.split()) == escapes, done.stdout
