"""Ctrl-C over a prompt: the menu of what is under it, and back; and where else than in a turn a menu opens."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.ask.children import child
from tests.ask.test_asker import WEDGED
from tests.conftest import program
from tests.support.points import argv, at
from tests.support.terminal import CTRL_C, ESC, Terminal
from tests.support.workspace import events, messages
from tests.terminal.test_choices import BETA, World, answer, as_before, quiet, running, world
from tests.terminal.test_inline_editor import on_disk
from tests.wire.model_server import ModelServer, silent, text

__all__ = ["world"]  # the fixture

FALLBACK = "Interrupted: [c,q,?]?"
OVER_PROMPT = "Interrupted: [c,q,b,?]?"
STREAMING = "Interrupted: [c,r,s,a,?]?"
GRACEFUL = "gracefully shutting down…"
ENTER = b"\r"

Press = Callable[[Terminal], None]
PRESSES: dict[str, Press] = {"key": lambda t: t.send(CTRL_C), "signal": lambda t: t.kill(signal.SIGINT)}
by_key_and_by_signal = pytest.mark.parametrize("press", PRESSES.values(), ids=PRESSES)


# --- each kind of prompt


class Kind(NamedTuple):
    """A prompt: the question, what is on the screen of it, and then the same with what was typed."""

    question: str
    shown: str
    answer: bytes
    outcome: str
    typed: bytes = b""
    typed_shown: str = ""


KINDS = {
    "one key": Kind('Choice("Which?", (Option("x", "One"), Option("y", "Two")))', "Which? [x,y,?]?", b"y", "'y'"),
    "yes or no": Kind('confirm("Really?", default="n")', "Really? [y,N,?]?", b"y", "'y'"),
    "selection": Kind(
        'Select("Pick:", (Item("1", "alpha"), Item("2", "beta")))', "Pick:", ENTER, "'2'", b"bet", "> bet"
    ),
    "text": Kind('Edit("Say:")', "Enter sends", ENTER, "'some words'", b"some words", "Say: some words"),
    "vi": Kind('Edit("Say:", mode="vi")', "Enter sends", ENTER, "'some words'", b"some words", "Say: some words"),
}
SECRET = Kind('Secret("Key:")', "Key:", b"hunter2" + ENTER, "'hunter2'")
each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_and_a_secret = pytest.mark.parametrize("kind", [*KINDS.values(), SECRET], ids=[*KINDS, "secret"])
ASK = """
router.cooldown_secs = 60
def main():
    printer.out(repr(asker.ask({question})) + chr(10))
"""


def asking(kind: Kind, body: str = ASK, *args: object, before: str = "") -> Terminal:
    return Terminal(child(body.replace("{question}", kind.question), *args, before=before))


def shown(terminal: Terminal, kind: Kind) -> None:
    terminal.until(kind.shown)
    quiet(terminal)


def answered(terminal: Terminal, kind: Kind) -> None:
    """Answer it, and be told the answer."""
    quiet(terminal)
    if kind is SECRET:  # nothing of it is to be seen
        terminal.send(kind.answer.removesuffix(ENTER))
        quiet(terminal)
        terminal.send(ENTER)
    else:
        answer(terminal, kind.answer)
    assert terminal.wait() == "exited 0"
    assert f"Submitted(value={kind.outcome})" in terminal.screen.contents
    assert "Interrupted:" not in terminal.screen.contents
    clean(terminal)


def clean(terminal: Terminal) -> None:
    as_before(terminal)
    assert terminal.output.count(b"\x1b[>1u") == terminal.output.count(b"\x1b[<u")


@pytest.mark.req("092-75", "092-79", "092-81", "092-84")
@by_key_and_by_signal
@each_and_a_secret
def test_the_menu_and_back_with_what_was_typed(kind: Kind, press: Press):
    with asking(kind) as terminal:
        shown(terminal, kind)
        for back in (b"b", b"c", ESC):
            if kind.typed and back == b"b":
                terminal.send(kind.typed)
                terminal.until(kind.typed_shown)
            press(terminal)
            terminal.until(OVER_PROMPT)
            assert kind.shown not in terminal.screen
            if back == b"b":
                terminal.send(b"?")
                terminal.until("b - Back to the prompt")
                assert [line[:1] for line in terminal.screen.lines if " - " in line] == ["c", "q", "b"]
            terminal.send(back)
            terminal.until(lambda screen: (kind.typed_shown or kind.shown) in screen and "Interrupted" not in screen)
        answered(terminal, kind)


@pytest.mark.req("092-80", "092-75")
@pytest.mark.parametrize("how", ["key", "signal", "q"])
@each_and_a_secret
def test_quitting_in_the_menu_shuts_down(kind: Kind, how: str):
    with asking(kind) as terminal:
        shown(terminal, kind)
        terminal.press()
        terminal.until(OVER_PROMPT)
        terminal.send(b"q") if how == "q" else PRESSES[how](terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.strip() == GRACEFUL
        clean(terminal)


FACE = """
def main():
    printer.out(repr(asker.run(lambda dialogue: dialogue.ask({question}, swaps=False))) + chr(10))
"""


@pytest.mark.req("092-91", "092-83")
@pytest.mark.parametrize(("key", "outcome"), [(CTRL_C, "Interrupted("), (ESC, "Cancelled(")], ids=["press", "escape"])
@each_and_a_secret
def test_interrupted_is_not_cancelled(kind: Kind, key: bytes, outcome: str):
    with asking(kind, FACE) as terminal:
        shown(terminal, kind)
        terminal.send(key * 2 if "vi" in kind.question and key == ESC else key)
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.startswith(outcome)


TWICE = """
router.cooldown_secs = 60
def main():
    printer.out(repr(asker.ask({question})) + chr(10))
    printer.out(repr(asker.ask(Edit("Next:"))) + chr(10))
"""


@pytest.mark.req("092-83")
@each_and_a_secret
def test_escape_is_no_press(kind: Kind):
    with asking(kind, TWICE) as terminal:
        shown(terminal, kind)
        terminal.send(ESC)
        if "vi" in kind.question:
            terminal.until("NORMAL")
            terminal.send(ESC)
        terminal.until("Next:")
        assert b"Interrupted:" not in terminal.output
        terminal.press()
        terminal.until(OVER_PROMPT)
        terminal.send(b"b")
        terminal.until("Next:")
        terminal.send(b"on" + ENTER)
        assert terminal.wait() == "exited 0"


UNDER = """
from jp.ask.interruption import Interruption
from jp.ask.menus import STREAMING
from jp.interrupt.router import Scope

def main():
    with router.push(Scope("menu", lambda: None, "work", menu=lambda: Interruption(STREAMING, {action!r}))):
        printer.out(repr(asker.ask({question})) + chr(10))
"""


@pytest.mark.req("092-77", "092-79")
@pytest.mark.parametrize("action", ["prompt", "stop"])
@each
def test_the_menu_is_that_of_what_is_under_the_prompt(kind: Kind, action: str):
    """Also where that has a fixed action: it answers no press over a prompt."""
    with asking(kind, UNDER.replace("{action!r}", repr(action))) as terminal:
        shown(terminal, kind)
        if kind.typed:
            terminal.send(kind.typed)
            terminal.until(kind.typed_shown)
        terminal.press()
        terminal.until("Interrupted: [c,r,s,a,b,?]?")
        terminal.send(b"b")
        terminal.until(lambda screen: (kind.typed_shown or kind.shown) in screen and "Interrupted" not in screen)
        answered(terminal, kind)


@each
def test_what_ends_the_work_under_the_prompt_answers_nothing(kind: Kind):
    with asking(kind, UNDER.replace("{action!r}", "'prompt'")) as terminal:
        shown(terminal, kind)
        terminal.press()
        terminal.until("Interrupted: [c,r,s,a,b,?]?")
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.startswith("Broken(")


@pytest.mark.req("092-89")
@by_key_and_by_signal
def test_a_secret_is_neither_shown_nor_stored_over_the_menu(tmp_path: Path, press: Press):
    with asking(SECRET) as terminal:
        shown(terminal, SECRET)
        terminal.send(b"hunt")
        quiet(terminal)
        press(terminal)
        terminal.until(OVER_PROMPT)
        terminal.send(b"b")
        terminal.until(lambda screen: SECRET.shown in screen and "Interrupted" not in screen)
        quiet(terminal)
        terminal.send(b"hunter2")
        quiet(terminal)
        assert b"hunt" not in terminal.output
        assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"hunt" in path.read_bytes()]
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert "Submitted(value='hunter2')" in terminal.screen.contents
        assert terminal.output.count(b"hunt") == 1  # the program of this test says it


KITTY = "Shift+Enter"  # named once the terminal has said that it speaks the protocol
WAYS: dict[str, tuple[Press, str]] = {
    "sent": (lambda t: t.send(b"x" + ENTER), "exited 0"),
    "escape": (lambda t: t.send(b"\x1b[27u"), "exited 0"),
    "SIGTERM": (lambda t: t.kill(signal.SIGTERM), "killed SIGTERM"),
    "SIGQUIT": (lambda t: t.kill(signal.SIGQUIT), "killed SIGQUIT"),
    "quit": (lambda t: t.send(b"\x1b[92;5u"), "killed SIGQUIT"),
}


@pytest.mark.req("092-90")
@pytest.mark.parametrize(("leave", "ended"), WAYS.values(), ids=WAYS)
def test_under_the_kitty_protocol_the_key_is_the_signal(leave: Press, ended: str):
    with asking(KINDS["text"]) as terminal:
        terminal.until(KITTY)
        terminal.send(b"\x1b[99;5u")
        terminal.until(OVER_PROMPT)
        assert terminal.output.count(b"\x1b[>1u") == terminal.output.count(b"\x1b[<u")
        terminal.send(b"b")
        terminal.until(lambda screen: KITTY in screen and "Interrupted" not in screen)
        leave(terminal)
        assert terminal.wait() == ended
        assert terminal.output.count(b"\x1b[>1u") == terminal.output.count(b"\x1b[<u") > 0
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-90", "092-80")
def test_under_the_kitty_protocol_a_second_press_shuts_down():
    with asking(KINDS["text"]) as terminal:
        terminal.until(KITTY)
        terminal.send(b"\x1b[99;5u")
        terminal.until(OVER_PROMPT)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        clean(terminal)


@pytest.mark.req("092-17")
@by_key_and_by_signal
def test_presses_climb_while_a_prompt_is_stuck(press: Press):
    body = "router.shutdown_timeout_secs = 60\n" + ASK
    with asking(KINDS["text"], body, before=WEDGED) as terminal:
        terminal.until("wedged")
        press(terminal)
        terminal.pump(0.1)
        press(terminal)
        terminal.until(GRACEFUL)
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert "terminating program…" in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-134")
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP])
@each_and_a_secret
def test_a_signal_over_the_menu_answers_nothing(kind: Kind, sig: signal.Signals):
    with asking(kind) as terminal:
        shown(terminal, kind)
        terminal.press()
        terminal.until(OVER_PROMPT)
        terminal.kill(sig)
        assert terminal.wait() == f"killed {sig.name}"
        assert "Submitted" not in terminal.screen.contents
        assert "Interrupted" not in terminal.screen.contents
        clean(terminal)


# --- a menu that fails

FAILING = """
from jp.prompt.terminal_prompts import TerminalPrompts
class Failing(TerminalPrompts):
    def ask(self, question, terminal):
        if question.message.startswith("Interrupted"):
            raise RuntimeError("no menu")
        return super().ask(question, terminal)
backend = Failing()
"""
ANSWERED = """
from jp.ask.interruption import Interruption
from jp.ask.menus import STREAMING
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.router import Scope

def main():
    with router.push(Scope("menu", lambda: None, "work")) as handle:
        touch("ready")
        until(lambda: handle.pending)
        decision = asker.decide(handle, Interruption(STREAMING))
        printer.out(repr(decision) + chr(10))
"""


@pytest.mark.req("088-139")
@by_key_and_by_signal
def test_a_menu_that_fails_is_a_shutdown_and_no_choice(tmp_path: Path, press: Press):
    with Terminal(child(ANSWERED, tmp_path, before=FAILING)) as terminal:
        terminal.until(lambda _: (tmp_path / "ready").exists())
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.strip("^C\n ") == GRACEFUL
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("088-139")
@by_key_and_by_signal
def test_a_menu_that_fails_over_a_prompt_is_a_shutdown_and_no_choice(press: Press):
    kind = KINDS["text"]
    with asking(kind, before=FAILING) as terminal:
        shown(terminal, kind)
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.strip() == GRACEFUL
        clean(terminal)


# --- a press that is there before the prompt

BEFORE = [
    "jp.cli.pick:conversation",
    "jp.ask.asker:Asker.ask",
    "jp.ask.asker:Asker._hold",
    "jp.ask.lent:LentTerminal.__enter__",
    "jp.ask.asker:Dialogue.__enter__",
    "jp.ask.asker:Dialogue.ask",
    "jp.ask.asker:Dialogue._show",
]


@pytest.mark.req("092-85", "092-75")
@pytest.mark.parametrize("key", [b"c", ESC])
@pytest.mark.parametrize("point", BEFORE)
def test_a_press_before_the_prompt_is_answered_first(world: World, point: str, key: bytes):
    before = world.snapshot()
    command = argv(at(point, signals=["INT"]), args=["c", "print", "?"])
    with Terminal(command, cwd=world.root) as terminal:
        terminal.until(lambda screen: FALLBACK in screen or OVER_PROMPT in screen)
        assert "Conversation:" not in terminal.screen
        terminal.send(key)
        terminal.until(lambda screen: "Conversation:" in screen and "Interrupted" not in screen)
        quiet(terminal)
        answer(terminal, b"bet" + ENTER)
        assert terminal.wait() == "exited 0"
        assert "beta" in terminal.screen.contents
        as_before(terminal)
    assert world.snapshot() == before


@pytest.mark.req("092-134")
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_under_the_fallback_menu_answers_nothing(world: World, sig: signal.Signals):
    before = world.snapshot()
    command = argv(at("jp.cli.pick:conversation", signals=["INT"]), args=["c", "rm", "?"])
    with Terminal(command, cwd=world.root) as terminal:
        terminal.until(FALLBACK)
        terminal.kill(sig)
        assert terminal.wait() == f"killed {sig.name}"
        assert "Interrupted" not in terminal.screen.contents
        as_before(terminal)
    assert world.snapshot() == before


# --- the lock of a conversation

WAITING = "Waiting for the conversation's lock"
LOCKED = "Still locked: [w,n,f,c,?]?"
LOCK = ("q", "--id", BETA, "-c", "style.lock_wait.timeout_secs=100", "-c", "style.lock_wait.delay_secs=0", "hi")


@contextmanager
def waiting(world: World, *args: str, **options: Any) -> Iterator[Terminal]:
    """A query that waits for a conversation that another program has."""
    args = (*LOCK[:-1], "-c", "interrupt.escalation_cooldown_secs=60", *args, "hi")
    with running(world, "lock", args=args, **options) as terminal:
        terminal.until(WAITING)
        yield terminal


def locked(terminal: Terminal, press: Press) -> None:
    press(terminal)
    terminal.until(LOCKED)


@pytest.mark.req("092-69")
@by_key_and_by_signal
def test_the_status_of_the_wait_is_gone_before_the_question(world: World, press: Press):
    with waiting(world) as terminal:
        locked(terminal, press)
        assert WAITING not in terminal.screen.contents
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.strip("^C\n ") == GRACEFUL


@pytest.mark.req("092-69")
@by_key_and_by_signal
def test_a_press_while_waiting_for_the_lock_asks_at_once(world: World, press: Press):
    with waiting(world) as terminal:
        locked(terminal, press)
        assert "somebody else" in terminal.screen
        terminal.send(b"?")
        terminal.until("c - Cancel")
        assert [line[:1] for line in terminal.screen.lines if " - " in line] == ["w", "n", "f", "c"]
        terminal.send(b"n")
        assert terminal.wait() == "exited 0"
        assert len(world.titles) == 4
        assert "Hello from the test model." in terminal.screen
        as_before(terminal)


@pytest.mark.req("092-69")
@pytest.mark.parametrize(("key", "status", "more"), [(b"f", "exited 0", 1), (b"c", "exited 4", 0)])
def test_a_fork_or_nothing_instead_of_waiting(world: World, key: bytes, status: str, more: int):
    with waiting(world) as terminal:
        locked(terminal, PRESSES["key"])
        terminal.send(key)
        assert terminal.wait() == status
        as_before(terminal)
    folders = list((world.root / ".jp" / "conversations").iterdir())
    assert len(folders) == 3 + more
    assert [event.get("content") for event in world.events(BETA)] == [None, "beta"]


@pytest.mark.req("092-70")
@by_key_and_by_signal
@pytest.mark.parametrize("key", [b"w", ESC])
def test_waiting_goes_on_and_the_next_press_is_a_first_one(world: World, press: Press, key: bytes):
    args = (*LOCK[:-1], "-c", "interrupt.escalation_cooldown_secs=60", "hi")
    holder = world.lock(BETA)
    with Terminal([*program(), *args], cwd=world.root, columns=200) as terminal:
        terminal.until(WAITING)
        for _ in range(3):
            locked(terminal, press)
            drawn = terminal.output.count(WAITING.encode())
            terminal.send(key)
            terminal.until(lambda _, n=drawn: terminal.output.count(WAITING.encode()) > n)
            assert LOCKED not in terminal.screen
        holder.release()
        assert terminal.wait() == "exited 0"
        assert "Still locked" not in terminal.screen.contents
        as_before(terminal)
    assert "hi" in [event.get("content") for event in world.events(BETA)]


@pytest.mark.req("092-71")
@by_key_and_by_signal
def test_a_press_in_the_question_about_the_lock_shuts_down(world: World, press: Press):
    before = world.snapshot()
    with waiting(world) as terminal:
        locked(terminal, press)
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.splitlines()[-1].endswith(GRACEFUL)
        as_before(terminal)
    assert world.snapshot() == before


@pytest.mark.req("092-38")
def test_the_lock_is_asked_about_with_everything_redirected(world: World):
    command = argv(at("jp.storage.store:Store.lock", signals=["INT"], call=3), args=LOCK)
    channels = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with world.lock(BETA), Terminal(command, cwd=world.root, columns=200, **channels) as terminal:
        terminal.until(LOCKED)
        terminal.send(b"n")
        assert terminal.wait() == "exited 0"
        assert terminal.piped[1] == b"Hello from the test model.\n"
        assert b"locked" not in terminal.piped[2]
        as_before(terminal)


# --- text that is awaited on stdin

STDIN = "Interrupted: [c,w,q,?]?"


@contextmanager
def piped(workspace: Path) -> Iterator[tuple[Terminal, int]]:
    """A query with an open pipe that says nothing; the terminal, and what writes into the pipe."""
    read, write = os.pipe()
    command = [*program(), "q", "-c", "interrupt.escalation_cooldown_secs=60", "hi"]
    try:
        with Terminal(command, cwd=workspace, stdin=read, env={"JP_SESSION": "test"}) as terminal:
            os.close(read)
            terminal.until("Reading stdin…")
            yield terminal, write
    finally:
        try:
            os.close(write)
        except OSError:
            pass


def asked(workspace: Path) -> list[str]:
    return [event["content"] for event in events(workspace) if event["type"] == "chat_request"]


@by_key_and_by_signal
def test_the_status_of_the_wait_for_stdin_is_gone_before_the_menu(workspace: Path, press: Press):
    with piped(workspace) as (terminal, _):
        press(terminal)
        terminal.until(STDIN)
        assert "Reading" not in terminal.screen
        terminal.send(b"w")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip("^C\n ") == "Hello from the test model."


@by_key_and_by_signal
def test_a_query_goes_on_without_what_does_not_come(workspace: Path, press: Press):
    with piped(workspace) as (terminal, _):
        press(terminal)
        terminal.until(STDIN)
        terminal.send(b"?")
        terminal.until("w - Go on without it")
        terminal.send(b"w")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip().endswith("Hello from the test model.")
        as_before(terminal)
    assert asked(workspace) == ["hi"]


@by_key_and_by_signal
@pytest.mark.parametrize("key", [b"c", ESC])
def test_a_query_waits_on_for_what_is_piped_in(workspace: Path, press: Press, key: bytes):
    with piped(workspace) as (terminal, write):
        for _ in range(2):
            press(terminal)
            terminal.until(STDIN)
            drawn = terminal.output.count(b"Reading stdin")
            terminal.send(key)
            terminal.until(lambda _, n=drawn: terminal.output.count(b"Reading stdin") > n)
            assert STDIN not in terminal.screen
        os.write(write, b"piped words")
        os.close(write)
        assert terminal.wait() == "exited 0"
        as_before(terminal)
    (content,) = asked(workspace)
    assert "piped words" in content
    assert "hi" in content


@pytest.mark.parametrize("how", ["key", "signal", "q", "SIGTERM"])
def test_waiting_for_what_is_piped_in_is_ended(workspace: Path, server: ModelServer, how: str, no_leftovers):
    with piped(workspace) as (terminal, _):
        terminal.press()
        terminal.until(STDIN)
        if how == "q":
            terminal.send(b"q")
        elif how == "SIGTERM":
            terminal.kill(signal.SIGTERM)
        else:
            PRESSES[how](terminal)
        assert terminal.wait() == f"killed {'SIGTERM' if how == 'SIGTERM' else 'SIGINT'}"
        assert terminal.screen.contents.splitlines()[-1].endswith(GRACEFUL)
        as_before(terminal)
    assert not server.requests


# --- where the menu is drawn

HALF = "Half of an answer, "


PIPE, NULL = subprocess.PIPE, subprocess.DEVNULL
CHANNELS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "stdout": ((), {"stdout": PIPE}),
    "all": ((), {"stdin": NULL, "stdout": PIPE, "stderr": PIPE}),
    "json": (("-F", "json"), {"stdout": PIPE}),
    "json, all": (("-F", "json"), {"stdin": NULL, "stdout": PIPE, "stderr": PIPE}),
}


@pytest.mark.req("092-35", "092-36", "092-37")
@by_key_and_by_signal
@pytest.mark.parametrize(("args", "options"), CHANNELS.values(), ids=CHANNELS)
def test_the_menu_is_on_the_terminal_wherever_the_answer_goes(
    workspace: Path, server: ModelServer, press: Press, args: tuple[str, ...], options: dict[str, Any]
):
    server.then(silent(after=HALF), text("Second answer."))
    command = [*program(), "q", *args, "hi"]
    with Terminal(command, cwd=workspace, env={"JP_SESSION": "test", "EDITOR": None}, **options) as terminal:
        terminal.until(lambda _: on_disk(workspace.parent, HALF.encode()))
        press(terminal)
        terminal.until(STREAMING)
        terminal.send(b"r")
        terminal.until("Ctrl+C back")
        terminal.send(b"no, not that" + ENTER)
        assert terminal.wait() == "exited 0"
        out, err = terminal.piped[1].decode(), terminal.piped[2].decode()
        for piece in ("Interrupted", "Reply:", "Ctrl+C", "\x1b", "\r", "^C"):
            assert piece not in out
            assert piece not in err
        if "json" in args:
            records = [json.loads(line) for line in out.splitlines()]
            assert [one["content"] for one in records if one["type"] == "chat_request"] == ["hi", "no, not that"]
            assert [one["message"] for one in records if one["type"] == "chat_response"] == [HALF, "Second answer."]
        else:
            assert out.split("\n")[0].rstrip() == HALF.rstrip()
            assert out.endswith("Second answer.\n")
        assert terminal.modes() == terminal.modes_before
    assert messages(workspace) == [HALF, "Second answer."]


@pytest.mark.req("092-35", "092-138")
def test_json_on_the_terminal_is_not_torn_by_the_menu(workspace: Path, server: ModelServer):
    server.then(silent(after=HALF))
    with Terminal([*program(), "q", "-F", "json", "hi"], cwd=workspace, columns=300) as terminal:
        terminal.until(lambda _: on_disk(workspace.parent, HALF.encode()))
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
        records = [json.loads(line) for line in terminal.screen.contents.splitlines() if line.strip()]
        assert [one["message"] for one in records if one["type"] == "chat_response"] == [HALF]
        as_before(terminal)


@pytest.mark.req("092-36")
def test_the_menu_opens_in_a_pipeline(workspace: Path, server: ModelServer):
    """Ctrl-C reaches the reader of the pipe, too: one that lives through it gets the answer and nothing else."""
    server.then(silent(after="A line of it.\n\nHalf of an answer, "))
    line = f"{' '.join(program())} q hi | (trap '' INT; exec cat -v)"
    with Terminal(["sh", "-c", f"trap : INT; {line}"], cwd=workspace, columns=200) as terminal:
        terminal.until("Half of an")
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
        assert "A line of it." in terminal.screen.contents
        assert "Half of an answer," in terminal.screen.contents  # the menu has a row of its own
        assert "^[" not in terminal.screen.contents
        assert "Interrupted" not in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
    assert messages(workspace) == ["A line of it.\n\nHalf of an answer, "]
