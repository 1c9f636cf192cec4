"""`jp conversation print`: what was stored, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
from tests.render.showing import Screen

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
    ToolCallResponse(id="1", content="a\n```\nb", is_error=False),
    InquiryRequest(id="1.q", source="assistant", question={"text": "Really?"}),
    InquiryResponse(id="1.q", answer=True),
    ChatResponse(message="Because.\n\n```sh\nleft open"),
    ChatResponse(data={"a": 1}),
    Unknown("novelty", "", b"{}", "unknown type"),
]


def printed(events: Sequence[Event | Unknown], caps: ChannelCaps, *, hide_reasoning: bool = False) -> tuple[str, str]:
    printer, out, err = Printer.memory_with(Format.AUTO, caps, PIPE)
    print_events(printer, STYLE, events, hide_reasoning=hide_reasoning, environ={})
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

````
a
```
b
````

Really?

## User

true

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
    assert "Error:" in screen
    assert "line 29" in printed(events, PIPE)[0]


def test_control_sequences_of_what_was_stored_are_not_printed() -> None:
    out, _ = printed([ChatRequest(content="a\x1b[2Jb", author="x\x1b]0;t\x07y")], PIPE)
    assert out == "## xy\n\nab\n"


@pytest.mark.parametrize("caps", [TERMINAL, PIPE])
def test_real_conversations_are_printed(data_dir: Path, caps: ChannelCaps) -> None:
    for path in sorted((data_dir / "workspace/.jp/conversations").glob("*/events.json")):
        stream = Stream(path.read_bytes())
        out, _ = printed(list(stream.events()), caps)
        assert out.endswith("\n")
        assert "Assistant" in out
