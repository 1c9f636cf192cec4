"""`fetch_page`: pages of all kinds, from servers of all kinds."""

import gzip
import os
import time
from pathlib import Path

import pytest

from jp.llm.address import parse
from jp.tool.builtin.fetching import _is_public, same_site
from jp.tool.builtin.page_text import text_of
from jp.tool.outcome import Failure
from tests.support.marked import still_marked
from tests.tool.builtin_running import Tools
from tests.wire.raw_server import HANG, RESET, Pause, ProxyServer, RawServer, chunked, head

HTML = head(content_type="text/html; charset=utf-8")


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    (tmp_path / "ws").mkdir()
    return Tools(tmp_path / "ws")


def test_a_page_as_text(tools: Tools) -> None:
    page = "<title>A &amp; B</title><h1>Über</h1><p>Some <a href='/x?a=1'>link</a>.<script>no()</script>"
    with RawServer([[HTML, page.encode()]]) as server:
        shown = tools.ok("fetch_page", url=server.base_url + "/p")
        assert shown == f"Title: A & B\n\n# Über\n\nSome [link]({server.base_url}/x?a=1).\n"
        assert server.requests[0].headers["accept"].startswith("text/html")
        assert tools.ok("fetch_page", url=server.base_url, raw=True) == page


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("text/plain; charset=iso-8859-1", b"stra\xdfe", "straße"),
        ("text/plain; charset=no-such", b"x\xff", "x\ufffd"),
        ("text/plain; charset=punycode", b"abc", "abc"),
        ("application/atom+xml", b"<a>x</a>", "<a>x</a>"),
        ("text/html", b"<meta charset='windows-1252'><p>\x93x\x94</p>", "“x”\n"),
        ("text/html; charset=utf-16", "<p>wide</p>".encode("utf-16"), "wide\n"),
        ("application/xhtml+xml", b"<p>x</p>", "x\n"),
    ],
)
def test_kinds_of_text(tools: Tools, kind: str, body: bytes, expected: str) -> None:
    with RawServer([[head(content_type=kind), body]]) as server:
        assert tools.ok("fetch_page", url=server.base_url) == expected


def test_a_page_that_does_not_say_what_it_is(tools: Tools) -> None:
    with RawServer([[head(), b"\n<!DOCTYPE html><p>x"], [head(), b"plain <p>"], [head(), b"GIF89a\0\0"]]) as server:
        assert tools.ok("fetch_page", url=server.base_url) == "x\n"
        assert tools.ok("fetch_page", url=server.base_url) == "plain <p>"
        assert "is not text but something else (8 bytes)" in tools.fails("fetch_page", url=server.base_url)


def test_what_is_no_text(tools: Tools) -> None:
    with RawServer([[head(content_type="image/png"), b"\x89PNG"], [HTML, bytes(100)]]) as server:
        assert "is not text but image/png (4 bytes)" in tools.fails("fetch_page", url=server.base_url)
        assert "is not text but text/html (100 bytes)" in tools.fails("fetch_page", url=server.base_url)


def test_compressed_and_chunked(tools: Tools) -> None:
    body = gzip.compress(b"<p>" + b"word " * 1000)
    answer = [head(content_type="text/html", content_encoding="gzip", transfer_encoding="chunked"), *chunked(body)]
    with RawServer([answer]) as server:
        assert tools.ok("fetch_page", url=server.base_url) == "word " * 999 + "word\n"


def test_a_bomb(tools: Tools) -> None:
    body = gzip.compress(b"x" * (100 << 20), 5)
    with RawServer([[head(content_type="text/plain", content_encoding="gzip"), body]]) as server:
        shown = tools.ok("fetch_page", url=server.base_url)
    assert shown.endswith("(only the first 1048576 bytes were read)\n")


def test_a_huge_page(tools: Tools) -> None:
    with RawServer([[head(content_type="text/plain"), *[b"0123456789abcde\n" * 65536] * 50]]) as server:
        shown = tools.ok("fetch_page", url=server.base_url)
    assert shown.endswith("(only the first 1048576 bytes were read)\n")
    assert len(shown) < 140_000
    (kept,) = tools.spill.iterdir()
    assert kept.stat().st_size == 1 << 20


def test_redirects_on_the_host_are_followed(tools: Tools) -> None:
    pages = [[head("301 Moved", location="/next", content_length="0")], [HTML, b"<a href=rel>there</a>"]]
    with RawServer(pages) as server:
        shown = tools.ok("fetch_page", url=f"http://user:pass@127.0.0.1:{server.port}/")
        assert [request.path for request in server.requests] == ["/", "/next"]
    assert shown == f"[there]({server.base_url}/rel)\n\n(the page is at {server.base_url}/next)\n"
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert "authorization" not in server.requests[1].headers


def test_redirects_to_another_host_are_told(tools: Tools) -> None:
    """A person has approved the one, and nobody the other, which may be of this machine."""
    with RawServer([[HTML, b"secret"]]) as there:
        for host in ("127.0.0.1", "localhost"):  # another port is another server
            location = f"http://{host}:{there.port}/admin/delete?all=1"
            with RawServer([[head("302 Found", location=location)]]) as server:
                shown = tools.ok("fetch_page", url=server.base_url + "/p?q=1")
                assert shown == (
                    f"{server.base_url}/p redirects to {location}, which is not the same site and was not followed: "
                    "fetch that page if you want it\n"
                )
        assert there.connections == 0


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        ("http://a.org/x", "http://a.org/y?z", True),
        ("http://a.org", "https://a.org", True),
        ("https://a.org", "http://a.org", False),
        ("http://a.org", "https://www.a.org", True),
        ("https://www.a.org", "https://a.org", True),
        ("https://a.org", "https://www.b.org", False),
        ("https://a.org", "https://sub.a.org", False),
        ("https://a.org", "https://a.org.b.org", False),
        ("http://a.org:8080", "http://a.org:8081", False),
        ("http://a.org:8080", "https://a.org", False),
        ("http://a.org:8080", "https://a.org:8080", False),
        ("http://www.org", "http://org", False),
        ("http://1.2.3.4", "http://127.0.0.1", False),
    ],
)
def test_what_is_the_same_site(here: str, there: str, expected: bool) -> None:
    assert same_site(parse(here), parse(there)) is expected


def test_a_name_that_leads_elsewhere_the_second_time(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page redirects to itself; by then its name is one of this machine."""
    public = iter([True, False])
    monkeypatch.setattr("jp.tool.builtin.fetching._is_public", lambda _: next(public))
    with RawServer([[head("302 Found", location="/again")]]) as server:
        message = tools.fails("fetch_page", url=server.base_url)
        assert (
            message == f"{server.base_url}/again has moved to an address of this machine or network; it was not asked"
        )
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", True), ("127.0.0.1", False), ("10.1.1.1", False), ("169.254.169.254", False), ("::1", False),
        ("fe80::1%eth0", False), ("::ffff:127.0.0.1", False), ("::ffff:93.184.216.34", True), ("fd00::1", False),
        ("2606:2800:220:1::1", True), ("0.0.0.0", False), ("100.64.0.1", False),
    ],
)  # fmt: skip
def test_what_is_public(address: str, expected: bool) -> None:
    class Socket:
        def getpeername(self) -> tuple[str, int]:
            return address, 80

    class Connected:
        _sock = Socket()

    assert _is_public(Connected()) is expected  # type: ignore[arg-type]


def test_redirects_in_circles(tools: Tools) -> None:
    with RawServer([[head("302 Found", location="/again")]]) as server:
        assert "redirects more than 5 times" in tools.fails("fetch_page", url=server.base_url)
        assert server.connections == 6


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://x/y", "javascript://x"])
def test_redirects_to_what_is_no_web(tools: Tools, location: str) -> None:
    with RawServer([[head("302 Found", location=location)]]) as server:
        message = tools.fails("fetch_page", url=server.base_url)
    assert message.startswith("the redirect is not a usable URL")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "/etc/passwd", "ftp://x", "http://", "https://a b", ""])
def test_addresses_that_are_none(tools: Tools, url: str) -> None:
    assert tools.fails("fetch_page", url=url).startswith("the address of the page is not a usable URL")


def test_a_status_other_than_success(tools: Tools) -> None:
    with RawServer([[head("404 Not Found", content_type="text/html"), b"<h1>No  such page"]]) as server:
        outcome = tools.run("fetch_page", {"url": server.base_url + "/x"})
        assert outcome == Failure(f"{server.base_url}/x answered with status 404: # No such page")
    with RawServer([[head("503 Busy", content_type="image/png"), b"\x89PNG"]]) as server:
        outcome = tools.run("fetch_page", {"url": server.base_url})
        assert outcome == Failure(f"{server.base_url}/ answered with status 503", transient=True)


@pytest.mark.parametrize("steps", [[RESET], [HTML[:30], RESET], [head(content_length="10"), b"half"], [b"no HTTP"], []])
def test_servers_that_fail(tools: Tools, steps: list) -> None:
    with RawServer([steps]) as server:
        outcome = tools.run("fetch_page", {"url": server.base_url})
    assert isinstance(outcome, Failure)
    assert "base_url" not in outcome.message
    assert outcome.transient is (steps != [b"no HTTP"])


def test_nobody_there(tools: Tools) -> None:
    with RawServer([[]]) as server:
        pass
    outcome = tools.run("fetch_page", {"url": server.base_url})
    assert outcome == Failure(f"nothing listens at {server.base_url}", transient=True)


def test_a_server_that_drips(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time; all of them never would."""
    monkeypatch.setattr("jp.tool.builtin.fetching.SECS", 1.5)
    with RawServer([[HTML, *[b"x", Pause(0.1)] * 600]]) as server:
        began = time.monotonic()
        outcome = tools.run("fetch_page", {"url": server.base_url})
    assert outcome == Failure("the page did not come within 1.5 s", transient=True)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("steps", [[HANG], [HTML, b"half", HANG]])
def test_cancelled(tools: Tools, steps: list) -> None:
    with RawServer([steps]) as server:
        started = tools.start("fetch_page", {"url": server.base_url})
        server.wait_for_requests(1)
        assert started.run is not None
        began = time.monotonic()
        started.run.cancel()
        assert started.run.over(10)
        assert time.monotonic() - began < 3
        assert not started.outcomes


def test_through_a_proxy(tmp_path: Path) -> None:
    with ProxyServer() as proxy, RawServer([[head(content_type="text/plain"), b"x"]]) as server:
        tools = Tools(tmp_path, {**os.environ, "http_proxy": proxy.base_url})
        # Loopback is reached without a proxy, by all its names but this one.
        assert tools.ok("fetch_page", url=f"http://0.0.0.0:{server.port}/") == "x"
        assert proxy.requests[0].path == f"http://0.0.0.0:{server.port}/"


def test_a_page_that_can_not_be_parsed_in_time(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jp.tool.builtin.fetching.CONVERT_SECS", 0.01)
    with RawServer([[HTML, b"<p>x"]]) as server:
        assert "could not be turned into text within 0.01 s" in tools.fails("fetch_page", url=server.base_url)
    assert not still_marked(within=5)


# --- the text of a page ---

BASE = "https://example.org/dir/page"


def test_the_parts_of_a_page() -> None:
    html = """
    <!doctype html><html><head><title> The
      title </title><style>p {}</style></head><body>
    <h2>Head <em>line</em></h2>
    <p>First   paragraph<br>second line.</p>
    <ul><li>one</li><li>two<ul><li>inner</li></ul></li><li><p>three</p></li></ul>
    <ol><li>first<li>second</ol>
    <pre><code class="x">def f():
        return "&lt;"

    </code></pre>
    <p>Use <code>a  b</code> and <kbd>c</kbd>.</p>
    <blockquote><p>Said <b>so</b>.</p></blockquote>
    <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
    <hr><img src="x.png" alt="A picture"><svg><text>no</text></svg>
    <a href="../up">up</a> <a href="#here">here</a> <a href="javascript:x()">js</a> <a href="mailto:a@b">mail</a>
    <a href="https://else.org/"> <b>else</b>where </a><a href="/icon"></a>
    </body></html>
    """
    assert text_of(html, BASE) == (
        "Title: The title\n\n## Head line\n\nFirst paragraph\nsecond line.\n\n- one\n- two\n  - inner\n- three\n\n"
        '1. first\n2. second\n\n```\ndef f():\n        return "<"\n```\n\nUse `a b` and `c`.\n\n> Said so.\n\n'
        "a | b\n1 | 2\n\n---\n\n[image: A picture] [up](https://example.org/up) here js [mail](mailto:a@b) "
        "[else where](https://else.org/)\n"
    ).replace("else where", "elsewhere")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", "\n"),
        ("just words", "just words\n"),
        ("<p>a<p>b", "a\n\nb\n"),
        ("<head><title>t</title><body>x", "Title: t\n\nx\n"),
        ("</p></ul></pre></a></blockquote>x", "x\n"),
        ("<a href='x'>one<p>two</a>three", "[one](https://example.org/dir/x)\n\ntwothree\n"),
        ("<pre>```\n</pre>", "````\n```\n````\n"),
        ("<pre>a<a href=x>b</a>c", "```\nabc\n```\n"),
        ("<script>if (a < b) { document.write('<p>no</p>') }</script>yes", "yes\n"),
        ("<p>a<!-- <p>no -->b", "ab\n"),
        ("<a href='http://[bad'>x</a>", "x\n"),
        ("<li>x", "- x\n"),
        ("&nbsp;&eacute;&#x41;&bogus;", "éA&bogus;\n"),
    ],
)
def test_pages_that_are_not_well_made(html: str, text: str) -> None:
    assert text_of(html, BASE) == text
