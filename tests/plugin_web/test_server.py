"""The server over real connections, run as JP runs it."""

import json
import re
import socket
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from jp.plugin.fake import Conversation
from tests.plugin_web.made_up import AT, conversations, said
from tests.plugin_web.served import Answer, Served, ask, guarded
from tests.support import hostile


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served(conversations()) as running:
        yield running


@pytest.fixture(scope="module")
def cookie(served: Served) -> str:
    return served.cookie()


def test_the_address_is_printed_once_and_is_this_machine_alone(served: Served) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", served.url)
    printed = [each.text for each in served.messages if type(each).__name__ == "Print"]
    assert printed == [served.url + "\n"]
    with pytest.raises(OSError):  # noqa: PT011  # on another address of this machine nobody listens
        socket.create_connection(("127.0.0.2", served.port), 5)


def test_the_token_is_exchanged_for_a_cookie(served: Served) -> None:
    host = f"Host: 127.0.0.1:{served.port}"
    answer = guarded(ask(served.port, f"GET {served.url.removeprefix(served.base)} HTTP/1.1", host))
    assert (answer.status, answer.headers["location"], answer.body) == (303, "/", b"")
    assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    token = served.url.rpartition("=")[2]
    assert token not in str(answer.headers)
    there = ask(served.port, f"GET /c/17000000001?token={token} HTTP/1.1", host)
    assert there.headers["location"] == "/c/17000000001"
    away = ask(served.port, f"GET //evil.com/?token={token} HTTP/1.1", host)
    assert away.headers["location"] == "/"


PATHS = [
    "/",
    "/?q=x",
    "/search?q=x",
    "/c/17000000001",
    "/c/17000000001/new",
    "/style.css",
    "/page.js",
    "/icon.svg",
    "/x",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
def test_nobody_without_the_cookie_gets_anything(served: Served, path: str, method: str) -> None:
    answer = guarded(ask(served.port, f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{served.port}"))
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert "parser" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: evil.com"],
        ["Host: evil.com:{port}"],
        ["Host: localhost:{port}"],
        [],
        ["Host: 127.0.0.1:{port}", "Host: evil.com"],
        ["Host: 127.0.0.1:{port}", "Origin: http://evil.com"],
        ["Host: 127.0.0.1:{port}", "Origin: null"],
        ["Host: 127.0.0.1:{port}", "Sec-Fetch-Site: cross-site"],
        ["Host: 127.0.0.1:{port}", "Sec-Fetch-Site: same-site"],
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/", "/c/17000000001/new", "/page.js", "/?token"])
def test_nor_another_page_nor_another_name(served: Served, cookie: str, headers: list[str], path: str) -> None:
    lines = [each.format(port=served.port) for each in headers]
    path = served.url.removeprefix(served.base) if path == "/?token" else path
    answer = guarded(ask(served.port, f"GET {path} HTTP/1.1", *lines, f"Cookie: {cookie}"))
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_the_browsers_own_requests_are_let_in(served: Served, cookie: str) -> None:
    assert served.get("/", cookie, "Sec-Fetch-Site: none").status == 200
    assert served.get("/style.css", cookie, "Sec-Fetch-Site: same-origin").status == 200
    assert served.get("/search", cookie, f"Origin: {served.base}").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_nothing_can_be_changed(served: Served, cookie: str, method: str) -> None:
    answer = guarded(served.get("/", cookie, method=method))
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", PATHS)
def test_head_is_get_without_its_body(served: Served, cookie: str, path: str) -> None:
    full, head = guarded(served.get(path, cookie)), guarded(served.get(path, cookie, method="HEAD"))
    assert head.body == b""
    assert (head.status, head.headers.keys()) == (full.status, full.headers.keys())
    assert head.headers["content-length"] == full.headers["content-length"] == str(len(full.body))


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/c/",
        "/c/x",
        "/c/17000000001/",
        "/c/17000000001/new/",
        "/c/../c/17000000001",
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/style.css/../page.js",
        "/document.css",
        "/__init__.py",
        "//etc/passwd",
        "/c/" + "1" * 5000,
        "http://evil.com/",
        "*",
        "/c/١٧",
        "/\x00",
    ],
)
def test_there_is_nothing_else(served: Served, cookie: str, path: str) -> None:
    answer = guarded(served.get(path, cookie))
    assert answer.status == 404
    assert "root:" not in answer.text


def test_a_conversation_that_is_not_there(served: Served, cookie: str) -> None:
    for path in ("/c/1", "/c/1/new"):
        answer = guarded(served.get(path, cookie))
        assert answer.status == 404
        assert "There is no such conversation" in answer.text


class Outline(HTMLParser):
    """What assistive technology gets to know of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("path", ["/", "/?q=parser", "/?q=nothing+at+all", "/c/17000000001", "/nope"])
def test_a_page_is_a_sound_document(served: Served, cookie: str, path: str) -> None:
    html = served.get(path, cookie).text
    outline = Outline(html)
    assert html.startswith('<!doctype html>\n<html lang="en">')
    assert [len(outline.all(tag)) for tag in ("title", "h1", "main", "header")][:3] == [1, 1, 1]
    assert outline.all("a")[0] == {"class": "skip", "href": "#main"}
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in outline.all("meta")
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert all(deeper - level <= 1 for level, deeper in pairwise(levels))
    (field,) = outline.all("input")
    assert {"class": "unseen", "for": field["id"]} in outline.all("label")
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in outline.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href"):
            assert not (attributes.get(name) or "").startswith(("http", "//", "data:"))


def test_the_list_is_newest_first_with_what_one_wants_to_know(served: Served, cookie: str) -> None:
    html = served.get("/", cookie).text
    titles = re.findall(r'<a class="title[^>]*>(.*?)</a>', html)
    assert titles == ["Fix the parser", "Write &lt;b&gt;docs&lt;/b&gt;", "Untitled"]
    assert '<time datetime="2026-03-03T00:00:00Z">' in html
    assert '<span class="count">9 events</span>' in html
    assert html.count('class="pinned"') == 1


def test_a_search_works_as_a_plain_form(served: Served, cookie: str) -> None:
    html = served.get("/?q=n%65edle+%3Cb%3E&x=1", cookie).text
    assert 'value="needle &lt;b&gt;"' in html
    html = served.get("/?q=needle", cookie).text
    assert '<a href="/c/17000000001?turn=2#turn-2">' in html
    assert "A <mark>needle</mark> in the haystack." in html
    assert ">1 conversation found<" in html


def test_the_part_for_the_script_is_the_same_list(served: Served, cookie: str) -> None:
    part = served.get("/search?q=needle", cookie).text
    assert part.startswith('<p class="status">1 conversation found</p>')
    assert part in served.get("/?q=needle", cookie).text


def test_a_conversation(served: Served, cookie: str) -> None:
    html = served.get("/c/17000000001", cookie).text
    assert '<h1 dir="auto">Fix the parser</h1>' in html
    assert html.count('<section class="turn"') == 2
    assert '<div class="said" dir="auto">Why does the parser loop?</div>' in html
    assert "<p>Because of <em>the lexer</em>.</p>" in html
    assert 'x = <span class="hl-constant">1</span>' in html
    assert '<details class="reasoning"' in html
    assert '<summary>Tool <code>read_file</code> <span class="gist">a.py</span></summary>' in html
    assert 'class="running" hidden' in html


def test_a_list_has_pages(served: Served) -> None:
    times = [f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z" for n in range(250)]
    known = {f"17{n:09}": Conversation(title=f"Number {n}", last_activated_at=at) for n, at in enumerate(times)}
    with Served(known) as many:
        cookie = many.cookie()
        first, last = many.get("/", cookie).text, many.get("/?page=3", cookie).text
        assert first.index("Number 249") < first.index("Number 150")
        assert "Number 149<" not in first
        assert '<a href="/?page=2" rel="next">Older</a>' in first
        assert "Newer" not in first
        assert '<a href="/?page=2" rel="prev">Newer</a>' in last
        assert "Number 0<" in last
        for page in ("0", "-1", "99", "x", "9" * 30):
            assert many.get(f"/?page={page}", cookie).status == 200


def test_a_long_conversation_has_pages_that_a_turn_is_found_on() -> None:
    known = {"17": Conversation(events=[e for n in range(1, 121) for e in said(f"Question {n}.", "Yes.")])}
    with Served(known) as long:
        cookie = long.cookie()
        last = long.get("/c/17", cookie).text
        assert re.findall(r'<section class="turn" id="turn-(\d+)"', last) == [str(n) for n in range(101, 121)]
        assert 'href="?turn=100#turn-100">Earlier turns' in last
        assert "data-live" in last
        middle = long.get("/c/17?turn=73", cookie).text
        assert re.findall(r'<section class="turn" id="turn-(\d+)"', middle) == [str(n) for n in range(51, 101)]
        assert 'href="?turn=101#turn-101">Later turns' in middle
        assert "data-live" not in middle
        assert middle.count("<li><a href=") == 120


def test_a_huge_result_is_cut_and_a_long_line_is_no_trouble(served: Served, cookie: str) -> None:
    served.workspace.conversations["99"] = Conversation(
        events=[
            *said("x", "y" * 1_000_000),
            {"timestamp": AT, "type": "tool_call_request", "id": "1", "name": "t"},
            {"timestamp": AT, "type": "tool_call_response", "id": "1", "content": "z" * 1_000_000},
        ]
    )
    try:
        answer = served.get("/c/99", cookie)
    finally:
        del served.workspace.conversations["99"]
    assert answer.status == 200
    assert "… 950,000 characters more" in answer.text
    assert "y" * 1_000_000 in answer.text


@pytest.mark.parametrize("text", hostile.ALL)
def test_nothing_hostile_comes_through(served: Served, cookie: str, text: str) -> None:
    served.workspace.conversations["98"] = Conversation(
        title=text,
        events=[
            *said(text, text),
            {"timestamp": AT, "type": "tool_call_request", "id": "1", "name": text, "arguments": {text: text}},
            {"timestamp": AT, "type": "tool_call_response", "id": "1", "content": text},
        ],
    )
    try:
        pages = [served.get(path, cookie).text for path in ("/c/98", f"/?q={text[:3].encode().hex('%')}", "/search")]
    finally:
        del served.workspace.conversations["98"]
    for page in pages:
        found = Outline(page)
        assert not [tag for tag, _ in found.elements if tag in ("img", "svg", "iframe", "style", "base", "template")]
        assert [each["src"] for each in found.all("script")] in (["/page.js"], [])
        assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)


def cursor_of(page: Answer) -> str:
    found = re.search(r'data-live="/c/(\d+)/new" data-cursor="([^"]+)"', page.text)
    assert found is not None
    return found[2]


def test_what_is_new_is_sent_and_nothing_else() -> None:
    known = {"17": Conversation(events=said("q", "a"))}
    with Served(known) as served:
        cookie = served.cookie()
        cursor = cursor_of(served.get("/c/17", cookie))
        assert served.get(f"/c/17/new?after={cursor}", cookie).status == 204
        one = served.workspace.conversations["17"]
        one.locked = True
        one.events.append({"timestamp": AT, "type": "chat_response", "message": "More."})
        answer = until_new(served, f"/c/17/new?after={cursor}", cookie)
        assert answer.headers["content-type"] == "application/json"
        news = json.loads(answer.body)
        assert (news["running"], [part["turn"] for part in news["parts"]]) == (True, [1])
        assert "More." in news["parts"][0]["html"]
        assert 'class="running">' in served.get("/c/17", cookie).text
        assert served.get(f"/c/17/new?after={news['cursor']}", cookie).status == 204


def until_new(served: Served, path: str, cookie: str) -> Answer:
    """The answer, once there is one: what was read a moment ago is still good."""
    end = time.monotonic() + 10
    while (answer := served.get(path, cookie)).status == 204:
        assert time.monotonic() < end
    return guarded(answer)
