"""The tool calls of an answer: every mode, policy, answer and state, without anything that runs."""

from collections.abc import Callable
from typing import Any

import pytest

from jp.ask import pending
from jp.ask.pending import Answer, Deliver, Delivery, Inquiry, Permission, Run, Skip, Unanswered, Withhold
from jp.config.sections.assistant import AssistantOverride
from jp.config.sections.tools import Detached, Parameter
from jp.config.sections.tools import Question as Settings
from jp.tool.definition import FORMAT
from jp.tool.outcome import Failure, NeedsInput, Question, Success
from jp.turn import call_events as c
from jp.turn.calls import MAX_QUESTIONS, NOT_DELIVERED, REDACTED, SKIPPED, WITHHELD, Memory
from tests.turn.tool_bench import CANCELLED, NOBODY, OWN, Bench, builtin, local

PATH = {"path": Parameter("string", required=True), "mode": Parameter("string", default="r")}
SECRET = "hunter2"

# --- whether it runs

# run, what was remembered, what becomes of a call that may be remembered, and of one that always asks
MODES = [
    ("ask", "", "asked", "asked"),
    ("ask", "run", "runs", "asked"),
    ("ask", "skip", CANCELLED, CANCELLED),
    ("unattended", "", "runs", "asked"),
    ("unattended", "run", "runs", "asked"),
    ("unattended", "skip", CANCELLED, CANCELLED),
    ("edit", "", "edited", "edited"),
    ("edit", "run", "runs", "edited"),
    ("edit", "skip", CANCELLED, CANCELLED),
    ("skip", "", SKIPPED, SKIPPED),
    ("skip", "run", SKIPPED, SKIPPED),
    ("skip", "skip", SKIPPED, SKIPPED),
]


def remembered(name: str, what: str) -> Memory:
    memory = Memory()
    if what:
        getattr(memory, what).add(name)
    return memory


def became(bench: Bench) -> str:
    """What a call that has just been made is up to."""
    asking = bench.asking
    if isinstance(asking, Permission):
        assert bench.starts() == []
        return "edited" if asking.edit else "asked"
    bench.begin()
    if bench.response is not None:
        assert bench.starts() == []
        return bench.response[0]
    return "runs" if bench.starts() else "nothing"


@pytest.mark.parametrize(("run", "what", "expected", "_"), MODES)
def test_the_run_mode_with_what_was_remembered(run: str, what: str, expected: str, _: str):
    bench = Bench(local(run), memory=remembered("t", what))
    bench.call()
    if isinstance(bench.asking, Permission):
        assert bench.asking.may_remember
    assert became(bench) == expected


@pytest.mark.parametrize(("run", "what", "_", "expected"), MODES)
def test_the_run_mode_of_a_tool_that_always_asks(run: str, what: str, _: str, expected: str):
    bench = Bench(run_command=builtin(run), memory=remembered("run_command", what))
    bench.call("run_command", {"command": "ls"})
    if isinstance(bench.asking, Permission):
        assert not bench.asking.may_remember
    assert became(bench) == expected


def test_what_is_remembered_of_one_tool_holds_for_no_other():
    bench = Bench(local("ask"), local("ask"), memory=remembered("t1", "run"))
    bench.call()
    bench.call("t1")
    assert [bench.asking and bench.asking.name] == ["t"]
    bench.answer(Skip())
    assert bench.asking is None


def test_a_skipped_tool_says_its_own_words_of_it():
    bench = Bench(local("ask", cancellation_response=OWN), memory=remembered("t", "skip"))
    bench.call()
    assert bench.response == (OWN, False)


ANSWERS = [
    (Run({}), None),
    (Skip(), (CANCELLED, False)),
    (Skip("it is wrong"), ("The user did not let the tool run, and says: it is wrong", False)),
]


@pytest.mark.req("088-101", "088-102")
@pytest.mark.parametrize(("answer", "response"), ANSWERS)
@pytest.mark.parametrize("remember", [False, True])
def test_the_answer_to_a_permission(answer: Run | Skip, response: tuple[str, bool] | None, remember: bool):
    bench = Bench(local("ask"))
    bench.call()
    bench.answer(answer._replace(remember=remember))
    assert bench.response == response
    bench.begin()
    assert len(bench.starts()) == (response is None)
    assert (bench.memory.run, bench.memory.skip) == (
        ({"t"} if remember and response is None else set()),
        ({"t"} if remember and response is not None else set()),
    )


@pytest.mark.parametrize(("answer", "last"), [(Run({}, remember=True), 3), (Skip(remember=True), 0)])
def test_an_answer_that_is_remembered_holds_for_those_that_wait_already(answer: Run | Skip, last: int):
    bench = Bench(local("ask"), local("ask"))
    for name in ("t", "t1", "t", "t"):
        bench.call(name)
    bench.answer(answer)
    assert isinstance(bench.asking, Permission)
    assert bench.asking.call == 1
    bench.answer(Skip())
    assert bench.asking is None
    bench.begin()
    assert len(bench.starts()) == last
    assert len(bench.of(c.Announce)) == last
    assert len([said for said in bench.of(c.Said) if "was skipped" in said.text]) == 4 - last


def test_an_answer_that_is_remembered_holds_for_one_whose_arguments_are_still_being_formatted():
    bench = Bench(local("ask", format="unattended"), formats=["t"])
    bench.call()
    bench.call()
    first, second = bench.starts(formatting=True)
    bench.ended(Success("shown"), first)
    bench.answer(Run({}, remember=True))
    bench.ended(Success("shown"), second)
    assert bench.asking is None
    bench.begin()
    assert [start.call for start in bench.starts()] == [0, 1]


# --- nobody is there

# the tool's own policy, that of all tools, what holds
POLICIES: list[tuple[Any, Any, str]] = [
    (None, "deny", "deny"),
    (None, "defaults", "defaults"),
    (None, "auto", "auto"),
    ("deny", "auto", "deny"),
    ("auto", "deny", "auto"),
    ("defaults", "auto", "defaults"),
    ({}, "auto", "auto"),
    ({}, {}, "deny"),
    (None, {"it": "auto"}, "auto"),
    ({"it": "auto"}, "deny", "auto"),
    ({"it": "deny"}, "auto", "deny"),
    ({"other": "auto"}, "deny", "deny"),
    ({"other": "deny"}, "auto", "auto"),
    ({"it": "auto"}, {"it": "deny"}, "auto"),
]


def policy(written: Any, kind: str) -> Any:
    """A policy with `it` for the kind that is tested and `other` for the two others."""
    if not isinstance(written, dict):
        return written
    kinds = {one: written.get("it" if one == kind else "other") for one in ("run", "deliver", "tool")}
    return Detached(**kinds)


def denied(bench: Bench, kind: str) -> bool:
    """Whether the only call was denied, and the error names what would change that."""
    if bench.calls.denied is None:
        return False
    error = bench.calls.denied
    key = f"conversation.tools.t.detached.{kind}"
    assert error.status == 3
    assert error.metadata == {"tool": "t", "kind": kind, "key": key}
    assert f"-c {key}=auto" in error.hints[0]
    assert "open a terminal" in error.hints
    assert bench.response is not None
    assert bench.response[1]
    assert "nobody is there" in bench.response[0]
    return True


@pytest.mark.req("104-82", "088-115")
@pytest.mark.parametrize(("own", "everyone", "holds"), POLICIES)
def test_the_detached_policy_for_a_run(own: Any, everyone: Any, holds: str):
    for mode in ("ask", "edit"):
        bench = Bench(local(mode, detached=policy(own, "run")), detached=policy(everyone, "run"))
        bench.call(arguments={})
        bench.nobody()
        assert bench.asking is None
        bench.begin()
        assert denied(bench, "run") is (holds != "auto")
        assert len(bench.starts()) == (holds == "auto")


def test_a_tool_that_always_asks_is_approved_by_the_policy_alone():
    for detached, runs in (("deny", 0), ("auto", 1)):
        bench = Bench(run_command=builtin("unattended", detached=detached))
        bench.call("run_command", {"command": "ls"})
        bench.nobody()
        bench.begin()
        assert len(bench.starts()) == runs


@pytest.mark.req("104-84", "088-115")
@pytest.mark.parametrize("outcome", [Success("what-came"), Failure("what-came")])
@pytest.mark.parametrize(("own", "everyone", "holds"), POLICIES)
def test_the_detached_policy_for_a_result(own: Any, everyone: Any, holds: str, outcome: Success | Failure):
    for mode in ("ask", "edit"):
        bench = Bench(local(result=mode, detached=policy(own, "deliver")), detached=policy(everyone, "deliver"))
        bench.call()
        bench.begin()
        bench.ended(outcome)
        bench.nobody()
        assert denied(bench, "deliver") is (holds != "auto")
        if holds == "auto":
            assert bench.response == (outcome.content, isinstance(outcome, Failure))
        else:
            assert outcome.content not in repr(bench.events)


# question, policy, what becomes of it
QUESTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "deny", "denied"),
    ({"default": "x"}, "deny", "denied"),
    ({}, "defaults", "denied"),
    ({"default": "x"}, "defaults", "x"),
    ({"default": None}, "defaults", "None"),
    ({"default": "x", "exclusive": True}, "defaults", "x"),
    ({"default": "x", "kind": "secret"}, "defaults", "x"),
    ({}, "auto", "model"),
    ({"default": "x"}, "auto", "model"),
    ({"exclusive": True}, "auto", "denied"),
    ({"exclusive": True, "default": "x"}, "auto", "denied"),
    ({"kind": "secret"}, "auto", "denied"),
    ({"kind": "secret", "default": "x"}, "auto", "denied"),
]


@pytest.mark.req("104-83", "088-115")
@pytest.mark.parametrize(("question", "detached", "expected"), QUESTIONS)
def test_the_detached_policy_for_a_question(question: dict[str, Any], detached: str, expected: str):
    bench = Bench(local(detached=Detached(tool=detached)))
    bench.call()
    bench.begin()
    bench.asks(**question)
    bench.nobody()
    assert (bench.calls.denied is not None) is (expected == "denied")
    assert len(bench.inquiries()) == (expected == "model")
    answers = bench.starts()[-1].invocation.answers
    assert answers == ({} if expected in ("denied", "model") else {"q": question["default"]})
    assert (bench.response is not None) is (expected == "denied")


@pytest.mark.parametrize(("own", "everyone", "holds"), POLICIES)
def test_the_detached_policy_for_questions_is_the_tools_own_or_that_of_all(own: Any, everyone: Any, holds: str):
    bench = Bench(local(detached=policy(own, "tool")), detached=policy(everyone, "tool"))
    bench.call()
    bench.begin()
    bench.asks(default="x")
    bench.nobody()
    found = "auto" if bench.inquiries() else "defaults" if len(bench.starts()) == 2 else "deny"
    assert found == holds
    assert denied(bench, "tool") is (holds == "deny")


# question, hints that help
HINTS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"detached.tool=auto", "questions.q.answer"}),
    ({"exclusive": True}, {"questions.q.answer"}),
    ({"kind": "secret"}, set()),
]


@pytest.mark.parametrize(("question", "hints"), HINTS)
def test_a_denied_question_names_only_what_would_answer_it(question: dict[str, Any], hints: set[str]):
    bench = Bench(local())
    bench.call()
    bench.begin()
    bench.asks(**question)
    bench.nobody()
    assert bench.calls.denied is not None
    said = " ".join(bench.calls.denied.hints)
    assert {hint for hint in ("detached.tool=auto", "questions.q.answer") if hint in said} == hints


def test_the_first_denial_is_the_error_and_the_rest_of_the_calls_run():
    bench = Bench(local("ask"), local("ask"), local())
    for name in ("t", "t1", "t2"):
        bench.call(name)
    bench.nobody()
    bench.nobody()
    bench.begin()
    bench.ended(Success("done"))
    assert bench.calls.denied is not None
    assert bench.calls.denied.metadata["tool"] == "t"
    assert bench.responses[-1] == ("c2", "done", False)
    assert bench.calls.done


# --- results

# mode, answer, what the model gets of a result
RESULTS: list[tuple[str, pending.Answered | None, str]] = [
    ("unattended", None, "result"),
    ("skip", None, NOT_DELIVERED),
    ("ask", Deliver("result"), "result"),
    ("ask", Deliver("edited"), "edited"),
    ("ask", Withhold(), WITHHELD),
    ("edit", Deliver("result"), "result"),
    ("edit", Deliver("edited"), "edited"),
    ("edit", Withhold(), WITHHELD),
]


@pytest.mark.req("088-111")
@pytest.mark.parametrize(("mode", "answer", "content"), RESULTS)
@pytest.mark.parametrize("fails", [False, True])
def test_the_result_mode(mode: str, answer: pending.Answered | None, content: str, fails: bool):
    bench = Bench(local(result=mode))
    bench.call()
    bench.begin()
    bench.ended(Failure("result") if fails else Success("result"))
    assert bench.of(c.Busy)[-1].names == ()
    shown = ["result"]
    if answer is not None:
        assert bench.response is None
        assert bench.of(c.ShowResult) == []  # the prompt shows it
        assert bench.asking == Delivery(0, "t", "result", mode == "edit")
        bench.answer(answer)
        shown = [answer.content] if isinstance(answer, Deliver) else []
    assert [(show.content, show.is_error) for show in bench.of(c.ShowResult)] == [(each, fails) for each in shown]
    assert bench.asking is None
    assert bench.response == (content, fails)


def test_a_failure_is_told_with_its_causes():
    bench = Bench(local())
    bench.call()
    bench.begin()
    bench.ended(Failure("no", trace=["outer", "inner"]))
    assert bench.response == ("no\n  caused by: outer\n  caused by: inner", True)


# --- questions

MODEL = AssistantOverride()
# kind, whether the tool says that only a person may answer, what is configured, who answers
WHO: list[tuple[str, bool, Settings | None, str]] = [
    ("text", False, None, "user"),
    ("text", True, None, "user"),
    ("secret", False, None, "user"),
    ("text", False, Settings("user"), "user"),
    ("text", False, Settings("assistant"), "assistant"),
    ("boolean", False, Settings("assistant"), "assistant"),
    ("select", False, Settings("assistant"), "assistant"),
    ("text", False, Settings(MODEL), "model"),
    ("text", True, Settings("assistant"), "user"),
    ("text", True, Settings(MODEL), "user"),
    ("text", True, Settings("assistant", exclusive=False), "assistant"),
    ("text", False, Settings("assistant", exclusive=True), "user"),
    ("text", False, Settings(MODEL, exclusive=True), "user"),
    ("secret", False, Settings("assistant"), "user"),
    ("secret", False, Settings(MODEL), "user"),
    ("secret", True, Settings("assistant", exclusive=False), "user"),
    ("text", False, Settings("user", answer="fixed"), "config"),
    ("text", True, Settings("user", answer="fixed"), "config"),
    ("boolean", False, Settings("assistant", answer=False), "config"),
    ("text", False, Settings("assistant", answer=""), "config"),
    ("secret", False, Settings("user", answer="fixed"), "user"),
    ("secret", False, Settings("assistant", answer="fixed"), "user"),
]


@pytest.mark.parametrize(("kind", "exclusive", "settings", "who"), WHO)
def test_who_answers_a_question(kind: str, exclusive: bool, settings: Settings | None, who: str):
    bench = Bench(local(questions={"q": settings} if settings else {}))
    bench.call()
    bench.begin()
    bench.asks(kind, exclusive=exclusive)
    found = "config" if len(bench.starts()) == 2 else "user" if bench.asking else "nobody"
    if bench.inquiries():
        found = "assistant" if bench.inquiries()[0].by is None else "model"
        assert bench.inquiries()[0].by in (None, MODEL)
    assert found == who
    if who == "config":
        assert settings is not None
        assert bench.starts()[-1].invocation.answers == {"q": settings.answer}
        assert bench.questions[-1] == ("c0.q", settings.answer)


def test_the_settings_of_a_question_are_those_of_its_id():
    bench = Bench(local(questions={"q": Settings("assistant"), "p": Settings("user", answer=1)}))
    bench.call()
    bench.begin()
    bench.asks(id_="other")
    assert isinstance(bench.asking, Inquiry)
    assert bench.asking.text == "What?"


def test_a_question_is_asked_and_recorded_as_the_tool_has_it_and_its_answer_runs_it_again():
    bench = Bench(local(parameters={"a": Parameter()}))
    bench.call(arguments={"a": 1})
    bench.begin()
    options = ["one", 2, None]
    bench.asks("select", options=options, default=2, pre_amble="Listen.")
    assert bench.asking == Inquiry(0, "t", "What?", "select", ("one", 2, None), 2, "Listen.")
    asked = {"text": "What?", "answer_type": {"type": "select", "options": options}, "default": 2}
    assert bench.questions == [("c0.q", asked)]
    bench.answer(Answer(None))
    assert bench.questions == [("c0.q", asked), ("c0.q", None)]
    first, second = bench.starts()
    assert (first.invocation.answers, second.invocation.answers) == ({}, {"q": None})
    assert second.invocation.arguments == {"a": 1}
    assert second.run != first.run
    bench.asks("boolean", id_="p")
    bench.answer(Answer(True))
    assert bench.starts()[-1].invocation.answers == {"q": None, "p": True}


def test_a_secret_goes_to_the_tool_alone():
    bench = Bench(local(questions={"later": Settings("assistant")}))
    bench.call()
    bench.begin()
    bench.asks("secret", default=SECRET)
    assert SECRET not in repr(bench.events)
    bench.answer(Answer(SECRET))
    bench.asks("text", id_="later")
    bench.inquired("public")
    bench.ended(Success("done"))
    last = bench.starts()[-1].invocation
    assert last.answers == {"q": SECRET, "later": "public"}
    assert last.secret == {"q"}
    assert bench.questions[1] == ("c0.q", REDACTED)
    assert SECRET not in repr([effect for effect in bench.effects if not isinstance(effect, c.Start)])


def test_the_model_is_asked_with_what_it_called_the_tool_with():
    bench = Bench(local(questions={"q": Settings("assistant")}, parameters={"a": Parameter()}))
    bench.call(arguments={"a": 1})
    bench.begin()
    bench.asks("boolean")
    asked = bench.inquiries()[0]
    assert (asked.call, asked.run, asked.tool.name, asked.arguments) == (0, bench.starts()[0].run, "t", {"a": 1})
    assert bench.of(c.Busy)[-1].names == ("t",)
    bench.inquired(False)
    assert bench.starts()[-1].invocation.answers == {"q": False}
    assert bench.questions[-1] == ("c0.q", False)


def test_a_question_that_the_model_does_not_answer_is_a_failure():
    bench = Bench(local(questions={"q": Settings("assistant")}))
    bench.call()
    bench.begin()
    bench.asks()
    bench.inquired(error="the model is away")
    assert bench.response is not None
    assert bench.response[1]
    assert "the model is away" in bench.response[0]
    assert len(bench.starts()) == 1


@pytest.mark.parametrize(("settings", "said"), [({}, CANCELLED), ({"cancellation_response": OWN}, OWN)])
def test_a_question_that_the_person_backs_out_of_ends_the_call(settings: dict[str, Any], said: str):
    bench = Bench(local(**settings))
    bench.call()
    bench.begin()
    bench.asks()
    bench.answer(Unanswered())
    assert bench.response == (said, False)
    assert len(bench.starts()) == 1
    assert bench.of(c.Busy)[-1].names == ()


def test_a_tool_that_asks_without_end_is_ended():
    bench = Bench(local())
    bench.call()
    bench.begin()
    for number in range(MAX_QUESTIONS):
        bench.asks(id_=str(number))
        bench.answer(Answer("x"))
    assert bench.response is None
    bench.asks(id_="more")
    assert bench.asking is None
    assert bench.response == (f"The tool has asked {MAX_QUESTIONS} questions and is not done.", True)
    assert len(bench.starts()) == MAX_QUESTIONS + 1


# --- calls that can't be made


def test_a_tool_that_is_not_there_is_answered_with_those_that_are():
    bench = Bench(local(), local())
    bench.call("nope")
    assert bench.response == ("There is no tool nope. The tools are: t, t1.", True)
    assert "nope" in bench.of(c.Said)[0].text
    assert bench.calls.done


def test_arguments_that_do_not_fit_are_answered_with_what_is_wrong():
    bench = Bench(local("ask", parameters=PATH))
    bench.call(arguments={"path": 1})
    assert bench.asking is None
    assert bench.response is not None
    assert bench.response[1]
    assert "`path`" in bench.response[0]
    assert bench.of(c.Announce)[0].arguments == {"path": 1}


def test_defaults_are_shown_approved_and_run():
    bench = Bench(local("ask", parameters=PATH))
    bench.call(arguments={"path": "x"})
    filled = {"path": "x", "mode": "r"}
    assert isinstance(bench.asking, Permission)
    assert bench.asking.arguments == filled
    assert '"mode"' in bench.asking.body
    bench.answer(Run(bench.asking.arguments))
    bench.begin()
    assert bench.of(c.Announce)[0].arguments == filled
    assert bench.starts()[0].invocation.arguments == filled


# --- edited arguments


@pytest.mark.req("088-103")
def test_nothing_is_added_to_edited_arguments():
    bench = Bench(local("ask", parameters=PATH))
    bench.call(arguments={"path": "x"})
    bench.answer(Run({"path": "mine"}))
    bench.begin()
    assert bench.starts()[0].invocation.arguments == {"path": "mine"}
    assert bench.of(c.Announce)[0].arguments == {"path": "mine"}


@pytest.mark.parametrize(("called", "edited"), [(1, True), (False, 0), (1, 1.0), ([1], [True])])
def test_an_edit_that_python_takes_for_none_is_one(called: Any, edited: Any):
    bench = Bench(local("ask", parameters={"x": Parameter()}))
    bench.call(arguments={"x": called})
    bench.answer(Run({"x": edited}))
    bench.begin()
    assert repr(bench.starts()[0].invocation.arguments) == repr({"x": edited})


@pytest.mark.parametrize("mode", ["ask", "edit"])
def test_edited_arguments_that_do_not_fit_are_asked_about_again_and_never_run(mode: str):
    bench = Bench(local(mode, parameters=PATH, format="unattended"), local("ask"), formats=["t"])
    bench.call(arguments={"path": "x"})
    bench.ended(Success("formatted before"), bench.starts(formatting=True)[0])
    bench.call("t1")
    for _ in range(2):  # `y` on them is no more valid than they are
        bench.answer(Run({"path": 1}))
        asking = bench.asking
        assert isinstance(asking, Permission)
        assert (asking.call, asking.arguments, asking.edit) == (0, {"path": 1}, mode == "edit")
        assert "formatted before" not in asking.body
        assert "do not fit t" in bench.of(c.Said)[-1].text
    assert bench.starts() == []
    bench.answer(Run({"path": "now"}))
    assert isinstance(bench.asking, Permission)
    assert bench.asking.call == 1
    bench.answer(Skip())
    bench.ended(Success("formatted anew"), bench.starts(formatting=True)[-1])
    bench.begin()
    assert bench.starts()[0].invocation.arguments == {"path": "now"}
    assert bench.of(c.Announce)[-1].formatted == "formatted anew"


def test_what_a_person_has_begun_to_change_is_approved_by_no_policy():
    bench = Bench(local("ask", parameters=PATH, detached="auto"))
    bench.call(arguments={"path": "x"})
    bench.answer(Run({"path": 1}))
    bench.nobody()
    assert bench.calls.denied is not None
    bench.begin()
    assert bench.starts() == []


# --- formatting


@pytest.mark.parametrize("outcome", [Success("looks so"), Failure("can't"), NeedsInput(Question("q", "What?"))])
def test_arguments_are_formatted_before_the_approval(outcome: Any):
    bench = Bench(local("ask", format="unattended", parameters={"a": Parameter()}), formats=["t"])
    bench.call(arguments={"a": 1})
    (formatting,) = bench.starts(formatting=True)
    assert formatting.invocation.action == FORMAT
    assert bench.asking is None
    assert not bench.calls.prepared
    bench.ended(outcome, formatting)
    asking = bench.asking
    assert isinstance(asking, Permission)
    shown = isinstance(outcome, Success)
    assert ("looks so" in asking.body) is shown
    assert '"a": 1' in bench.kit.whole(asking)
    bench.answer(Run({"a": 1}))
    bench.begin()
    assert bench.of(c.Announce)[0].formatted == ("looks so" if shown else None)
    assert [start.invocation.action for start in bench.starts(formatting=True)] == [FORMAT, "run"]
    assert bench.questions == []


@pytest.mark.parametrize(("run", "format_"), [("ask", "ask"), ("unattended", None), ("unattended", "unattended")])
@pytest.mark.parametrize("outcome", [Success("looks so"), Failure("can't")])
def test_arguments_are_formatted_after_the_approval(run: str, format_: str | None, outcome: Any):
    bench = Bench(local(run, format=format_), formats=["t"])
    bench.call()
    if run == "ask":
        assert bench.starts(formatting=True) == []
        bench.answer(Run({}))
    assert not bench.calls.prepared
    bench.ended(outcome, bench.starts(formatting=True)[0])
    assert bench.calls.prepared
    assert bench.of(c.Announce)[0].formatted == ("looks so" if isinstance(outcome, Success) else None)
    bench.begin()
    assert len(bench.starts()) == 1


def test_what_a_built_in_tool_can_not_do_is_said_before_anybody_is_asked():
    bench = Bench(run_command=builtin("ask"), formats=["run_command"])
    bench.call("run_command", {"command": "ls"})
    bench.ended(Failure("no such thing"), bench.starts(formatting=True)[0])
    assert bench.asking is None
    assert bench.response == ("no such thing", True)
    assert bench.starts() == []


def test_a_tool_that_is_skipped_is_not_formatted():
    bench = Bench(local("skip", format="unattended"), formats=["t"])
    bench.call()
    assert bench.starts(formatting=True) == []


# --- cancelled, restarted


def formatting(bench: Bench) -> None:
    bench.call("formatted")


def asked(bench: Bench) -> None:
    bench.call("asks")


def announcing(bench: Bench) -> None:
    bench.call("announced")
    bench.answer(Run({}))


def ready(bench: Bench) -> None:
    bench.call("plain")


def running(bench: Bench) -> None:
    bench.call("plain")
    bench.begin()


def inquiring(bench: Bench) -> None:
    running(bench)
    bench.asks()


def inquiring_the_model(bench: Bench) -> None:
    running(bench)
    bench.asks(id_="m")


def delivering(bench: Bench) -> None:
    bench.call("delivered")
    bench.begin()
    bench.ended(Success("result"))


# where a call is, its tool, what it does when it is prepared once more
STATES: list[tuple[Callable[[Bench], None], str]] = [
    (formatting, "formats"),
    (asked, "asks"),
    (announcing, "asks"),
    (ready, "ready"),
    (running, "ready"),
    (inquiring, "ready"),
    (inquiring_the_model, "ready"),
    (delivering, "ready"),
]


def in_state(state: Callable[[Bench], None], **settings: Any) -> Bench:
    bench = Bench(
        formatted=local("ask", format="unattended", **settings),
        asks=local("ask", **settings),
        announced=local("ask", format="ask", **settings),
        plain=local(questions={"m": Settings("assistant")}, **settings),
        delivered=local(result="ask", **settings),
        formats=["formatted", "announced"],
    )
    state(bench)
    return bench


def late(bench: Bench) -> list[c.Effect]:
    """Everything that was begun so far comes to its end."""
    for start in bench.starts(formatting=True):
        for outcome in (Success("late"), Failure("late"), NeedsInput(Question("late", "What?"))):
            bench.ended(outcome, start)
    effects = []
    for asked in bench.inquiries():
        effects += bench.calls.step(c.Inquired(asked.call, asked.run, "late"))
    return bench.keep(effects)


@pytest.mark.req("092-58", "092-59", "088-67", "088-69")
@pytest.mark.parametrize("text", ["", "stop it"])
@pytest.mark.parametrize(("settings", "canned"), [({}, CANCELLED), ({"cancellation_response": OWN}, OWN)])
@pytest.mark.parametrize("state", [state for state, _ in STATES])
def test_a_cancelled_call_gets_the_text_or_what_its_tool_says_and_nothing_comes_after(
    state: Callable[[Bench], None], settings: dict[str, Any], canned: str, text: str
):
    bench = in_state(state, **settings)
    bench.cancel(text)
    assert bench.response == (text or canned, False)
    assert c.Kill(0) in bench.effects
    assert bench.asking is None
    assert bench.calls.done
    assert bench.of(c.Busy)[-1].names == ()
    so_far = list(bench.effects)
    late(bench)
    bench.nobody()
    bench.answer(Unanswered())
    assert bench.cancel("again") == []
    assert bench.effects == so_far


def test_a_call_that_is_done_is_not_cancelled():
    bench = Bench(local(), local())
    bench.call()
    bench.call("t1")
    bench.begin()
    bench.ended(Success("done"))
    bench.cancel("stop")
    assert bench.responses == [("c1", "done", False), ("c0", "stop", False)]
    assert [kill.call for kill in bench.of(c.Kill)] == [0]


@pytest.mark.req("092-61")
@pytest.mark.parametrize(("state", "next_"), STATES)
def test_a_restarted_call_is_prepared_anew_and_has_one_response_in_the_end(state: Callable[[Bench], None], next_: str):
    bench = in_state(state)
    before = bench.starts(formatting=True)
    asked_before = bench.inquiries()
    effects = bench.restart()
    assert c.Kill(0, now=True) in effects
    assert bench.calls.restarted
    assert bench.of(c.Busy)[-1].names == ()
    assert bench.response is None
    for start in before:  # what comes late of the first time is not heard
        assert bench.ended(Success("late"), start) == []
    for asked in asked_before:
        assert bench.calls.step(c.Inquired(asked.call, asked.run, "late")) == []
    if next_ == "formats":
        bench.ended(Success("anew"), bench.starts(formatting=True)[-1])
    assert isinstance(bench.asking, Permission) is (next_ != "ready")
    assert bench.calls.prepared is (next_ == "ready")
    assert bench.starts() == [start for start in before if start.invocation.action != FORMAT]
    if next_ != "ready":
        bench.answer(Run({}))
        if state is announcing:
            bench.ended(Success("anew"), bench.starts(formatting=True)[-1])
    bench.begin()
    assert len(bench.starts()) == len([one for one in before if one.invocation.action != FORMAT]) + 1
    assert bench.starts()[-1].invocation.answers == {}
    bench.ended(Success("done"))
    if state is delivering:
        bench.answer(Deliver("done"))
    assert bench.response == ("done", False)


def test_a_restart_forgets_edits_answers_secrets_and_failures():
    bench = Bench(local("ask", result="ask", parameters={"x": Parameter()}))
    bench.call(arguments={"x": "model's"})
    bench.answer(Run({"x": "person's"}))
    bench.begin()
    bench.asks("secret")
    bench.answer(Answer(SECRET))
    bench.ended(Failure("failed"))
    bench.restart()
    assert isinstance(bench.asking, Permission)
    assert bench.asking.arguments == {"x": "model's"}
    bench.answer(Run(bench.asking.arguments))
    bench.begin()
    again = bench.starts()[-1].invocation
    assert (again.arguments, again.answers, again.secret) == ({"x": "model's"}, {}, frozenset())
    bench.ended(Success("well"))
    bench.answer(Deliver("well"))
    assert bench.response == ("well", False)


def test_a_restart_leaves_what_is_done_and_asks_not_again_what_is_remembered():
    bench = Bench(local(), local("ask"))
    bench.call()
    bench.call("t1")
    bench.answer(Run({}, remember=True))
    bench.begin()
    bench.ended(Success("first"), bench.starts()[0])
    bench.restart()
    assert bench.asking is None
    bench.begin()
    assert [start.call for start in bench.starts()] == [0, 1, 1]
    bench.ended(Success("second"))
    assert bench.responses == [("c0", "first", False), ("c1", "second", False)]


def test_a_tool_may_ask_as_often_after_a_restart():
    bench = Bench(local())
    bench.call()
    bench.begin()
    for _ in range(2):
        for number in range(MAX_QUESTIONS):
            bench.asks(id_=str(number))
            bench.answer(Answer("x"))
        bench.restart()
        bench.begin()
    assert bench.response is None


# --- what comes late


def test_what_an_earlier_run_of_a_call_still_says_is_not_heard():
    bench = Bench(local(questions={"m": Settings("assistant")}))
    bench.call()
    bench.begin()
    first = bench.starts()[0]
    bench.asks()
    assert bench.ended(Success("late"), first) == []
    bench.answer(Answer("x"))
    assert bench.ended(Success("late"), first) == []
    bench.asks(id_="m")
    asked = bench.inquiries()[0]
    bench.inquired("x")
    assert bench.calls.step(c.Inquired(asked.call, asked.run, "late")) == []
    bench.ended(Success("done"))
    assert bench.response == ("done", False)


def test_what_an_earlier_answer_has_begun_is_not_taken_for_a_call_of_this_one():
    memory = Memory()
    before = Bench(local(questions={"q": Settings("assistant")}), memory=memory)
    before.call()
    before.begin()
    before.asks()
    now = Bench(local(questions={"q": Settings("assistant")}), memory=memory)
    assert now.ended(Success("late"), before.starts()[0]) == []
    now.call()
    now.begin()
    assert now.ended(Success("late"), before.starts()[0]) == []
    now.asks()
    asked = before.inquiries()[0]
    assert now.calls.step(c.Inquired(asked.call, asked.run, "late")) == []
    now.inquired("x")
    now.ended(Success("done"))
    assert now.response == ("done", False)


# --- one queue


@pytest.mark.req("092-86")
def test_prompts_of_all_kinds_are_asked_in_the_order_in_which_they_came():
    bench = Bench(local(result="ask"), local(), local())
    for name in ("t", "t1", "t2"):
        bench.call(name)
    bench.begin()
    one, two, three = bench.starts()
    ask = NeedsInput(Question("q", "What?"))
    bench.ended(ask, two)
    bench.ended(Success("result"), one)
    bench.ended(ask, three)
    first = bench.asking
    assert bench.asking is first  # until it is answered it is the one to ask, however often it is looked at
    order = []
    while bench.asking is not None:
        order.append((type(bench.asking), bench.asking.call))
        bench.answer(Deliver("x") if isinstance(bench.asking, Delivery) else Answer("x"))
    assert order == [(Inquiry, 1), (Delivery, 0), (Inquiry, 2)]


def test_who_is_named_while_they_run():
    bench = Bench(local(), local(questions={"q": Settings("assistant")}))
    bench.call()
    bench.call("t1")
    assert bench.of(c.Busy) == []
    bench.begin()
    assert bench.of(c.Busy)[-1].names == ("t", "t1")
    bench.asks()  # t1 is asked about, which is to be seen as well
    assert bench.of(c.Busy)[-1].names == ("t", "t1")
    bench.ended(Success("x"), bench.starts()[0])
    assert bench.of(c.Busy)[-1].names == ("t1",)


def test_the_error_says_why_nobody_can_be_asked():
    bench = Bench(local("ask"))
    bench.call()
    bench.nobody()
    assert bench.calls.denied is not None
    assert NOBODY.message in bench.calls.denied.message
