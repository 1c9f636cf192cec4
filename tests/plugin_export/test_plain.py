"""Text without what is no text, moments, names of files, and which conversation is meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.plugin.messages import ConversationSummary
from jp_plugins.export.choose import NotFound, chosen, named
from jp_plugins.export.names import file_name
from jp_plugins.moments import for_machines, parsed, to_minute
from jp_plugins.plain import clean, one_line


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb\rc", "a\nbc"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]2;never ended\nnext", "\nnext"),
        ("\x9b2Ja\x9d0;t\x9cb", "ab"),
        ("é\x1b[1mü", "éü"),
        ("\x00a\x7f\x85b", "ab"),
        ("a\u202eb\u2066c", "a<U+202E>b<U+2066>c"),
        ("half \ud83d", "half \ufffd"),
        ("\x1b", ""),
    ],
)
def test_clean(given_text: str, wanted: str) -> None:
    assert clean(given_text) == wanted


@given(st.text(st.sampled_from("\x1b\x9b\x9d\x07\x9c[]0;mJ\\\r\n\ta é\x00\u202e"), max_size=20))
def test_clean_leaves_nothing_to_clean(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert all(c.isprintable() or c in "\n\t" for c in clean(text))


def test_one_line() -> None:
    assert one_line(" a\r\n\tb\u2028c\x1b[2J ") == "a b c"


@pytest.mark.parametrize(
    "text",
    ["2026-03-01T10:00:59Z", "2026-03-01 10:00:59.123456", "2026-03-01T12:00:59+02:00"],
)
def test_moments(text: str) -> None:
    moment = parsed(text)
    assert moment is not None
    assert (to_minute(moment), for_machines(moment)) == ("2026-03-01 10:00", "2026-03-01T10:00:59Z")


@pytest.mark.parametrize("text", [None, "", "yesterday", "9999-99-99", "<script>"])
def test_what_is_no_moment(text: str | None) -> None:
    assert to_minute(parsed(text)) == ""


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the parser", "17-fix-the-parser.md"),
        ("../../etc/passwd", "17-etc-passwd.md"),
        ("-rf *; $(rm) `x` | \"a\" 'b'\n\x1b]0;t\x07", "17-rf-rm-x-a-b.md"),
        ("con.txt\x00", "17-con-txt.md"),
        ("Grüße 日本", "17-grüße-日本.md".casefold()),
        ("", "17.md"),
        (None, "17.md"),
        ("...", "17.md"),
        ("日" * 100, "17-" + "日" * 40 + ".md"),
    ],
)
def test_file_names(title: str | None, name: str) -> None:
    assert file_name("17", title, ".md") == name


@given(st.text(), st.text(max_size=30))
def test_a_file_name_stays_in_its_directory(conversation: str, title: str) -> None:
    name = file_name(conversation, title, ".md")
    assert "/" not in name
    assert not name.startswith((".", "-"))
    assert len(name.encode()) < 255


def summary(id_: str, title: str | None, day: str | None) -> ConversationSummary:
    at = f"2026-01-{day}T00:00:00Z" if day else None
    return ConversationSummary(id=id_, title=title, last_activated_at=at, events_count=1)


KNOWN = [
    summary("17000000001", "Fix the parser", "01"),
    summary("17000000002", "Fix the printer", "03"),
    summary("18000000003", None, "02"),
    summary("19000000004", "Fix", None),
]


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("17000000001", "17000000001"),
        ("jp-c17000000001", "17000000001"),
        ("18", "18000000003"),
        ("fix the pa", "17000000001"),
        ("FIX THE PRINTER", "17000000002"),
        ("fix", "19000000004"),
    ],
)
def test_a_conversation_is_named(word: str, wanted: str) -> None:
    assert named(KNOWN, word).id == wanted


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (
            "fix the",
            '"fix the" fits 2 conversations; give the id of one:\n  17000000002  Fix the printer\n'
            "  17000000001  Fix the parser",
        ),
        ("x\x1b[2J", 'no conversation has an id or a title that begins with "x"; `jp conversation ls` lists them'),
        ("", 'no conversation has an id or a title that begins with ""; `jp conversation ls` lists them'),
    ],
)
def test_a_name_that_is_not_one(word: str, said: str) -> None:
    with pytest.raises(NotFound) as caught:
        named(KNOWN, word)
    assert str(caught.value) == said


def test_which_are_chosen() -> None:
    assert [each.id for each in chosen(KNOWN, (), every=False)] == ["17000000002"]
    assert [each.id for each in chosen(KNOWN, ("18", "fix", "18"), every=False)] == ["18000000003", "19000000004"]
    assert [each.id[:2] for each in chosen(KNOWN, (), every=True)] == ["17", "18", "17", "19"]
    with pytest.raises(NotFound, match="jp query"):
        chosen([], (), every=True)
