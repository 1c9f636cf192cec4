"""Markdown of a model as HTML: what is kept, and what can't come through."""

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jp_plugins.highlight import highlighted
from jp_plugins.safe_html import MOST, MOST_BRACKETS, code_block, from_markdown, safe_address
from tests.support import hostile

TEXT = {"p", "em", "strong", "s", "a", "code", "pre", "span", "div", "br", "hr"}
BLOCKS = {"ul", "ol", "li", "blockquote", "h3", "h4", "h5", "h6"}
TAGS = TEXT | BLOCKS | {"table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"href", "rel", "class", "title", "tabindex", "role", "aria-label", "start"}
CLASSES = {"plain", "nowhere", "table", "center", "right", "more"}
EMPTY = {"hr", "br"}


class Checker(HTMLParser):
    """Fails for an element or an attribute that no reply should bring, and for one that is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, (tag, name, value)
            if name == "href":
                assert re.match(r"https?://|mailto:|#", value or "", re.IGNORECASE), value
                self.links.append(value or "")
            if name == "class":
                assert value in CLASSES or re.fullmatch(r"hl-[a-z]+", value or ""), value
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> too many"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert not checker.open, checker.open
    return checker


@pytest.mark.parametrize("text", hostile.ALL)
def test_nothing_hostile_comes_through(text: str) -> None:
    html = from_markdown(text)
    checked(html)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", html)
    checked(code_block(text, "html"))


@given(
    st.lists(
        st.sampled_from([*hostile.ALL, "[", "](", ")", "<", ">", '"', "`", "```\n", "\n", "\n\n", "* ", "> ", "|", "#"])
        | st.text(max_size=8),
        max_size=12,
    )
)
@settings(max_examples=150, deadline=None)
def test_nothing_hostile_comes_through_together(parts: list[str]) -> None:
    checked(from_markdown("".join(parts)))


def test_raw_html_is_shown_as_text() -> None:
    assert from_markdown("a <b>bold</b> & <script>x</script>") == (
        "<p>a &lt;b&gt;bold&lt;/b&gt; &amp; &lt;script&gt;x&lt;/script&gt;</p>\n"
    )


def test_links_lead_to_pages_mail_and_places_on_the_page() -> None:
    found = checked(
        from_markdown("[a](https://a.example/?x=1&y) <http://b.example> [c](mailto:c@example.com) [d](#turn-2)")
    )
    assert found.links == ["https://a.example/?x=1&y", "http://b.example", "mailto:c@example.com", "#turn-2"]


def test_a_link_to_elsewhere_is_its_text() -> None:
    html = from_markdown("[main.rs](src/main.rs) [x](//evil.example) [y](/c/1)")
    assert checked(html).links == []
    assert '<span class="nowhere" title="src/main.rs">main.rs</span>' in html


@pytest.mark.parametrize(
    "address", ["", "//x", "/x", "javascript:x", "http:x", "https://a b", "https://a\nb", "ftp://x"]
)
def test_addresses_that_lead_nowhere(address: str) -> None:
    assert safe_address(address) == ""


def test_an_image_is_a_link_and_is_not_loaded() -> None:
    html = from_markdown("![a cat](https://example.com/cat.png) [![b](https://b.example/b.png)](https://c.example)")
    assert checked(html).links == ["https://example.com/cat.png", "https://c.example"]
    assert "image: a cat" in html
    assert "image: b" in html


def test_blocks() -> None:
    html = from_markdown("# One\n\n## Two\n\n- a\n- ~~b~~\n\n|x|y|\n|-|-:|\n|1|2|\n\n```py\nx = 1\n```\n")
    assert html == (
        "<h3>One</h3>\n<h4>Two</h4>\n<ul>\n<li>a</li>\n<li><s>b</s></li>\n</ul>\n"
        '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n<thead>\n<tr>\n<th>x</th>\n'
        '<th class="right">y</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td class="right">2</td>\n</tr>\n'
        "</tbody>\n</table></div>\n"
        '<pre><code>x = <span class="hl-constant">1</span>\n</code></pre>\n'
    )


def test_a_block_that_may_have_to_be_scrolled_can_be_reached_with_the_keyboard() -> None:
    assert 'tabindex="0"' in code_block("x" * 80)
    assert "tabindex" not in code_block("x")


def test_code_is_cut_where_that_is_said() -> None:
    assert code_block("abcdef", most=4) == '<pre><code>abcd\n</code></pre>\n<p class="more">… 2 characters more</p>\n'


def test_text_is_the_same_behind_highlighting() -> None:
    code = "def f(x):\n\t'''doc'''\n    return \"</code>\" # é\n\n"
    assert checked(highlighted(code, "python")).text == code


@pytest.mark.parametrize("language", ["", "no-such-language", "x" * 1000, "<b>", "text"])
def test_an_unknown_language_is_no_highlighting(language: str) -> None:
    assert highlighted("a < b", language) == "a &lt; b"


@pytest.mark.parametrize(
    "text",
    ["x" * (1 << 20), "[" * 125_000, "![" * 62_000, "a]" * 30_000 + "[" * 60_000, "> " * 50_000, "- " * 50_000],
    ids=["line", "brackets", "images", "closing", "quotes", "lists"],
)
def test_what_a_parser_would_choke_on_takes_no_time(text: str) -> None:
    begun = time.process_time()
    html = from_markdown(text)
    assert time.process_time() - begun < 3
    checked(html)


@pytest.mark.parametrize("unit", ["[" + "x " * 18, "*a_ ", "a**b ", "<a ", "`` ", "|a", "&x;", "[a](b " + "y" * 40])
def test_the_largest_text_that_is_parsed_takes_seconds_at_most(unit: str) -> None:
    text = (unit * MOST)[: MOST // 2]
    assert text.count("[") < MOST_BRACKETS
    begun = time.process_time()
    checked(from_markdown(text))
    assert time.process_time() - begun < 6


def test_a_text_too_large_to_parse_is_there_whole() -> None:
    text = "**a** <b>\n" * 20_000
    assert checked(from_markdown(text)).text.strip() == text.strip()


def test_nesting_without_end_raises_nothing() -> None:
    checked(from_markdown("> " * 5000 + "x"))
    checked(from_markdown("".join(" " * n + "- x\n" for n in range(400))))
