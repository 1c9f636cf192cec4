"""A reply to an answer: written from the streaming and the turn menu or opened by a fixed action, in every way."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import program
from tests.support.points import argv, at
from tests.support.terminal import CTRL_C, ESC, Terminal
from tests.support.workspace import events, messages
from tests.terminal.test_compose import drafts, editor, requests
from tests.wire.model_server import Exchange, ModelServer, Reply, text

__all__ = ["editor"]  # the fixture

MENU = {"streaming": "Interrupted: [c,r,s,a,?]?", "turn": "Interrupted: [c,r,s,?]?"}
REPLY = "Ctrl+C back"
GRACEFUL = "gracefully shutting down…"
ENTER, CTRL_X, CTRL_U = b"\r", b"\x18", b"\x15"
PARTS = ["Half of an answer, ", "some more of it, ", "and the rest."]
WHOLE = "".join(PARTS)
SECOND = "Second answer."
STORING = "jp.storage.journal:TurnWriter.fold"  # a gap of the turn

Press = Callable[[Terminal], None]
PRESSES: dict[str, Press] = {
    "key": lambda t: t.send(CTRL_C),
    "kitty's key": lambda t: t.send(b"\x1b[99;5u"),
    "signal": lambda t: t.kill(signal.SIGINT),
}
LEFT: dict[str, Press] = {
    **PRESSES,
    "escape": lambda t: t.send(ESC),
    "empty": lambda t: t.send(ENTER),
    "blank": lambda t: t.send(b"  " + ENTER),
}
left_in_every_way = pytest.mark.parametrize("leave", LEFT.values(), ids=LEFT)
in_both_scopes = pytest.mark.parametrize("scope", MENU)
Editor = Callable[[str], str]


class Answer:
    """An answer whose first part comes at once and every other when it is told to."""

    def __init__(self, *, cut: bool = False) -> None:
        self.ended = threading.Event()
        self._cut = cut
        self._released = threading.Semaphore(0)

    def go(self, parts: int = len(PARTS) - 1) -> None:
        """Let so many parts come."""
        self._released.release(parts)

    def __call__(self, exchange: Exchange) -> None:
        """Answer a request."""
        exchange.start()
        for number, part in enumerate(PARTS):
            while number and not self._released.acquire(timeout=0.01):
                exchange.connection.pause(0)
            if self._cut and number:
                self.ended.set()
                raise ConnectionAbortedError
            exchange.delta({"content": part})
        exchange.finish()
        self.ended.set()


@pytest.fixture
def answer(server: ModelServer) -> Answer:
    first = Answer()
    server.then(first, text(SECOND))
    return first


def query(workspace: Path, scope: str, *, editor: str | None = None, **settings: str) -> Terminal:
    """A query with settings for `interrupt.<scope>`; the press in a gap of its turn is made here."""
    args = ["q", "-c", "interrupt.escalation_cooldown_secs=60"]
    for name, value in settings.items():
        args += ["-c", f"interrupt.{scope}.{name}={value}"]
    command = [*program(), *args, "hi"]
    if scope == "turn":
        command = argv(at(STORING, signals=["INT"]), args=[*args, "hi"])
    env = {"JP_SESSION": "test", "EDITOR": None, "JP_EDITOR": editor}
    return Terminal(command, cwd=workspace, env=env)


@contextmanager
def interrupted(
    workspace: Path, answer: Answer, scope: str = "streaming", *, shown: str | None = None, **options: Any
) -> Iterator[Terminal]:
    """A query that was interrupted, with its menu, or what is `shown` instead."""
    with query(workspace, scope, **options) as terminal:
        if scope == "turn":
            answer.go()
        else:
            terminal.until("Half of an")
            terminal.press()
        terminal.until(MENU[scope] if shown is None else shown)
        yield terminal


def reply(terminal: Terminal, scope: str = "streaming") -> None:
    """Choose to reply, and wait for the inline editor."""
    terminal.send(b"r")
    terminal.until(lambda screen: REPLY in screen and MENU[scope] not in screen)


def back(terminal: Terminal, scope: str = "streaming") -> None:
    """The menu is there again."""
    terminal.until(lambda screen: MENU[scope] in screen and REPLY not in screen)


def goes_on(terminal: Terminal, answer: Answer, workspace: Path, server: ModelServer) -> None:
    """The answer comes to its end as if nothing had been."""
    answer.go()
    assert terminal.wait() == "exited 0"
    shown = terminal.screen.contents
    assert " ".join(shown.split()).count(WHOLE) == 1
    assert "Interrupted" not in shown
    assert REPLY not in shown
    assert messages(workspace) == [WHOLE]
    assert len(server.requests) == 1
    as_before(terminal)


def sent(terminal: Terminal, said: str, scope: str, workspace: Path, server: ModelServer) -> None:
    """The reply, and nothing else, was sent and answered; no draft of it is left."""
    assert terminal.wait() == "exited 0"
    assert requests(server) == ["hi", said]
    assert [event["content"] for event in events(workspace) if event["type"] == "chat_request"] == ["hi", said]
    first, second = messages(workspace)
    assert first == (WHOLE if scope == "turn" else PARTS[0])
    assert second == SECOND
    assert terminal.screen.contents.count(f"> {said}") == 1
    assert drafts(Path(os.environ["HOME"])) == []
    as_before(terminal)


def as_before(terminal: Terminal) -> None:
    assert terminal.modes() == terminal.modes_before
    assert terminal.output.count(b"\x1b[>1u") == terminal.output.count(b"\x1b[<u")
    assert not terminal.screen.mode(2004)
    assert terminal.screen.mode(25)


# --- from the menu


@pytest.mark.req("088-82", "088-83", "092-93", "092-95", "092-50")
@in_both_scopes
@left_in_every_way
def test_a_reply_that_is_none_leads_back_to_the_menu(workspace, server, answer, scope: str, leave: Press):
    with interrupted(workspace, answer, scope) as terminal:
        for _ in range(2):
            reply(terminal, scope)
            leave(terminal)
            back(terminal, scope)
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


@pytest.mark.req("092-95")
@in_both_scopes
def test_in_vi_mode_the_first_escape_is_the_editors(workspace, server, answer, scope: str, monkeypatch):
    monkeypatch.setenv("JP_EDITOR_INLINE_EDIT_MODE", "vi")
    with interrupted(workspace, answer, scope) as terminal:
        reply(terminal, scope)
        terminal.send(b"abc")
        terminal.until("abc")
        terminal.send(ESC)
        terminal.until("NORMAL")
        assert REPLY in terminal.screen
        terminal.send(ESC)
        back(terminal, scope)
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


@pytest.mark.req("088-59", "092-96")
@in_both_scopes
def test_reply_and_back_time_and_again_climbs_no_step(workspace, server, answer, scope: str):
    with interrupted(workspace, answer, scope) as terminal:
        for _ in range(6):
            reply(terminal, scope)
            terminal.press()
            back(terminal, scope)
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


@pytest.mark.req("092-96")
@pytest.mark.parametrize("delay_ms", [0, 1, 2, 5, 10, 20, 50])
def test_a_press_right_after_the_key_is_the_replys(workspace, server, answer, delay_ms: int):
    with interrupted(workspace, answer) as terminal:
        terminal.send(b"r")
        after = time.monotonic() + delay_ms / 1000
        terminal.until(lambda _: time.monotonic() >= after)
        terminal.press()
        reached_reply = b"Reply:"
        terminal.until(lambda _: reached_reply in terminal.output, alive=True)
        back(terminal)
        assert GRACEFUL not in terminal.screen.contents
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


@pytest.mark.req("088-84", "092-97")
@in_both_scopes
def test_a_press_in_the_menu_after_one_in_the_reply_shuts_down(workspace, server, answer, scope: str, no_leftovers):
    with interrupted(workspace, answer, scope) as terminal:
        reply(terminal, scope)
        terminal.press()
        back(terminal, scope)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.splitlines()[-1] == GRACEFUL
        as_before(terminal)
    assert messages(workspace) == [WHOLE if scope == "turn" else PARTS[0]]
    assert len(server.requests) == 1


@pytest.mark.req("092-99")
@pytest.mark.parametrize("cooldown", [0, 60])
def test_of_two_presses_before_the_reply_has_closed_the_second_counts(
    workspace, server, answer, no_leftovers, cooldown: int
):
    """Both come before the editor has had a chance to look."""
    points = at("jp.ask.asker:Dialogue._show", signals=["INT", "INT"], call=2, delay_ms=100)
    command = argv(points, args=["q", "-c", f"interrupt.escalation_cooldown_secs={cooldown}", "hi"])
    with Terminal(command, cwd=workspace, env={"JP_SESSION": "test", "EDITOR": None}) as terminal:
        terminal.until("Half of an")
        terminal.press()
        terminal.until(MENU["streaming"])
        terminal.send(b"r")
        assert terminal.wait() == "killed SIGINT"
        assert GRACEFUL in terminal.screen.contents
        as_before(terminal)
    assert messages(workspace) == [PARTS[0]]


ON_THE_WAY = {
    "key read": ("jp.ask.menus:Menu.decided", 1),
    "reply chosen": ("jp.ask.interruption:Interruption._write", 1),
    "scope opened": ("jp.ask.compose:Composition.run", 1),
    "draft claimed": ("jp.ask.compose:Composition._write", 1),
    "shown": ("jp.ask.asker:Dialogue._show", 2),
    "prompt made": ("jp.prompt.inline:InlineEditor.__init__", 1),
}


@pytest.mark.req("092-96", "092-93")
@pytest.mark.parametrize("point", ON_THE_WAY.values(), ids=ON_THE_WAY)
def test_a_press_on_the_way_to_the_reply_leads_back_to_the_menu(workspace, server, answer, point: tuple[str, int]):
    name, call = point
    points = at(name, signals=["INT"], call=call)
    command = argv(points, args=["q", "-c", "interrupt.escalation_cooldown_secs=60", "hi"])
    with Terminal(command, cwd=workspace, env={"JP_SESSION": "test", "EDITOR": None}) as terminal:
        terminal.until("Half of an")
        terminal.press()
        terminal.until(MENU["streaming"])
        terminal.send(b"r")
        terminal.until(lambda screen: terminal.output.count(b"Interrupted:") >= 2 and REPLY not in screen, alive=True)
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


@pytest.mark.req("088-65", "092-98")
@in_both_scopes
@pytest.mark.parametrize("leave", [*PRESSES.values(), LEFT["escape"]], ids=[*PRESSES, "escape"])
def test_what_was_written_is_there_again(workspace, server, answer, scope: str, leave: Press):
    with interrupted(workspace, answer, scope) as terminal:
        reply(terminal, scope)
        terminal.send(b"no, not that")
        terminal.until("not that")
        leave(terminal)
        back(terminal, scope)
        assert "not that" not in terminal.screen
        reply(terminal, scope)
        terminal.until("no, not that")
        terminal.send(b"!" + ENTER)
        sent(terminal, "no, not that!", scope, workspace, server)


@pytest.mark.req("092-100", "092-134")
@in_both_scopes
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_submits_nothing_and_keeps_the_text(workspace, server, answer, hermetic, scope, sig, no_leftovers):
    with interrupted(workspace, answer, scope) as terminal:
        reply(terminal, scope)
        terminal.send(b"half a thought")
        terminal.until("half a thought")
        terminal.kill(sig)
        assert terminal.wait() == f"killed {sig.name}"
        if sig == signal.SIGTERM:  # a hang-up has nobody to tell it to
            assert terminal.screen.contents.splitlines()[-1] == GRACEFUL
        as_before(terminal)
    assert drafts(hermetic / ".local" / "share") == ["half a thought"]
    assert messages(workspace) == [WHOLE if scope == "turn" else PARTS[0]]
    assert len(server.requests) == 1


@pytest.mark.req("092-134")
@in_both_scopes
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_under_the_menu_chooses_nothing(workspace, server, answer, scope: str, sig, no_leftovers):
    with interrupted(workspace, answer, scope) as terminal:
        terminal.kill(sig)
        assert terminal.wait() == f"killed {sig.name}"
        if sig == signal.SIGTERM:
            assert terminal.screen.contents.splitlines()[-1] == GRACEFUL
        assert "Interrupted" not in terminal.screen.contents
        as_before(terminal)
    assert messages(workspace) == [WHOLE if scope == "turn" else PARTS[0]]
    assert len(server.requests) == 1


# --- Ctrl-X


@pytest.mark.req("088-60", "088-61", "092-55")
@in_both_scopes
def test_the_editor_gets_the_text_each_time_and_nothing_is_sent(workspace, server, answer, editor: Editor, scope: str):
    command = editor("sed -i 's/$/ edited/' $1")
    saw = Path(command + ".saw")
    with interrupted(workspace, answer, scope, editor=command) as terminal:
        reply(terminal, scope)
        assert "Ctrl+X editor" in terminal.screen
        terminal.send(b"one" + CTRL_X)
        terminal.until("one edited")
        assert saw.read_text().strip() == "one"
        terminal.send(b" two" + CTRL_X)
        terminal.until("one edited two edited")
        assert saw.read_text().strip() == "one edited two"
        assert len(server.requests) == 1
        terminal.send(ENTER)
        sent(terminal, "one edited two edited", scope, workspace, server)


@pytest.mark.req("088-61", "088-64")
@in_both_scopes
@pytest.mark.parametrize("body", [": > $1", "echo '  ' > $1"], ids=["nothing", "blanks"])
def test_emptied_in_the_editor_and_sent_is_none(workspace, server, answer, editor: Editor, scope: str, body: str):
    with interrupted(workspace, answer, scope, editor=editor(body)) as terminal:
        reply(terminal, scope)
        terminal.send(b"a thought")
        terminal.until("a thought")
        terminal.send(CTRL_X)
        terminal.until(lambda screen: REPLY in screen and "a thought" not in screen)
        terminal.send(ENTER)
        back(terminal, scope)
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)
    assert drafts(workspace.parent) == []


CANCELLED = {"exit status": "echo lost > $1; exit 1", "killed": "echo lost > $1; kill -9 $$"}


@pytest.mark.req("088-62")
@pytest.mark.parametrize("body", CANCELLED.values(), ids=CANCELLED)
def test_cancelled_in_the_editor_the_text_is_as_it_was(workspace, server, answer, editor: Editor, body: str):
    command = editor(body)
    with interrupted(workspace, answer, editor=command) as terminal:
        reply(terminal)
        terminal.send(b"keep me" + CTRL_X)
        terminal.until(lambda screen: Path(command + ".saw").exists() and "keep me" in screen and REPLY in screen)
        terminal.send(b"!")
        terminal.until("keep me!")
        assert len(server.requests) == 1
        terminal.send(ENTER)
        sent(terminal, "keep me!", "streaming", workspace, server)


@pytest.mark.req("088-63")
def test_an_editor_that_cannot_run_is_said_and_the_text_is_as_it_was(workspace, server, answer):
    with interrupted(workspace, answer, editor="/no/such/editor") as terminal:
        reply(terminal)
        terminal.send(b"keep me" + CTRL_X)
        terminal.until("could not be started")
        terminal.until(lambda screen: "keep me" in screen and REPLY in screen)
        assert "/no/such/editor" in terminal.screen
        terminal.send(ENTER)
        sent(terminal, "keep me", "streaming", workspace, server)


@pytest.mark.req("088-64")
@pytest.mark.parametrize("leave", [*PRESSES.values(), LEFT["escape"]], ids=[*PRESSES, "escape"])
def test_left_after_the_editor_leads_back_to_the_menu(workspace, server, answer, editor: Editor, leave: Press):
    with interrupted(workspace, answer, editor=editor("echo edited > $1")) as terminal:
        reply(terminal)
        terminal.send(b"mine" + CTRL_X)
        terminal.until("edited")
        leave(terminal)
        back(terminal)
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


# --- compose_in_editor

editor_first = pytest.mark.parametrize("compose", ["true", "always"])


@pytest.mark.req("088-71", "088-72", "092-55")
@in_both_scopes
@editor_first
def test_editor_first_sends_what_is_saved(workspace, server, answer, editor: Editor, scope: str, compose: str):
    command = editor("echo 'from the editor' > $1")
    with interrupted(workspace, answer, scope, editor=command, compose_in_editor=compose) as terminal:
        terminal.send(b"r")
        sent(terminal, "from the editor", scope, workspace, server)
        assert b"Reply:" not in terminal.output
    assert Path(command + ".saw").read_text().strip() == ""


@pytest.mark.req("088-71")
@editor_first
def test_editor_first_opens_with_the_kept_draft(workspace, server, answer, editor: Editor, compose: str):
    command = editor("sed -i 's/$/, edited/' $1")
    with interrupted(workspace, answer, editor=command) as terminal:
        reply(terminal)
        terminal.send(b"kept")
        terminal.until("kept")
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"
    again = Answer()
    server.then(again, text(SECOND))
    with interrupted(workspace, again, editor=command, compose_in_editor=compose) as terminal:
        terminal.send(b"r")
        assert terminal.wait() == "exited 0"
        assert b"Reply:" not in terminal.output
    assert Path(command + ".saw").read_text().strip() == "kept"
    assert requests(server)[-1] == "kept, edited"


NOTHING = {"blanks": "echo '  ' > $1", "nothing": ": > $1", "unchanged": "true", "cancelled": "echo x > $1; exit 1"}


@pytest.mark.req("088-73", "092-55")
@in_both_scopes
@editor_first
@pytest.mark.parametrize("body", NOTHING.values(), ids=NOTHING)
def test_editor_first_left_without_a_text_is_the_menu_again(
    workspace, server, answer, editor: Editor, scope: str, compose: str, body: str
):
    command = editor(body)
    with interrupted(workspace, answer, scope, editor=command, compose_in_editor=compose) as terminal:
        drawn = terminal.output.count(b"Interrupted:")
        terminal.send(b"r")
        terminal.until(lambda _: terminal.output.count(b"Interrupted:") > drawn)
        back(terminal, scope)
        assert Path(command + ".saw").exists()
        assert b"Reply:" not in terminal.output
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


MISSING = {"none": (None, "no editor is configured"), "no program": ("/no/such/editor", "could not be started")}
without_an_editor = pytest.mark.parametrize(("command", "why"), MISSING.values(), ids=MISSING)


@pytest.mark.req("088-74", "092-55")
@in_both_scopes
@without_an_editor
def test_true_without_an_editor_says_why_and_goes_on_inline(
    workspace, server, answer, scope: str, command: str | None, why: str
):
    with interrupted(workspace, answer, scope, editor=command, compose_in_editor="true") as terminal:
        for leave in (LEFT["key"], LEFT["empty"]):
            reply(terminal, scope)
            assert why in terminal.screen.contents
            leave(terminal)
            back(terminal, scope)
        reply(terminal, scope)
        terminal.send(b"inline then" + ENTER)
        sent(terminal, "inline then", scope, workspace, server)


@pytest.mark.req("088-75", "092-55")
@in_both_scopes
@without_an_editor
def test_always_without_an_editor_says_why_and_is_the_menu_again(
    workspace, server, answer, scope: str, command: str | None, why: str
):
    with interrupted(workspace, answer, scope, editor=command, compose_in_editor="always") as terminal:
        terminal.send(b"r")
        terminal.until(lambda screen: why in screen and MENU[scope] in screen.text.partition(why)[2])
        assert b"Reply:" not in terminal.output
        terminal.send(b"c")
        answer.go()
        assert terminal.wait() == "exited 0"
        as_before(terminal)
    assert messages(workspace) == [WHOLE]
    assert len(server.requests) == 1


@pytest.mark.req("088-76", "092-55")
@in_both_scopes
def test_never_starts_no_editor(workspace, server, answer, editor: Editor, scope: str):
    command = editor("echo edited > $1")
    with interrupted(workspace, answer, scope, editor=command, compose_in_editor="never") as terminal:
        reply(terminal, scope)
        assert "editor" not in terminal.screen.text
        terminal.send(b"abc" + CTRL_X + b"def" + ENTER)
        sent(terminal, "abcdef", scope, workspace, server)
    assert not Path(command + ".saw").exists()


@pytest.mark.req("092-92")
@editor_first
@pytest.mark.parametrize("press", [PRESSES["key"], PRESSES["signal"]], ids=["key", "signal"])
def test_presses_in_the_editor_are_the_editors(
    workspace, server, answer, editor: Editor, tmp_path, press: Press, compose: str
):
    ready = tmp_path / "ready"
    body = f"trap 'touch {ready}.caught' INT; touch {ready}; while [ ! -e {ready}.go ]; do sleep 0.05; done"
    command = editor(f"{body}; echo 'from the editor' > $1")
    with interrupted(workspace, answer, editor=command, compose_in_editor=compose) as terminal:
        terminal.send(b"r")
        terminal.until(lambda _: ready.exists())
        drawn = terminal.output.count(b"Interrupted")
        for _ in range(3):
            press(terminal)
            if press is PRESSES["key"]:
                terminal.until(lambda _: Path(f"{ready}.caught").exists())
        Path(f"{ready}.go").touch()
        sent(terminal, "from the editor", "streaming", workspace, server)
        assert terminal.output.count(b"Interrupted") == drawn


# --- interrupt.streaming.action


@pytest.mark.req("088-85", "092-45", "092-19")
@pytest.mark.parametrize("press", PRESSES.values(), ids=PRESSES)
def test_a_fixed_reply_opens_at_once_and_is_sent(workspace, server, answer, press: Press):
    with query(workspace, "streaming", action="reply") as terminal:
        terminal.until("Half of an")
        press(terminal) if press is not PRESSES["kitty's key"] else terminal.press()
        terminal.until(REPLY)
        assert b"Interrupted" not in terminal.output
        terminal.send(b"instead" + ENTER)
        sent(terminal, "instead", "streaming", workspace, server)
        assert b"Interrupted" not in terminal.output


@pytest.mark.req("088-86", "088-87", "092-45")
@left_in_every_way
def test_a_fixed_reply_that_is_none_lets_the_answer_go_on(workspace, server, answer, leave: Press):
    with interrupted(workspace, answer, action="reply", shown=REPLY) as terminal:
        leave(terminal)
        terminal.until(lambda screen: REPLY not in screen)
        goes_on(terminal, answer, workspace, server)
        assert b"Interrupted" not in terminal.output


@pytest.mark.req("088-85")
@editor_first
def test_a_fixed_reply_is_written_in_the_editor(workspace, server, answer, editor: Editor, compose: str):
    command = editor("echo 'from the editor' > $1")
    with query(workspace, "streaming", editor=command, action="reply", compose_in_editor=compose) as terminal:
        terminal.until("Half of an")
        terminal.press()
        sent(terminal, "from the editor", "streaming", workspace, server)
        assert b"Reply:" not in terminal.output
        assert b"Interrupted" not in terminal.output


@pytest.mark.req("088-94")
@editor_first
@pytest.mark.parametrize("body", NOTHING.values(), ids=NOTHING)
def test_a_fixed_reply_left_in_the_editor_lets_the_answer_go_on(
    workspace, server, answer, editor: Editor, compose: str, body: str
):
    command = editor(body)
    with query(workspace, "streaming", editor=command, action="reply", compose_in_editor=compose) as terminal:
        terminal.until("Half of an")
        terminal.press()
        terminal.until(lambda _: Path(command + ".saw").exists())
        answer.go()
        assert terminal.wait() == "exited 0"
        assert b"Reply:" not in terminal.output
        assert b"Interrupted" not in terminal.output
        as_before(terminal)
    assert messages(workspace) == [WHOLE]
    assert len(server.requests) == 1


@pytest.mark.req("088-96")
@without_an_editor
def test_a_fixed_reply_that_must_have_an_editor_lets_the_answer_go_on_without(
    workspace, server, answer, command: str | None, why: str
):
    with interrupted(
        workspace, answer, editor=command, action="reply", compose_in_editor="always", shown=why
    ) as terminal:
        answer.go()
        assert terminal.wait() == "exited 0"
        assert b"Reply:" not in terminal.output
        assert b"Interrupted" not in terminal.output
        as_before(terminal)
    assert messages(workspace) == [WHOLE]
    assert len(server.requests) == 1


@pytest.mark.req("088-98", "092-45", "092-19")
@pytest.mark.parametrize("compose", ["false", "true", "always", "never"])
@pytest.mark.parametrize("action", ["continue", "stop", "abort"])
def test_another_fixed_action_composes_nothing(
    workspace, server, answer, editor: Editor, hermetic, action: str, compose: str
):
    command = editor("echo edited > $1")
    with query(workspace, "streaming", editor=command, action=action, compose_in_editor=compose) as terminal:
        terminal.until("Half of an")
        terminal.press()
        if action == "continue":
            answer.go()
        assert terminal.wait() == ("exited 1" if action == "abort" else "exited 0")
        assert b"Reply:" not in terminal.output
        assert b"Interrupted" not in terminal.output
        as_before(terminal)
    assert not Path(command + ".saw").exists()
    if action == "abort":
        assert events(workspace) == []
        assert drafts(hermetic) == ["hi"]
    else:
        assert messages(workspace) == [WHOLE if action == "continue" else PARTS[0]]
    assert len(server.requests) == 1


@pytest.mark.req("092-24", "092-19")
@pytest.mark.parametrize("press", [PRESSES["key"], PRESSES["signal"]], ids=["key", "signal"])
def test_a_second_press_shuts_down_though_the_first_was_to_continue(workspace, server, answer, press: Press):
    with query(workspace, "streaming", action="continue") as terminal:
        terminal.until("Half of an")
        press(terminal)
        answer.go(1)
        terminal.until("some more of")
        assert b"Interrupted" not in terminal.output
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.splitlines()[-1] == GRACEFUL
        as_before(terminal)
    assert messages(workspace) == ["".join(PARTS[:2])]


@pytest.mark.req("092-19")
def test_an_action_that_is_fixed_while_streaming_is_not_in_the_gaps(workspace, server, answer):
    command = argv(at(STORING, signals=["INT"]), args=["q", "-c", "interrupt.streaming.action=stop", "hi"])
    answer.go()
    with Terminal(command, cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        terminal.until(MENU["turn"])
        terminal.send(b"c")
        goes_on(terminal, answer, workspace, server)


# --- what the model does meanwhile


@pytest.mark.req("092-41", "088-56")
@pytest.mark.parametrize("key", [b"c", ESC])
def test_an_answer_that_ended_under_the_menu_is_whole(workspace, server, answer, key: bytes):
    with interrupted(workspace, answer) as terminal:
        answer.go()
        terminal.until(lambda _: answer.ended.is_set())
        assert "the rest" not in terminal.screen
        terminal.send(key)
        goes_on(terminal, answer, workspace, server)


@pytest.mark.req("092-41", "088-56")
def test_an_answer_that_was_cut_off_under_the_menu_is_continued(workspace, server: ModelServer):
    first = Answer(cut=True)
    rest: Reply = text("".join(PARTS[1:]))
    server.then(first, rest)
    with interrupted(workspace, first) as terminal:
        first.go()
        terminal.until(lambda _: first.ended.is_set())
        assert len(server.requests) == 1
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
        as_before(terminal)
        assert " ".join(terminal.screen.contents.split()).count(WHOLE) == 1
    assert messages(workspace) == [WHOLE]
    assert len(server.requests) == 2


@pytest.mark.req("092-42", "088-58")
@pytest.mark.parametrize("cut", [False, True], ids=["ended", "cut off"])
def test_a_reply_to_an_answer_that_is_over_already(workspace, server: ModelServer, cut: bool):
    first = Answer(cut=cut)
    server.then(first, text(SECOND))
    with interrupted(workspace, first) as terminal:
        reply(terminal)
        first.go()
        terminal.until(lambda _: first.ended.is_set())
        terminal.send(b"and now?" + ENTER)
        assert terminal.wait() == "exited 0"
        as_before(terminal)
    assert requests(server)[-1] == "and now?"
    assert messages(workspace)[-1] == SECOND
    assert messages(workspace)[0].startswith(PARTS[0])
