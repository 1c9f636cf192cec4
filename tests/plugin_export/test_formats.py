"""What is written, exactly; and what hostile text can't do to it."""

import hashlib
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from jp_plugins.assets import text as asset
from jp_plugins.export import as_html, as_json, as_markdown
from jp_plugins.export.as_markdown import closed, escaped, fenced
from jp_plugins.export.document import Document
from tests.plugin_export import sample
from tests.support import hostile


def document(
    events: list[dict[str, Any]] = sample.EVENTS, title: str | None = "Why <y> *fails*", **shown: bool
) -> Document:
    return Document("17000000001", title, "2026-03-02T11:30:01Z", events, **shown)


def said(text: str, **shown: bool) -> Document:
    """A conversation where this is everywhere."""
    at = {"timestamp": "2026-03-01 10:00:00.000000"}
    return document(
        [
            {"type": "turn_start", **at},
            {"type": "chat_request", "content": text, "author": text, **at},
            {"type": "chat_response", "reasoning": text, **at},
            {"type": "chat_response", "message": text, **at},
            {"type": "tool_call_request", "id": "1", "name": text, "arguments": {text: text, "b": [text]}, **at},
            {"type": "inquiry_request", "id": "1.q", "source": {"name": text}, "question": {"text": text}, **at},
            {"type": "inquiry_response", "id": "1.q", "answer": text, **at},
            {"type": "tool_call_response", "id": "1", "content": text, "is_error": True, **at},
            {"type": "chat_response", "data": {text: text}, **at},
            {"type": text, "timestamp": text},
            {"type": "turn_start", "timestamp": text},
            {"type": "chat_request", "content": "the last word", **at},
        ],
        title=text,
        **shown,
    )


def test_markdown() -> None:
    assert "".join(as_markdown.pieces(document())) == sample.MARKDOWN


def test_markdown_with_reasoning_and_tools() -> None:
    assert "".join(as_markdown.pieces(document(reasoning=True, tools=True))) == sample.MARKDOWN_WITH_ALL


def test_html() -> None:
    html = "".join(as_html.pieces(document(reasoning=True, tools=True)))
    head, _, body = html.partition("<body>\n")
    assert body == sample.HTML_BODY_WITH_ALL
    assert head.startswith('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    assert "<title>Why &lt;y&gt; *fails*</title>" in head


def test_html_has_what_was_asked_for_alone() -> None:
    html = "".join(as_html.pieces(document()))
    assert "Look at" not in html
    assert "read_file" not in html


def test_the_policy_of_the_html_file_allows_its_style_and_nothing_else() -> None:
    html = "".join(as_html.pieces(document()))
    (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'" in html
    assert style == asset("document.css")


def test_the_stylesheet_loads_nothing() -> None:
    for name in ("document.css", "web.css"):
        assert not re.search(r"url\(|@import|expression|</", asset(name))


def test_json() -> None:
    text = "".join(as_json.pieces(document()))
    found = {"conversation": "17000000001", "title": "Why <y> *fails*", "data": sample.EVENTS}
    assert text == json.dumps(found, ensure_ascii=False, indent=2) + "\n"


def test_json_of_nothing() -> None:
    text = "".join(as_json.pieces(document([], None)))
    assert text == '{\n  "conversation": "17000000001",\n  "title": null,\n  "data": []\n}\n'


def test_json_keeps_what_is_no_text() -> None:
    given = "\x1b]0;x\x07 \x7f \x9b \ud800 é"
    text = "".join(as_json.pieces(document([{"type": "x", "a": given}], given)))
    assert json.loads(text)["data"][0]["a"] == given
    text.encode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


class Elements(HTMLParser):
    """Which elements and attributes there are."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


@pytest.mark.parametrize("text", hostile.ALL)
def test_nothing_hostile_acts_in_html(text: str) -> None:
    html = "".join(as_html.pieces(said(text, reasoning=True, tools=True)))
    body = html.partition("</head>")[2]
    found = Elements(body).found
    assert not found & {"script", "img", "svg", "iframe", "form", "style", "base", "meta", "math", "template", "object"}
    assert not [name for name in found if name.startswith("on") or name in ("src", "srcdoc", "style", "action")]
    assert body.count("<details") == body.count("</details>") == 2
    assert "the last word</div>" in body


@pytest.mark.parametrize("text", hostile.ALL)
@pytest.mark.parametrize("to", [as_html, as_markdown, as_json])
def test_no_control_character_is_written(text: str, to: Any) -> None:
    written = "".join(to.pieces(said(text, reasoning=True, tools=True)))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", written)


@pytest.mark.parametrize("text", [*hostile.ALL, "~~~~\nopen\n~~~", "a\n  ```\n open", "- a\n  ```\n  b", "<!-- a\n\nb"])
def test_no_reply_swallows_the_turn_behind_it(text: str) -> None:
    written = "".join(as_markdown.pieces(said(text, reasoning=True, tools=True)))
    tokens = MarkdownIt("commonmark").parse(written)
    headings = [n for n, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    assert tokens[headings[-1] + 1].content == "Turn 2"
    assert [t.content for t in tokens if t.type == "inline"][-1] == "the last word"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("fine", ""),
        ("```py\nx", "\n```"),
        ("````\n```\nx", "\n````"),
        ("- a\n  ```\n  x", ""),
        ("<!-- x", "\n-->"),
        ("<script>\nx", "\n</script>"),
        ("<?php", "\n?>"),
        ("<![CDATA[ x", "\n]]>"),
        ("<div>\nx", ""),
    ],
)
def test_what_is_left_open_is_closed(text: str, end: str) -> None:
    assert closed(text) == text + end


def test_a_title_is_one_line_without_markup() -> None:
    assert escaped("a\n# b [c](d) <e> `f` *g* _h_ &amp; \\") == (
        "a \\# b \\[c\\](d) \\<e\\> \\`f\\` \\*g\\* \\_h\\_ \\&amp; \\\\"
    )


def test_a_fence_is_longer_than_what_is_in_it() -> None:
    assert fenced("a ````` b") == "``````\na ````` b\n``````"


def test_a_huge_conversation_comes_in_pieces() -> None:
    events = [{"type": "chat_response", "message": "x" * 1000, "timestamp": ""} for _ in range(1000)]
    for to in (as_html, as_markdown, as_json):
        assert len(list(to.pieces(document(events)))) >= 1000
