"""A turn as it is shown: what goes to which channel, rendered or as the source."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from jp.render.chat import Chat
from jp.render.tool import DEFAULT
from jp.terminal.capabilities import ChannelCaps, Format
from jp.terminal.printer import Printer
from jp.terminal.target import Target
from tests.render.configured import STYLE
from tests.render.showing import Screen, plain

TERMINAL = ChannelCaps(escapes=True, addressable=True)
PIPE = ChannelCaps(escapes=False, addressable=False)


class Shown:
    """A chat on a Printer in memory."""

    def __init__(self, out: ChannelCaps = TERMINAL, err: ChannelCaps = TERMINAL, **options: Any) -> None:
        style = replace(
            STYLE,
            sanitize=options.get("sanitize", STYLE.sanitize),
            reasoning=replace(
                STYLE.reasoning,
                display=options.get("display", STYLE.reasoning.display),
                extend_across_tool_calls=options.get("extend", True),
            ),
            tool_call=replace(STYLE.tool_call, show=options.get("show", True)),
            markdown=replace(STYLE.markdown, wrap_width=40),
            typewriter=options.get("typewriter", STYLE.typewriter),
        )
        environ = options.get("environ", {})
        self.printer, self._out, self._err = Printer.memory_with(
            options.get("format", Format.AUTO), out, err, environ=environ, quiet=options.get("quiet", False)
        )
        self.chat = Chat(
            self.printer,
            style,
            hide_reasoning=options.get("hide", False),
            hide_tool_calls=options.get("hide_tools", False),
            environ=environ,
        )

    @property
    def out(self) -> str:
        return self._out.text

    @property
    def err(self) -> str:
        return self._err.text

    @property
    def screen(self) -> str:
        return plain(self.printer.transcript.text)


def test_a_piped_reply_is_its_source_text_as_it_comes() -> None:
    shown = Shown(out=PIPE)
    assert shown.chat.message("# Ti")
    assert shown.out == "# Ti"
    shown.chat.message("tle\n\n- *a* ")
    assert shown.out == "# Title\n\n- *a* "
    shown.chat.end()
    assert shown.out == "# Title\n\n- *a* \n"


@pytest.mark.parametrize("text", ["a", "a\n", "a\n\n\n", "\n\na\n\n"])
def test_a_piped_reply_ends_with_exactly_one_line_end(text: str) -> None:
    for pieces in ([text], list(text)):
        shown = Shown(out=PIPE)
        for piece in pieces:
            shown.chat.message(piece)
        shown.chat.end()
        assert shown.out == "a\n"


def test_indentation_at_the_beginning_of_a_reply_is_kept() -> None:
    shown = Shown(out=PIPE)
    for piece in ("\n", "  ", "  a"):
        shown.chat.message(piece)
    assert shown.out == "    a"


def test_empty_lines_inside_a_piped_reply_are_kept() -> None:
    shown = Shown(out=PIPE)
    for piece in ("a\n", "\n", "\n", "b\n"):
        shown.chat.message(piece)
    assert shown.out == "a\n\n\nb\n"


@pytest.mark.req("104-93", "104-94")
def test_each_channel_is_rendered_by_its_own_capability() -> None:
    for out, err in ((TERMINAL, PIPE), (PIPE, TERMINAL)):
        shown = Shown(out, err)
        shown.chat.reasoning("**r** [l](http://u)")
        shown.chat.message("**m** [l](http://u)")
        shown.chat.end()
        for caps, text in ((out, shown.out), (err, shown.err)):
            assert ("\x1b[1m" in text) == caps.escapes
            assert ("\x1b]8;" in text) == caps.escapes
            assert ("**" in text) != caps.escapes


@pytest.mark.req("104-114")
def test_stdout_gets_the_reply_and_nothing_else_whatever_the_format() -> None:
    for out, format_ in ((PIPE, Format.AUTO), (PIPE, Format.TEXT), (TERMINAL, Format.TEXT_PRETTY)):
        shown = Shown(out, format=format_)
        shown.chat.reasoning("thinking\n")
        shown.chat.message("answer")
        shown.chat.tool_call("ls", {"path": "."})
        shown.chat.tool_result("ls")
        shown.chat.reasoning("more")
        shown.chat.message("the end")
        shown.chat.end()
        assert plain(shown.out) == "answer\n\nthe end\n"
        for word in ("thinking", "ls", "more"):
            assert word in shown.err


@pytest.mark.req("104-116")
def test_on_a_terminal_all_of_it_stands_in_order_and_apart() -> None:
    shown = Shown()
    shown.chat.reasoning("hm")
    shown.chat.message("a")
    shown.chat.tool_call("ls", {"path": "."})
    shown.chat.tool_result("ls", is_error=True)
    shown.chat.message("b")
    shown.chat.end()
    lines = [line.rstrip() for line in shown.screen.split("\n")]
    call = ["Calling tool ls({", '  "path": "."', "})"]
    assert lines == ["hm", "", "a", "", *call, "", "Tool ls failed", "", "b", ""]


def test_reasoning_has_its_background_and_without_colour_is_dim() -> None:
    shown = Shown()
    shown.chat.reasoning("hm")
    shown.chat.end()
    assert Screen(shown.err).style("hm")["bg"] == ("palette", 236)
    shown = Shown(environ={"NO_COLOR": "1"})
    shown.chat.reasoning("hm")
    shown.chat.end()
    assert Screen(shown.err).style("hm") == {**Screen("hm").style("hm"), "faint": True}


def test_colour_is_left_out_for_no_color_and_bold_stays() -> None:
    shown = Shown(environ={"NO_COLOR": "1"})
    shown.chat.message("**a** `b`\n```python\nif c\n```")
    shown.chat.end()
    assert "38;" not in shown.out
    assert "\x1b[1m" in shown.out
    assert "`b`" in shown.out


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ("full", "one two\n\nthree\n"),
        ("summary", "one two …\n"),
        (5, "one t …\n"),
        (100, "one two\n\nthree\n"),
        ("static", "Reasoning…\n"),
        ("hidden", ""),
        ("progress", ""),
        ("timer", ""),
    ],
)
def test_reasoning_is_shown_as_configured(display: str | int, expected: str) -> None:
    for pieces in (["one two\n\nthree"], list("one two\n\nthree")):
        shown = Shown(err=PIPE, display=display)
        answers = [shown.chat.reasoning(piece) for piece in pieces]
        shown.chat.end()
        assert shown.err == expected
        assert any(answers) == bool(expected)


def test_reasoning_can_be_hidden_for_a_run() -> None:
    shown = Shown(hide=True)
    assert not shown.chat.reasoning("hm")
    shown.chat.message("a")
    shown.chat.end()
    assert shown.err == ""


def test_quiet_silences_what_is_not_the_reply() -> None:
    shown = Shown(out=PIPE, err=PIPE, quiet=True)
    shown.chat.reasoning("hm")
    shown.chat.message("a")
    shown.chat.tool_call("ls")
    shown.chat.message("b")
    shown.chat.end()
    assert (shown.out, shown.err) == ("a\n\nb\n", "")


def test_white_space_between_two_pieces_of_reasoning_ends_nothing() -> None:
    shown = Shown(err=PIPE)
    for kind, piece in (("r", "a"), ("m", "\n\n"), ("r", "b"), ("m", "c")):
        (shown.chat.reasoning if kind == "r" else shown.chat.message)(piece)
    shown.chat.end()
    assert plain(shown.out) == "c\n"
    assert shown.err.startswith("ab\n")


def test_a_structured_reply_is_no_markdown() -> None:
    shown = Shown()
    for piece in ('{"a_b_c": ', '"*d*"}'):
        shown.chat.structured(piece)
    shown.chat.end()
    assert json.loads(shown.out) == {"a_b_c": "*d*"}
    assert shown.out.endswith("}\n")


@pytest.mark.parametrize("out", [TERMINAL, PIPE])
def test_control_sequences_of_the_model_reach_no_channel(out: ChannelCaps) -> None:
    text = "a\x1b[2J\x1b]0;title\x07b\x9b5mc \x1b[8md\r\x08e"
    for pieces in ([text], list(text)):
        shown = Shown(out)
        for piece in pieces:
            shown.chat.message(piece)
            shown.chat.reasoning("")
        shown.chat.end()
        assert plain(shown.out).replace(" ", "") == "abcde\n"


def test_a_sequence_left_open_at_the_end_is_dropped_or_marked() -> None:
    for sanitize, expected in (("strip", "a\n"), ("visualize", "a␛\n")):
        shown = Shown(out=PIPE, sanitize=sanitize)
        shown.chat.message("a\x1b[31")
        shown.chat.end()
        assert shown.out == expected


CALL = replace(DEFAULT, parameters="function_call")


def test_lines_about_tools_stand_together_and_blocks_of_them_apart() -> None:
    shown = Shown(err=PIPE)
    shown.chat.tool_call("a", {}, CALL)
    shown.chat.tool_call("b", {"x": 1}, CALL)
    shown.chat.tool_result("a")
    shown.chat.tool_result("b", "text")
    shown.chat.tool_call("c", {}, CALL)
    single = "Calling tool a()\nCalling tool b(x: 1)\nTool a is done\n"
    assert shown.err == f"{single}\nTool b is done\n  text\n\nCalling tool c()\n"


def test_lines_of_others_stand_as_those_about_tools() -> None:
    shown = Shown()
    shown.chat.reasoning("hm")
    assert shown.chat.lines("Calling a\n")
    assert shown.chat.lines("a is done\n")
    assert shown.chat.lines("said\n", tool=False)
    assert not shown.chat.lines("")
    assert [line.rstrip() for line in shown.screen.split("\n")] == ["hm", "", "Calling a", "a is done", "said", ""]
    screen = Screen(shown.err)
    assert [screen.style(word)["bg"] == ("palette", 236) for word in ("Calling", "done", "said")] == [True, True, False]
    hidden = Shown(show=False)
    assert not hidden.chat.lines("Calling a\n")
    assert hidden.chat.lines("said\n", tool=False)


def test_raw_text_is_exactly_that_on_its_stream_and_on_the_screen_it_is_set_apart() -> None:
    for caps in (TERMINAL, PIPE):
        shown = Shown(caps, caps)
        shown.chat.message("*a*")
        for text, target in (("b", Target.OUT), ("c", Target.OUT), ("d", Target.ERR), ("e\n", Target.OUT)):
            shown.chat.raw(text, target)
        shown.chat.tool_call("t", {}, CALL)
        shown.chat.message("*f*")
        shown.chat.end()
        if caps is PIPE:
            assert (shown.out, shown.err) == ("*a*\nbce\n\n*f*\n", "d\n\nCalling tool t()\n")
        else:
            assert plain(shown.out) == "a\nbce\n\nf\n"
            assert shown.screen == "a\n\nbc\nd\ne\n\nCalling tool t()\n\nf\n"


def test_reasoning_that_is_no_markdown_is_shown_as_it_is_or_as_code() -> None:
    shown = Shown()
    shown.chat.reasoning("*a*\n\n", code="")
    shown.chat.reasoning("\tb", code="")
    shown.chat.block_end()
    shown.chat.reasoning("if c:\n\td", code="python")
    shown.chat.end()
    lines = [line.rstrip() for line in shown.screen.split("\n")]
    assert lines == ["*a*", "", "    b", "", "if c:", "    d", ""]
    screen = Screen(shown.err)
    assert screen.style("if")["fg"] != screen.style("*a*")["fg"]
    assert {screen.style(word)["bg"] for word in ("*a*", "b", "if")} == {("palette", 236)}


def test_a_call_after_the_answer_was_ended_stands_as_one_while_it_was_open() -> None:
    texts = []
    for ended in (False, True):
        shown = Shown(err=PIPE)
        for piece in ("half a thou", "ght"):
            shown.chat.reasoning(piece)
        if ended:
            shown.chat.block_end()
        shown.chat.tool_call("ls", {}, CALL)
        if ended:
            shown.chat.block_end()
        shown.chat.tool_result("ls")
        texts.append(shown.err)
    assert texts == ["half a thought\n\nCalling tool ls()\nTool ls is done\n"] * 2


@pytest.mark.parametrize("extend", [True, False])
def test_the_background_of_reasoning_goes_on_behind_tools(extend: bool) -> None:
    shown = Shown(extend=extend)
    shown.chat.reasoning("hm")
    shown.chat.block_end()
    shown.chat.tool_call("ls", {}, CALL)
    shown.chat.tool_result("ls", "\x1b[31mred\x1b[0m tail\nend")
    shown.chat.reasoning("more")
    shown.chat.tool_call("pwd", {}, CALL)
    shown.chat.message("reply")
    shown.chat.reasoning("last")
    shown.chat.end()
    screen = Screen(shown.printer.transcript.text)
    rows = screen.text.split("\n")
    grey = ("palette", 236)
    assert [word in screen.text for word in ("hm", "red tail", "end", "more", "pwd", "last")] == [True] * 6
    for row, line in enumerate(rows[: rows.index("reply") - 1]):
        painted = extend or line in ("hm", "more")
        for column in (0, 8, 39):
            assert (screen.at(column, row)["bg"] == grey) == painted, (row, column, line)
        assert screen.at(40, row)["bg"] != grey
    reply = rows.index("reply")
    for row in (reply - 1, reply, reply + 1):
        assert screen.at(0, row)["bg"] != grey


@pytest.mark.parametrize("options", [{"hide_tools": True}, {"show": False}])
def test_tools_can_be_hidden_for_a_run_or_by_the_style(options: dict[str, bool]) -> None:
    shown = Shown(err=PIPE, **options)
    shown.chat.message("a")
    assert not shown.chat.tool_call("ls")
    assert not shown.chat.tool_result("ls", "text", is_error=True)
    shown.chat.message("b")
    shown.chat.end()
    assert (shown.out.replace(" ", ""), shown.err) == ("ab\n", "")


def test_a_hidden_tool_ends_no_block() -> None:
    shown = Shown(out=PIPE, err=PIPE)
    shown.chat.message("a")
    assert not shown.chat.tool_call("ls", {}, replace(CALL, hidden=True))
    shown.chat.message("b")
    shown.chat.end()
    assert (shown.out, shown.err) == ("ab\n", "")


def test_under_json_tools_are_messages_on_stderr() -> None:
    shown = Shown(PIPE, PIPE, format=Format.JSON)
    assert shown.chat.tool_call("ls", {"path": "."})
    assert shown.chat.tool_result("ls", "text", is_error=True, seconds=2.0)
    assert not shown.chat.tool_call("ls", {}, replace(CALL, hidden=True))
    records = [json.loads(line) for line in shown.err.splitlines()]
    assert records == [{"message": 'Calling tool ls(path: ".")'}, {"message": "Tool ls failed (2.0s)"}]
    assert shown.out == ""


def test_words_of_a_rendered_reply_are_shown_when_they_are_final() -> None:
    shown = Shown()
    assert not shown.chat.message("Hello")
    assert shown.chat.message(" world")
    assert shown.out == "Hello"
    shown.chat.end()
    assert shown.out == "Hello world\n"


def test_an_unfinished_block_is_ended_by_the_next_one() -> None:
    shown = Shown(out=PIPE, err=PIPE)
    shown.chat.reasoning("half a thou")
    shown.chat.message("half an ans")
    shown.chat.tool_call("ls")
    assert shown.err.startswith("half a thou\n")
    assert shown.out == "half an ans\n"


def test_the_typewriter_waits_for_a_bound_on_its_lag() -> None:
    typewriter = replace(STYLE.typewriter, text_delay=0.5, code_delay=0.1)
    shown = Shown(typewriter=typewriter)
    shown.chat.message("Hello world and more ")
    assert shown.out == "Hello world and more"
    shown = Shown(typewriter=replace(typewriter, max_latency=10.0))
    shown.chat.message("Hello world and more ")
    assert len(shown.out) < len("Hello world and more")
    shown.printer.flush(10)
    assert shown.out == "Hello world and more"


# The style of a program that has nothing configured.
CONFIGURED = """
from jp.config.kinds import MISSING
from jp.config.resolved import Config
from jp.config.schema import root
style = Config(root().final(MISSING), []).root.style
"""


def test_a_plain_reply_loads_nothing_of_markdown() -> None:
    code = f"""{CONFIGURED}
import sys
from jp.render.chat import Chat
from jp.terminal.capabilities import ChannelCaps, Format
from jp.terminal.printer import Printer
none = ChannelCaps(False, False)
printer, out, err = Printer.memory_with(Format.AUTO, none, none)
chat = Chat(printer, style)
chat.reasoning("r"); chat.warm(); chat.message("**a** 你好"); chat.end()
assert out.text == "**a** 你好\\n", out.text
print(*sorted(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    mine = {name.removeprefix("jp.render.") for name in loaded if name.startswith("jp.render.")}
    assert mine == {"chat", "excerpt", "style"}
    assert not {name.partition(".")[0] for name in loaded} & {"pygments", "markdown_it", "wcwidth", "html"}


def test_what_was_warmed_is_there_for_the_first_words() -> None:
    code = f"""{CONFIGURED}
import sys
from jp.render.chat import Chat
from jp.terminal.capabilities import Format
from jp.terminal.printer import Printer
printer, out, err = Printer.memory(Format.AUTO)
chat = Chat(printer, style)
chat.warm()
before = set(sys.modules)
chat.message("**a** `b` [c](d)\\n\\n```python\\nif e\\n```\\n"); chat.end()
print(*(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
