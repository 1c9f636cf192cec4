"""Global flags anywhere on the line, commands by name and alias, errors that name the nearest."""

import pytest

from jp.cli.parse import Help, Version, find_command, parse
from jp.errors import UsageError


def names(argv):
    path, rest = find_command(argv)
    return [node.name for node in path[1:]], rest


@pytest.mark.parametrize(
    ("argv", "command", "rest"),
    [
        (["query", "hi"], ["query"], ["hi"]),
        (["q", "hi"], ["query"], ["hi"]),
        (["-F", "json", "q", "hi"], ["query"], ["-F", "json", "hi"]),
        (["-Fjson", "q", "hi"], ["query"], ["-Fjson", "hi"]),
        (["--format=json", "q"], ["query"], ["--format=json"]),
        (["-vvq", "c", "ls"], ["conversation", "ls"], ["-vvq"]),
        (["c", "-F", "json", "ls", "-q"], ["conversation", "ls"], ["-F", "json", "-q"]),
        (["-c", "a=b", "c", "ls"], ["conversation", "ls"], ["-c", "a=b"]),
        (["-vc", "a=b", "c", "ls"], ["conversation", "ls"], ["-vc", "a=b"]),
        (["c", "list"], ["conversation", "ls"], []),
        (["q", "c", "ls"], ["query"], ["c", "ls"]),
        (["--no-interactive", "q", "x"], ["query"], ["--no-interactive", "x"]),
    ],
)
def test_command_words_are_found_among_global_flags(argv, command, rest):
    assert names(argv) == (command, rest)


@pytest.mark.req("104-57", "104-122")
@pytest.mark.parametrize(
    "argv",
    [
        ["-F", "json", "q", "why", "not"],
        ["q", "-F", "json", "why", "not"],
        ["q", "why", "-F", "json", "not"],
        ["q", "why", "not", "--format", "json"],
        ["q", "why", "not", "--format=json"],
        ["--format", "json", "q", "why", "not"],
    ],
)
def test_a_global_flag_means_the_same_wherever_it_stands(argv):
    args = parse(argv).args
    assert args.format == "json"
    assert args.text == ["why", "not"]


@pytest.mark.parametrize("where", range(3))
def test_cfg_keeps_its_order_wherever_it_stands(where):
    words = ["q", "hi"]
    words[where:where] = ["-c", "a=1"]
    args = parse([*words, "--cfg", "b=2"]).args
    assert args.cfg == ["a=1", "b=2"]


def test_words_behind_a_double_dash_are_text():
    assert parse(["q", "-n", "--", "-F", "json"]).args.text == ["-F", "json"]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [(["q", "--tmp", "hi"], ("", ["hi"])), (["q", "--tmp=2h", "hi"], ("2h", ["hi"])), (["q", "hi"], (None, ["hi"]))],
)
def test_an_optional_value_never_eats_a_word(argv, expected):
    args = parse(argv).args
    assert (args.tmp, args.text) == expected


@pytest.mark.parametrize(
    ("argv", "named", "close"),
    [
        (["qery"], "`qery`", "`query`"),
        (["c", "sl"], "`sl`", "`ls`"),
        (["q", "--formt", "json"], "`--formt`", "`--format`"),
        (["c", "ls", "--quite"], "`--quite`", "`--quiet`"),
    ],
)
def test_an_unknown_word_is_named_with_the_nearest(argv, named, close):
    with pytest.raises(UsageError) as raised:
        parse(argv)
    assert named in raised.value.message
    assert any(close in hint for hint in raised.value.hints)


@pytest.mark.req("104-122")
def test_a_format_outside_the_five_is_a_usage_error():
    with pytest.raises(UsageError) as raised:
        parse(["q", "-F", "yaml", "hi"])
    assert "yaml" in raised.value.message
    assert "text-pretty" in raised.value.message


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["c", "--help"], ["q", "--help"], ["q", "hi", "-h"]])
def test_help_is_text_on_request(argv):
    with pytest.raises(Help) as raised:
        parse(argv)
    assert raised.value.text.startswith("usage: jp")


@pytest.mark.parametrize("argv", [["q", "-V"], ["--quiet", "--version"], ["c", "--version"]])
def test_the_version_is_asked_for_anywhere(argv):
    with pytest.raises(Version):
        parse(argv)


def test_a_group_without_a_command_names_them():
    with pytest.raises(UsageError, match="`ls`"):
        parse(["c"])


@pytest.mark.req("104-13")
@pytest.mark.parametrize("argv", [["q", "--help"], ["q", "-vh"], ["q", "hi", "-hq"]])
def test_the_usage_names_the_arguments_and_no_hidden_flag(argv):
    with pytest.raises(Help) as raised:
        parse(argv)
    assert raised.value.text.startswith("usage: jp query [-n]")
    assert "[text ...]" in raised.value.text
    assert "--tmp-for" not in raised.value.text


def test_the_help_says_how_auto_is_decided():
    with pytest.raises(Help) as raised:
        parse(["q", "--help"])
    text = " ".join(raised.value.text.split())
    assert "`auto` is decided for stdout and stderr each by itself, every other value holds for both" in text
