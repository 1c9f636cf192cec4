"""Lists of models."""

import json

import pytest

from jp.llm import errors as e
from jp.llm.connect import Lifeline
from jp.llm.models import list_models
from jp.llm.providers.cerebras import Cerebras
from jp.llm.providers.generic import Generic
from jp.llm.providers.llamacpp import LlamaCpp
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


def test_it_can_be_stopped() -> None:
    line = Lifeline()
    line.cut()
    with ModelServer() as server, pytest.raises(e.Stopped):
        list_models(Generic(server.base_url), lifeline=line, environ={})
