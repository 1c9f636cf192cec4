"""Lists of models."""

import contextlib
import json

import pytest

from jp.llm import errors as e
from jp.llm.chat import ChatProvider
from jp.llm.connect import Lifeline
from jp.llm.models import list_models
from jp.llm.providers.cerebras import Cerebras
from jp.llm.providers.generic import Generic
from jp.llm.providers.llamacpp import LlamaCpp
from jp.llm.providers.ollama import Ollama
from jp.llm.providers.openrouter import OpenRouter
from tests.wire.model_server import ModelServer
from tests.wire.raw_server import RawServer, Step, head


def answer(value: object, status: str = "200 OK") -> list[Step]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return [head(status, content_length=str(len(data))), data]


def test_any_server() -> None:
    with ModelServer(models=["a", "b/c"]) as server:
        assert [(m.provider, m.name) for m in list_models(Generic(server.base_url), environ={})] == [
            ("generic", "a"),
            ("generic", "b/c"),
        ]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (answer(b"<html><title>Hi</title>"), e.BadResponse),
        (answer([1]), e.BadResponse),
        (answer({"data": 3}), e.BadResponse),
        (answer({"error": {"message": "no"}}, "401 Unauthorized"), e.Unauthorized),
        ([], e.ConnectionLost),
    ],
)
def test_what_is_no_list(reply: list[Step], kind: type[Exception]) -> None:
    with RawServer([reply]) as server, pytest.raises(kind, match=r"127\.0\.0\.1"):
        list_models(Generic(server.base_url), environ={})


def test_details_that_cannot_be_had_are_left_out() -> None:
    listed = answer({"data": [{"id": "x/m"}]})
    for more in (answer({}, "404 Not Found"), answer(b"odd"), answer({})):
        with RawServer([listed, more]) as server:
            (model,) = list_models(LlamaCpp(server.base_url), environ={})
        assert (model.name, model.context_window) == ("m", None)
    with RawServer([listed, answer({}, "500 Oops")]) as server:
        (model,) = list_models(Cerebras(server.base_url, "key"), environ={})
    assert (model.name, model.context_window) == ("x/m", None)


ODD: list[object] = [None, 3, "x", [], {"a": 1}, [1], 1.5, True]
KEYS = ["id", "name", "limits", "capabilities", "top_provider", "reasoning", "supported_parameters", "details"]
ONES = [{"id": "m", "name": "m", key: value} for key in KEYS for value in ODD]


@pytest.mark.parametrize("cls", [Generic, LlamaCpp, Cerebras, Ollama, OpenRouter])
def test_an_entry_of_any_shape_is_a_model_or_nothing_or_said(cls: type[ChatProvider]) -> None:
    provider = cls("http://127.0.0.1:1", "key")
    for one in [*ONES, {}, 1]:
        data = json.dumps({"data": [one], "models": [one]}).encode()
        replies = [answer(data) for _ in provider.models_requests()]
        with RawServer(replies) as server, contextlib.suppress(e.BadResponse):
            models = list_models(cls(server.base_url, "key"), environ={})
            assert all(isinstance(model.name, str) for model in models)


def test_it_can_be_stopped() -> None:
    line = Lifeline()
    line.cut()
    with ModelServer() as server, pytest.raises(e.Stopped):
        list_models(Generic(server.base_url), lifeline=line, environ={})
