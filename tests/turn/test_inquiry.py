"""A tool's question that a model answers: what it is asked, and what counts as an answer."""

from typing import Any

import msgspec
import pytest

from jp.conversation.thread import Message, Reasoning, Text, Thread, ToolCall, ToolResult
from jp.tool.definition import Definition
from jp.tool.outcome import Question
from jp.tool.schema import checked
from jp.turn.call_events import Inquire
from jp.turn.inquiry import Inquiry, answer_in, schema, thread_for
from tests.turn.tool_bench import local

OPTIONS = ["one", 2, 2.5, None, True, ["x"], {"a": 1}]


def question(kind: str = "text", **more: Any) -> Question:
    return Question("q", "Which one?", kind, **more)


def wanted(asked: Question, arguments: dict[str, Any] | None = None) -> Inquire:
    return Inquire(3, 7, Definition("t", "local", local()), arguments or {}, asked)


# question, answers that its schema takes, answers that it does not
ANSWERS: list[tuple[Question, list[Any], list[Any]]] = [
    (question("boolean"), [True, False], ["true", "yes", 1, 0, None, [True]]),
    (question("text"), ["", "x", "true"], [1, True, None, ["x"]]),
    (question("select", options=["a", "b"]), ["a", "b"], ["c", "A", "", 0, None]),
    (question("select", options=OPTIONS), OPTIONS, ["2", "null", False, [], {"a": 2}]),
    (question("select", options=[1, 0]), [1, 0], [True, False, "1"]),
    (question("select", options=[True, False]), [True, False], [1, 0, "true"]),
    (question("select", options=[]), [], ["", None]),
]
GOOD = [(asked, answer) for asked, good, _ in ANSWERS for answer in good]
BAD = [(asked, answer) for asked, _, bad in ANSWERS for answer in bad]


@pytest.mark.parametrize(("asked", "answer"), GOOD)
def test_an_answer_of_the_kind_that_is_wanted_is_one(asked: Question, answer: Any):
    for data in ({"answer": answer}, {"answer": answer, "because": "of this"}):
        assert repr(answer_in(data, asked)) == repr(answer)
    assert checked(schema(asked), {"answer": answer})[1] == []


@pytest.mark.parametrize(("asked", "answer"), BAD)
def test_any_other_is_none(asked: Question, answer: Any):
    with pytest.raises(ValueError, match="the model answered"):
        answer_in({"answer": answer}, asked)
    if asked.options or asked.kind != "select":
        assert checked(schema(asked), {"answer": answer})[1] != []


@pytest.mark.parametrize(("asked", "data"), [(question("boolean"), True), (question("text"), "plain words")])
def test_a_model_that_answers_without_the_object_is_understood(asked: Question, data: Any):
    assert answer_in(data, asked) == data


@pytest.mark.parametrize("kind", ["boolean", "text"])
@pytest.mark.parametrize("data", [None, {}, {"reply": "x"}, []])
def test_no_answer_at_all_is_none(kind: str, data: Any):
    with pytest.raises(ValueError, match="the model answered"):
        answer_in(data, question(kind))


def test_an_option_is_taken_as_the_tool_has_written_it():
    assert repr(answer_in({"answer": 1.0}, question("select", options=[1]))) == "1"


def test_what_is_asked_stands_behind_what_was_said_and_calls_without_results_are_left_out():
    thread = Thread(
        system=["Be brief."],
        messages=[
            Message("user", [Text("Do it.")]),
            Message("assistant", [Reasoning("Hm."), Text("I will."), ToolCall("1", "t", {})]),
            Message("tool", [ToolResult("1", "not there yet")]),
        ],
        schema={"type": "object"},
    )
    asked = question("select", options=["a", 2], pre_amble="There are two.")
    made = thread_for(thread, wanted(asked, {"path": "x"}))
    assert made.system == ["Be brief."]
    assert [message.role for message in made.messages] == ["user", "assistant", "user"]
    assert made.messages[1].parts == [Text("I will.")]
    (part,) = made.messages[2].parts
    assert isinstance(part, Text)
    for said in ("the tool t", '{"path":"x"}', "There are two.", "Which one?", 'One of: "a", 2'):
        assert said in part.text
    assert made.schema == schema(asked)
    assert len(thread.messages) == 3


def test_long_arguments_are_cut():
    made = thread_for(Thread([], []), wanted(question(), {"text": "x" * 100_000}))
    (part,) = made.messages[0].parts
    assert isinstance(part, Text)
    assert len(part.text) < 25_000
    assert part.text.endswith("Which one?")


# --- a model that answers


class Asked:
    """A model that is asked and answers what is written down; the events come as those of a source."""

    def __init__(self, *events: Any, error: Any = None) -> None:
        self.events = events
        self.error = error
        self.thread: Thread | None = None
        self.posted: list[Any] = []
        self.stopped = False

    def source(self, thread: Thread, post: Any, generation: int) -> "Asked":
        self.thread, self._post, self._generation = thread, post, generation
        return self

    def start(self) -> None:
        from jp.llm.source import Batch, Done

        for event in self.events:
            self._post(Batch(self._generation, [event]))
        self._post(Done(self._generation, self.error))

    def stop(self) -> None:
        self.stopped = True


def ask(asked: Question, *events: Any, error: Any = None) -> Any:
    model = Asked(*events, error=error)
    inquiry = Inquiry(model, Thread([], []), wanted(asked), model.posted.append)  # type: ignore[arg-type]
    inquiry.start()
    assert model.thread is not None
    assert model.thread.schema == schema(asked)
    (posted,) = model.posted
    assert (posted.call, posted.run) == (3, 7)
    inquiry.cancel()
    assert model.stopped
    assert inquiry.over(0)
    return posted


def test_what_the_model_says_is_the_answer():
    from jp.llm.events import Finish, Message

    said = msgspec.json.encode({"answer": True}).decode()
    for events in ([Message(said)], [Message(said[:5]), Message(said[5:]), Finish("stop")]):
        posted = ask(question("boolean"), *events)
        assert (posted.answer, posted.error) == (True, "")


@pytest.mark.parametrize("words", ["", "no idea", '{"answer": "yes"}', '{"answer": tr'])
def test_what_is_no_answer_is_an_error(words: str):
    from jp.llm.events import Message

    posted = ask(question("boolean"), *[Message(words)] if words else [])
    assert posted.answer is msgspec.UNSET
    assert "the model answered" in posted.error


def test_a_model_that_fails_half_way_has_not_answered():
    from jp.llm.errors import StreamCut
    from jp.llm.events import Message

    posted = ask(question("boolean"), Message('{"answer": true}'), error=StreamCut("it was cut off"))
    assert posted.answer is msgspec.UNSET
    assert posted.error == "it was cut off"
