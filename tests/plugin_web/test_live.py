"""What is new for a page that shows a conversation."""

from typing import Any

from msgspec import UNSET

from jp.plugin.messages import Events
from jp_plugins.conversation_html import Look
from jp_plugins.web.live import cursor, news
from tests.plugin_web.made_up import AT, said

LOOK = Look()


def events(*data: dict[str, Any], running: bool = False) -> Events:
    return Events(conversation="17", data=list(data), lock="elsewhere" if running else UNSET)


TURN = said("q", "a")


def test_nothing_is_new() -> None:
    assert news(events(*TURN), cursor(events(*TURN)), LOOK) is None


def test_a_turn_begins_and_ends_to_run() -> None:
    before, after = events(*TURN), events(*TURN, running=True)
    assert news(after, cursor(before), LOOK) == {"cursor": cursor(after), "running": True, "parts": []}
    assert news(before, cursor(after), LOOK) == {"cursor": cursor(before), "running": False, "parts": []}


def test_only_what_is_new_is_sent() -> None:
    after = events(*TURN, {"type": "chat_response", "message": "b", "timestamp": AT})
    found = news(after, cursor(events(*TURN)), LOOK)
    assert found is not None
    assert found["parts"] == [
        {"turn": 1, "whole": False, "html": '<div class="reply" id="part-3" dir="auto">\n<p>b</p>\n</div>\n'}
    ]


def test_a_new_turn_comes_whole() -> None:
    found = news(events(*TURN, *said("q2", "a2")), cursor(events(*TURN)), LOOK)
    assert found is not None
    ((part),) = found["parts"]
    assert (part["turn"], part["whole"]) == (2, True)
    assert part["html"].startswith('<section class="turn" id="turn-2"')


def test_a_result_comes_with_its_call() -> None:
    call = {"type": "tool_call_request", "id": "1", "name": "x", "timestamp": AT}
    result = {"type": "tool_call_response", "id": "1", "content": "y", "timestamp": AT}
    other = {"type": "chat_response", "message": "b", "timestamp": AT}
    found = news(events(*TURN, call, other, result), cursor(events(*TURN, call, other)), LOOK)
    assert found is not None
    ((part),) = found["parts"]
    assert 'id="part-3"' in part["html"]
    assert "<code>y\n</code>" in part["html"]


def test_a_reply_that_has_grown_comes_again() -> None:
    part, whole = ({"type": "chat_response", "message": text, "timestamp": AT} for text in ("A sen", "A sentence"))
    found = news(events(*TURN, whole), cursor(events(*TURN, part)), LOOK)
    assert found is not None
    assert [each["html"] for each in found["parts"]] == [
        '<div class="reply" id="part-3" dir="auto">\n<p>A sentence</p>\n</div>\n'
    ]


def test_a_page_that_shows_what_is_not_there_any_more_begins_anew() -> None:
    shown = events(*TURN, *said("q2", "a2", at="2026-03-02 10:00:00.0"))
    for now in (events(*TURN), events(), events(*said("x", "y", at="2026-04-01 10:00:00.0"), *TURN)):
        found = news(now, cursor(shown), LOOK)
        assert found is not None
        assert found["reload"] is True
        assert found["cursor"] == cursor(now)


def test_a_cursor_that_is_none() -> None:
    for after in ("", "x", "-1.a.b.c", "1" * 100, cursor(events(*TURN)).replace(".", "/")):
        found = news(events(*TURN), after, LOOK)
        assert found is not None
        assert found["reload"] is True


def test_a_conversation_that_was_empty() -> None:
    found = news(events(*TURN), cursor(events()), LOOK)
    assert found is not None
    assert [each["whole"] for each in found["parts"]] == [True]
