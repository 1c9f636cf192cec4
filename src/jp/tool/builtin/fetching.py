"""`fetch_page`: a page of the web as text.

Where it is has been approved by a person, so any host may be meant, but that one alone: a redirect to another host is
an answer for the model, which may ask for that page.
"""

import re
import threading
from contextlib import closing
from typing import NamedTuple

from jp.errors import JpError
from jp.interrupt.standing import clock
from jp.llm.address import Address, parse, resolve
from jp.llm.connect import Lifeline
from jp.llm.errors import NetworkError, Redirected, Stopped, StreamCut
from jp.llm.exchange import Exchange, Limits
from jp.llm.provider import Request
from jp.llm.wire import Wire
from jp.tool.builtin.helper import TooSlow, answer, module
from jp.tool.builtin.reading import SNIFFED, is_binary
from jp.tool.outcome import Failure, Success
from jp.tool.output import Spill, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.tool.builtin.work import Work
    from jp.tool.outcome import Outcome

MAX_BYTES = 1 << 20
MAX_REDIRECTS = 5
SECS = 60.0  # for all of it
LIMITS = Limits(connect_secs=15, idle_secs=20)
CONVERT_SECS = 10.0
CONVERTER = "jp.tool.builtin.page_text"
TRIED_LATER = (408, 425, 429, 500, 502, 503, 504)
HTML = ("text/html", "application/xhtml+xml")
TEXT = re.compile(r"text/.*|.*[/+](json|xml|yaml|toml|javascript|ecmascript|x-sh|x-ndjson|graphql|sql)", re.IGNORECASE)
ACCEPT = "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.1"
# What a page may say about itself: a few that are text, and not whatever Python can decode.
CHARSET = re.compile(
    r"utf-?(8|16|16le|16be)|(iso-?)?8859-\d{1,2}|latin-?1|(us-)?ascii|(windows|cp)-?125\d|koi8-[ru]|shift[_-]jis"
    r"|euc-(jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5|mac-?roman|tis-620",
    re.IGNORECASE,
)
_META = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?([A-Za-z0-9_-]{1,40})", re.IGNORECASE)


class PageError(JpError):
    """The page can't be had."""

    code = "page"


class _Elsewhere(Exception):
    """The page is at another host: `address`."""

    def __init__(self, address: str) -> None:
        self.address = address


class Page(NamedTuple):
    """What came: `kind` is the media type, `address` where it was in the end; `whole`: all of it came."""

    status: int
    kind: str
    charset: str
    body: bytes
    address: str
    whole: bool


def fetch_page(work: "Work") -> "Outcome":
    """The text of the page; a failure for an answer that is not success, or no text."""
    url = work.text("url")
    raw = work.flag("raw")
    lifeline = Lifeline()
    over = threading.Event()
    try:
        threading.Thread(target=_cut_in_time, args=(lifeline, over), name="tool-fetch-limit", daemon=True).start()
        with work.stopping(lambda _: lifeline.cut()):
            page = _fetch(work, url, lifeline)
    except _Elsewhere as away:
        return Success(
            f"{parse(url).shown} redirects to {away.address}, which is not the same site and was not followed: "
            f"fetch that page if you want it\n"
        )
    except Stopped:
        work.checkpoint()
        return Failure(f"the page did not come within {SECS:g} s", transient=True)
    except (NetworkError, StreamCut) as error:
        return Failure(error.message, transient=True)
    finally:
        over.set()
    if page.status // 100 != 2:
        return _refused(work, page)
    text = _text(work, page, raw)
    notes = [] if page.whole else [f"only the first {MAX_BYTES} bytes were read"]
    if page.address.partition("?")[0] != parse(url).shown:
        notes.append(f"the page is at {page.address}")
    told = shortened(text, Spill(work.place.spill_dir, "fetch_page"))
    return Success(told + (f"\n({'; '.join(notes)})\n" if notes else ""))


def _cut_in_time(lifeline: Lifeline, over: threading.Event) -> None:
    """A server that sends a byte now and then keeps every other limit."""
    until = clock() + SECS
    while not over.wait(1.0):
        if clock() >= until:
            lifeline.cut()
            return


def _fetch(work: "Work", url: str, lifeline: Lifeline) -> Page:
    address = parse(url, name="the address of the page")
    reached = _Reached()
    for _ in range(MAX_REDIRECTS + 1):
        work.checkpoint()
        user = f"{address.userinfo}@" if address.userinfo else ""
        where = f"{address.scheme}://{user}{address.authority}{address.path}"
        request = Request("GET", where, {"Accept": ACCEPT})
        with _Visit(request, lifeline, limits=LIMITS, environ=work.place.environ) as exchange:
            exchange.reached = reached
            exchange.send()
            try:
                exchange.head()
            except Redirected:
                there = resolve(address, exchange.headers["location"])
                if not same_site(address, there):
                    raise _Elsewhere(there.origin + there.path) from None
                address = there
                continue
            kind, _, rest = exchange.headers.get("content-type", "").partition(";")
            charset = rest.partition("charset=")[2].partition(";")[0].strip(" \"'")
            body = exchange.read_all(MAX_BYTES + 1)
            shown = exchange.address.origin + exchange.address.path
            return Page(exchange.status, kind.strip().lower(), charset, body[:MAX_BYTES], shown, len(body) <= MAX_BYTES)
    raise PageError(f"{parse(url).shown} redirects more than {MAX_REDIRECTS} times")


class _Reached:
    """What kind of address the first connection has led to."""

    def __init__(self) -> None:
        self._public: bool | None = None

    def check(self, wire: Wire, address: Address) -> None:
        """Raises PageError where a name that led to the internet leads to this machine or this network now."""
        public = _is_public(wire)
        if self._public is None:
            self._public = public
        elif self._public and not public:
            raise PageError(f"{address.shown} has moved to an address of this machine or network; it was not asked")


class _Visit(Exchange):
    """One request: every redirect is raised, and nothing is sent before it is known where to."""

    reached: _Reached

    def _redirect(self, location: str) -> None:
        raise Redirected(f"redirects to {location}", address=self.address.shown, status_code=self.status)

    def _send_all(self, wire: Wire, head: bytes) -> None:
        if self._proxy is None:
            self.reached.check(wire, self.address)
        super()._send_all(wire, head)


def _is_public(wire: Wire) -> bool:
    from ipaddress import IPv6Address, ip_address

    host = ip_address(str(wire._sock.getpeername()[0]).partition("%")[0])
    if isinstance(host, IPv6Address) and host.ipv4_mapped is not None:
        return host.ipv4_mapped.is_global
    return host.is_global


def same_site(here: Address, there: Address) -> bool:
    """Whether a redirect stays where a person has allowed it: the host, with `www.` or without, and never to less."""
    if (here.scheme, there.scheme) == ("https", "http"):
        return False
    ports = here.port == there.port
    upgrade = (here.scheme, here.port, there.scheme, there.port) == ("http", 80, "https", 443)
    return ((ports and here.scheme == there.scheme) or upgrade) and _bare(here.host) == _bare(there.host)


def _bare(host: str) -> str:
    return host.removeprefix("www.") if host.count(".") > 1 else host


def _refused(work: "Work", page: Page) -> Failure:
    message = f"{page.address} answered with status {page.status}"
    try:
        words = " ".join(_text(work, page, raw=False).split())[:500]
    except JpError:
        words = ""
    return Failure(f"{message}: {words}" if words else message, transient=page.status in TRIED_LATER)


def _text(work: "Work", page: Page, raw: bool) -> str:
    begin = page.body[:SNIFFED]
    wide = begin[:2] in (b"\xff\xfe", b"\xfe\xff") or page.charset.lower().startswith("utf-16")
    if (page.kind and not TEXT.fullmatch(page.kind)) or (is_binary(begin) and not wide):
        size = f"{len(page.body)} bytes" if page.whole else f"more than {MAX_BYTES} bytes"
        raise PageError(f"{page.address} is not text but {page.kind or 'something else'} ({size})")
    text = _decoded(page)
    looks = text[:1000].lstrip("\ufeff \t\r\n").lower().startswith(("<!doctype html", "<html"))
    if raw or not (page.kind in HTML or (not page.kind and looks)):
        return text
    try:
        request = f"{page.address}\n{text}".encode("utf-8", "replace")
        with closing(answer(work, module(CONVERTER), request, secs=CONVERT_SECS)) as output:
            return b"".join(output).decode("utf-8", "replace")
    except TooSlow:
        raise PageError(
            f"{page.address} could not be turned into text within {CONVERT_SECS:g} s; `raw` gives it as it is"
        ) from None


def _decoded(page: Page) -> str:
    named = page.charset
    if not named and page.kind in HTML:
        found = _META.search(page.body[:SNIFFED])
        named = found[1].decode() if found else ""
    if page.body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        named = "utf-16"
    if not CHARSET.fullmatch(named):
        named = "utf-8"
    try:
        return page.body.decode(named, "replace")
    except LookupError:
        return page.body.decode("utf-8", "replace")
