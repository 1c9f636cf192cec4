"""Conversations to serve."""

from typing import Any

from jp.plugin.fake import Conversation

AT = "2026-03-01 10:00:00.000000"


def said(request: str, *replies: str, at: str = AT) -> list[dict[str, Any]]:
    """The events of a turn."""
    return [
        {"timestamp": at, "type": "turn_start"},
        {"timestamp": at, "type": "chat_request", "content": request},
        *({"timestamp": at, "type": "chat_response", "message": reply} for reply in replies),
    ]


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """An event."""
    return {"timestamp": AT, "type": kind, **fields}


def conversations() -> dict[str, Conversation]:
    """Three of them; the first is the one used last."""
    return {
        "17000000001": Conversation(
            title="Fix the parser",
            events=[
                *said("Why does the parser loop?", "Because of *the lexer*.\n\n```py\nx = 1\n```"),
                event("chat_response", reasoning="Hm, a **loop**."),
                event("tool_call_request", id="1", name="read_file", arguments={"path": "a.py"}),
                event("tool_call_response", id="1", content="while True: pass", is_error=False),
                *said("And now?", "A needle in the haystack."),
            ],
            last_activated_at="2026-03-03T00:00:00Z",
        ),
        "17000000002": Conversation(
            title="Write <b>docs</b>",
            events=said("Docs, please", "Done."),
            last_activated_at="2026-03-02T00:00:00Z",
            pinned_at="2026-03-02T00:00:00Z",
        ),
        "17000000003": Conversation(title=None, events=said("Über alles"), last_activated_at="2026-03-01T00:00:00Z"),
    }


ALL_MARKDOWN = (
    """\
# Heading

Text with `code`, **bold**, [a link](https://example.com/), [a file](src/a.py), ![a picture](https://example.com/a.png).

> A quotation

| Name | Number |
|------|-------:|
| a    |      1 |

- one
  1. two

~~gone~~

---

```python
# comment
@cache
class A(B): x: int = len("s") + 1  # a line that is much too long for a phone and for most other screens as well
```

```diff
@@ -1 +1 @@
-a
+b
```

```html
<p class="x">&amp;</p>
```

"""
    + "averyverylongwordwithoutanyplacetobreakit" * 5
)


def everything() -> Conversation:
    """A conversation with each thing that a page can show."""
    arguments = {"path": "z" * 90, "n" * 60: 1}
    return Conversation(
        title="Everything " + "x" * 80,
        locked=True,
        events=[
            *said("A request with `code`\n" + "y" * 100, ALL_MARKDOWN),
            event("chat_response", reasoning=ALL_MARKDOWN),
            event("tool_call_request", id="1", name="a_tool_" * 9, arguments=arguments),
            event("inquiry_request", id="1.a", source={"name": "tool"}, question={"text": "Sure?"}),
            event("inquiry_response", id="1.a", answer=True),
            event("tool_call_response", id="1", content="w" * 60_000, is_error=True),
            event("tool_call_request", id="2", name="tool"),
            event("chat_response", data={"a": ["b", 1, None]}),
            *said("Another", "a"),
            *said("And another", "b"),
        ],
    )
