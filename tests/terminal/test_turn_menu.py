"""The turn menu, in each gap of a turn: a press there is answered at the next poll point."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.points import argv, at
from tests.support.terminal import ESC, Terminal
from tests.support.workspace import events, messages
from tests.wire.model_server import ModelServer, text

TURN = "Interrupted: [c,r,s,?]?"
GRACEFUL = "gracefully shutting down…"
GAPS = {
    "recording the request": ("jp.turn.loop:Turn.record", 2),
    "building the thread": ("jp.conversation.thread:build", 1),
    "processing the response": ("jp.turn.machine:Machine._finished", 1),
    "storing": ("jp.storage.journal:TurnWriter.fold", 1),
}
in_each_gap = pytest.mark.parametrize("gap", GAPS.values(), ids=GAPS)
BEFORE = [GAPS["recording the request"], GAPS["building the thread"]]


def pressed(
    workspace: Path, gap: tuple[str, int], *args: str, signals: tuple[str, ...] = ("INT",), **options: Any
) -> Terminal:
    """A query, with the presses in a gap of its turn."""
    name, call = gap
    command = argv(at(name, signals=signals, call=call), args=["q", *args, "hi"])
    return Terminal(command, cwd=workspace, env={"JP_SESSION": "test"}, **options)


@pytest.mark.req("092-46", "092-47", "092-16", "092-9", "092-76")
@pytest.mark.parametrize("key", [b"c", ESC])
@in_each_gap
def test_the_turn_goes_on_as_if_nothing_had_been(workspace: Path, gap: tuple[str, int], key: bytes):
    with pressed(workspace, gap) as terminal:
        terminal.until(TURN)
        terminal.send(b"?")
        terminal.until("s - Stop (save & exit)")
        assert [line[:1] for line in terminal.screen.lines if " - " in line] == ["c", "r", "s"]
        terminal.send(key)
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip() == "Hello from the test model."
        assert terminal.modes() == terminal.modes_before
    assert [event["type"] for event in events(workspace)] == ["turn_start", "chat_request", "chat_response"]
    assert messages(workspace) == ["Hello from the test model."]


@pytest.mark.req("092-48", "092-14")
@in_each_gap
def test_a_reply_goes_on_with_a_new_request(workspace: Path, server: ModelServer, gap: tuple[str, int]):
    server.then(text("One."), text("Two."))
    with pressed(workspace, gap) as terminal:
        terminal.until(TURN)
        terminal.send(b"r")
        terminal.until("Ctrl+C back")
        terminal.send(b"and this\r")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.count("> and this") == 1
    stored = [event.get("content") or event.get("message") for event in events(workspace)]
    assert stored == ([None, "hi", "and this", "One."] if gap in BEFORE else [None, "hi", "One.", "and this", "Two."])
    assert len(server.requests) == (1 if gap in BEFORE else 2)


@pytest.mark.req("092-51")
@in_each_gap
def test_stop_saves_and_ends(workspace: Path, server: ModelServer, gap: tuple[str, int]):
    with pressed(workspace, gap) as terminal:
        terminal.until(TURN)
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
        assert "Interrupted" not in terminal.screen.contents
    assert messages(workspace) == ([] if gap in BEFORE else ["Hello from the test model."])
    assert len(server.requests) == (0 if gap in BEFORE else 1)


@pytest.mark.req("092-30")
@in_each_gap
def test_ctrl_c_in_the_menu_is_the_graceful_shutdown(workspace: Path, gap: tuple[str, int], no_leftovers):
    with pressed(workspace, gap) as terminal:
        terminal.until(TURN)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.splitlines()[-1] == GRACEFUL
    assert [event["type"] for event in events(workspace)][:2] == ["turn_start", "chat_request"]


@pytest.mark.req("092-16")
@in_each_gap
def test_a_second_press_before_the_poll_point_shuts_down(workspace: Path, gap: tuple[str, int], no_leftovers):
    with pressed(workspace, gap, signals=("INT", "INT")) as terminal:
        assert terminal.wait() == "killed SIGINT"
        assert GRACEFUL in terminal.screen.contents
        assert "Interrupted" not in terminal.screen.contents
    assert [event["type"] for event in events(workspace)][:2] == ["turn_start", "chat_request"]


@pytest.mark.req("092-50", "092-93", "092-95")
@pytest.mark.parametrize("left", [b"\r", b"  \r", b"\x03", ESC], ids=["empty", "blank", "ctrl-c", "escape"])
def test_a_reply_that_is_none_leads_back_to_the_menu(workspace: Path, left: bytes, server: ModelServer):
    with pressed(workspace, GAPS["storing"]) as terminal:
        terminal.until(TURN)
        terminal.send(b"r")
        terminal.until("Ctrl+C back")
        terminal.send(left)
        terminal.until(lambda screen: TURN in screen and "Ctrl+C back" not in screen)
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
    assert len(server.requests) == 1


# --- interrupt.turn


@pytest.mark.req("092-52", "092-164")
@in_each_gap
def test_a_fixed_continue_shows_no_menu(workspace: Path, gap: tuple[str, int]):
    with pressed(workspace, gap, "-c", "interrupt.turn.action=continue") as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip() == "Hello from the test model."
    assert messages(workspace) == ["Hello from the test model."]


@pytest.mark.req("092-54")
@in_each_gap
def test_a_fixed_stop_saves_and_ends(workspace: Path, gap: tuple[str, int]):
    with pressed(workspace, gap, "-c", "interrupt.turn.action=stop") as terminal:
        assert terminal.wait() == "exited 0"
        assert "Interrupted" not in terminal.screen.contents
    assert messages(workspace) == ([] if gap in BEFORE else ["Hello from the test model."])


@pytest.mark.req("092-53")
@pytest.mark.parametrize("left", [b"\r", b"\x03", ESC], ids=["empty", "ctrl-c", "escape"])
def test_a_fixed_reply_opens_without_a_menu_and_may_be_left(workspace: Path, server: ModelServer, left: bytes):
    with pressed(workspace, GAPS["storing"], "-c", "interrupt.turn.action=reply") as terminal:
        terminal.until("Ctrl+C back")
        assert "Interrupted" not in terminal.screen
        terminal.send(left)
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip() == "Hello from the test model."
    assert len(server.requests) == 1


@pytest.mark.req("092-53")
def test_a_fixed_reply_is_sent(workspace: Path, server: ModelServer):
    server.then(text("One."), text("Two."))
    with pressed(workspace, GAPS["storing"], "-c", "interrupt.turn.action=reply") as terminal:
        terminal.until("Ctrl+C back")
        terminal.send(b"more\r")
        assert terminal.wait() == "exited 0"
    assert messages(workspace) == ["One.", "Two."]
