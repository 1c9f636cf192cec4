"""Whether a question is asked, in every cell of RFD 104: three redirections, the flags, the environment, the group.

The expectation is worked out here, from the RFD's order; the program is started in each cell.
"""

import contextlib
import itertools
import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import program
from tests.support.terminal import ESC, Terminal
from tests.terminal.test_choices import quiet

FOREGROUND, BACKGROUND, NOWHERE = "foreground", "background", "no terminal"
FLAGS = ((), ("--interactive",), ("--no-interactive",))
REDIRECTIONS = tuple(itertools.product((False, True), repeat=3))
SOME = ((False, False, False), (True, True, True), (False, True, False))


class Cell(NamedTuple):
    """Where a command is started."""

    redirected: tuple[bool, bool, bool]
    flags: tuple[str, ...]
    environment: bool
    place: str


def expected(cell: Cell) -> str:
    """What the RFD says: `asks`, `unattended`, `not now` (a typed error), `no terminal` (an error at the start).

    In its order: an assertion that fails, the command line, the environment, the terminal; then the moment. What is
    redirected has no say.
    """
    there = cell.place != NOWHERE
    if "--interactive" in cell.flags:
        promptable = True
        if not there:
            return "no terminal"
    elif "--no-interactive" in cell.flags or cell.environment:
        promptable = False
    else:
        promptable = there
    if not promptable:
        return "unattended"
    return "asks" if cell.place == FOREGROUND else "not now"


class Command(NamedTuple):
    """A command that asks: what it shows, and how it ends when it is left, and where nobody can be asked."""

    args: tuple[str, ...]
    shown: str
    left: str
    unattended: str
    code: str
    names: str


COMMANDS = {
    "query": Command(("query",), "Query:", "exited 0", "exited 1", "no_query", "jp query"),
    "rm": Command(("c", "rm", "+live"), "for good? [y,N,?]?", "exited 1", "exited 2", "usage", "--yes"),
}


def start(stack: contextlib.ExitStack, command: Command, cell: Cell, cwd: Path) -> Terminal:
    stdin, stdout, stderr = cell.redirected
    return stack.enter_context(
        Terminal(
            [*program(), *cell.flags, "-F", "json", *command.args],
            cwd=cwd,
            env={"JP_NONINTERACTIVE": "1" if cell.environment else None},
            background=cell.place == BACKGROUND,
            controlling=cell.place != NOWHERE,
            stdin=subprocess.DEVNULL if stdin else None,
            stdout=subprocess.PIPE if stdout else None,
            stderr=subprocess.PIPE if stderr else None,
            columns=400,
        )
    )


def check(command: Command, cell: Cell, terminal: Terminal) -> None:
    outcome = expected(cell)
    if outcome == "asks":
        terminal.until(command.shown, alive=True)
        quiet(terminal)
        assert not any(terminal.piped.values())
        terminal.send(ESC)
    ended = terminal.wait()
    assert terminal.modes() == terminal.modes_before
    assert b"\x1b" not in terminal.piped[1] + terminal.piped[2]
    assert command.shown.encode() not in terminal.piped[1] + terminal.piped[2]
    if outcome == "asks":
        assert ended == command.left
        return
    assert command.shown.encode() not in terminal.output
    assert b"\x1b" not in terminal.output
    assert not any(report.startswith("stopped") for report in terminal.reports)
    said = terminal.piped[2].decode() or terminal.screen.contents
    error = json.loads(said.strip().splitlines()[-1])
    if outcome == "unattended":
        assert (ended, error["code"]) == (command.unattended, command.code)
        assert command.names in json.dumps(error)
    else:
        assert (ended, error["code"]) == ("exited 1", "not_promptable")
        assert ("background" if outcome == "not now" else "--interactive was given") in error["message"]
    assert terminal.piped[1] == b""


@pytest.mark.req("104-3", "104-28", "104-29", "104-30", "104-31", "104-32", "104-33", "104-34", "104-35", "104-36")
@pytest.mark.req("104-37", "104-38", "104-39", "104-40", "104-41", "104-42", "104-43", "104-44", "104-45", "104-75")
@pytest.mark.parametrize("place", [FOREGROUND, BACKGROUND, NOWHERE])
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_cell(workspace: Path, name: str, flags: tuple[str, ...], place: str) -> None:
    command = COMMANDS[name]
    if name == "rm":
        _one_conversation(workspace)
    before = sorted(workspace.rglob("*"))
    for environment in (False, True):
        cells = [Cell(each, flags, environment, place) for each in (SOME if environment else REDIRECTIONS)]
        with contextlib.ExitStack() as stack:  # at the same time: each has a terminal of its own
            for cell, terminal in [(cell, start(stack, command, cell, workspace)) for cell in cells]:
                try:
                    check(command, cell, terminal)
                except AssertionError as error:
                    error.add_note(f"{cell}: {expected(cell)}")
                    raise
    assert sorted(workspace.rglob("*")) == before


def _one_conversation(workspace: Path) -> None:
    folder = workspace / ".jp" / "conversations" / "17000000001-alpha"
    folder.mkdir(parents=True)
    for name, content in {"metadata": {"title": "alpha"}, "base_config": {}, "events": []}.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


@pytest.mark.req("104-46", "104-47", "104-48", "104-49", "104-50", "104-51", "104-56", "104-57")
@pytest.mark.parametrize("place", [FOREGROUND, BACKGROUND, NOWHERE])
def test_both_flags_are_a_usage_error_in_every_cell(workspace: Path, place: str) -> None:
    for off, environment in itertools.product(("--no-interactive", "--non-interactive"), (False, True)):
        cell = Cell((False, False, True), ("--interactive", off), environment, place)
        with contextlib.ExitStack() as stack:
            terminal = start(stack, COMMANDS["query"], cell, workspace)
            assert terminal.wait() == "exited 2"
            assert "contradict" in json.loads(terminal.piped[2])["message"]
            assert terminal.output == b""
            assert terminal.modes() == terminal.modes_before
    assert not os.listdir(os.environ["HOME"])
