"""The fallback menu over commands: they are held, nothing of theirs is lost, and what runs beside them goes on."""

import fcntl
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from tests.conftest import program
from tests.support.points import argv, at
from tests.support.terminal import Terminal, shut_down
from tests.support.workspace import Ask, messages
from tests.wire.model_server import ModelServer, silent, text

FALLBACK = "Interrupted: [c,q,?]?"
SESSION: dict[str, str | None] = {"JP_SESSION": "test"}


def pressed(workspace: Path, name: str, *args: str, call: int = 1, **options) -> Terminal:
    """`jp ARGS`, with a press at the entry to a function."""
    return Terminal(argv(at(name, signals=["INT"], call=call), args=args), cwd=workspace, env=SESSION, **options)


def shown(workspace: Path, *args: str) -> str:
    """What `jp ARGS` shows when nobody interrupts it."""
    with Terminal([*program(), *args], cwd=workspace, env=SESSION) as terminal:
        terminal.wait()
        return terminal.screen.contents


@pytest.fixture
def long(ask: Ask) -> str:
    """A conversation, as it is printed."""
    for number in range(3):
        ask("q", f"question {number}", replies=(text(f"answer {number}\n\n- one\n- two\n"),))
    return ask("c", "print").stdout


@pytest.mark.req("092-63", "092-64", "092-9")
@pytest.mark.parametrize("format_", ["auto", "json"])
def test_a_listing_is_held_and_goes_on(long: str, workspace: Path, format_: str):
    plain = shown(workspace, "-F", format_, "c", "print")
    # In the middle of it: when the fifth event has been asked for.
    with pressed(workspace, "jp.interrupt.checkpoint:checkpoint", "-F", format_, "c", "print", call=6) as terminal:
        terminal.until(FALLBACK)
        terminal.send(b"?")
        terminal.until("q - Quit gracefully")
        assert [line[:1] for line in terminal.screen.lines if " - " in line][-2:] == ["c", "q"]
        before = terminal.screen.text
        terminal.pump(0.05)
        assert terminal.screen.text == before
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents == plain
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-66")
@pytest.mark.parametrize(("args", "status"), [(("c", "print"), "exited 0"), (("c", "print", "nope"), "exited 2")])
def test_a_command_that_is_done_just_completes(long: str, workspace: Path, args: tuple[str, ...], status: str):
    plain = shown(workspace, *args)
    with pressed(workspace, "jp.cli.context:Context.close", *args) as terminal:
        terminal.until(FALLBACK)
        terminal.send(b"c")
        assert terminal.wait() == status
        assert terminal.screen.contents == plain


@pytest.mark.req("092-67", "092-11", "092-103")
def test_quit_is_the_graceful_shutdown(long: str, workspace: Path, hermetic: Path, no_leftovers):
    with pressed(workspace, "jp.cli.context:Context.close", "c", "print") as terminal:
        terminal.until(FALLBACK)
        terminal.send(b"q")
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.splitlines()[-1] == "gracefully shutting down…"
        assert "answer 2\n\n• one\n• two\n" in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-63")
def test_waiting_for_a_server_is_anything_else(workspace: Path):
    with pressed(workspace, "jp.cli.model:connect", "q", "hi") as terminal:
        terminal.until(FALLBACK)
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip() == "Hello from the test model."
    assert messages(workspace) == ["Hello from the test model."]


@pytest.mark.req("092-65", "092-63")
def test_the_title_goes_on_being_written_under_the_menu(workspace: Path, server: ModelServer):
    menu, written = Event(), Event()

    def either(exchange):
        if "response_format" not in exchange.json:
            text("The answer.")(exchange)
        elif menu.wait(30):
            text('{"titles": ["A title of its own"]}')(exchange)
            written.set()

    server.then(either)
    auto = "conversation.title.generate.auto=true"
    with Terminal([*program(), "q", "-c", auto, "hi"], cwd=workspace, env=SESSION) as terminal:
        terminal.until("Waiting for the title…")
        terminal.press()
        terminal.until(FALLBACK)
        menu.set()
        terminal.until(lambda _: written.is_set())
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip() == "The answer."
    (metadata,) = workspace.rglob("metadata.json")
    assert "A title of its own" in metadata.read_text()


@pytest.mark.req("092-109", "092-11")
def test_what_runs_in_the_background_has_no_line_of_its_own_at_the_end(workspace: Path, server: ModelServer):
    def either(exchange):
        (silent() if "response_format" in exchange.json else text("The answer."))(exchange)

    server.then(either)
    auto = "conversation.title.generate.auto=true"
    with Terminal([*program(), "q", "-c", auto, "hi"], cwd=workspace, env=SESSION) as terminal:
        terminal.until("Waiting for the title…")
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.screen.contents.split("\n") == ["The answer.", "gracefully shutting down…"]
    for lock in workspace.parent.rglob("*lock*"):
        if lock.is_file():
            with lock.open() as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert messages(workspace) == ["The answer."]


# --- how soon

Until = Callable[[Terminal], object]
MOMENTS: dict[str, tuple[tuple[str, ...], Until, str]] = {
    "waiting for the provider": (("q", "-n", "silent"), lambda t: t.until("Waiting…"), "[c,r,s,a,?]?"),
    "streaming": (("q", "-n", "words"), lambda t: t.until("word word"), "[c,r,s,a,?]?"),
    "a prompt": (("c", "rm", "newest"), lambda t: t.until("[y,N,?]?"), "[c,q,b,?]?"),
    "waiting for a lock": (("q", "--id", "newest", "hi"), lambda t: t.until("lock…"), "[w,n,f,c,?]?"),
}


@pytest.mark.req("092-15")
@pytest.mark.parametrize(("args", "there", "menu"), MOMENTS.values(), ids=MOMENTS)
def test_the_menu_is_there_within_100_ms(
    workspace: Path, server: ModelServer, ask: Ask, args: tuple[str, ...], there: Until, menu: str
):
    ask("q", "first")

    def either(exchange):
        (silent() if exchange.last_user_text == "silent" else text("word " * 4000, chunk=5, delay_ms=5))(exchange)

    server.then(either)
    taken = []
    with Terminal([*program(), "q", "--id", "newest", "words"], cwd=workspace, env=SESSION) as holder:
        holder.until("word word")
        command = [*program(), *args, *(["-c", "style.lock_wait.delay_secs=0"] if "newest" in args else [])]
        for _ in range(3):  # on a machine that has other things to do as well
            with Terminal(command, cwd=workspace, env=SESSION) as terminal:
                there(terminal)
                began = time.perf_counter()
                terminal.press()
                terminal.until(menu)
                taken.append(time.perf_counter() - began)
    assert min(taken) < 0.1
