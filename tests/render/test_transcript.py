"""`jp conversation print`: what was stored, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from jp.config.sections.tools import Tool, ToolDefaults, Tools, ToolStyle
from jp.conversation.events import (
    ChatRequest,
    ChatResponse,
    ConfigDelta,
    Event,
    InquiryRequest,
    InquiryResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
    Unknown,
)
from jp.conversation.stream import Stream
from jp.render.transcript import print_events
from jp.terminal.capabilities import ChannelCaps, Format
from jp.terminal.printer import Printer
from tests.render.configured import STYLE
from tests.render.showing import Screen, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TERMINAL = ChannelCaps(escapes=True, addressable=True)
PIPE = ChannelCaps(escapes=False, addressable=False)
EVENTS: list[Event | Unknown] = [
    ConfigDelta(delta={}),
    TurnStart(),
    ChatRequest(content="Why *this*?"),
    ChatResponse(reasoning="Let me\n\nthink"),
    ToolCallRequest(id="1", name="ls", arguments={"path": "."}),
    InquiryRequest(id="1.q", source={"source": "tool", "name": "ls"}, question={"text": "Really?\n\nA patch"}),
    InquiryResponse(id="1.q", answer=True),
    ToolCallResponse(id="1", content="a\n```\nb", is_error=False),
    ChatResponse(message="Because.\n\n```sh\nleft open"),
    ChatResponse(data={"a": 1}),
    Unknown("novelty", "", b"{}", "unknown type"),
]


def printed(events: Sequence[Event | Unknown], caps: ChannelCaps, **options: Any) -> tuple[str, str]:
    printer, out, err = Printer.memory_with(Format.AUTO, caps, PIPE)
    print_events(printer, options.pop("style", STYLE), events, environ={}, **options)
    return out.text, err.text


def test_without_escapes_a_conversation_is_markdown() -> None:
    out, err = printed(EVENTS, PIPE)
    assert (
        out
        == """\
## User

Why *this*?

## Assistant

> Let me
>
> think

Tool call: `ls`

```json
{
  "path": "."
}
```

## Tool

ls asked: Really? … -> true

Tool `ls` is done:

````
a
```
b
````

## Assistant

Because.

```sh
left open

```json
{
  "a": 1
}
```
"""
    )
    assert err == ""


def test_on_a_terminal_it_is_rendered_and_an_open_fence_swallows_nothing() -> None:
    out, _ = printed(EVENTS, TERMINAL)
    screen = Screen(out)
    assert "Why this?" in screen.text
    assert "│ think" in screen.text
    assert screen.style("Assistant")["bold"]
    assert screen.style("this")["italic"]
    assert "left open\n\n```json\n{" in screen.text


def test_reasoning_can_be_left_out() -> None:
    out, _ = printed(EVENTS, PIPE, hide_reasoning=True)
    assert "think" not in out
    assert "Because." in out


def test_a_long_result_is_cut_on_a_terminal_and_whole_in_a_file() -> None:
    events = [ToolCallResponse(id="1", content="\n".join(f"line {number}" for number in range(30)), is_error=True)]
    screen = Screen(printed(events, TERMINAL)[0]).text
    assert "line 9" in screen
    assert "line 10" not in screen
    assert "… 20 more lines" in screen
    assert "Tool (unknown) failed" in screen
    assert "line 29" in printed(events, PIPE)[0]


def test_control_sequences_of_what_was_stored_are_not_printed() -> None:
    out, _ = printed([ChatRequest(content="a\x1b[2Jb", author="x\x1b]0;t\x07y")], PIPE)
    assert out == "## xy\n\nab\n"


DEFAULTS = ToolDefaults(
    run="ask",
    result="unattended",
    cancellation_response="",
    style=ToolStyle(hidden=False, inline_results=2, results_file_link="full", parameters="function_call"),
    detached="deny",
)
CALLS: list[Event | Unknown] = [
    ToolCallRequest(id="1", name="ls", arguments={"path": "."}),
    ToolCallRequest(id="2", name="gh", arguments={}),
    ToolCallResponse(id="2", content="two", is_error=True),
    ToolCallResponse(id="1", content="a\nb\nc"),
    ChatResponse(message="Done."),
]


def test_tools_are_shown_by_their_style_as_in_a_turn() -> None:
    tools = Tools(DEFAULTS, {"gh": Tool(source="mcp.github.search")})
    assert (
        plain(printed(CALLS, TERMINAL, tools=tools)[0])
        == """\
## Assistant

Calling tool ls(path: ".")

Calling tool github/search()

Tool github/search failed
  two

Tool ls is done
  a
  b
  … 1 more line

Done.
"""
    )


def test_without_escapes_a_result_is_whole_whatever_a_terminal_gets_of_it() -> None:
    out, _ = printed(CALLS[:1] + CALLS[3:4], PIPE, tools=Tools(DEFAULTS, {}))
    expected = '## Assistant\n\nTool call: `ls(path: ".")`\n\n## Tool\n\nTool `ls` is done:\n\n```\na\nb\nc\n```\n'
    assert out == expected
    off = Tools(replace(DEFAULTS, style=replace(DEFAULTS.style, inline_results="off", parameters="off")), {})
    out, _ = printed(CALLS[:1] + CALLS[3:4], PIPE, tools=off)
    assert out == "## Assistant\n\nTool call: `ls`\n\n## Tool\n\nTool `ls` is done:\n"


@pytest.mark.parametrize("caps", [TERMINAL, PIPE])
def test_tools_can_be_left_out_all_or_one(caps: ChannelCaps) -> None:
    hidden = Tools(DEFAULTS, {"ls": Tool(style=ToolStyle(hidden=True))})
    out, _ = printed(CALLS, caps, tools=hidden)
    assert "ls" not in out
    assert "gh" in out
    hiding = replace(STYLE, tool_call=replace(STYLE.tool_call, show=False))
    nothing: tuple[dict[str, Any], ...] = ({"hide_tool_calls": True}, {"style": hiding})
    for options in nothing:
        assert plain(printed(CALLS, caps, **options)[0]) == "## Assistant\n\nDone.\n"


def asked(id_: str, text: str, kind: object = None, source: object = "assistant") -> InquiryRequest:
    return InquiryRequest(id=id_, source=source, question={"text": text, "answer_type": kind})


@pytest.mark.parametrize("caps", [TERMINAL, PIPE])
def test_a_question_is_one_line_with_its_answer(caps: ChannelCaps) -> None:
    events: list[Event | Unknown] = [
        ToolCallRequest(id="1", name="gh", arguments={}),
        asked("1.a", "Which\x1b[2J?\n\nmuch more", {"type": "text"}, {"source": "tool", "name": "gh"}),
        asked("1.b", "Token?", {"type": "secret"}, {"source": "tool", "name": "gh"}),
        asked("1.c", "Nobody?", "Boolean"),
        InquiryResponse(id="1.b", answer="hunter2"),
        InquiryResponse(id="1.a", answer="this *one*\nor that"),
        ToolCallResponse(id="1", content="over"),
        asked("2.x", "Password?", "Secret", {"source": "user"}),
        InquiryResponse(id="2.x", answer="hunter2"),
        asked("3", "Still?"),
    ]
    tools = Tools(DEFAULTS, {"gh": Tool(source="mcp.hub.search")})
    out = plain(printed(events, caps, tools=tools)[0])
    lines = [line for line in out.split("\n") if " asked: " in line]
    assert lines == [
        "hub/search asked: Token? -> (redacted)",
        "hub/search asked: Which? … -> this *one* …",
        "assistant asked: Nobody? (not answered)",
        "user asked: Password? -> (redacted)",
        "assistant asked: Still? (not answered)",
    ]
    assert out.index("Nobody?") < out.index("over")
    assert "hunter2" not in out


@pytest.mark.parametrize("caps", [TERMINAL, PIPE])
def test_real_conversations_are_printed(data_dir: Path, caps: ChannelCaps) -> None:
    for path in sorted((data_dir / "workspace/.jp/conversations").glob("*/events.json")):
        stream = Stream(path.read_bytes())
        out, _ = printed(list(stream.events()), caps)
        assert out.endswith("\n")
        assert "Assistant" in out
