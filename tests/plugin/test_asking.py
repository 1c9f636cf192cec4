"""A plugin's prompt as JP's own question, and its outcome as the response: what is wrong, asked and told."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.plugin import asking
from jp.plugin.errors import RequestError
from jp.plugin.messages import Prompt, PromptResponse
from jp.plugin.wire import Faulty, decode, encode
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, OpenEditor, Outcome, Submitted
from jp.prompt.questions import Choice, Edit, Secret, Select
from tests.plugin.hosting import ASKABLE, UNATTENDED, Hosting

KINDS = ("confirm", "select", "text", "secret")
HOSTILE = "\x1b[2J\x1b]0;title\x07\x1b]52;c;aGk=\x07\r\u202eevil\x9b5n\x00"


def read(**fields: Any) -> Prompt | str:
    """A prompt as it comes from the wire, or what is wrong with it."""
    message = decode(json.dumps({"type": "prompt", **fields}).encode())
    if isinstance(message, Faulty):
        return message.message
    assert isinstance(message, Prompt)
    try:
        asking.checked(message)
    except RequestError as error:
        return error.message
    return message


def prompt(kind: str = "text", message: str = "Well?", **fields: Any) -> Prompt:
    if kind == "select":
        fields.setdefault("options", ["main", "develop", "release"])
    found = read(kind=kind, message=message, **fields)
    assert isinstance(found, Prompt), found
    return found


# --- wrong requests: each names the field

WRONG = [
    pytest.param({"kind": "choose", "message": "m"}, "kind", marks=pytest.mark.req("D60-103")),
    pytest.param({"kind": "", "message": "m"}, "kind", marks=pytest.mark.req("D60-103")),
    pytest.param({"kind": ["text"], "message": "m"}, "kind", marks=pytest.mark.req("D60-103")),
    pytest.param({"message": "m"}, "kind", marks=pytest.mark.req("D60-104")),
    pytest.param({"kind": None, "message": "m"}, "kind", marks=pytest.mark.req("D60-104")),
    pytest.param({"kind": "text"}, "message", marks=pytest.mark.req("D60-104")),
    pytest.param({"kind": "text", "message": None}, "message", marks=pytest.mark.req("D60-104")),
    pytest.param({"kind": "text", "message": 3}, "message", marks=pytest.mark.req("D60-105")),
    pytest.param({"kind": "secret", "message": ["m"]}, "message", marks=pytest.mark.req("D60-105")),
    pytest.param({"kind": "confirm", "message": "m", "default": "yes"}, "default", marks=pytest.mark.req("D60-106")),
    pytest.param({"kind": "confirm", "message": "m", "default": ""}, "default", marks=pytest.mark.req("D60-106")),
    pytest.param({"kind": "confirm", "message": "m", "default": 1}, "default", marks=pytest.mark.req("D60-106")),
    pytest.param({"kind": "confirm", "message": "m", "default": []}, "default", marks=pytest.mark.req("D60-106")),
    pytest.param(
        {"kind": "select", "message": "m", "options": ["a"], "default": "b"},
        "default",
        marks=pytest.mark.req("D60-107"),
    ),
    pytest.param(
        {"kind": "select", "message": "m", "options": ["a"], "default": ""},
        "default",
        marks=pytest.mark.req("D60-107"),
    ),
    pytest.param(
        {"kind": "select", "message": "m", "options": ["a"], "default": "A"},
        "default",
        marks=pytest.mark.req("D60-107"),
    ),
    pytest.param(
        {"kind": "select", "message": "m", "options": ["a"], "default": True},
        "default",
        marks=pytest.mark.req("D60-107"),
    ),
    pytest.param(
        {"kind": "select", "message": "m", "options": ["a"], "default": 0},
        "default",
        marks=pytest.mark.req("D60-107"),
    ),
    pytest.param({"kind": "select", "message": "m"}, "options", marks=pytest.mark.req("D60-108")),
    pytest.param({"kind": "select", "message": "m", "options": None}, "options", marks=pytest.mark.req("D60-108")),
    pytest.param({"kind": "select", "message": "m", "options": []}, "options", marks=pytest.mark.req("D60-108")),
    pytest.param(
        {"kind": "select", "message": "m", "options": [], "default": "a"},
        "options",
        marks=pytest.mark.req("D60-108"),
    ),
    pytest.param({"kind": "select", "message": "m", "options": "main"}, "options", marks=pytest.mark.req("D60-109")),
    pytest.param({"kind": "select", "message": "m", "options": {"a": 1}}, "options", marks=pytest.mark.req("D60-109")),
    pytest.param({"kind": "select", "message": "m", "options": ["a", 1]}, "options", marks=pytest.mark.req("D60-109")),
    pytest.param(
        {"kind": "select", "message": "m", "options": ["a", None]},
        "options",
        marks=pytest.mark.req("D60-109"),
    ),
    pytest.param(
        {"kind": "select", "message": "m", "options": [["a"]]},
        "options",
        marks=pytest.mark.req("D60-109"),
    ),
    pytest.param({"kind": "text", "message": "m", "default": True}, "default"),
    pytest.param({"kind": "text", "message": "m", "default": 3}, "default"),
    pytest.param({"kind": "secret", "message": "m", "default": "hush"}, "default"),
    pytest.param({"kind": "secret", "message": "m", "default": ""}, "default"),
    pytest.param({"kind": "secret", "message": "m", "default": False}, "default"),
    pytest.param({"kind": "confirm", "message": "m", "options": ["yes", "no"]}, "options"),
    pytest.param({"kind": "text", "message": "m", "options": ["a"]}, "options"),
    pytest.param({"kind": "secret", "message": "m", "options": ["a"]}, "options"),
]


@pytest.mark.parametrize(("fields", "named"), WRONG)
def test_a_wrong_prompt_names_the_field(fields: dict[str, Any], named: str) -> None:
    said = read(**fields)
    assert isinstance(said, str)
    assert f"`{named}" in said
    assert said.isprintable()
    assert len(said) < 200


@pytest.mark.req("D60-33", "D60-103", "D60-106", "D60-108", "D60-111", "PROTO-46")
@pytest.mark.parametrize("promptability", [ASKABLE, UNATTENDED])
def test_a_wrong_prompt_is_an_error_also_where_nobody_can_be_asked(tmp_path: Any, promptability: Any) -> None:
    hosting = Hosting(tmp_path, promptability)
    wrong: list[dict[str, Any]] = [each.values[0] for each in WRONG]  # type: ignore[misc]
    status = hosting.run(
        f"""
        for number, fields in enumerate(json.loads({json.dumps(wrong)!r})):
            note(ask(type="prompt", id=number, **fields))
        note(ask(type="prompt", kind="confirm", message="And now?", id="last"))
        send(type="exit", code=6)
        """,
        [Submitted("y")],
    )
    assert status == 6
    *errors, last = hosting.notes
    assert [(each["type"], each["request"], each["id"]) for each in errors] == [
        ("error", "prompt", number) for number in range(len(WRONG))
    ]
    assert last["outcome"] == ("answered" if promptability else "unavailable")
    assert len(hosting.prompts.asked) == (1 if promptability else 0)  # nothing was drawn before


# --- limits


@pytest.mark.req("D60-110")
def test_a_thousand_options_and_no_more() -> None:
    options = [str(number) for number in range(1000)]
    assert isinstance(read(kind="select", message="m", options=options), Prompt)
    said = read(kind="select", message="m", options=[*options, "one more"])
    assert isinstance(said, str)
    assert "`options`" in said
    assert "1,000" in said
    said = read(kind="select", message="m", options=["x"] * 1_000_000)
    assert isinstance(said, str)
    assert "1,000" in said


@pytest.mark.req("D60-110")
@pytest.mark.parametrize("unit", ["x", "ä", "😀", "\0"])
def test_four_kibibytes_an_option_and_no_more(unit: str) -> None:
    longest = unit * (4096 // len(unit.encode()))
    assert isinstance(read(kind="select", message="m", options=["a", longest]), Prompt)
    said = read(kind="select", message="m", options=["a", longest + "x"])
    assert isinstance(said, str)
    assert "`options[1]`" in said
    assert "4,096" in said


@pytest.mark.parametrize("unit", ["x", "ä", "😀"])
def test_sixty_four_kibibytes_a_message_or_default_and_no_more(unit: str) -> None:
    longest = unit * (65536 // len(unit.encode()))
    assert isinstance(read(kind="text", message=longest, default=longest), Prompt)
    for fields in ({"message": longest + "x"}, {"message": "m", "default": longest + "x"}):
        said = read(kind="text", **fields)
        assert isinstance(said, str)
        assert f"`{list(fields)[-1]}`" in said
        assert "65,536" in said


# --- the question


@pytest.mark.req("D60-3")
@pytest.mark.parametrize("kind", KINDS)
def test_the_message_is_the_question_and_who_asks_stands_above(kind: str) -> None:
    asked = asking.question(prompt(kind, "Delete 14 stale entries?"), "prune")
    assert asked.message == "Delete 14 stale entries?"
    assert asked.body == "prune asks:"
    assert isinstance(asked, {"confirm": Choice, "select": Select, "text": Edit, "secret": Secret}[kind])


@pytest.mark.req("D60-58")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("message", ["x" * 201, "x" * 65536, "one\ntwo", "one\n\n" + "y" * 500, "\n\na\n\nb\n\n"])
def test_a_long_message_stands_above_whole_and_the_question_is_one_short_line(kind: str, message: str) -> None:
    request = prompt(kind, message)
    asked = asking.question(request, "prune")
    assert "\n" not in asked.message
    assert 0 < len(asked.message) <= asking.SHOWN
    *above, last = message.strip("\n").split("\n")
    if len(last) > asking.SHOWN:
        assert asked.body == f"prune asks:\n{message}"
    else:  # nothing is there twice
        assert (asked.body, asked.message) == ("\n".join(["prune asks:", *above]), last)
    assert asked.more  # says how to see it all
    assert message in asking.whole(request, "prune")
    if isinstance(asked, Choice):
        assert asking.SHOW_ALL in [option.key for option in asked.options]


@pytest.mark.req("D60-4", "D60-7", "D60-8", "D60-9", "D60-10", "D60-11")
@pytest.mark.parametrize(
    ("fields", "key"), [({}, ""), ({"default": None}, ""), ({"default": True}, "y"), ({"default": False}, "n")]
)
def test_the_default_of_confirm_is_what_enter_stands_for(fields: dict[str, Any], key: str) -> None:
    asked = asking.question(prompt("confirm", **fields), "it")
    assert isinstance(asked, Choice)
    assert asked.default == key
    assert [option.key for option in asked.options] == ["y", "n"]
    assert asked.guarded
    assert not asked.early  # D60-29: what was typed before counts for nothing


@pytest.mark.req("D60-4", "D60-15", "D60-17")
@pytest.mark.parametrize("default", [None, "a", "c", "", "same"])
def test_the_default_of_select_is_the_option_marked(default: str | None) -> None:
    options = ["a", "b", "c", "", "same", "same"]
    asked = asking.question(prompt("select", options=options, default=default), "it")
    assert isinstance(asked, Select)
    assert [item.label for item in asked.items] == options
    assert len({item.value for item in asked.items}) == len(options)  # equal ones too
    if default is None:
        assert asked.marked == ""
    else:
        assert asking.answered(prompt("select", options=options), Submitted(asked.marked)) == PromptResponse(
            outcome="answered", value=default
        )


@pytest.mark.req("D60-4", "D60-21")
@pytest.mark.parametrize("default", [None, "", "one\ntwo", " ä "])
@pytest.mark.parametrize("mode", ["emacs", "vi"])
def test_the_default_of_text_is_what_the_editor_holds(default: str | None, mode: str) -> None:
    asked = asking.question(prompt("text", default=default), "it", mode=mode)
    assert isinstance(asked, Edit)
    assert asked.seed == (default or "")
    assert asked.mode == mode
    assert asked.multiline


@pytest.mark.req("D60-4")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_out_is_accepted(kind: str) -> None:
    asked = asking.question(prompt(kind), "it")
    assert getattr(asked, "default", "") == getattr(asked, "marked", "") == getattr(asked, "seed", "") == ""


@given(st.sampled_from(KINDS), st.text(), st.lists(st.text(), min_size=1, max_size=5))
def test_any_text_can_be_asked(kind: str, message: str, options: list[str]) -> None:
    request = prompt(kind, message, **({"options": options} if kind == "select" else {}))
    asked = asking.question(request, "it")
    assert "\n" not in asked.message
    assert asked.message in message or asked.message.removesuffix("…") in message
    assert message in asking.whole(request, "it")


# --- the response


@pytest.mark.req("D60-7", "D60-8", "D60-30")
def test_confirm_answers_with_a_boolean() -> None:
    assert encode_answer(prompt("confirm"), Submitted("y")) == {"outcome": "answered", "value": True}
    assert encode_answer(prompt("confirm"), Submitted("n")) == {"outcome": "answered", "value": False}


@pytest.mark.req("D60-16", "D60-57", "D60-59", "D60-30")
def test_select_answers_with_the_string_that_was_sent() -> None:
    options = [HOSTILE, "x" * 4096, "", " a ", "a", "a\nb\u2028c", "é", "e\u0301", "1", "0"]
    request = prompt("select", options=options)
    asked = asking.question(request, "it")
    assert isinstance(asked, Select)
    for item, option in zip(asked.items, options, strict=True):
        assert encode_answer(request, Submitted(item.value)) == {"outcome": "answered", "value": option}


@given(st.lists(st.text(max_size=8), min_size=1, max_size=30), st.data())
def test_select_is_exact_for_any_options(options: list[str], data: st.DataObject) -> None:
    request = prompt("select", options=options)
    asked = asking.question(request, "it")
    assert isinstance(asked, Select)
    at = data.draw(st.integers(0, len(options) - 1))
    response = asking.answered(request, Submitted(asked.items[at].value))
    assert response is not None
    assert response.value == options[at]


@pytest.mark.req("D60-19", "D60-20", "D60-27", "D60-30", "D60-35")
@pytest.mark.parametrize("kind", ["text", "secret"])
@pytest.mark.parametrize("text", ["", " ", "Größe", "two\nlines\r", "\u2028\x85", "y", "0", "null"])
def test_text_and_secret_answer_with_what_was_entered(kind: str, text: str) -> None:
    """Enter on nothing is an answer too."""
    assert encode_answer(prompt(kind), Submitted(text)) == {"outcome": "answered", "value": text}


@pytest.mark.req("D60-14", "D60-18", "D60-28", "D60-31", "D60-34")
@pytest.mark.parametrize("kind", KINDS)
def test_cancelled_tells_neither_a_value_nor_a_reason(kind: str) -> None:
    default = {"confirm": True, "select": "main", "text": "seed"}.get(kind)
    assert encode_answer(prompt(kind, default=default), Cancelled("half of it")) == {"outcome": "cancelled"}


@pytest.mark.req("D60-65", "D60-78")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outcome", [Interrupted("half"), Broken("half", "the terminal is gone"), OpenEditor("half")])
def test_what_is_no_decision_is_no_response(kind: str, outcome: Outcome) -> None:
    assert asking.answered(prompt(kind), outcome) is None


@pytest.mark.req("D60-32")
def test_unavailable_tells_the_reason_and_no_value() -> None:
    assert json.loads(encode(asking.unavailable("no terminal"))) == {
        "type": "prompt_response",
        "outcome": "unavailable",
        "reason": "no terminal",
    }


def encode_answer(request: Prompt, outcome: Outcome) -> dict[str, Any]:
    """What goes over the wire, without its type."""
    response = asking.answered(request, outcome)
    assert response is not None
    line: dict[str, Any] = json.loads(encode(response))
    assert line.pop("type") == "prompt_response"
    return line
