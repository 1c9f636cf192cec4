"""How a tool's permission, question and result are asked: real dialogues, scripted prompts and a scripted editor."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jp.ask.compose import Composition, TextEditing
from jp.ask.dialogue import Dialogue
from jp.ask.drafts import Drafts
from jp.ask.interruption import Interruption
from jp.ask.menus import STREAMING, TOOLS, TURN, Menu, What
from jp.ask.pending import (
    Answer,
    Answered,
    Deliver,
    Delivery,
    Inquiry,
    Pending,
    Permission,
    Run,
    Skip,
    Unanswered,
    Withhold,
)
from jp.ask.policy import Context
from jp.ask.tool_prompts import SKIP_PLACEHOLDER, ToolPrompts, Wanted, parsed_arguments
from jp.editor.backend import EditOutcome
from jp.editor.errors import EditorMissingError, EditorSpawnError
from jp.editor.scripted import ScriptedEditor
from jp.interrupt import ladder
from jp.interrupt.router import Router, Scope
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, OpenEditor, Outcome, Submitted
from jp.prompt.questions import Choice, Edit, Question, Secret, Select
from jp.prompt.scripted import ScriptedPrompts

ARGUMENTS = {"path": "ä.txt", "count": 2}
AS_JSON = '{\n  "path": "ä.txt",\n  "count": 2\n}'
WHOLE = "all of what it does"
CANCELLED = EditOutcome.CANCELLED

Step = Outcome | Callable[[Question], Outcome]


class Screen:
    """A terminal that shows nothing: what a dialogue tells it."""

    def __init__(self) -> None:
        self.left = False
        self.keys_ahead = lambda: False

    def showing(self, shown: bool) -> None:
        pass

    def notify(self, notice: str) -> None:
        pass

    def leave(self) -> None:
        self.left = True


class Flow:
    """One prompt asked on a scripted terminal, in a scope that a press belongs to."""

    def __init__(self, tmp_path: Path, edits: tuple[Any, ...], compose: bool | str, menu: Menu, editor: bool) -> None:
        self.router = Router()
        self.router.promptable = True
        self.drafts = Drafts(str(tmp_path / "drafts"))
        self.editor = ScriptedEditor(edits)
        self.said: list[str] = []
        self._compose, self._menu, self._has_editor = compose, menu, editor
        self.prompts = ScriptedPrompts()
        self.dropped: Any = None
        self.stores = True  # what was answered
        self.check: Callable[[Permission, dict[str, Any]], list[str]] = lambda *_: []

    def ask(self, prompt: Pending, *steps: Step) -> Answered | None:
        self.prompts = ScriptedPrompts(steps)
        scope = Scope(ladder.MENU, lambda: None, "work", menu=lambda: Interruption(self._menu))
        show: Any = self.prompts.ask
        screen: Any = Screen()
        with self.router.push(scope), Dialogue(show, screen, self.router) as dialogue:
            prompts = ToolPrompts(self._composition, self.check, lambda _: WHOLE, self.said.append)
            answer = prompts.ask(dialogue, prompt)
            self.dropped = dialogue.dropped
        if answer is not None and self.stores:
            prompts.sent()
        return answer

    def _composition(self, wanted: Wanted) -> Composition:
        context = wanted.context
        return Composition(
            context,
            message=wanted.message,
            cancel="menu",
            compose=self._compose,
            mode="vi",
            editing=TextEditing(self.editor) if self._has_editor else None,
            missing=EditorMissingError(["EDITOR"]),
            drafts=self.drafts,
            key=self.key(context),
            say=self.said.append,
            rescue=self.said.append,
            swaps=True,
            placeholder=wanted.placeholder,
            body=wanted.body,
        )

    def key(self, context: Context) -> str:
        return context.name.lower()

    def press(self, text: str = "", cursor: int | None = None) -> Callable[[Question], Outcome]:
        """Ctrl-C over a question, with what was typed there."""

        def pressed(_: Question) -> Outcome:
            self.router.press()
            return Interrupted(text, cursor)

        return pressed

    @property
    def asked(self) -> list[Question]:
        return self.prompts.asked

    @property
    def edits(self) -> list[Edit]:
        return [question for question in self.asked if isinstance(question, Edit)]

    def draft(self, context: Context) -> str | None:
        return self.drafts.load(self.key(context))


@pytest.fixture
def flow(tmp_path: Path) -> Any:
    def make(*edits: Any, compose: bool | str = False, menu: Menu = STREAMING, editor: bool = True) -> Flow:
        return Flow(tmp_path, edits, compose, menu, editor)

    return make


def key(letter: str) -> Submitted:
    return Submitted(letter)


def permission(**more: Any) -> Permission:
    return Permission(0, "server/tool", ARGUMENTS, "what it does", "tool", **more)


# --- permission


@pytest.mark.parametrize(
    ("letter", "answer"),
    [
        ("y", Run(ARGUMENTS)),
        ("Y", Run(ARGUMENTS, remember=True)),
        ("n", Skip()),
        ("N", Skip(remember=True)),
    ],
)
def test_a_key_answers_a_permission(flow, letter: str, answer: Answered):
    case = flow()
    assert case.ask(permission(), key(letter)) == answer
    (question,) = case.asked
    assert isinstance(question, Choice)
    assert (question.message, question.body, question.default) == ("Run server/tool", "what it does", "")
    assert question.guarded
    assert question.early == ""
    assert case.said == []


@pytest.mark.req("088-99")
@pytest.mark.parametrize("editor", [True, False])
@pytest.mark.parametrize(("may_remember", "keys"), [(True, "yYnNpre"), (False, "ynpre")])
def test_what_is_offered_hangs_on_no_editor(flow, editor: bool, may_remember: bool, keys: str):
    case = flow(editor=editor)
    case.ask(permission(may_remember=may_remember), key("y"))
    assert "".join(option.key for option in case.asked[0].options) == keys


def test_p_prints_all_of_it_and_asks_again(flow):
    case = flow()
    assert case.ask(permission(), key("p"), key("p"), key("n")) == Skip()
    assert case.said == [WHOLE] * 2


def test_escape_is_a_no_and_a_prompt_that_breaks_is_nothing(flow):
    assert flow().ask(permission(), Cancelled()) == Skip()
    assert flow().ask(permission(), Broken()) is None


# --- a reason


@pytest.mark.req("088-29", "088-100", "088-101")
def test_r_skips_with_the_reason(flow):
    case = flow()
    assert case.ask(permission(), key("r"), Submitted("  it is\nwrong \n")) == Skip("it is\nwrong")
    (question,) = case.edits
    assert (question.seed, question.placeholder, question.error) == ("", SKIP_PLACEHOLDER, "")
    assert (question.mode, question.escape, question.cancel) == ("vi", True, "menu")
    assert question.message == "Skip server/tool:"


@pytest.mark.req("088-102")
@pytest.mark.parametrize("text", ["", " \n "])
def test_an_empty_reason_is_none(flow, text: str):
    assert flow().ask(permission(), key("r"), Submitted(text)) == Skip()


def test_escape_from_a_reason_is_back_at_the_question_and_its_words_are_there_the_next_time(flow):
    case = flow()
    answer = case.ask(permission(), key("r"), Cancelled("half a rea"), key("r"), Submitted("done"))
    assert answer == Skip("done")
    assert [question.seed for question in case.edits] == ["", "half a rea"]
    assert isinstance(case.asked[2], Choice)


# --- arguments


@pytest.mark.req("088-29", "088-103")
def test_e_runs_it_with_other_arguments(flow):
    case = flow()
    assert case.ask(permission(), key("e"), Submitted(' {"path": "b"}\n')) == Run({"path": "b"})
    (question,) = case.edits
    assert (question.seed, question.error, question.mode, question.escape) == (AS_JSON, "", "vi", True)
    assert question.message == "Arguments of server/tool:"


NO_JSON = [
    ("{", "line 1, column 2"),
    ('{"a": 1,\n "b" 2}', "line 2, column 6"),
    ("nope", "line 1, column 1"),
    ("[1]", "an object"),
    ('"text"', "an object"),
    ("null", "an object"),
    ("{} {}", "Extra data"),
    ('{"a": NaN}', "no JSON"),
    ('{"a": [-Infinity]}', "no JSON"),
    ('{"a": 1e999}', "no JSON"),
    ('{"a": "\\ud800"}', "surrogate"),
    ('{"a": ' + "1" * 5000 + "}", "no JSON"),
    ('{"a":' + "[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("text", "said"), NO_JSON)
def test_what_is_no_json_object_is_refused_with_a_reason(text: str, said: str):
    with pytest.raises(ValueError, match=said):
        parsed_arguments(text)


@pytest.mark.parametrize("text", ["{}", '{"a": "\\ud83d\\ude00", "b": [1.5, null, true, -0, 12345678901234567890]}'])
def test_what_is_one_is_taken_as_it_is(text: str):
    assert parsed_arguments(text) == json.loads(text)


@pytest.mark.req("088-104")
def test_invalid_arguments_are_asked_about_again_with_the_text_and_the_error_any_number_of_times(flow):
    case = flow()
    broken = [text for text, _ in NO_JSON[:6]]
    answer = case.ask(permission(), key("e"), *map(Submitted, broken), Submitted('{"path": "c"}'))
    assert answer == Run({"path": "c"})
    assert [question.seed for question in case.edits] == [AS_JSON, *broken]
    for question, (_, said) in zip(case.edits[1:], NO_JSON, strict=False):
        assert said in question.error
    assert len([question for question in case.asked if isinstance(question, Choice)]) == 1
    assert case.editor.requests == []


@pytest.mark.req("088-106")
@pytest.mark.parametrize("text", ["", " \n "])
def test_emptied_arguments_are_back_at_the_question_with_nothing_changed(flow, text: str):
    case = flow()
    answer = case.ask(permission(), key("e"), Submitted(text), key("p"), key("e"), Cancelled(), key("y"))
    assert answer == Run(ARGUMENTS)
    assert [question.seed for question in case.edits] == [AS_JSON, AS_JSON]
    assert flow().ask(permission(), key("e"), Submitted("{"), Submitted(text), key("y")) == Run(ARGUMENTS)


@pytest.mark.req("088-107")
def test_escape_from_the_arguments_changes_nothing_and_keeps_the_words_for_the_next_time(flow):
    case = flow()
    answer = case.ask(permission(), key("e"), Cancelled('{"path": "mi'), key("y"))
    assert answer == Run(ARGUMENTS)
    case = flow()
    valid = '{"path": "mine"}'
    answer = case.ask(permission(), key("e"), Cancelled(valid), key("e"), lambda question: Submitted(question.seed))
    assert answer == Run({"path": "mine"})


@pytest.mark.req("088-108")
def test_mode_edit_opens_the_arguments_at_once_and_falls_back_to_the_question(flow):
    case = flow()
    assert case.ask(permission(edit=True), Submitted('{"path": "b"}')) == Run({"path": "b"})
    assert isinstance(case.asked[0], Edit)
    for left in (Submitted(""), Cancelled("x")):
        case = flow()
        assert case.ask(permission(edit=True), left, key("n")) == Skip()
        assert [type(question) for question in case.asked] == [Edit, Choice]


# --- Ctrl-X

RESULT = Delivery(0, "server/tool", "the result\n")
# context, prompt, keys that lead to the edit, seed
EDITS: list[tuple[Context, Pending, list[Submitted], str]] = [
    (Context.SKIP_REASON, permission(), [key("r")], ""),
    (Context.ARGUMENTS, permission(), [key("e")], AS_JSON),
    (Context.RESULT, RESULT, [key("e")], "the result\n"),
]


@pytest.mark.req("088-113")
@pytest.mark.parametrize(("context", "prompt", "keys", "seed"), EDITS)
@pytest.mark.parametrize("edit", ["saved", CANCELLED, EditorSpawnError("ed", "it is not there")])
def test_ctrl_x_opens_the_editor_on_the_buffer_and_comes_back_to_it(
    flow, context: Context, prompt: Pending, keys: list[Submitted], seed: str, edit: Any
):
    case = flow(edit)
    case.ask(prompt, *keys, OpenEditor("buffer", 3), Broken())
    first, second = case.edits
    assert first.seed == seed
    assert case.editor.requests == ["buffer"]
    saved = isinstance(edit, str)
    assert (second.seed, second.cursor) == (("saved", None) if saved else ("buffer", 3))
    assert bool(case.said) is isinstance(edit, EditorSpawnError)


@pytest.mark.req("088-105")
def test_what_the_editor_saves_goes_through_the_same_loop(flow):
    case = flow("{", '{"path": "b"}')
    same = lambda question: Submitted(question.seed)
    assert case.ask(permission(), key("e"), OpenEditor("x"), same, OpenEditor("{"), same) == Run({"path": "b"})
    assert [bool(question.error) for question in case.edits] == [False, False, True, True]


@pytest.mark.parametrize(("context", "prompt", "keys", "seed"), EDITS)
@pytest.mark.parametrize(("compose", "editor"), [("never", True), (False, False)])
def test_the_escape_is_offered_where_there_is_an_editor_and_it_is_wanted(
    flow, context: Context, prompt: Pending, keys: list[Submitted], seed: str, compose: bool | str, editor: bool
):
    case = flow(compose=compose, editor=editor)
    case.ask(prompt, *keys, Broken())
    assert [question.escape for question in case.edits] == [False]


@pytest.mark.parametrize("compose", [True, "always"])
def test_where_the_editor_comes_first_arguments_are_sent_by_the_person_alone(flow, compose: bool | str):
    case = flow('{"path": "b"}', compose=compose)
    assert case.ask(permission(), key("e"), Submitted('{"path": "b"}')) == Run({"path": "b"})
    assert [question.seed for question in case.edits] == ['{"path": "b"}']
    case = flow(CANCELLED, compose=compose)
    assert case.ask(permission(), key("e"), key("y")) == Run(ARGUMENTS)
    case = flow("because", compose=compose)
    assert case.ask(permission(), key("r")) == Skip("because")


# --- results


@pytest.mark.parametrize(
    ("outcome", "answer"),
    [(key("y"), Deliver("the result\n")), (key("n"), Withhold()), (Cancelled(), Withhold()), (Broken(), None)],
)
def test_a_key_answers_a_delivery(flow, outcome: Outcome, answer: Answered | None):
    case = flow()
    assert case.ask(RESULT, outcome) == answer
    (question,) = case.asked
    assert isinstance(question, Choice)
    assert (question.message, question.body) == ("Give the result of server/tool to the model", "the result\n")


@pytest.mark.req("088-109", "088-110", "088-111")
@pytest.mark.parametrize("editor", [True, False])
def test_a_result_is_edited_and_delivered_as_it_was_written(flow, editor: bool):
    for edit, keys in ((False, [key("e")]), (True, [])):
        case = flow(editor=editor)
        assert case.ask(RESULT._replace(edit=edit), *keys, Submitted(" mine \n")) == Deliver(" mine \n")
        (question,) = case.edits
        assert question.seed == "the result\n"
        if not edit:
            assert [option.key for option in case.asked[0].options] == ["y", "n", "e"]


@pytest.mark.req("088-112")
@pytest.mark.parametrize("left", [Submitted(""), Submitted(" \n"), Cancelled("the res")])
@pytest.mark.parametrize("edit", [False, True])
def test_a_result_that_was_emptied_or_left_is_as_it_was(flow, left: Outcome, edit: bool):
    case = flow()
    keys = [] if edit else [key("e")]
    assert case.ask(RESULT._replace(edit=edit), *keys, left, key("y")) == Deliver("the result\n")
    assert isinstance(case.asked[-1], Choice)


# --- a tool's questions


def inquiry(kind: str, **more: Any) -> Inquiry:
    return Inquiry(0, "server/tool", "Which one?", kind, **more)


OPTIONS = ("one", 2, None, True, 1, ["x", "ä"], {"a": 1.5})


@pytest.mark.parametrize(("default", "enter"), [(None, ""), (True, "y"), (False, "n"), ("yes", ""), (1, "")])
def test_a_boolean_is_one_key(flow, default: Any, enter: str):
    for letter, value in (("y", True), ("n", False)):
        case = flow()
        assert case.ask(inquiry("boolean", default=default), key(letter)) == Answer(value)
        (question,) = case.asked
        assert isinstance(question, Choice)
        assert (question.message, question.default, question.guarded) == ("Which one?", enter, True)


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_a_select_gives_the_option_in_its_own_type(flow, number: int):
    case = flow()
    prompt = inquiry("select", options=OPTIONS, default=OPTIONS[number])
    answer = case.ask(prompt, lambda question: Submitted(question.items[number].value))
    assert isinstance(answer, Answer)
    assert repr(answer.value) == repr(OPTIONS[number])
    (question,) = case.asked
    assert isinstance(question, Select)
    assert [item.label for item in question.items] == ["one", "2", "null", "true", "1", '["x", "ä"]', '{"a": 1.5}']
    assert question.marked == str(number)


def test_a_select_without_a_default_marks_nothing(flow):
    case = flow()
    case.ask(inquiry("select", options=("a", "b"), default="c"), Cancelled())
    case.ask(inquiry("select", options=("a", "b")), Cancelled())
    assert case.asked[0].marked == ""


@pytest.mark.parametrize(("default", "seed"), [(None, ""), ("x", "x"), ("", ""), (5, "5"), (["ä"], '["ä"]')])
@pytest.mark.parametrize("text", ["", " as\nwritten "])
def test_a_text_begins_with_its_default_and_is_taken_as_it_was_written(flow, default: Any, seed: str, text: str):
    case = flow()
    assert case.ask(inquiry("text", default=default), Submitted(text)) == Answer(text)
    (question,) = case.asked
    assert isinstance(question, Edit)
    assert (question.message, question.seed, question.mode) == ("Which one?", seed, "vi")


def test_a_secret_is_asked_as_one_and_leaves_nothing_behind(flow, tmp_path: Path):
    case = flow()
    assert case.ask(inquiry("secret", default="no"), Submitted("hunter2")) == Answer("hunter2")
    assert case.asked == [Secret("Which one?", body="server/tool asks:")]
    assert case.said == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("kind", ["boolean", "select", "text", "secret"])
def test_who_asks_and_what_comes_before_stands_above_every_question(flow, kind: str):
    case = flow()
    prompt = inquiry(kind, options=("a",), pre_amble="Two lines\nof it.")
    assert case.ask(prompt, Cancelled("x")) == Unanswered()
    assert case.asked[0].body == "server/tool asks:\nTwo lines\nof it."
    assert case.ask(prompt, Broken()) is None
    case.ask(prompt._replace(pre_amble=""), Cancelled())
    assert case.asked[0].body == "server/tool asks:"


# --- Ctrl-C

EVERY: list[tuple[Pending, list[Submitted]]] = [
    (permission(), []),
    (permission(edit=True), []),
    (permission(), [key("r")]),
    (permission(), [key("e")]),
    (RESULT, []),
    (RESULT, [key("e")]),
    (inquiry("boolean", default=True), []),
    (inquiry("select", options=("a", "b"), default="b"), []),
    (inquiry("text", default="x"), []),
    (inquiry("secret"), []),
]


@pytest.mark.req("092-72", "092-73", "092-74", "092-78", "088-114")
@pytest.mark.parametrize("menu", [STREAMING, TURN, TOOLS], ids=["streaming", "turn", "tools"])
@pytest.mark.parametrize("back", [key("b"), key("c"), Cancelled()], ids=["b", "c", "ESC"])
@pytest.mark.parametrize(("prompt", "keys"), EVERY)
def test_ctrl_c_is_the_menu_with_a_way_back_to_what_was_there(
    flow, prompt: Pending, keys: list[Submitted], back: Outcome, menu: Menu
):
    case = flow(menu=menu)
    case.ask(prompt, *keys, case.press("typed", 2), back, Broken())
    left, shown, again = case.asked[len(keys) :]
    assert isinstance(shown, Choice)
    assert [option.key for option in shown.options] == [*(entry.key for entry in menu.entries), "b"]
    match left:
        case Edit():
            assert again._replace(changed=None) == left._replace(changed=None, seed="typed", cursor=2)
        case Select():
            assert again == left._replace(filter="typed")
        case _:
            assert again == left


@pytest.mark.req("092-82")
@pytest.mark.parametrize(
    ("menu", "letter", "what"),
    [
        (STREAMING, "s", What.STOP),
        (STREAMING, "a", What.ABORT),
        (TURN, "s", What.STOP),
        (TOOLS, "s", What.STOP),
        (TOOLS, "t", What.RESTART),
    ],
)
@pytest.mark.parametrize(("prompt", "keys"), EVERY)
def test_what_the_menu_decides_leaves_the_prompt_unanswered(
    flow, prompt: Pending, keys: list[Submitted], menu: Menu, letter: str, what: What
):
    case = flow(menu=menu)
    assert case.ask(prompt, *keys, case.press("typed"), key(letter)) is None
    assert case.dropped is not None
    assert case.dropped.what is what
    assert len(case.asked) == len(keys) + 2


@pytest.mark.parametrize(("prompt", "keys"), EVERY)
def test_a_terminal_that_is_lost_answers_nothing_and_is_asked_nothing_more(
    flow, prompt: Pending, keys: list[Submitted]
):
    case = flow()
    assert case.ask(prompt, *keys, Broken("typed"), key("y"), key("y")) is None
    assert len(case.asked) == len(keys) + 1
    assert case.dropped is None


# --- words


@pytest.mark.parametrize(("context", "prompt", "keys", "seed"), EDITS)
def test_words_are_a_draft_until_the_prompt_is_answered(
    flow, context: Context, prompt: Pending, keys: list[Submitted], seed: str
):
    case = flow()
    seen: list[str | None] = []

    def answered(_: Question) -> Outcome:
        seen.append(case.draft(context))
        return key("n")

    case.ask(prompt, *keys, Cancelled("half a thought"), answered)
    assert seen == ["half a thought"]
    assert case.draft(context) is None


@pytest.mark.parametrize(("context", "prompt", "keys", "seed"), EDITS)
@pytest.mark.parametrize("ends", ["menu", "broken"])
def test_words_that_are_cut_off_are_kept(
    flow, context: Context, prompt: Pending, keys: list[Submitted], seed: str, ends: str
):
    case = flow()
    steps: list[Step] = [case.press("half a thought"), key("s")] if ends == "menu" else [Broken("half a thought")]
    assert case.ask(prompt, *keys, *steps) is None
    assert case.draft(context) == "half a thought"


def test_words_of_one_prompt_are_not_put_into_the_next(flow):
    case = flow()
    case.ask(permission(), key("e"), Cancelled('{"path": "one"}'), key("y"))
    case.ask(permission(), key("e"), Cancelled(), key("y"))
    assert case.edits[0].seed == AS_JSON


def test_arguments_that_do_not_fit_are_refused_with_the_reason_in_the_prompt(flow):
    case = flow()
    case.check = lambda _, arguments: [] if arguments == {"path": "b"} else ["path is missing", "count is no number"]
    assert case.ask(permission(), key("e"), Submitted("{}"), Submitted('{"path": "b"}')) == Run({"path": "b"})
    assert [(question.seed, question.error) for question in case.edits] == [
        (AS_JSON, ""),
        ("{}", "path is missing; count is no number"),
    ]


def test_what_opens_unasked_takes_no_key_that_was_meant_for_something_else(flow):
    case = flow()
    case.ask(permission(edit=True), Cancelled(), key("e"), Cancelled(), key("n"))
    assert [question.guarded for question in case.edits] == [True, False]
    case = flow()
    case.ask(RESULT._replace(edit=True), Cancelled(), key("n"))
    assert [question.guarded for question in case.edits] == [True]
    case = flow()
    case.ask(Inquiry(0, "tool", "Delete all?", "text", default="yes"), Submitted("no"))
    assert [(question.seed, question.guarded) for question in case.edits] == [("yes", True)]


def test_words_are_kept_until_what_they_answer_is_stored(flow):
    case = flow()
    case.stores = False
    assert case.ask(permission(), key("r"), Submitted("because")) == Skip("because")
    assert case.drafts.load("skip_reason") == "because"
    case.stores = True
    case.ask(permission(), key("r"), Submitted("because"))
    assert case.edits[0].seed == "because"
    assert case.drafts.load("skip_reason") is None
