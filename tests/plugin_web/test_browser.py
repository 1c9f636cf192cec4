"""The pages in a real browser: by keyboard, on a phone, in the dark, while a turn runs, against what means harm."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from jp.plugin.fake import Conversation
from tests.plugin_web.made_up import event, said
from tests.plugin_web.served import Served
from tests.support import hostile
from tests.support.browser import Page, unfold

pytestmark = pytest.mark.slow


def sound(page: Page, served: Served) -> None:
    """The page complained about nothing and asked nobody else for anything."""
    assert page.complaints == []
    assert {urlsplit(url).netloc for url in page.requested} == {f"127.0.0.1:{served.port}"}


def test_the_address_leads_to_the_list_and_is_gone_from_sight(page: Page, still: Served) -> None:
    assert page.value("location.href") == f"{still.base}/"
    assert page.value("document.cookie") == ""
    assert "Fix the parser" in page.text
    sound(page, still)


def test_list_search_and_reading_by_keyboard_alone(page: Page, still: Served) -> None:
    page.press("j")
    page.until("document.activeElement.textContent === 'Fix the parser'")
    page.press("j")
    page.until("document.activeElement.textContent === 'Write <b>docs</b>'")
    page.press("k")
    page.until("document.activeElement.textContent === 'Fix the parser'")
    page.press("/")
    page.until("document.activeElement.id === 'search'")
    page.type("needle jk/")
    page.until("document.querySelector('.status').textContent === 'Nothing found'")
    assert page.value("document.activeElement.value") == "needle jk/"  # keys are text here
    page.value("document.activeElement.select()")
    page.type("needle")
    page.until("document.querySelector('mark')?.textContent === 'needle'")
    assert page.value("location.search") == "?q=needle"
    assert page.value("document.querySelectorAll('.list li').length") == 1
    assert page.value("document.getElementById('said').textContent") == "1 conversation found"
    page.press("ArrowDown")
    page.until("document.activeElement.textContent === 'Fix the parser'")
    page.press("Tab")
    page.until("document.activeElement.matches('.found a')")
    page.press("Enter")
    page.until("location.hash === '#turn-2' && document.readyState === 'complete'")
    page.press("k")
    page.until("document.activeElement.textContent === 'Turn 1'")
    page.press("u")
    page.until("location.pathname === '/' && document.readyState === 'complete'")
    sound(page, still)


def test_the_first_tab_skips_the_bar(page: Page, still: Served) -> None:
    page.press("Tab")
    page.until("document.activeElement.className === 'skip'")
    assert page.value("document.activeElement.getBoundingClientRect().left >= 0")
    page.press("Enter")
    page.until("location.hash === '#main'")
    page.press("Tab")
    page.until("document.activeElement.textContent === 'Fix the parser'")


def test_a_fold_opens_by_key(page: Page, still: Served) -> None:
    page.go(still.base + "/c/17")
    assert "Sure?" not in page.text
    page.value("document.querySelector('.tool > summary').focus()")
    page.press("Enter")
    page.until("document.querySelector('.tool').open")
    assert "Sure?" in page.text


def test_new_events_appear_while_a_turn_runs(page: Page, served: Served) -> None:
    one = served.workspace.conversations["17000000002"]
    page.go(served.base + "/c/17000000002")
    assert "A turn is running" not in page.text
    one.locked = True
    page.until("!document.getElementById('running').hidden")
    assert "A turn is running" in page.text
    one.events += said("And in Dutch?")
    page.until("document.querySelectorAll('.turn').length === 2")
    one.events.append(event("tool_call_request", id="1", name="translate"))
    page.until("document.querySelector('.tool')?.textContent.includes('no result yet')")
    page.value("document.querySelector('.tool').open = true")
    one.events.append(event("tool_call_response", id="1", content="Gedaan."))
    page.until("document.querySelector('.tool').textContent.includes('Gedaan.')")
    assert page.value("document.querySelector('.tool').open")  # as the person left it
    assert page.value("document.querySelectorAll('.tool').length") == 1
    one.events.append(event("chat_response", message="Klaar, *nu*."))
    page.until("document.querySelector('.reply em')?.textContent === 'nu'")
    page.until("document.getElementById('news').textContent.startsWith('New: Klaar')")
    one.locked = False
    page.until("document.getElementById('running').hidden")
    assert page.value("performance.getEntriesByType('navigation').length") == 1
    assert page.value("document.querySelectorAll('section.turn').length") == 2
    sound(page, served)


def test_who_reads_further_up_is_left_there_and_told(page: Page, served: Served) -> None:
    one = served.workspace.conversations["17"]
    page.go(served.base + "/c/17")
    one.events += said("More", "of it")
    page.until("!document.getElementById('jump').hidden")
    assert page.value("scrollY") == 0
    page.value("document.getElementById('jump').focus()")
    page.press("Enter")
    page.until("document.getElementById('jump').hidden && scrollY > 0")
    one.events.append(event("chat_response", message="to follow\n\n" * 40))
    page.until("document.body?.innerText.includes('to follow')")
    page.until("innerHeight + scrollY >= document.documentElement.scrollHeight - 2")


def test_a_conversation_that_was_cut_is_loaded_anew(page: Page, served: Served) -> None:
    page.go(served.base + "/c/17000000001")
    del served.workspace.conversations["17000000001"].events[3:]
    page.until("document.querySelectorAll('.turn').length === 1")
    assert "needle" not in page.text


@pytest.mark.parametrize("end", ["shutdown", "gone"])
def test_the_end_of_the_server_is_told(page: Page, served: Served, end: str) -> None:
    page.go(served.base + "/c/17")
    if end == "gone":
        del served.workspace.conversations["17"]
        page.until("document.getElementById('notice').textContent.includes('not there any more')")
    else:
        served.shutdown()
        page.until("document.getElementById('notice').textContent.includes('server has ended')")
    assert not page.value("document.getElementById('notice').hidden")
    assert "A request with" in page.text


def test_a_long_search_goes_on_by_itself(page: Page, still: Served) -> None:
    # As if the server had not come to the end the first time.
    page.value(
        "(() => { const real = fetch; let first = true; window.fetch = async (...given) => {"
        " if (!first) return real(...given); first = false;"
        ' return new Response(\'<p class="status" data-unread="3">3 still to be read</p>\'); }; })()'
    )
    page.press("/")
    page.type("needle")
    page.until("document.querySelector('mark')?.textContent === 'needle'")


def test_what_would_do_harm_does_nothing(page: Page, served: Served) -> None:
    known = served.workspace.conversations
    for number, text in enumerate(hostile.SCRIPTS):
        known[f"{9000 + number}"] = Conversation(title=text, events=said("script", text))
    known["18"] = Conversation(events=[event for text in hostile.SCRIPTS for event in harmful(text)])
    for path in ("/", "/?q=script", "/c/9000", "/c/18"):
        page.go(served.base + path)
        unfold(page)
        page.value("document.querySelectorAll('main a').forEach((each) => each.dispatchEvent(new Event('click')))")
        assert page.value("window.pwned === undefined")
        assert page.value("location.origin") == served.base
    assert page.value("document.querySelectorAll('.turn').length") == len(hostile.SCRIPTS)
    # What comes while one looks is put into the page by the script.
    known["18"].events += [event for text in hostile.SCRIPTS[:10] for event in harmful(text)]
    page.until(f"document.querySelectorAll('.turn').length === {10 + len(hostile.SCRIPTS)}")
    assert page.value("window.pwned === undefined")
    sound(page, served)


def harmful(text: str) -> list[dict[str, Any]]:
    return [
        *said(text, text),
        event("tool_call_request", id=text, name=text, arguments={text: text}),
        event("tool_call_response", id=text, content=text),
    ]


def test_a_page_can_not_be_framed_nor_run_what_is_written_into_it(page: Page, still: Served) -> None:
    page.value("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned = true\">')")
    for tag, about in (("script", "{textContent: 'window.pwned = true'}"), ("iframe", "{src: '/'}")):
        page.value(f"document.body.append(Object.assign(document.createElement('{tag}'), {about}))")
    page.until("document.querySelector('iframe') !== null")
    assert page.value("window.pwned === undefined")
    page.value("new Promise((done) => setTimeout(done, 0))")
    assert any("Content Security Policy" in each for each in page.complaints)


def test_without_scripts_one_can_search_and_read(page: Page, still: Served) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.go(still.base + "/")
    page.value("document.getElementById('search').focus()")
    page.type("needle")
    page.press("Enter")
    page.until("location.search === '?q=needle'")
    page.until("document.querySelector('mark')?.textContent === 'needle'")
    page.go(still.base + "/c/17000000001")
    page.until("document.body?.innerText.includes('Because of the lexer.')")
