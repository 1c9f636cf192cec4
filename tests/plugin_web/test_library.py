"""What is remembered, and what a search finds in it."""

import time
from collections.abc import Iterator
from typing import Any, cast

import pytest

from jp.plugin import messages, sdk
from jp.plugin.fake import Conversation, Workspace
from jp_plugins.web.library import Library
from jp_plugins.web.search import SHOWN, search
from jp_plugins.web.texts import Texts, folded, marked, words
from tests.plugin_web.made_up import conversations, said


class Reading:
    """The two methods of a host that a library uses, and what it was asked."""

    def __init__(self, known: dict[str, Conversation]) -> None:
        self.workspace = Workspace(known, {}, lambda _: None)
        self.read: list[str] = []
        self.listed = 0

    def conversations(self) -> list[messages.ConversationSummary]:
        self.listed += 1
        found = self.workspace.respond(messages.ListConversations())
        assert isinstance(found, messages.Conversations)
        return found.data

    def events(self, conversation: str) -> messages.Events:
        self.read.append(conversation)
        found = self.workspace.respond(messages.ReadEvents(conversation=conversation))
        if isinstance(found, messages.Error):
            raise sdk.RequestFailed("read_events", found.message)
        assert isinstance(found, messages.Events)
        return found


class Clock:
    def __init__(self) -> None:
        self.now = 100.0
        self.step = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reading() -> Reading:
    return Reading(conversations())


@pytest.fixture
def library(reading: Reading, clock: Clock) -> Library:
    return Library(cast(sdk.Host, reading), now=clock)


def ids(library: Library, query: str, **options: Any) -> list[str]:
    return [each.summary.id[-1] for each in search(library, query, **options).hits]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("parser", "1"),
        ("PARSER loop", "1"),
        ("docs", "2"),
        ("done", "2"),
        ("über", "3"),
        ("ÜBER", "3"),
        ("while true", "1"),
        ("read_file", "1"),
        ("hm,", "1"),
        ('"the lexer"', "1"),
        ('"lexer the"', ""),
        ("parser docs", ""),
        ("", ""),
        ("   ", ""),
        ("<b>", "2"),
        ("e", "123"),
    ],
)
def test_a_search_finds_titles_and_contents(library: Library, query: str, found: str) -> None:
    assert "".join(ids(library, query)) == found


def test_a_hit_says_where(library: Library) -> None:
    (hit,) = search(library, "needle").hits
    assert hit.turn == 2
    assert hit.excerpt.endswith("And now? A needle in the haystack.")
    (hit,) = search(library, "docs").hits
    assert (hit.turn, hit.excerpt) == (None, "")


def test_a_conversation_is_read_once_until_it_changes(library: Library, reading: Reading, clock: Clock) -> None:
    for query in ("needle", "haystack", "nothing"):
        search(library, query)
    assert sorted(reading.read) == sorted(reading.workspace.conversations)
    reading.workspace.conversations["17000000002"].events += said("more", "of a needle")
    clock.now += 10
    assert ids(library, "needle") == ["1", "2"]
    assert reading.read[3:] == ["17000000002"]


def test_typing_lists_the_conversations_once(library: Library, reading: Reading, clock: Clock) -> None:
    for length in range(1, 7):
        clock.now += 0.5
        search(library, "needle"[:length])
    assert reading.listed == 1


def test_what_is_remembered_is_bounded(reading: Reading, clock: Clock) -> None:
    for number in range(10, 40):
        reading.workspace.conversations[f"170000000{number}"] = Conversation(events=said("x", "é" + "y" * 10_000))
    library = Library(cast(sdk.Host, reading), most=100_000, now=clock)
    assert len(search(library, "éy").hits) == 30
    assert 50_000 < library.size <= 100_000
    reading.read.clear()
    assert len(search(library, "éy").hits) == 30  # those that have no room are read again
    assert 20 < len(reading.read) < 30


def test_the_texts_of_what_is_gone_go(library: Library, reading: Reading, clock: Clock) -> None:
    search(library, "needle")
    reading.workspace.conversations.clear()
    clock.now += 10
    assert ids(library, "needle") == []
    assert library.size == 0


def test_what_can_not_be_read_is_passed_over(library: Library, reading: Reading) -> None:
    library.conversations()
    del reading.workspace.conversations["17000000001"]
    assert ids(library, "done") == ["2"]


def test_a_search_stops_reading_in_time_and_says_so(library: Library, clock: Clock) -> None:
    clock.step = 1.0
    found = search(library, "needle", seconds=0.5, now=clock)
    assert (found.count, found.unread) == (0, 3)
    found = search(library, "docs", seconds=0.5, now=clock)
    assert (found.count, found.unread) == (1, 2)  # titles are known
    clock.step = 0
    assert search(library, "needle", now=clock).count == 1
    clock.step = 1.0
    found = search(library, "needle", seconds=0.5, now=clock)
    assert (found.count, found.unread) == (1, 0)  # what is remembered costs nothing


def test_so_many_are_shown_and_all_counted(reading: Reading, clock: Clock) -> None:
    reading.workspace.conversations = {f"17{n:09}": Conversation(title=f"same {n}") for n in range(SHOWN + 10)}
    found = search(Library(cast(sdk.Host, reading), now=clock), "same")
    assert (len(found.hits), found.count) == (SHOWN, SHOWN + 10)


def test_a_thousand_conversations_are_searched_at_once(reading: Reading) -> None:
    text = "the quick brown fox jumps over the lazy dog. " * 800
    reading.workspace.conversations = {
        f"17{n:09}": Conversation(title=f"Number {n}", events=said("x", text + str(n))) for n in range(1000)
    }
    library = Library(cast(sdk.Host, reading))
    search(library, "nothing like that", seconds=60)
    assert library.size < 64 << 20
    begun = time.process_time()
    assert search(library, "dog. 777").count == 1
    assert time.process_time() - begun < 0.5


def test_events_of_a_moment_ago_are_shared(library: Library, reading: Reading, clock: Clock) -> None:
    for _ in range(3):
        library.events("17000000001")
    assert len(reading.read) == 1
    clock.now += 1
    library.events("17000000001")
    assert len(reading.read) == 2


def test_words() -> None:
    assert words('Fix "the Parser" \x1b[1mnow "') == ["fix", "the parser", "now"]
    assert len(words(" ".join(map(str, range(100))))) == 10


@pytest.mark.parametrize("text", ["ABC", "İstanbul ẞ", "ǅ ΑΣ", "\u0130" * 5])
def test_folding_keeps_places(text: str) -> None:
    assert len(folded(text)) == len(text)


def pieces(text: str, *looked_for: str) -> Iterator[str]:
    return (f"[{piece}]" if hit else piece for piece, hit in marked(text, looked_for))


def test_marks() -> None:
    assert "".join(pieces("The (quick) QUICK fox.*", "quick", "x.*")) == "The ([quick]) [QUICK] fo[x.*]"
    assert "".join(pieces("abc", "ab", "abc")) == "[abc]"


def test_an_excerpt_is_one_line_around_the_word() -> None:
    texts = Texts.of(said("a " * 200 + "needle\x1b[2J\n" + "b " * 200))
    found = texts.excerpt(["needle"])
    assert found is not None
    assert found[0] == 1
    assert found[1].startswith("… a a a")
    assert found[1].endswith("b b …")
    assert "\n" not in found[1]
