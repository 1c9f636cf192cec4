"""How the pages look in a real browser: on a phone, in the dark, with the focus seen."""

from pathlib import Path

import pytest

from tests.plugin_web.made_up import everything, said
from tests.plugin_web.served import Served
from tests.support import hostile
from tests.support.browser import Browser, Page, unfold

pytestmark = pytest.mark.slow


FOCUS = """(() => {
  const style = getComputedStyle(document.activeElement);
  const after = getComputedStyle(document.activeElement, "::after");
  const seen = (s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2;
  return seen(style) || seen(after) ? "" : document.activeElement.outerHTML.slice(0, 200);
})()"""


@pytest.mark.parametrize("path", ["/", "/c/17"])
def test_what_has_the_focus_can_be_seen(page: Page, still: Served, path: str) -> None:
    page.go(still.base + path)
    unfold(page)
    visited = set()
    for _ in range(60):
        page.press("Tab")
        if page.value("document.activeElement === document.body"):
            break
        visited.add(page.value("document.activeElement.tagName"))
        assert page.value(FOCUS) == ""
    assert {"A", "INPUT", "BUTTON"} <= visited
    if path == "/c/17":
        assert {"SUMMARY", "PRE"} <= visited


@pytest.mark.parametrize("path", ["/", "/?q=e", "/c/17", "/c/17000000001", "/nope"])
def test_nothing_is_wider_than_a_phone(page: Page, still: Served, path: str) -> None:
    page.go(still.base + path)
    unfold(page)
    for width in (768, 375, 320):
        page.resize(width, 640, mobile=True)
        page.until(f"innerWidth === {width}")
        assert page.value("document.scrollingElement.scrollWidth") == width
    if path == "/c/17":  # code is scrolled in its own block
        assert page.value("[...document.querySelectorAll('pre')].some((each) => each.scrollWidth > each.clientWidth)")


CONTRASTS = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parts = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parts(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const low = []; let seen = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const ground = behind(element);
    const found = ratio(over(parts(getComputedStyle(element).color), ground), ground);
    seen += 1;
    if (found < 4.5) low.push([element.className || element.tagName, walker.currentNode.data.slice(0, 30), found]);
  }
  const field = document.getElementById("search");
  const ground = behind(field);
  const hint = ratio(over(parts(getComputedStyle(field, "::placeholder").color), ground), ground);
  if (hint < 4.5) low.push(["placeholder", "", hint]);
  return { low, seen };
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/?q=e", "/c/17", "/c/17000000001"])
def test_all_text_can_be_read(page: Page, still: Served, path: str, dark: bool) -> None:
    page.prefer(dark=dark)
    page.go(still.base + path)
    unfold(page)
    page.value("document.querySelectorAll('[hidden]').forEach((each) => { each.hidden = false; })")
    found = page.value(CONTRASTS)
    assert found["low"] == []
    assert found["seen"] > 15
    ground = page.value("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == ("rgb(23, 22, 20)" if dark else "rgb(252, 251, 249)")


def test_nothing_moves_where_the_person_does_not_want_it(page: Page, still: Served) -> None:
    page.go(still.base + "/c/17")
    assert page.value("getComputedStyle(document.getElementById('running'), '::before').animationName") == "none"
    assert page.value("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_a_file_made_by_export_is_as_safe_and_as_good_to_read(browser: Browser, tmp_path: Path) -> None:
    from jp_plugins.export import as_html
    from jp_plugins.export.document import Document

    events = [*everything().events, *(e for text in hostile.SCRIPTS for e in said(text, text))]
    path = tmp_path / "export.html"
    path.write_text("".join(as_html.pieces(Document("17", "<script>x</script>", None, events, True, True))))
    for dark in (False, True):
        tab = browser.open(path.as_uri(), width=320, dark=dark)
        unfold(tab)
        tab.value("document.body.insertAdjacentHTML('afterbegin', '<input id=\"search\">')")
        assert tab.value(CONTRASTS)["low"] == []
        assert tab.value("document.scrollingElement.scrollWidth") == 320
        assert tab.value("window.pwned === undefined")
        assert tab.requested == [path.as_uri()]
        assert tab.complaints == []
        tab.close()
