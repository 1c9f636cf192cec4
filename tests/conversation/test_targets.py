"""Every target word of the contracts."""

import pytest

from jp.conversation.targets import Kind, Target, parse
from jp.errors import UsageError


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("jp-c17800836875", Target(Kind.ID, "17800836875")),
        ("1780", Target(Kind.ID, "1780")),
        (".", Target(Kind.ACTIVE)),
        ("active", Target(Kind.ACTIVE)),
        ("session", Target(Kind.SESSION)),
        ("s", Target(Kind.SESSION)),
        ("newest", Target(Kind.NEWEST)),
        ("n", Target(Kind.NEWEST)),
        ("recent", Target(Kind.RECENT)),
        ("r", Target(Kind.RECENT)),
        ("pinned", Target(Kind.PINNED)),
        ("p", Target(Kind.PINNED)),
        ("archived", Target(Kind.ARCHIVED)),
        ("a", Target(Kind.ARCHIVED)),
        ("?", Target(Kind.PICKER)),
        ("?p", Target(Kind.PICKER, within=Kind.PINNED)),
        ("?s", Target(Kind.PICKER, within=Kind.SESSION)),
        ("?a", Target(Kind.PICKER, within=Kind.ARCHIVED)),
        ("?segfault", Target(Kind.PICKER, "segfault")),
        ("-", Target(Kind.STDIN)),
        ("+live", Target(Kind.ALL_LIVE)),
        ("+l", Target(Kind.ALL_LIVE)),
        ("+session", Target(Kind.ALL_SESSION)),
        ("+s", Target(Kind.ALL_SESSION)),
        ("+pinned", Target(Kind.ALL_PINNED)),
        ("+p", Target(Kind.ALL_PINNED)),
        ("+archived", Target(Kind.ALL_ARCHIVED)),
        ("+a", Target(Kind.ALL_ARCHIVED)),
    ],
)
def test_words(text: str, target: Target) -> None:
    assert parse(text) == target
    assert hash(parse(text)) == hash(target)


@pytest.mark.parametrize(("text", "near"), [("recnt", "recent"), ("+pined", "+pinned"), ("sesion", "session")])
def test_a_misspelt_word_is_named_with_the_nearest(text: str, near: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(text)
    assert text in error.value.message
    assert any(repr(near) in hint for hint in error.value.hints)


@pytest.mark.parametrize("text", ["", "zzzz", "+", "+x", "+li"])
def test_what_is_no_target(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_only_sets_stand_for_several() -> None:
    assert {kind for kind in Kind if kind.several} == {
        Kind.STDIN,
        Kind.ALL_LIVE,
        Kind.ALL_SESSION,
        Kind.ALL_PINNED,
        Kind.ALL_ARCHIVED,
    }
