"""Composing a text with scripted prompts and a scripted editor: whole flows without a terminal."""

from pathlib import Path
from typing import Any

import pytest

from jp.ask.compose import Composed, Composition, TextEditing
from jp.ask.drafts import Drafts
from jp.ask.policy import CONSENTS, Context, Next
from jp.editor.backend import EditOutcome
from jp.editor.errors import EditorIoError, EditorMissingError, EditorSpawnError
from jp.editor.scripted import ScriptedEditor
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, OpenEditor, Outcome, Submitted
from jp.prompt.questions import Edit, Question
from jp.prompt.scripted import ScriptedPrompts

CANCELLED, FAILED = EditOutcome.CANCELLED, EditorSpawnError("code", "it is not there")


class Flow:
    """One composition; `asked` are the questions that were shown, `said` the notices."""

    def __init__(self, tmp_path: Path, context: Context, compose: bool | str, editor: ScriptedEditor | None) -> None:
        self.drafts = Drafts(str(tmp_path / "drafts"))
        self.said: list[str] = []
        self.rescued: list[str] = []
        self.prompts = ScriptedPrompts()
        self.composition = Composition(
            context,
            message="Reply:",
            cancel="back",
            compose=compose,
            mode="emacs",
            editing=TextEditing(editor) if editor is not None else None,
            missing=EditorMissingError(["EDITOR"]),
            drafts=self.drafts,
            key="reply-1",
            say=self.said.append,
            rescue=self.rescued.append,
        )

    def run(self, *outcomes: Outcome, seed: str = "") -> Composed:
        self.prompts = ScriptedPrompts(outcomes)
        return self.composition.run(self, seed)  # type: ignore[arg-type]  # what it needs of a Dialogue is `ask`

    def ask(self, question: Question, *, swaps: bool = True) -> Outcome:
        assert not swaps  # the caller decides what Ctrl-C means
        return self.prompts.ask(question, None)  # type: ignore[arg-type]

    @property
    def asked(self) -> list[Edit]:
        return [question for question in self.prompts.asked if isinstance(question, Edit)]

    @property
    def draft(self) -> str | None:
        return self.drafts.load("reply-1")


@pytest.fixture
def flow(tmp_path: Path) -> Any:
    def make(
        *edits: Any, context: Context = Context.STREAMING_MENU, compose: bool | str = False, editor: bool = True
    ) -> Flow:
        return Flow(tmp_path, context, compose, ScriptedEditor(edits) if editor else None)

    return make


@pytest.mark.req("088-21", "088-37")
def test_a_flow_with_an_editor_escape_runs_without_a_terminal(flow):
    case = flow("from the editor")
    composed = case.run(OpenEditor("begun", 2), lambda question: Submitted(question.seed + ", done"))
    assert composed.text == "from the editor, done"
    assert [question.seed for question in case.asked] == ["", "from the editor"]


@pytest.mark.parametrize("context", Context)
def test_a_text_is_sent_exactly_as_it_was_written(flow, context: Context):
    assert flow(context=context).run(Submitted("  two\nlines \n")) == Composed(
        "  two\nlines \n", None, "  two\nlines \n"
    )


@pytest.mark.req("088-137")
def test_the_escape_is_wired_by_the_setting_and_by_what_there_is(flow):
    for compose, editor, wired in [(False, True, True), (False, False, False), ("never", True, False)]:
        case = flow(compose=compose, editor=editor)
        case.run(Submitted("x"))
        assert case.asked[0].escape is wired


@pytest.mark.parametrize(
    ("edit", "text", "cursor"),
    [
        ("", "", None),
        ("changed", "changed", None),
        ("buffer", "buffer", 3),
        (CANCELLED, "buffer", 3),
        (FAILED, "buffer", 3),
    ],
)
def test_after_the_escape_a_reply_is_back_with_what_was_saved(flow, edit: Any, text: str, cursor: int | None):
    case = flow(edit)
    assert case.run(OpenEditor("buffer", 3), Cancelled(text)) == Composed(None, Next.MENU, text)
    assert (case.asked[1].seed, case.asked[1].cursor) == (text, cursor)
    assert bool(case.said) is (edit is FAILED)


def test_after_the_escape_a_query_that_was_saved_empty_keeps_its_buffer(flow):
    case = flow(" \n", context=Context.QUERY)
    case.run(OpenEditor("buffer", 3), Cancelled("buffer"))
    assert (case.asked[1].seed, case.asked[1].cursor) == ("buffer", 3)


@pytest.mark.req("088-142")
def test_a_failure_of_the_editor_names_the_command_and_the_cause(flow):
    case = flow(EditorIoError("code --wait", "the disk is full"))
    case.run(OpenEditor("x"), Submitted("x"))
    assert "code --wait" in case.said[0]
    assert "the disk is full" in case.said[0]


# context, outcome, what follows
ENDS = [
    (Context.STREAMING_MENU, Submitted(" "), Next.MENU),
    (Context.STREAMING_MENU, Cancelled("x"), Next.MENU),
    (Context.STREAMING_MENU, Interrupted("x"), Next.MENU),
    (Context.STREAMING_ACTION, Submitted(""), Next.RESUME),
    (Context.STREAMING_ACTION, Interrupted("x"), Next.RESUME),
    (Context.TOOL_MENU, Submitted(""), Next.CANNED),
    (Context.TOOL_MENU, Interrupted("x"), Next.MENU),
    (Context.TOOL_ACTION, Submitted(""), Next.CANNED),
    (Context.TOOL_ACTION, Interrupted("x"), Next.CANNED),
    (Context.QUERY, Submitted(""), Next.NOTHING),
    (Context.QUERY, Cancelled("x"), Next.NOTHING),
    (Context.QUERY, Interrupted("x"), Next.ABORT),
]


@pytest.mark.parametrize(("context", "outcome", "following"), ENDS)
def test_what_follows_without_a_text_is_the_contexts(flow, context: Context, outcome: Outcome, following: Next):
    composed = flow(context=context).run(outcome)
    assert composed.text is None
    assert composed.next is following


@pytest.mark.parametrize("compose", [True, "always"])
@pytest.mark.parametrize("context", [each for each in Context if each not in CONSENTS])
def test_editor_first_sends_what_is_saved_without_a_prompt(flow, context: Context, compose: bool | str):
    case = flow("saved\n", context=context, compose=compose)
    assert case.run().text == "saved\n"
    assert case.asked == []


@pytest.mark.parametrize("compose", [True, "always"])
@pytest.mark.parametrize("context", CONSENTS)
def test_an_editor_consents_to_nothing(flow, context: Context, compose: bool | str):
    case = flow("saved\n", context=context, compose=compose)
    assert case.run(Submitted("sent")).text == "sent"
    (asked,) = case.asked
    assert asked.seed == "saved\n"


# context, setting, edit, what follows; INLINE is shown by a prompt
FIRST = [
    (Context.STREAMING_MENU, True, "", Next.MENU),
    (Context.STREAMING_MENU, True, CANCELLED, Next.MENU),
    (Context.STREAMING_MENU, True, FAILED, Next.INLINE),
    (Context.STREAMING_MENU, "always", FAILED, Next.MENU),
    (Context.STREAMING_ACTION, True, CANCELLED, Next.RESUME),
    (Context.STREAMING_ACTION, "always", FAILED, Next.RESUME),
    (Context.TOOL_ACTION, "always", CANCELLED, Next.CANNED),
    (Context.QUERY, True, "", Next.INLINE),
    (Context.QUERY, True, CANCELLED, Next.INLINE),
    (Context.QUERY, True, FAILED, Next.INLINE),
    (Context.QUERY, "always", CANCELLED, Next.NOTHING),
    (Context.QUERY, "always", FAILED, Next.NOTHING),
]


@pytest.mark.parametrize(("context", "compose", "edit", "following"), FIRST)
def test_editor_first_left_or_failed(flow, context: Context, compose: bool | str, edit: Any, following: Next):
    case = flow(edit, context=context, compose=compose)
    composed = case.run(Submitted("inline"))
    if following is Next.INLINE:
        assert composed.text == "inline"
    else:
        assert composed == Composed(None, following, "")
        assert case.asked == []
    assert bool(case.said) is (edit is FAILED)


@pytest.mark.parametrize(("compose", "text"), [(True, "inline"), ("always", None)])
def test_editor_first_without_an_editor_says_what_was_looked_for(flow, compose: bool | str, text: str | None):
    case = flow(compose=compose, editor=False)
    assert case.run(Submitted("inline")).text == text
    assert "no editor is configured" in case.said[0]
    assert "EDITOR" in case.said[0]


# --- drafts


@pytest.mark.req("088-138", "088-140")
@pytest.mark.parametrize(
    "outcome", [Cancelled("kept", 2), Interrupted("kept", 2), Broken("kept", "the terminal is gone")]
)
def test_a_text_that_was_left_is_where_the_next_composition_begins(flow, outcome: Outcome):
    case = flow()
    assert case.run(outcome).left == "kept"
    assert case.draft == "kept"
    assert case.run(Submitted("sent")).text == "sent"
    assert case.asked[0].seed == "kept"


@pytest.mark.req("088-138")
def test_a_prompt_that_broke_without_giving_its_text_loses_nothing(flow):
    case = flow()
    case.run(Cancelled("kept"))
    assert case.run(Broken("", "a fault")).text is None
    assert case.draft == "kept"


@pytest.mark.req("088-141")
def test_a_draft_is_gone_when_it_was_sent_and_stored_or_emptied_on_purpose(flow):
    case = flow()
    case.run(Submitted("sent"))
    assert case.draft == "sent"  # until somebody says that it has arrived
    case.composition.sent()
    assert case.draft is None
    case.run(Cancelled("again"))
    case.run(Cancelled(""))
    assert case.draft is None


def test_what_is_typed_is_on_disk_while_it_is_typed(flow):
    case = flow()

    def typing(question: Question) -> Outcome:
        assert isinstance(question, Edit)
        assert question.changed is not None
        question.changed("half a thou")
        while case.draft != "half a thou":
            pass
        return Cancelled("half a thought")

    case.run(typing)
    assert case.draft == "half a thought"


def test_a_seed_comes_before_a_draft(flow):
    case = flow()
    case.run(Cancelled("my thought"))
    case.run(Submitted("x"), seed="> quoted\n\n")
    assert case.asked[0].seed == "> quoted\n\nmy thought"


def test_where_no_draft_can_be_kept_the_text_is_rescued(flow, tmp_path: Path):
    (tmp_path / "drafts").write_text("a file where the directory should be")
    case = flow()
    case.run(Cancelled("precious"))
    assert case.rescued == ["precious"]
