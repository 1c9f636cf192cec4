"""The turn machine where the model calls tools: answers, batches, follow-ups, whatever happens in whatever order."""

import random
from collections import Counter
from typing import Any

import pytest

from jp.ask import pending
from jp.config.sections.tools import Detached, Parameter
from jp.config.sections.tools import Question as Settings
from jp.conversation.events import ChatRequest, ChatResponse, InquiryRequest, InquiryResponse
from jp.conversation.events import ToolCallRequest as Request
from jp.conversation.events import ToolCallResponse as Response
from jp.llm import events as llm
from jp.llm.errors import ConnectionLost, StreamCut, Unauthorized
from jp.llm.retry import Policy
from jp.tool.definition import FORMAT
from jp.tool.outcome import Failure, NeedsInput, Outcome, Question, Success
from jp.turn import call_events as c
from jp.turn import machine as m
from jp.turn.machine import Phase
from jp.turn.toolkit import Toolkit
from tests.turn.tool_bench import CANCELLED, NOBODY, builtin, local, toolkit

POLICY = Policy(max_retries=2, base_backoff_ms=100, max_backoff_secs=1)
CUT = StreamCut("cut")


def tools() -> Toolkit:
    return toolkit({"run": local(), "ask": local("ask"), "give": local(result="ask")})


def turn(kit: Toolkit | None = None) -> m.Machine:
    return m.Machine(POLICY, kit or tools(), cancelled=CANCELLED)


def feed(machine: m.Machine, *happenings: m.Happening) -> list[m.Effect]:
    return [effect for happening in happenings for effect in machine.step(happening)]


def stream(generation: int, *parts: llm.Event | str) -> list[m.Happening]:
    """A stream: words are a message, `name()` is a call that is whole, `name(` one that is not; its index the place."""
    happenings: list[m.Happening] = []
    for index, part in enumerate(parts):
        if not isinstance(part, str):
            happenings.append(m.Arrived(generation, part))
        elif "(" in part:
            name = part.partition("(")[0]
            happenings.append(m.Arrived(generation, llm.ToolCallStart(index, f"{generation}-{index}", name)))
            if part.endswith(")"):
                happenings.append(m.Arrived(generation, llm.ToolCallArguments(index, "{}")))
                happenings.append(m.Arrived(generation, llm.ToolCallEnd(index)))
        else:
            happenings.append(m.Arrived(generation, llm.Message(part)))
    return happenings


def answered(generation: int, *parts: llm.Event | str) -> list[m.Happening]:
    return [*stream(generation, *parts, llm.Finish("tool_calls")), m.Ended(generation)]


def ended(effects: list[m.Effect], number: int = 0, outcome: Outcome | None = None) -> m.Happening:
    """That run among the ones that were started is over."""
    start = [effect for effect in effects if isinstance(effect, c.Start)][number]
    return c.ToolEnded(start.call, start.run, outcome or Success("done"))


def recorded(effects: list[m.Effect]) -> list[str]:
    """What is recorded, in short."""
    out = []
    for effect in effects:
        match effect:
            case m.Record(event) | c.Record(event):
                pass
            case _:
                continue
        match event:
            case Request():
                out.append(f"{event.name}({event.id})")
            case Response():
                out.append(f"{event.id}={event.content}")
            case ChatResponse() if isinstance(event.message, str):
                out.append(event.message)
            case ChatRequest():
                out.append(f"> {event.content}")
            case _:
                out.append(event.type)
    return out


def kinds(effects: list[m.Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


# --- a batch


def test_calls_run_when_the_answer_is_whole_and_its_results_go_out_with_the_next_request():
    machine = turn()
    effects = feed(machine, m.Begin(), *stream(1, "Let me see.", "run()", "run()"))
    assert machine.phase is Phase.STREAMING
    assert "Start" not in kinds(effects)
    effects += feed(machine, m.Arrived(1, llm.Finish("tool_calls")), m.Ended(1))
    assert machine.phase is Phase.PREPARED
    effects += feed(machine, m.RunTools())
    assert machine.phase is Phase.TOOLS
    effects += feed(machine, ended(effects, 1, Success("second")))
    assert machine.phase is Phase.TOOLS
    effects += feed(machine, ended(effects, 0, Failure("first")))
    assert machine.phase is Phase.FOLLOW_UP
    assert not machine.done
    follow = feed(machine, m.FollowUp())
    assert follow == [m.Settled(), m.Send(2, "", True)]
    assert machine.phase is Phase.STREAMING
    effects += feed(machine, *answered(2, "Well."))
    assert machine.done
    assert recorded(effects) == ["Let me see.", "run(1-1)", "run(1-2)", "1-2=second", "1-1=first", "Well."]
    assert effects[-1] == m.Complete(None)


def test_batches_follow_each_other_and_a_late_end_of_an_earlier_one_is_not_heard():
    machine = turn()
    effects = feed(machine, m.Begin(), *answered(1, "give()"), m.RunTools())
    first = ended(effects)
    effects += feed(machine, first)
    assert isinstance(machine.asking, pending.Delivery)
    effects += feed(machine, c.Answered(pending.Deliver("mine")), m.FollowUp())
    assert feed(machine, first) == []
    effects += feed(machine, *answered(2, "run()"))
    assert feed(machine, first) == []
    effects += feed(machine, m.RunTools())
    assert feed(machine, first) == []
    effects += feed(machine, ended(effects, 1, Success("second")), m.FollowUp(), *answered(3, "End."))
    assert recorded(effects) == ["give(1-0)", "1-0=mine", "run(2-0)", "2-0=second", "End."]


def test_what_is_remembered_holds_for_later_batches_of_the_turn():
    machine = turn()
    effects = feed(machine, m.Begin(), *answered(1, "ask()"), c.Answered(pending.Run({}, remember=True)), m.RunTools())
    feed(machine, ended(effects), m.FollowUp(), *answered(2, "ask()"))
    assert machine.asking is None
    assert machine.phase is Phase.PREPARED


@pytest.mark.parametrize("answer", [pending.Skip("no"), None])
def test_responses_stand_behind_the_whole_answer_also_when_they_are_known_before(answer: pending.Skip | None):
    machine = turn()
    effects = feed(machine, m.Begin(), *stream(1, "One.", "ask()"))
    effects += feed(machine, c.Answered(answer) if answer else c.Unattended(NOBODY))
    assert machine.asking is None
    effects += feed(machine, *answered(1, "Two.", "nope()", "run()", "Three."))
    said = recorded(effects)
    assert said[:6] == ["One.", "ask(1-1)", "Two.", "nope(1-1-2)", "run(1-2)", "Three."]
    assert [one.partition("=")[0] for one in said[6:]] == ["1-1", "1-1-2"]
    effects = feed(machine, m.RunTools())
    assert recorded(effects + feed(machine, ended(effects))) == ["1-2=done"]


def test_a_permission_is_asked_while_the_answer_still_arrives_and_what_is_behind_it_goes_on():
    machine = turn()
    feed(machine, m.Begin(), *stream(1, "ask()"))
    assert isinstance(machine.asking, pending.Permission)
    effects = feed(machine, *answered(1, "More."))
    assert machine.phase is Phase.STREAMING  # what a press means, until the calls are prepared
    assert recorded(effects) == ["More."]
    feed(machine, c.Answered(pending.Run({})))
    assert machine.phase is Phase.PREPARED


def test_a_batch_that_needs_no_run_is_followed_up_at_once():
    machine = turn()
    feed(machine, m.Begin(), *answered(1, "nope()"))
    assert machine.phase is Phase.FOLLOW_UP


def test_a_denied_batch_ends_the_turn_when_all_of_it_is_done():
    machine = turn()
    effects = feed(machine, m.Begin(), *answered(1, "ask()", "run()"), c.Unattended(NOBODY))
    assert machine.phase is Phase.PREPARED
    effects += feed(machine, m.RunTools())
    effects += feed(machine, ended(effects))
    (complete,) = feed(machine, m.FollowUp())
    assert isinstance(complete, m.Complete)
    assert complete.error is not None
    assert (complete.error.code, complete.error.status) == ("tool_denied", 3)
    assert machine.done
    said = recorded(effects)
    assert said[2].startswith("1-0=Denied: ")
    assert said[3] == "1-1=done"


@pytest.mark.parametrize("structured", [False, True])
def test_where_no_tools_are_offered_a_call_is_recorded_and_said_and_the_turn_ends(structured: bool):
    machine = m.Machine(POLICY, structured=structured)
    effects = feed(machine, m.Begin(), *answered(1, "run()", "other()"))
    assert [effect.text for effect in effects if isinstance(effect, c.Said)] == [
        f"the model called {name}, which is no tool that it was offered" for name in ("run", "other")
    ]
    assert machine.done
    responses = [e.event for e in effects if isinstance(e, c.Record) and isinstance(e.event, Response)]
    assert [(each.id, each.is_error) for each in responses] == [("1-0", True), ("1-1", True)]
    for happening in (m.RunTools(), m.Restarted(), c.ToolEnded(0, 1, Success("x")), c.Unattended(NOBODY)):
        assert feed(machine, happening) == []


# --- streams that die


@pytest.mark.parametrize("error", [CUT, ConnectionLost("lost"), Unauthorized("no", status_code=401)])
def test_a_stream_that_dies_behind_a_call_runs_it_and_goes_on(error: Any):
    machine = turn()
    effects = feed(machine, m.Begin(), *stream(1, "Let me see.", "run()", "and the"), m.Ended(1, error))
    assert "Pause" not in kinds(effects)
    assert machine.phase is Phase.PREPARED
    effects += feed(machine, m.RunTools())
    effects += feed(machine, ended(effects))
    assert recorded(effects) == ["Let me see.", "run(1-1)", "and the", "1-1=done"]
    assert feed(machine, m.FollowUp())[-1] == m.Send(2, "", True)


@pytest.mark.parametrize("arguments", ["", "{}", '{"path": "ha'])
def test_a_call_that_a_stream_has_not_finished_when_it_died_is_no_call(arguments: str):
    machine = turn()
    half = [*stream(1, "Let me", "run("), m.Arrived(1, llm.ToolCallArguments(1, arguments))]
    effects = feed(machine, m.Begin(), *half, m.Ended(1, CUT), m.RetryDue(1), *answered(2, "Let me see."))
    assert recorded(effects) == ["Let me", " see."]
    assert machine.done
    effects = feed(turn(), m.Begin(), *half, m.Ended(1, Unauthorized("no", status_code=401)))
    assert recorded(effects) == ["Let me"]
    assert kinds(effects)[-1] == "Complete"


def test_a_call_that_was_begun_behind_a_whole_one_when_the_stream_died_does_not_run():
    machine = turn()
    effects = feed(machine, m.Begin(), *stream(1, "run()", "give("), m.Ended(1, CUT))
    assert recorded(effects) == ["run(1-0)"]
    assert len([one for one in feed(machine, m.RunTools()) if isinstance(one, c.Start)]) == 1


def test_a_call_without_its_end_counts_where_the_stream_has_come_to_its_own():
    machine = turn()
    effects = feed(machine, m.Begin(), *answered(1, "run("))
    assert recorded(effects) == ["run(1-0)"]
    assert machine.phase is Phase.PREPARED


# --- what the person decides, in each phase

PHASES: dict[Phase, list[m.Happening]] = {
    Phase.STREAMING: [m.Begin(), *stream(1, "Let me see.", "ask()", "and")],
    Phase.PREPARED: [m.Begin(), *answered(1, "Let me see.", "run()", "and")],
    Phase.TOOLS: [m.Begin(), *answered(1, "Let me see.", "run()", "and"), m.RunTools()],
    Phase.PREPARING: [
        m.Begin(),
        *answered(1, "Let me see.", "ask()", "and"),
        c.Answered(pending.Run({})),
        m.RunTools(),
        m.Restarted(),
    ],
    Phase.FOLLOW_UP: [m.Begin(), *answered(1, "Let me see.", "ask()", "and"), c.Answered(pending.Skip("no"))],
}
UNDONE = [phase for phase in PHASES if phase is not Phase.FOLLOW_UP]


def at(phase: Phase) -> tuple[m.Machine, list[m.Effect]]:
    machine = turn()
    effects = feed(machine, *PHASES[phase])
    assert machine.phase is phase
    return machine, effects


@pytest.mark.req("092-60", "092-82")
@pytest.mark.parametrize("phase", PHASES)
def test_an_interruption_leaves_every_call_with_a_response(phase: Phase):
    machine, effects = at(phase)
    last = feed(machine, m.Interrupted())
    assert kinds(last)[0] == "Stop"
    assert last[-1] == m.Complete(None)
    assert ("Kill" in kinds(last)) is (phase in UNDONE)
    said = recorded(effects + last)
    assert said[0] == "Let me see."
    assert said[1:3] in (["ask(1-1)", "and"], ["run(1-1)", "and"])
    assert len(said) == 4
    assert said[3].startswith("1-1=")
    assert (said[3] == f"1-1={CANCELLED}") is (phase in UNDONE)
    assert machine.phase is Phase.DONE
    assert machine.asking is None


@pytest.mark.req("092-49", "092-82")
@pytest.mark.parametrize("phase", PHASES)
def test_a_reply_leaves_every_call_with_a_response_and_asks_anew_behind_it(phase: Phase):
    machine, effects = at(phase)
    last = feed(machine, m.Replied(ChatRequest(content="wait")))
    said = recorded(effects + last)
    assert said[-2].startswith("1-1=")
    assert said[-1] == "> wait"
    assert len(said) == 5
    assert last[-1] == m.Send(2, "", True)
    assert machine.phase is Phase.STREAMING
    assert machine.asking is None
    for run in range(1, 4):
        assert feed(machine, c.ToolEnded(0, run, Success("late"))) == []


@pytest.mark.req("092-82")
@pytest.mark.parametrize("phase", PHASES)
def test_what_is_aborted_is_dropped_and_nothing_of_it_runs_on(phase: Phase):
    machine, _ = at(phase)
    last = feed(machine, m.Aborted())
    assert recorded(last) == []
    assert [kind for kind in kinds(last) if kind not in ("Kill", "Busy")] == ["Stop", "Drop", "Complete"]
    assert ("Kill" in kinds(last)) is (phase in UNDONE)
    assert feed(machine, m.RunTools(), m.FollowUp(), m.Interrupted()) == []
    again = feed(machine, m.Replied(ChatRequest(content="else")), *answered(2, "run()"))
    assert recorded(again) == ["> else", "run(2-0)"]


@pytest.mark.req("092-58")
@pytest.mark.parametrize(("text", "said"), [("", CANCELLED), ("do less", "do less")])
def test_a_response_in_place_of_the_tools_is_followed_up(text: str, said: str):
    machine = turn()
    effects = feed(machine, m.Begin(), *answered(1, "run()", "give()", "run()"), m.RunTools())
    effects += feed(machine, ended(effects, 0, Success("in time")), ended(effects, 1), m.Responded(text))
    assert recorded(effects)[3:] == ["1-0=in time", f"1-1={said}", f"1-2={said}"]
    assert machine.asking is None
    assert machine.phase is Phase.FOLLOW_UP
    assert feed(machine, ended(effects, 2)) == []
    assert feed(machine, m.FollowUp())[-1] == m.Send(2, "", True)


@pytest.mark.req("092-61")
def test_tools_that_are_restarted_are_prepared_in_a_phase_of_their_own_and_run_once_more():
    machine = turn()
    effects = feed(machine, m.Begin(), *answered(1, "ask()", "run()"), c.Answered(pending.Run({})), m.RunTools())
    effects += feed(machine, ended(effects, 1), m.Restarted())
    assert machine.phase is Phase.PREPARING
    feed(machine, c.Answered(pending.Run({})))
    assert machine.phase is Phase.PREPARED
    effects += feed(machine, m.RunTools())
    assert machine.phase is Phase.TOOLS
    effects += feed(machine, ended(effects, 0))
    assert machine.phase is Phase.TOOLS
    effects += feed(machine, ended(effects, 2))
    assert recorded(effects)[2:] == ["1-1=done", "1-0=done"]
    assert machine.phase is Phase.FOLLOW_UP


# --- whatever happens in whatever order

SECRET = "hunter2-is-secret"
PATH = {"path": Parameter("string")}
EVERY = {
    "plain": local(questions={id_: Settings("assistant") for id_ in "mq"} | {"f": Settings("user", answer="fixed")}),
    "asks": local("ask", parameters=PATH, format="unattended"),
    "edits": local("edit", parameters=PATH, result="edit", format="ask"),
    "skips": local("skip"),
    "gives": local(result="ask", detached="auto"),
    "keeps": local(result="skip", detached=Detached(run="auto", tool="defaults")),
    "auto": local("ask", detached="auto"),
    "run_command": builtin("unattended", parameters={}),
}
NAMES = ["plain", "plain", *EVERY, "nope"]
ALLOWED = {
    Phase.STREAMING: {Phase.STREAMING, Phase.PREPARED, Phase.FOLLOW_UP, Phase.DONE},
    Phase.PREPARING: {Phase.PREPARING, Phase.PREPARED, Phase.FOLLOW_UP, Phase.STREAMING, Phase.DONE},
    Phase.PREPARED: {Phase.PREPARED, Phase.TOOLS, Phase.STREAMING, Phase.DONE},
    Phase.TOOLS: {Phase.TOOLS, Phase.PREPARING, Phase.PREPARED, Phase.FOLLOW_UP, Phase.STREAMING, Phase.DONE},
    Phase.FOLLOW_UP: {Phase.FOLLOW_UP, Phase.STREAMING, Phase.DONE},
    Phase.DONE: {Phase.DONE, Phase.STREAMING},
}


class Walk:
    """A turn in which anything happens; every step is held against what must be so always. `happened` is all of it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.happened: list[m.Happening] = []
        self.machine = turn(toolkit(EVERY, formats=["asks", "edits", "run_command"]))
        self.generation = 0
        self.arriving = False
        self.paused = False
        self.events: list[Any] = []
        self.batch: list[Request] = []  # the calls of the answer at hand
        self.responded = False  # the answer at hand has a response recorded
        self.approved: set[int] = set()
        self.remembered: set[str] = set()
        self.starts: list[c.Start] = []
        self.inquiries: list[c.Inquire] = []
        self.open: list[c.Start | c.Inquire] = []  # what this answer has begun, its end not told yet
        self.calls = 0
        self.dropped = False

    def draw(self, among: list[Any]) -> Any:
        return self.random.choice(among)

    # --- steps

    def step(self, happening: m.Happening) -> None:
        self.happened.append(happening)
        before = self.machine.phase
        if isinstance(happening, (m.Restarted, m.Replied, m.FollowUp)):
            self.approved.clear()
            self.open.clear()
        fresh = isinstance(happening, m.Replied)
        for effect in self.machine.step(happening):
            self.hold(effect)
            if isinstance(effect, m.Send):
                self.generation, self.arriving = effect.generation, True
                if effect.anew:
                    self.batch, self.responded = [], False
        assert fresh or self.machine.phase in ALLOWED[before], (before, happening, self.machine.phase)
        if self.machine.done or self.machine.phase is Phase.FOLLOW_UP:
            self.answered_once()
            assert self.machine.asking is None

    def hold(self, effect: m.Effect) -> None:
        """What must be so of every effect."""
        match effect:
            case c.Start(call, _, invocation):
                self.starts.append(effect)
                self.open.append(effect)
                if invocation.action != FORMAT:
                    name = self.batch[call].name
                    free = name in ("plain", "gives", "keeps") or name in self.remembered
                    assert free or call in self.approved, f"{name} was not approved"
                    assert self.machine._tools is not None
                    assert self.machine._tools.checked(invocation.tool, invocation.arguments)[1] == []
                return
            case c.Inquire():
                self.inquiries.append(effect)
                self.open.append(effect)
                assert effect.question.kind != "secret"
                assert not effect.question.exclusive
            case m.Record(event) | c.Record(event):
                self.record(event)
            case m.Drop():
                self.dropped = True
            case m.Pause():
                self.paused = True
        assert SECRET not in repr(effect)

    def record(self, event: Any) -> None:
        match event:
            case Request():
                assert not self.responded, "a call behind a response of its own answer"
                self.batch.append(event)
            case ChatResponse():
                assert not self.responded, "words behind a response of their own answer"
            case Response():
                self.responded = True
                assert event.id in [call.id for call in self.batch]
            case InquiryRequest() | InquiryResponse():
                call = event.id.partition(".")[0]
                assert call not in [one.id for one in self.events if isinstance(one, Response)], "after its response"
        self.events.append(event)

    def answered_once(self) -> None:
        if self.dropped:
            return
        calls = [one.id for one in self.events if isinstance(one, Request)]
        responses = [one.id for one in self.events if isinstance(one, Response)]
        assert Counter(responses) == Counter(calls)
        assert len(set(calls)) == len(calls)

    # --- what may happen

    def anything(self) -> None:
        machine = self.machine
        options = [self.late, self.leave] + [self.over] * 6
        match machine.phase:
            case Phase.STREAMING if self.arriving:
                options += [self.arrive] * 6 + [self.end] * 2
            case Phase.PREPARED:
                options += [self.run] * 6
            case Phase.TOOLS:
                options += [self.respond, self.restart]
            case Phase.FOLLOW_UP:
                options += [self.follow] * 6
        if machine.asking is not None:
            # As in the loop: a prompt is asked at once, and nothing else comes before its answer.
            options = [self.answer] * 8 + [self.leave]
        self.draw(options)()

    def arrive(self) -> None:
        what = self.draw(["text", "call", "call", "call", "half", "reasoning"])
        if what == "text":
            self.step(m.Arrived(self.generation, llm.Message(self.draw(["Words. ", "More words. "]))))
        elif what == "reasoning":
            self.step(m.Arrived(self.generation, llm.Reasoning("Hm.")))
        else:
            self.calls += 1
            name = self.draw(NAMES)
            arguments = '{"path": "x"}' if name in ("asks", "edits") else "{}"
            if name == "run_command":
                arguments = '{"command": "ls"}'
            arguments = self.draw([arguments, arguments, arguments, '{"path": 1}'])
            self.step(m.Arrived(self.generation, llm.ToolCallStart(self.calls, f"c{self.calls}", name)))
            self.step(m.Arrived(self.generation, llm.ToolCallArguments(self.calls, arguments)))
            if what == "call":
                self.step(m.Arrived(self.generation, llm.ToolCallEnd(self.calls)))

    def end(self) -> None:
        how = self.draw(["well"] * 6 + ["cut", "cut", "fatal"])
        error = {"well": None, "cut": CUT, "fatal": Unauthorized("no", status_code=401)}[how]
        generation, self.arriving = self.generation, False
        self.step(m.Ended(generation, error))
        if self.paused:
            self.paused = False
            self.step(m.RetryDue(generation))

    def answer(self) -> None:
        asking = self.machine.asking
        assert asking is not None
        name = self.batch[asking.call].name
        if self.draw([False] * 5 + [True]):
            if name in ("auto", "gives") or (name == "keeps" and isinstance(asking, pending.Permission)):
                self.approved.add(asking.call)
            self.step(c.Unattended(NOBODY))
            return
        match asking:
            case pending.Permission(arguments=arguments):
                changed = {"path": self.draw(["y", 5])} if name in ("asks", "edits") else arguments
                remember = asking.may_remember and self.draw([False, False, True])
                answer: pending.Answered = self.draw(
                    [pending.Run(arguments, remember), pending.Run(changed, False), pending.Skip("", remember)]
                )
                if isinstance(answer, pending.Run) and answer.arguments.get("path") not in (1, 5):
                    self.approved.add(asking.call)
                    self.remembered |= {name} if answer.remember else set()
            case pending.Inquiry():
                value = SECRET if asking.kind == "secret" else "x"
                answer = self.draw([pending.Answer(value)] * 4 + [pending.Unanswered()])
            case pending.Delivery():
                answer = self.draw([pending.Deliver("edited"), pending.Withhold()])
        self.step(c.Answered(answer))

    def over(self) -> None:
        """Something that runs comes to its end."""
        if self.open:
            self.tell(self.open.pop(self.random.randrange(len(self.open))))

    def late(self) -> None:
        """A run or an inquiry ends: of this answer or an earlier one, for the first time or once more."""
        if self.starts:
            self.tell(self.draw([*self.starts, *self.inquiries]))

    def tell(self, of: c.Start | c.Inquire) -> None:
        if isinstance(of, c.Start):
            self.step(c.ToolEnded(of.call, of.run, self.outcome()))
        else:
            answer, error = self.draw([("x", ""), ("x", ""), (None, "away")])
            self.step(c.Inquired(of.call, of.run, answer, error))

    def outcome(self) -> Outcome:
        kind = self.draw(["text", "secret", "boolean"])
        question = Question(
            self.draw(["q", "m", "f", "s"]),
            "What?",
            kind,
            exclusive=self.draw([False, False, True]),
            **self.draw([{}, {"default": True}]),
        )
        outcome: Outcome = self.draw([Success("done"), Failure("failed"), NeedsInput(question), NeedsInput(question)])
        return outcome

    def run(self) -> None:
        self.step(m.RunTools())

    def follow(self) -> None:
        self.step(m.FollowUp())

    def respond(self) -> None:
        self.step(m.Responded(self.draw(["", "less"])))

    def restart(self) -> None:
        self.step(m.Restarted())

    def leave(self) -> None:
        if self.draw([False] * 4 + [True]):
            how = self.draw([m.Interrupted(), m.Aborted(), m.Replied(ChatRequest(content="wait"))])
            self.step(how)


def walked(seed: int) -> None:
    walk = Walk(seed)
    try:
        walk.step(m.Begin())
        for _ in range(walk.random.randrange(10, 120)):
            walk.anything()
            if walk.machine.done:
                break
        else:
            walk.step(m.Interrupted())
        assert walk.machine.phase is Phase.DONE
        walk.answered_once()
        so_far = len(walk.events)
        for start in walk.starts:
            walk.step(c.ToolEnded(start.call, start.run, Success("late")))
        assert len(walk.events) == so_far
    except AssertionError as error:
        error.add_note("\n".join([f"walk {seed}:", *map(repr, walk.happened)]))
        raise


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_whatever_happens_every_call_is_approved_before_it_runs_and_answered_once(first: int):
    for seed in range(first, first + 100):
        walked(seed)
