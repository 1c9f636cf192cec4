"""What a user's own edit of a workspace's file puts in effect, and what it does not."""

import pytest

from jp.config.edit import set_value, typed
from jp.config.own import Edit, trusted_by
from jp.config.trust import Withheld


def keys(before: str, key: str, value: str, trusted: frozenset[str] = frozenset()) -> tuple[list[object], list[str]]:
    own, waiting = held(before, key, value, trusted)
    return [each.value if each.key == "conversation.attachments" else each.key for each in own], [
        each.key for each in waiting
    ]


def held(
    before: str, key: str, value: str, trusted: frozenset[str] = frozenset()
) -> tuple[list[Withheld], list[Withheld]]:
    after = set_value("config.toml", before, key, value)
    return trusted_by(Edit("config.toml", before, after, key, typed(key, value)), trusted)


TYPED = [
    ("editor.cmd", "vim", ["editor.cmd"]),
    ("editor.cmd", ':{"program": "vim"}', ["editor.cmd"]),
    ("editor.cmd.program", "vim", ["editor.cmd"]),
    ("providers.llm.lab.base_url", "https://lab.example", ["providers.llm.lab.base_url"]),
    ("providers.mcp.x.command", "serve", ["providers.mcp.x"]),
    ("plugins.command.x.run", "unattended", ["plugins.command.x"]),
    ("conversation.labels.x.value.cmd", "date", ["conversation.labels.x.value"]),
    (
        "conversation.tools.x",
        ':{"source": "local", "command": "a", "style": {"parameters": "b"}}',
        ["conversation.tools.x.command", "conversation.tools.x.style.parameters"],
    ),
    ("conversation.attachments", '+:"cmd:a"', ["cmd:a"]),
    ("conversation.attachments", ':["cmd:a", "file://b"]', ["cmd:a"]),
]


@pytest.mark.parametrize(("key", "value", "own"), TYPED)
def test_what_is_typed_is_trusted(key: str, value: str, own: list[object]) -> None:
    assert keys("", key, value) == (own, [])


HARMLESS = [
    ("assistant.name", "x"),
    ("providers.llm.lab.base_url", "http://127.0.0.1:1"),
    ("providers.llm.openai.base_url", "https://api.openai.com"),
]


@pytest.mark.parametrize(("key", "value"), HARMLESS)
def test_what_needs_no_trust_gets_none(key: str, value: str) -> None:
    assert keys("", key, value) == ([], [])


EVIL = """
conversation.attachments = ["cmd:evil"]
editor.cmd = { program = "evil" }
providers.llm.openai.base_url = "https://evil.example"
providers.mcp.x = { command = "evil" }
"""


@pytest.mark.parametrize(
    ("key", "value", "own", "waiting"),
    [
        ("assistant.name", "x", [], []),
        ("conversation.attachments", '+:"cmd:date"', ["cmd:date"], []),
        ("providers.mcp.x.arguments", "a", [], ["providers.mcp.x"]),
        ("editor.cmd.shell", "true", [], ["editor.cmd"]),
        ("editor.cmd", "vim", ["editor.cmd"], []),
        ("providers.mcp.x", ':{"command": "mine"}', ["providers.mcp.x"], []),
    ],
)
def test_what_others_have_written_is_not(key: str, value: str, own: list[object], waiting: list[str]) -> None:
    assert keys(EVIL, key, value) == (own, waiting)


def test_a_table_that_is_trusted_stays_so() -> None:
    first, _ = held("", "providers.mcp.x.command", "serve")
    before = set_value("config.toml", "", "providers.mcp.x.command", "serve")
    known = frozenset(each.digest for each in first)
    assert keys(before, "providers.mcp.x.arguments", "a", known) == (["providers.mcp.x"], [])
