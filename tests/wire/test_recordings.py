"""Recorded exchanges give the events that the original stored, however the bytes were cut."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jp.conversation.events import encode_line
from jp.llm.chat import ChatProvider
from jp.llm.collect import Collector
from jp.llm.errors import StreamCut
from jp.llm.events import Event, Finish, Message, Reasoning, ToolCallArguments, Usage, joined
from jp.llm.models import list_models
from jp.llm.provider import Request
from jp.llm.providers.cerebras import Cerebras
from jp.llm.providers.llamacpp import LlamaCpp
from jp.llm.providers.ollama import Ollama
from jp.llm.providers.openai import OpenAi
from jp.llm.providers.openrouter import OpenRouter
from jp.llm.source import Batch, Done, Progress, Source
from tests.wire.recordings import Case, Recording, ReplayServer, cases, models_snapshot, pieces

PROVIDERS: dict[str, type[ChatProvider]] = {
    "cerebras": Cerebras,
    "llamacpp": LlamaCpp,
    "ollama": Ollama,
    "openrouter": OpenRouter,
}
SIZES = (1, 3, 7, 1000, 0)


def _known() -> list[Any]:
    root = Path(os.environ.get("JP_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
    found = [case for provider in PROVIDERS for case in cases(root, provider)]
    return [pytest.param(case, id=str(case)) for case in found] or [
        pytest.param(None, marks=pytest.mark.skip(reason=f"no provider recordings under {root} (set JP_TEST_DATA)"))
    ]


every_case = pytest.mark.parametrize("case", _known())


def parsed(case: Case, recording: Recording, size: int) -> list[Event]:
    parser = PROVIDERS[case.provider]("http://127.0.0.1:1").parser()
    events: list[Event] = []
    for piece in pieces(recording.body, size):
        events += parser.feed(piece)
    events += parser.close()
    assert parser.error is None
    return joined(events)


def stored(case: Case, answers: list[list[Event]]) -> list[dict[str, Any]]:
    out = []
    for events, recording in zip(answers, case.exchanges(), strict=True):
        asked = recording.request
        collector = Collector(structured="response_format" in asked or "format" in asked)
        done = [one for event in events for one in collector.feed(event)] + collector.close()
        out += [json.loads(encode_line(one)) for one in done]
    return [{key: value for key, value in one.items() if key != "timestamp"} for one in out]


@every_case
@pytest.mark.parametrize("size", SIZES)
def test_the_parser_gives_the_stored_events_for_any_cut(case: Case, size: int) -> None:
    answers = [parsed(case, recording, size) for recording in case.exchanges()]
    assert stored(case, answers) == case.stored()


def receive(request: Request, provider: ChatProvider) -> tuple[list[Event], Done]:
    inbox: SimpleQueue[Batch | Progress | Done] = SimpleQueue()
    Source(request, provider.parser(), inbox.put, environ={}).start()
    events: list[Event] = []
    while True:
        item = inbox.get(timeout=30)
        if isinstance(item, Batch):
            events += item.take()
        elif isinstance(item, Done):
            return joined(events), item


@every_case
@pytest.mark.parametrize("size", [7, 0])
def test_over_a_socket_the_same_events_come(case: Case, size: int) -> None:
    exchanges = case.exchanges()
    with ReplayServer(exchanges, size=size) as server:
        provider = PROVIDERS[case.provider](server.base_url, "key")
        answers = []
        for recording in exchanges:
            request = Request("POST", server.base_url + recording.path, {}, [json.dumps(recording.request).encode()])
            events, done = receive(request, provider)
            assert done.error is None
            answers.append(events)
    assert stored(case, answers) == case.stored()


@every_case
def test_every_answer_has_its_usage_or_its_end(case: Case) -> None:
    for recording in case.exchanges():
        events = parsed(case, recording, 1000)
        assert [event for event in events if isinstance(event, Finish)], "no finish"
        usages = [event for event in events if isinstance(event, Usage)]
        if case.provider != "llamacpp":  # its recordings did not ask for it
            assert usages, "no usage"
            assert usages[-1].output > 0


@every_case
def test_cut_anywhere_it_is_a_cut_and_what_came_is_kept(case: Case) -> None:
    recording = case.exchanges()[0]
    whole = _text(parsed(case, recording, 1000))
    end = recording.body.rfind(b'"finish_reason"') if case.provider != "ollama" else recording.body.rfind(b'"done"')
    end = recording.body.rfind(b"\n", 0, end)
    for cut in range(0, end, max(1, end // 60)):
        parser = PROVIDERS[case.provider]("http://127.0.0.1:1").parser()
        events = parser.feed(recording.body[:cut]) + parser.close()
        assert isinstance(parser.error, StreamCut), f"after {cut} bytes: {parser.error!r}"
        assert whole.startswith(_text(events))


def _text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Reasoning | Message | ToolCallArguments))


@pytest.fixture
def listed(data_dir: Path) -> Callable[[str, type[ChatProvider]], tuple[list[Any], list[dict[str, Any]]]]:
    def run(name: str, cls: type[ChatProvider]) -> tuple[list[Any], list[dict[str, Any]]]:
        case = Case(name, "models", data_dir / "provider-recordings" / name / "test_models.yml")
        with ReplayServer(case.exchanges(), size=1000) as server:
            return list_models(cls(server.base_url, "key"), environ={}), models_snapshot(data_dir, name)

    return run


@pytest.mark.parametrize(("name", "cls"), [*PROVIDERS.items(), ("openai", OpenAi)])
def test_model_lists_hold_what_the_original_found(name: str, cls: type[ChatProvider], listed: Any) -> None:
    models, expected = listed(name, cls)
    assert [model.name for model in models] == [one["name"] for one in expected]
    if name == "openai":
        return  # everything else there came from a table in the original, not from the provider
    for model, one in zip(models, expected, strict=True):
        assert {
            "display_name": model.display_name,
            "context_window": model.context_window,
            "max_output_tokens": model.max_output_tokens,
            "unsupported": model.reasoning == "unsupported",
            "levels": [level for level in model.reasoning or () if level != "none"]
            if model.reasoning != "unsupported"
            else [],
            "structured_output": model.structured_output,
            "knowledge_cutoff": model.knowledge_cutoff,
        } == {key: value for key, value in one.items() if key != "name"}, model.name


MUTATIONS = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 40), st.binary(max_size=6)), min_size=1, max_size=5
)


@every_case
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutations=MUTATIONS)
def test_damaged_answers_end_in_events_and_perhaps_an_error(
    case: Case, mutations: list[tuple[int, int, bytes]]
) -> None:
    body = case.exchanges()[0].body
    for place, gone, instead in mutations:
        at = place % len(body)
        body = body[:at] + instead + body[at + gone :]
    parser = PROVIDERS[case.provider]("http://127.0.0.1:1").parser()
    events = parser.feed(body[: len(body) // 2]) + parser.feed(body[len(body) // 2 :]) + parser.close()
    collector = Collector()
    for event in events:
        for stored_event in collector.feed(event):
            encode_line(stored_event)
    for stored_event in collector.close():
        encode_line(stored_event)
    assert parser.finished or parser.error is not None
    assert parser.error is None or parser.error.message
