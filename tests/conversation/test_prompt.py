"""The system prompt: order, tags, instructions with examples."""

from jp.conversation.prompt import system_parts, tagged
from tests.conversation.support import config


def parts(assistant: dict) -> list[str]:
    return system_parts(config({"assistant": assistant}).assistant)


def test_the_parts_come_by_position() -> None:
    sections = [
        {"content": "late", "position": 100},
        {"content": "early", "position": -100},
        {"content": "middle"},
    ]
    instructions = [{"title": "T", "items": ["i"]}, {"title": "F", "items": ["f"], "position": -200}]
    assert parts({"system_prompt": "First.", "system_prompt_sections": sections, "instructions": instructions}) == [
        "First.",
        '<instruction title="F">\n- f\n</instruction>',
        "early",
        "middle",
        '<instruction title="T">\n- i\n</instruction>',
        "late",
    ]


def test_sections_are_wrapped_in_their_tags() -> None:
    sections = [
        {"content": "one\n", "tag": "web_skill", "title": "Skill: Web Access"},
        {"content": "two", "tag": "Rob Pike's 5 Rules"},
        {"content": "three", "title": "Three"},
    ]
    assert parts({"system_prompt_sections": sections})[1:] == [
        '<web_skill title="Skill: Web Access">\none\n</web_skill>',
        "<Rob_Pike_s_5_Rules>\ntwo\n</Rob_Pike_s_5_Rules>",
        "# Three\n\nthree",
    ]


def test_instructions_with_examples() -> None:
    given = {
        "title": "foo",
        "description": "bar",
        "items": ["one", "two\nlines"],
        "examples": ["plain", {"good": "g", "bad": "b", "reason": "r"}, {"good": "g2", "bad": "b2"}],
    }
    assert parts({"instructions": [given]})[1] == (
        '<instruction title="foo">\nbar\n\n- one\n- two\n  lines\n\n**Examples**\n\nplain\n\n'
        "Good: g\nBad: b\nReason: r\n\nGood: g2\nBad: b2\n</instruction>"
    )


def test_nothing_empty_is_sent() -> None:
    assert (
        parts({"system_prompt": "", "instructions": [{"items": []}], "system_prompt_sections": [{"content": "\n"}]})
        == []
    )
    assert parts({"system_prompt": "", "name": "Jean"}) == ["You are Jean."]


def test_tags_are_words() -> None:
    assert tagged("  <&>  ", "x") == "<section>\nx\n</section>"
    assert tagged("a b", "x", {"k": 'q"\n', "none": None}) == '<a_b k="q&quot; ">\nx\n</a_b>'
