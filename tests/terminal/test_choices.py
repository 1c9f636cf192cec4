"""Every question that a command asks, at a terminal: answered, left, interrupted, ended, and where nobody can be asked.

A case is a command and what a person sees of it; what must hold of every question is tested of each.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jp.storage.lock import Lock
from jp.storage.store import Store
from jp.storage.workspace import Workspace
from tests.conftest import Jp, program
from tests.support.terminal import CTRL_D, CTRL_Z, ESC, Terminal, session, shell, shut_down, until_stopped

JP = " ".join(program())
ENTER = b"\r"
ALPHA, BETA, GAMMA = "17000000001", "17000000002", "17000000003"
TITLES = {ALPHA: "alpha", BETA: "beta", GAMMA: "gamma"}
MENU = "Interrupted: [c,q,b,?]?"
QUIET_SECS = 0.3  # a little more than a question wants before it takes an answer


class World:
    """A workspace with three conversations, none of them active, known to this user."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cwd = root
        for place, (ident, title) in enumerate(TITLES.items()):
            self.conversation(ident, title, f"2024-01-0{place + 1} 00:00:00.0")
        known = Path(os.environ["XDG_STATE_HOME"]) / "jp" / "workspaces.json"
        known.parent.mkdir(parents=True)
        known.write_text(json.dumps([str(root)]))

    def conversation(self, ident: str, title: str, at: str) -> None:
        folder = self.root / ".jp" / "conversations" / f"{ident}-{title}"
        folder.mkdir(parents=True)
        (folder / "metadata.json").write_text(json.dumps({"title": title, "last_activated_at": at}))
        (folder / "base_config.json").write_text("{}")
        said = [{"timestamp": at, "type": "turn_start"}, {"timestamp": at, "type": "chat_request", "content": title}]
        (folder / "events.json").write_text(json.dumps(said))

    @property
    def titles(self) -> set[str]:
        """The titles of the conversations that there are."""
        return {path.name.partition("-")[2] for path in (self.root / ".jp" / "conversations").iterdir()}

    def events(self, ident: str) -> list[dict[str, Any]]:
        (folder,) = (self.root / ".jp" / "conversations").glob(f"{ident}*")
        found: list[dict[str, Any]] = json.loads((folder / "events.json").read_text())
        return found

    @property
    def active(self) -> str | None:
        """The conversation that is the active one of the session of these tests."""
        path = next(Path(os.environ["XDG_DATA_HOME"]).rglob("sessions/*.json"), None)
        return None if path is None else str(json.loads(path.read_text())["history"][0]["id"])

    def snapshot(self) -> dict[str, bytes]:
        """All files of the project, but for the copy that a reading command makes of nothing."""
        return {str(p.relative_to(self.root)): p.read_bytes() for p in self.root.rglob("*") if p.is_file()}

    def lock(self, ident: str) -> Lock:
        """Another program is writing this conversation."""
        return Store(Workspace.find(str(self.root), os.environ), os.environ).lock(ident, "somebody else")


@pytest.fixture
def world(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("JP_SESSION", "test")
    return World(workspace)


class Case(NamedTuple):
    """One question. `shown` is on the screen while it is up, `answer` the keys that answer it, `line` those in line
    mode; `done` says whether the answer was taken, `where` the directory to run in.
    """

    args: tuple[str, ...]
    shown: str
    answer: bytes
    line: bytes
    done: Callable[[World, str], object]
    where: str = "."
    typed: bytes = b""  # what is typed first, and stays over a menu
    typed_shown: str = ""
    locked: bool = False
    cancelled: str = "exited 1"
    leave: bytes = ESC  # what leaves it without an answer


def _asked(ident: str) -> Callable[[World, str], object]:
    return lambda world, _: [e.get("content") for e in world.events(ident)][-3:-1] == [None, "hi"]


def _model(world: World, _: str) -> bool:
    return 'id = "ollama/qwen3"' in (world.root.parent / "fresh" / ".jp" / "config.toml").read_text()


CASES = {
    "use": Case(
        ("c", "use", "?"), "Conversation:", b"bet" + ENTER, b"2\n",
        lambda world, _: world.active == BETA, typed=b"bet", typed_shown="> bet",
    ),
    "id": Case(
        ("q", "--id", "?", "hi"), "Conversation:", ENTER, b"1\n", _asked(GAMMA), typed=b"gam", typed_shown="> gam"
    ),
    "default": Case(
        ("q", "hi"), "a new conversation", b"alp" + ENTER, b"4\n", _asked(ALPHA), typed=b"alp", typed_shown="> alp"
    ),
    "rm": Case(
        ("c", "rm", BETA), "Delete this conversation for good? [y,N,?]?", b"y", b"y\n",
        lambda world, _: world.titles == {"alpha", "gamma"},
    ),
    "model": Case(
        ("init",), "Model to ask:", b"ollama/qwen3" + ENTER, b"ollama/qwen3\n", _model, "../fresh",
        typed=b"ollama/qwen3", typed_shown="ollama/qwen3", cancelled="exited 0",
    ),
    "inside": Case(
        ("init", "-m", "ollama/qwen3"), "Make another one inside it? [y,N,?]?", b"y", b"y\n",
        lambda world, _: (world.root / "sub" / ".jp" / ".id").exists(), "sub",
    ),
    "home": Case(
        ("init", "-m", "ollama/qwen3"), "Make your home directory a workspace? [y,N,?]?", b"y", b"y\n",
        lambda _, __: (Path(os.environ["HOME"]) / ".jp" / ".id").exists(), "../home",
    ),
    "workspace": Case(
        ("c", "ls"), "There is no workspace here. Use:", ENTER, b"1\n",
        lambda _, out: all(title in out for title in TITLES.values()), "../fresh",
    ),
    "lock": Case(
        ("q", "--id", BETA, "-c", "style.lock_wait.timeout_secs=0", "hi"), "Still locked: [w,n,f,c,?]?", b"n", b"n\n",
        lambda world, _: len(world.titles) == 4, locked=True, cancelled="exited 4", leave=b"c",
    ),
}  # fmt: skip
FEW = ("use", "rm", "model")  # a selection, a choice, a text
each = pytest.mark.parametrize("name", CASES)


@contextmanager
def running(world: World, name: str, **options: Any) -> Iterator[Terminal]:
    """The case's command on a terminal; its conversation locked by another program if that is the case."""
    case = CASES[name]
    cwd = world.root / case.where
    cwd.mkdir(exist_ok=True)
    args = options.pop("args", case.args)
    options.setdefault("columns", 200)
    if case.locked:
        with world.lock(BETA), Terminal([*program(), *args], cwd=cwd, **options) as terminal:
            yield terminal
    else:
        with Terminal([*program(), *args], cwd=cwd, **options) as terminal:
            yield terminal


def quiet(terminal: Terminal) -> None:
    """Wait until nothing was drawn for as long as a question has to stand before it takes an answer."""
    seen, since = -1, 0.0
    while seen != len(terminal.output) or time.monotonic() - since < QUIET_SECS:
        if seen != len(terminal.output):
            seen, since = len(terminal.output), time.monotonic()
        terminal.pump(QUIET_SECS)


def up(terminal: Terminal, case: Case) -> None:
    """The question is there and takes an answer."""
    terminal.until(case.shown)
    quiet(terminal)


def answer(terminal: Terminal, keys: bytes) -> None:
    """Type what answers the question; Enter has to come alone."""
    text, enter = keys.removesuffix(ENTER), keys.endswith(ENTER)
    if text:
        terminal.send(text)
        if enter:
            terminal.until(lambda screen: text.decode() in screen.text)
            quiet(terminal)
    if enter:
        terminal.send(ENTER)


def gone(terminal: Terminal, case: Case) -> None:
    """The question is off the screen, and the terminal is as it was."""
    assert case.shown not in terminal.screen.contents
    assert MENU not in terminal.screen.contents
    as_before(terminal)


def as_before(terminal: Terminal) -> None:
    """Modes, paste mode and cursor are as they were."""
    assert terminal.modes() == terminal.modes_before
    assert not terminal.screen.mode(2004)
    assert terminal.screen.mode(25)
    assert terminal.screen.cursor[0] == 0


# --- answered, cancelled, interrupted


@each
@pytest.mark.req("104-74")
def test_answered(world: World, name: str) -> None:
    case = CASES[name]
    with running(world, name) as terminal:
        up(terminal, case)
        answer(terminal, case.answer)
        assert terminal.wait() == "exited 0"
        assert case.done(world, terminal.screen.contents)
        gone(terminal, case)


@each
@pytest.mark.req("104-74", "092-83")
@pytest.mark.parametrize("key", [ESC, CTRL_D])
def test_left_without_an_answer_nothing_is_done(world: World, name: str, key: bytes) -> None:
    case = CASES[name]
    if key == CTRL_D and name not in ("use", "id", "default", "workspace", "model"):
        pytest.skip("means nothing there")
    before = world.snapshot()
    with running(world, name) as terminal:
        up(terminal, case)
        terminal.send(case.leave if key == ESC else key)
        assert terminal.wait() == case.cancelled
        assert world.snapshot() == before
        assert world.active is None
        gone(terminal, case)


@pytest.mark.req("092-75", "092-77", "092-79", "092-81", "092-84")
@pytest.mark.parametrize(
    ("name", "by", "back"),
    [
        *[(name, "key", b"b") for name in CASES],
        *[(name, by, back) for name in FEW for by, back in (("key", b"c"), ("signal", ESC))],
    ],
)
def test_a_press_swaps_to_the_menu_and_back_with_what_was_typed(world: World, name: str, by: str, back: bytes) -> None:
    case = CASES[name]
    with running(world, name) as terminal:
        up(terminal, case)
        if case.typed:
            terminal.send(case.typed)
            terminal.until(case.typed_shown)
        terminal.press() if by == "key" else terminal.kill(signal.SIGINT)
        terminal.until(MENU)
        assert case.shown not in terminal.screen
        terminal.send(back)
        terminal.until(lambda screen: (case.typed_shown or case.shown) in screen and MENU not in screen)
        quiet(terminal)
        answer(terminal, ENTER if case.typed else case.answer)
        assert terminal.wait() == "exited 0"
        assert case.done(world, terminal.screen.contents)
        gone(terminal, case)


@pytest.mark.req("104-74", "092-75", "092-80")
@pytest.mark.parametrize(
    ("name", "how"),
    [*[(name, "press") for name in CASES], *[(name, how) for name in FEW for how in ("q", "kill -INT")]],
)
def test_quitting_from_the_menu_ends_the_run_by_the_signal(world: World, name: str, how: str) -> None:
    case = CASES[name]
    before = world.snapshot()
    with running(world, name) as terminal:
        up(terminal, case)
        terminal.kill(signal.SIGINT) if how == "kill -INT" else terminal.press()
        terminal.until(MENU)
        if how == "q":
            terminal.send(b"q")
        elif how == "press":
            terminal.press()
        else:
            terminal.kill(signal.SIGINT)
        assert terminal.wait() == "killed SIGINT"
        assert "gracefully shutting down…" in terminal.screen
        assert world.snapshot() == before
        as_before(terminal)


@each
@pytest.mark.req("104-73", "104-74", "092-134")
def test_a_signal_ends_it_by_that_signal_and_nothing_is_submitted(world: World, name: str) -> None:
    case = CASES[name]
    before = world.snapshot()
    with running(world, name) as terminal:
        up(terminal, case)
        if case.typed:
            terminal.send(case.typed)
            terminal.until(case.typed_shown)
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"
        assert world.snapshot() == before
        as_before(terminal)


@each
@pytest.mark.req("104-73")
def test_a_closed_window_answers_nothing(world: World, name: str) -> None:
    case = CASES[name]
    before = world.snapshot()
    with running(world, name) as terminal:
        up(terminal, case)
        terminal.hang_up()
        assert terminal.process.wait(30) == -signal.SIGHUP
        assert world.snapshot() == before


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("how", ["menu", "SIGTERM"])
def test_an_end_leaves_nothing_of_the_question(world: World, name: str, how: str) -> None:
    case = CASES[name]
    with running(world, name) as terminal:
        up(terminal, case)
        if how == "menu":
            terminal.press()
            terminal.until(MENU)
            terminal.press()
        else:
            terminal.kill(signal.SIGTERM)
        terminal.wait()
        assert terminal.screen.contents.strip() == "gracefully shutting down…"


# --- stopped and continued


def prompt_is_back(terminal: Terminal) -> Terminal:
    terminal.until(lambda screen: screen.text.rstrip().endswith("$"))
    return terminal


def plain(modes: list[Any]) -> list[Any]:
    """Modes without what a line editor sets while it waits for a command."""
    return [*modes[:3], modes[3] & ~0xFFFF, *modes[4:6]]


stoppable = pytest.mark.parametrize("name", ["use", "rm", "model", "lock"])


@contextmanager
def in_shell(world: World, name: str, which: str, shells: list[str]) -> Iterator[Terminal]:
    """The case's command typed at a shell's prompt, its question up, and what is typed first typed."""
    if which not in shells:
        pytest.skip(f"no {which}")
    case = CASES[name]
    cwd = world.root / case.where
    cwd.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        if case.locked:
            stack.enter_context(world.lock(BETA))
        terminal = stack.enter_context(shell(which, cwd=cwd, columns=200))
        terminal.modes_before = terminal.modes()
        terminal.send(f"{JP} {shlex.join(case.args)}; echo status $?\r".encode())
        up(terminal, case)
        if case.typed:
            terminal.send(case.typed)
            terminal.until(case.typed_shown)
        yield terminal


@stoppable
@pytest.mark.parametrize("which", ["bash", "dash"])
@pytest.mark.parametrize("by", ["key", "signal"])
def test_stopped_the_terminal_is_the_shells_and_fg_brings_the_question_back(
    world: World, name: str, which: str, by: str, shells: list[str]
) -> None:
    case = CASES[name]
    if by == "signal" and which == "dash":
        pytest.skip("as in bash")
    with in_shell(world, name, which, shells) as terminal:
        if by == "key":
            terminal.send(CTRL_Z)
        else:
            os.killpg(terminal.foreground, signal.SIGTSTP)
        terminal.until("topped")
        prompt_is_back(terminal)
        assert plain(terminal.modes()) == plain(terminal.modes_before)
        assert case.shown not in terminal.screen
        terminal.send(b"echo typed $((40+2))\r")
        terminal.until("typed 42")
        prompt_is_back(terminal)
        terminal.send(b"fg\r")
        terminal.until(case.typed_shown or case.shown)
        quiet(terminal)
        answer(terminal, ENTER if case.typed else case.answer)
        prompt_is_back(terminal)
        assert plain(terminal.modes()) == plain(terminal.modes_before)
        assert case.done(world, terminal.screen.contents)


@stoppable
@pytest.mark.req("104-80")
@pytest.mark.parametrize("which", ["bash", "dash"])
def test_continued_in_the_background_it_stops_again_and_nothing_is_submitted(
    world: World, name: str, which: str, shells: list[str]
) -> None:
    case = CASES[name]
    with in_shell(world, name, which, shells) as terminal:
        before = world.snapshot()
        terminal.send(CTRL_Z)
        terminal.until("topped")
        prompt_is_back(terminal)
        for _ in range(2):
            terminal.send(b"bg\r")
            until_stopped(terminal)
            terminal.until(lambda _: plain(terminal.modes()) == plain(terminal.modes_before))
        terminal.send(b"y\r")  # the shell's, not the question's
        terminal.until("not found")
        assert world.snapshot() == before
        assert case.shown not in terminal.screen
        terminal.send(b"fg\r")
        terminal.until(case.typed_shown or case.shown)
        quiet(terminal)
        answer(terminal, ENTER if case.typed else case.answer)
        prompt_is_back(terminal)
        assert case.done(world, terminal.screen.contents)


@stoppable
def test_stopped_behind_its_back_it_is_drawn_again(world: World, name: str) -> None:
    case = CASES[name]
    with running(world, name) as terminal:
        up(terminal, case)
        terminal.kill(signal.SIGSTOP)
        terminal.until(lambda _: "T" in Path(f"/proc/{terminal.pid}/stat").read_text().rpartition(") ")[2][:1])
        terminal.kill(signal.SIGCONT)
        drawn = len(terminal.output)
        terminal.until(lambda _: len(terminal.output) > drawn)
        quiet(terminal)
        answer(terminal, case.answer)
        assert terminal.wait() == "exited 0"
        assert case.done(world, terminal.screen.contents)
        as_before(terminal)


# --- two on one terminal


def test_two_on_one_terminal_wait_their_turn(world: World) -> None:
    with Terminal(["sh", "-c", f"{JP} c rm {ALPHA} & {JP} c rm {BETA}; wait"], cwd=world.root, columns=200) as terminal:
        terminal.until("[y,N,?]?")
        quiet(terminal)
        assert terminal.screen.text.count("[y,N,?]?") == 1
        first = ALPHA if ALPHA in terminal.screen else BETA
        terminal.send(b"y")
        terminal.until(lambda screen: TITLES[{ALPHA: BETA, BETA: ALPHA}[first]] in screen and "[y,N,?]?" in screen)
        assert TITLES[first] not in world.titles
        quiet(terminal)
        terminal.send(b"y")
        assert terminal.wait() == "exited 0"
        assert world.titles == {"gamma"}
        assert terminal.modes() == terminal.modes_before


def test_the_end_of_the_other_ends_the_wait(world: World) -> None:
    with Terminal(["sh", "-c", f"{JP} c rm {ALPHA} | {JP} c rm {BETA}"], cwd=world.root, columns=200) as terminal:
        terminal.until("[y,N,?]?")
        quiet(terminal)
        terminal.press()
        terminal.until(MENU)
        terminal.press()
        terminal.wait()
        terminal.until(lambda _: not session(terminal.leader))
        assert world.titles == set(TITLES.values())
        assert terminal.modes() == terminal.modes_before


# --- where it is drawn


@each
@pytest.mark.req("104-63", "104-99", "104-100")
def test_nothing_of_the_question_is_in_a_pipe(world: World, name: str) -> None:
    case = CASES[name]
    with running(world, name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as terminal:
        up(terminal, case)
        answer(terminal, case.answer)
        assert terminal.wait() == "exited 0"
        out, err = terminal.piped[1].decode(), terminal.piped[2].decode()
        assert case.done(world, out)
        for text in (out, err):
            assert "\x1b" not in text
            assert "\r" not in text
            assert case.shown.split("[")[0].strip() not in text
        if case.args[0] == "q":
            assert out == "Hello from the test model.\n"
        elif name != "workspace":
            assert out == ""
        gone(terminal, case)


@each
@pytest.mark.req("104-100")
def test_a_file_as_stdin_answers_nothing(world: World, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("y\nn\n1\n2\n\n")
    before = world.snapshot()
    with open(prompt) as stdin, running(world, name, stdin=stdin) as terminal:
        up(terminal, case)
        assert world.snapshot() == before
        terminal.send(case.leave)
        assert terminal.wait() == case.cancelled
        gone(terminal, case)


@each
@pytest.mark.req("104-70", "104-72")
def test_what_was_typed_before_answers_nothing_but_a_text(world: World, name: str) -> None:
    case = CASES[name]
    with running(world, name) as terminal:
        terminal.send(b"y\ry1" if name != "model" else b"ahead")
        up(terminal, case)
        if name == "model":
            terminal.until("ahead")
            terminal.send(b"\x15")
        assert "> y" not in terminal.screen
        answer(terminal, case.answer)
        assert terminal.wait() == "exited 0"
        assert case.done(world, terminal.screen.contents)


@each
def test_a_dumb_terminal_is_asked_line_by_line(world: World, name: str) -> None:
    case = CASES[name]
    with running(world, name, env={"TERM": "dumb"}) as terminal:
        up(terminal, case)
        terminal.send(case.line)
        assert terminal.wait() == "exited 0"
        assert case.done(world, terminal.screen.contents)
        assert b"\x1b" not in terminal.output
        assert terminal.modes() == terminal.modes_before


@each
def test_a_dumb_terminal_has_the_menu_and_the_way_back(world: World, name: str) -> None:
    case = CASES[name]
    with running(world, name, env={"TERM": "dumb"}) as terminal:
        up(terminal, case)
        terminal.press()
        terminal.until(MENU)
        terminal.send(b"b\n")
        terminal.until(lambda screen: screen.text.count(case.shown) == 2)
        quiet(terminal)
        terminal.press()
        terminal.until(lambda screen: screen.text.count(MENU) == 2)
        terminal.send(b"q\n")
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before


# --- where nobody can be asked

UNATTENDED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "use": ("exited 1", "not_promptable", ("--new", "--id")),
    "id": ("exited 1", "not_promptable", ("--new", "--id")),
    "default": ("exited 1", "no_active_conversation", ("--new", "--id")),
    "rm": ("exited 0", "", ()),
    "model": ("exited 0", "", ()),
    "inside": ("exited 0", "", ()),
    "home": ("exited 0", "", ()),
    "workspace": ("exited 1", "no_workspace", ("jp init", "--workspace")),
    "lock": ("exited 4", "locked", ("somebody else", "--new", "--id")),
}


@each
@pytest.mark.req("104-87", "104-89", "104-90")
@pytest.mark.parametrize("why", ["--no-interactive", "--non-interactive", "JP_NONINTERACTIVE", "no terminal"])
def test_where_nobody_can_be_asked_it_is_decided_or_a_typed_error(world: World, name: str, why: str) -> None:
    case = CASES[name]
    status, code, names = UNATTENDED[name]
    flags = (why,) if why.startswith("--") else ()
    with running(
        world,
        name,
        args=(*flags, "-F", "json", *case.args),
        env={"JP_NONINTERACTIVE": "1" if why == "JP_NONINTERACTIVE" else None},
        controlling=why != "no terminal",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as terminal:
        assert terminal.wait() == status
        assert terminal.output == b""
        assert terminal.modes() == terminal.modes_before
        records = [json.loads(line) for line in terminal.piped[2].splitlines()]
        _is_decided(world, terminal, records, code, names)


def _is_decided(world: World, terminal: Terminal, records: list[Any], code: str, names: tuple[str, ...]) -> None:
    if not code:
        return
    error = records[-1]
    assert error["code"] == code
    said = json.dumps(error)
    assert all(name in said for name in names), said
    assert terminal.piped[1] == b""
    assert world.titles == set(TITLES.values())


BACKGROUND = {**dict.fromkeys(CASES, "not_promptable"), "lock": "locked", "workspace": "not_promptable"}


@each
@pytest.mark.req("104-75", "104-76", "104-77")
def test_in_the_background_it_is_a_typed_error_and_never_a_stopped_job(world: World, name: str) -> None:
    case = CASES[name]
    before = world.snapshot()
    with running(
        world,
        name,
        args=("-F", "json", *case.args),
        background=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as terminal:
        terminal.wait()
        assert terminal.reports == [f"exited {4 if name == 'lock' else 1}"]
        assert terminal.output == b""
        assert terminal.modes() == terminal.modes_before
        error = json.loads(terminal.piped[2].splitlines()[-1])
        assert error["code"] == BACKGROUND[name]
        if name != "lock":
            assert "background" in error["message"]
        assert world.snapshot() == before


# --- each question's own


def test_a_default_answer_is_no(world: World) -> None:
    case = CASES["rm"]
    with running(world, "rm") as terminal:
        up(terminal, case)
        terminal.send(ENTER)
        assert terminal.wait() == "exited 1"
        assert "nothing was deleted" in terminal.screen
        assert world.titles == set(TITLES.values())


def test_yes_deletes_without_asking(world: World) -> None:
    with running(world, "rm", args=("c", "rm", "-y", "+live")) as terminal:
        assert terminal.wait() == "exited 0"
        assert world.titles == set()


def test_what_goes_is_named_before_and_asked_about_once(world: World) -> None:
    with running(world, "rm", args=("c", "rm", "+live")) as terminal:
        terminal.until("Delete these 3 conversations for good? [y,N,?]?")
        assert all(title in terminal.screen for title in TITLES.values())
        quiet(terminal)
        terminal.send(b"y")
        assert terminal.wait() == "exited 0"
        assert world.titles == set()


def test_a_picked_conversation_is_confirmed_and_then_deleted(world: World) -> None:
    with running(world, "rm", args=("c", "rm", "?")) as terminal:
        terminal.until("Conversation:")
        quiet(terminal)
        answer(terminal, b"alp" + ENTER)
        terminal.until("Delete this conversation for good?")
        quiet(terminal)
        terminal.send(b"y")
        assert terminal.wait() == "exited 0"
        assert world.titles == {"beta", "gamma"}


def test_words_need_a_yes_where_nobody_can_be_asked(world: World, jp: Jp) -> None:
    for target in ("+live", "newest", "r"):
        done = jp("c", "rm", target, "-F", "json", cwd=world.root)
        assert done.status == "exited 2"
        assert "--yes" in done.stderr
        assert world.titles == set(TITLES.values())
    assert jp("c", "rm", "newest", "--yes", cwd=world.root).status == "exited 0"
    assert world.titles == {"alpha", "beta"}


@pytest.mark.req("104-90")
def test_the_picker_begins_with_what_was_asked_for(world: World, jp: Jp) -> None:
    conversations = world.root / ".jp" / "conversations"
    metadata = conversations / f"{ALPHA}-alpha" / "metadata.json"
    metadata.write_text(json.dumps({**json.loads(metadata.read_text()), "pinned_at": "2024-02-01 00:00:00.0"}))
    (conversations / ".archive").mkdir()
    (conversations / f"{BETA}-beta").rename(conversations / ".archive" / f"{BETA}-beta")
    jp("c", "use", GAMMA, cwd=world.root)
    shown = {"?p": {"alpha"}, "?a": {"beta"}, "?s": {"gamma"}, "?": {"alpha", "gamma"}, "?gam": {"gamma"}}
    for target, titles in shown.items():
        with running(world, "use", args=("c", "use", target)) as terminal:
            terminal.until("Conversation:")
            quiet(terminal)
            assert {title for title in TITLES.values() if f" {title} " in terminal.screen.text} == titles, target
            if target == "?gam":
                assert "> gam" in terminal.screen
            terminal.send(ESC)
            assert terminal.wait() == "exited 1"


def test_an_untitled_conversation_is_known_by_what_it_began_with(world: World) -> None:
    directory = world.root / ".jp" / "conversations" / f"{BETA}-beta"
    (directory / "metadata.json").write_text(json.dumps({"last_activated_at": "2024-02-01 00:00:00.0"}))
    asked = {"timestamp": "2024-02-01 00:00:00.0", "type": "chat_request", "content": 'why "quick"\nand é \\ brown?'}
    (directory / "events.json").write_text(json.dumps([asked]))
    with running(world, "use", args=("c", "use", "?quick")) as terminal:
        terminal.until('why "quick" and é \\ brown?')
        quiet(terminal)
        terminal.send(ESC)
        assert terminal.wait() == "exited 1"


def test_an_empty_set_has_nothing_to_choose_from(world: World) -> None:
    with running(world, "use", args=("c", "use", "?p")) as terminal:
        assert terminal.wait() == "exited 1"
        assert "Conversation:" not in terminal.screen


@pytest.mark.req("104-90")
def test_a_new_conversation_is_offered_on_top_and_taken(world: World) -> None:
    with running(world, "default") as terminal:
        up(terminal, CASES["default"])
        assert terminal.screen.lines[2].strip() == "› a new conversation"
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert len(world.titles) == 4


def test_other_commands_do_not_offer_a_new_one(world: World) -> None:
    with running(world, "default", args=("c", "show")) as terminal:
        terminal.until("Conversation:")
        quiet(terminal)
        assert "a new conversation" not in terminal.screen
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"


def test_what_a_title_holds_is_shown_and_does_nothing(world: World) -> None:
    world.conversation("17000000009", "evil", "2025-01-01 00:00:00.0")
    (folder,) = (world.root / ".jp" / "conversations").glob("17000000009*")
    (folder / "metadata.json").write_text(json.dumps({"title": "evil\x1b[2J\x07\nsecond"}))
    with running(world, "use") as terminal:
        terminal.until("Conversation:")
        quiet(terminal)
        assert "evil" in terminal.screen
        assert b"\x1b[2J" not in terminal.output
        terminal.send(ESC)
        terminal.wait()


# --- the lock


@pytest.mark.req("104-87", "092-70")
@pytest.mark.parametrize("on", [b"w", ESC], ids=["w", "escape"])
def test_the_lock_is_asked_about_again_and_again_until_it_is_free(world: World, on: bytes) -> None:
    case = CASES["lock"]
    lock = world.lock(BETA)
    with lock, Terminal([*program(), *case.args], cwd=world.root, columns=200) as terminal:
        up(terminal, case)
        assert "somebody else" in terminal.screen
        drawn = len(terminal.output)
        terminal.send(on)
        terminal.until(lambda screen: len(terminal.output) > drawn and case.shown in screen)
        quiet(terminal)
        lock.release()
        terminal.send(on)
        assert terminal.wait() == "exited 0"
        assert _asked(BETA)(world, "")


@pytest.mark.req("104-87")
def test_a_locked_conversation_is_forked(world: World) -> None:
    case = CASES["lock"]
    with running(world, "lock") as terminal:
        up(terminal, case)
        terminal.send(b"f")
        assert terminal.wait() == "exited 0"
    assert len(list((world.root / ".jp" / "conversations").iterdir())) == 4
    assert [e.get("content") for e in world.events(BETA)] == [None, "beta"]


@pytest.mark.req("104-87")
def test_a_command_with_no_other_way_offers_to_wait_alone(world: World) -> None:
    args = ("-c", "style.lock_wait.timeout_secs=0", "c", "edit", BETA)
    with world.lock(BETA), running(world, "rm", args=args, env={"EDITOR": "true"}) as terminal:
        terminal.until("Still locked:")
        assert "[w,c,?]?" in terminal.screen
        quiet(terminal)
        terminal.send(b"c")
        assert terminal.wait() == "exited 4"
        assert "somebody else" in terminal.screen


# --- jp init


def test_a_refused_model_is_asked_for_again_with_the_reason(world: World) -> None:
    case = CASES["model"]
    with running(world, "model") as terminal:
        up(terminal, case)
        answer(terminal, b"nonsense" + ENTER)
        terminal.until(lambda screen: "nonsense" in screen and screen.text.count("nonsense") > 1)
        quiet(terminal)
        terminal.send(b"\x15")
        terminal.until(lambda screen: "provider/name" in screen)
        answer(terminal, case.answer)
        assert terminal.wait() == "exited 0"
        assert case.done(world, "")


def test_an_empty_model_decides_later(world: World) -> None:
    case = CASES["model"]
    with running(world, "model") as terminal:
        up(terminal, case)
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert "# id =" in (world.root.parent / "fresh" / ".jp" / "config.toml").read_text()
        assert "ask a model by:" in terminal.screen


# --- the workspace


@pytest.mark.req("104-89")
def test_a_chosen_workspace_is_the_one_the_command_works_in(world: World) -> None:
    with running(world, "workspace", args=("q", "-n", "hi")) as terminal:
        up(terminal, CASES["workspace"])
        assert str(world.root) in terminal.screen
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert len(world.titles) == 4


@pytest.mark.req("104-89")
@pytest.mark.parametrize("known", [None, "[]", "nonsense", '{"a": 1}', '["/nowhere"]'])
def test_without_a_known_workspace_there_is_nothing_to_choose(world: World, known: str | None) -> None:
    path = Path(os.environ["XDG_STATE_HOME"]) / "jp" / "workspaces.json"
    path.unlink() if known is None else path.write_text(known)
    with running(world, "workspace") as terminal:
        assert terminal.wait() == "exited 1"
        assert "jp init" in terminal.screen
        assert "Use:" not in terminal.screen.contents


@pytest.mark.req("104-89")
def test_a_query_makes_a_workspace_known_and_the_last_comes_first(world: World, jp: Jp) -> None:
    from jp.cli.known import known_workspaces, remember_workspace

    other = world.root.parent / "other"
    (other / ".jp").mkdir(parents=True)
    remember_workspace(os.environ, str(other))
    assert known_workspaces(os.environ) == [str(other), str(world.root)]
    jp("q", "-n", "hi", cwd=world.root)
    assert known_workspaces(os.environ) == [str(world.root), str(other)]


def test_a_few_are_known_and_those_that_are_gone_are_not_offered(tmp_path: Path) -> None:
    from jp.cli.known import KEPT, known_workspaces, remember_workspace

    roots = [str(tmp_path / f"w{n}") for n in range(KEPT + 5)]
    for root in roots:
        os.makedirs(os.path.join(root, ".jp"))
        remember_workspace(os.environ, root)
    assert known_workspaces(os.environ) == roots[::-1][:KEPT]
    os.rmdir(os.path.join(roots[-1], ".jp"))
    assert known_workspaces(os.environ) == roots[::-1][1:KEPT]
    assert known_workspaces({}) == []
    remember_workspace({}, roots[0])


# --- a listing in a pipe


@pytest.mark.req("104-101")
def test_a_listing_in_a_pipe_may_ask(world: World) -> None:
    where = world.root.parent / "fresh"
    where.mkdir()
    with Terminal(["sh", "-c", f"{JP} c ls | cat -v"], cwd=where, columns=200) as terminal:
        up(terminal, CASES["workspace"])
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert all(title in terminal.screen for title in TITLES.values())
        assert "^[" not in terminal.screen


@pytest.mark.req("104-102")
def test_a_listing_in_a_pipe_is_kept_from_asking(world: World) -> None:
    where = world.root.parent / "fresh"
    where.mkdir()
    with Terminal(["sh", "-c", f"{JP} --no-interactive c ls | cat -v"], cwd=where, columns=200) as terminal:
        terminal.wait()
        assert "Use:" not in terminal.screen.contents
        assert "no workspace found" in terminal.screen
        assert "--workspace" in terminal.screen


# --- a label whose value a command gives

LABEL = """
[conversation.labels.branch]
value = { cmd = "printf '%s\\\\n' main" }
run = "{run}"
"""


def _labelled(run: str, cmd: str = "") -> None:
    """Settings of the user's own that have the value of a label come from a command."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "jp" / "config.toml"
    config.parent.mkdir(parents=True)
    text = LABEL.replace("{run}", run)
    config.write_text(text.replace("printf '%s\\\\n' main", cmd) if cmd else text)


def _labels_of(world: World) -> list[Any]:
    folders = (world.root / ".jp" / "conversations").iterdir()
    made = [folder for folder in folders if folder.name.partition("-")[2] not in TITLES.values()]
    return [json.loads((folder / "metadata.json").read_text()).get("labels") for folder in made]


NEW_ONE = ("q", "-n", "hi")


@pytest.mark.req("104-86")
@pytest.mark.parametrize(("key", "labels"), [(b"y", {"branch": ["main"]}), (b"n", None), (ESC, None)])
def test_a_labels_command_is_asked_about(world: World, key: bytes, labels: object) -> None:
    _labelled("ask")
    with running(world, "id", args=NEW_ONE, stdout=subprocess.PIPE) as terminal:
        terminal.until("Run this command for the label `branch`? [y,N,?]?")
        assert "printf" in terminal.screen
        assert _labels_of(world) == []
        quiet(terminal)
        terminal.send(key)
        assert terminal.wait() == "exited 0"
        assert terminal.piped[1] == b"Hello from the test model.\n"
        assert _labels_of(world) == [labels]
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("104-86")
def test_a_labels_command_that_nobody_can_approve_is_a_typed_error(world: World, jp: Jp) -> None:
    _labelled("ask")
    done = jp(*NEW_ONE, "-F", "json", cwd=world.root)
    assert done.status == "exited 1"
    error = json.loads(done.stderr)
    assert error["code"] == "not_promptable"
    assert "conversation.labels.branch.run" in json.dumps(error)
    assert _labels_of(world) == []


@pytest.mark.parametrize(("run", "labels"), [("unattended", {"branch": ["main"]}), ("deny", None)])
def test_a_labels_command_that_is_decided_is_not_asked_about(world: World, jp: Jp, run: str, labels: object) -> None:
    _labelled(run)
    assert jp(*NEW_ONE, cwd=world.root).status == "exited 0"
    assert _labels_of(world) == [labels]


@pytest.mark.parametrize("cmd", ["false", "/no/such/program", "'", ""])
def test_a_labels_command_that_fails_makes_nothing(world: World, jp: Jp, cmd: str) -> None:
    _labelled("unattended", cmd or " ")
    done = jp(*NEW_ONE, "-F", "json", cwd=world.root)
    assert done.status == "exited 1"
    assert json.loads(done.stderr)["code"] == "label_command"
    assert _labels_of(world) == []


@pytest.mark.usefixtures("no_leftovers")
def test_a_labels_command_is_interrupted(world: World) -> None:
    _labelled("unattended", "sleep 1000")
    with running(world, "id", args=NEW_ONE) as terminal:
        terminal.until("Reading the output of `sleep 1000`")
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert _labels_of(world) == []


# --- the question around an editor


@pytest.mark.req("104-88")
def test_what_an_editor_left_broken_is_asked_about_and_else_refused_without_asking(
    world: World, tmp_path: Path
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nfor f; do echo "[" > "$f"; done\n')
    editor.chmod(0o755)
    args = ("c", "edit", BETA)
    before = world.events(BETA)
    with running(world, "rm", args=args, env={"EDITOR": str(editor)}) as terminal:
        terminal.until("[e,r,?]?")
        quiet(terminal)
        terminal.send(b"r")
        assert terminal.wait() == "exited 1"
        assert terminal.modes() == terminal.modes_before
    with running(world, "rm", args=("--no-interactive", *args), env={"EDITOR": str(editor)}) as terminal:
        assert terminal.wait() == "exited 1"
        assert "[e,r,?]?" not in terminal.screen.contents
        assert "--no-interactive forbids asking" in terminal.screen
    assert world.events(BETA) == before
