"""Rules that hold for the whole source: who may ask what a descriptor is, and that there is one Printer.

The tree is read as syntax, so that a comment or a help text may speak of all of it.
"""

import ast
import inspect
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.terminal.capabilities import Format, resolve
from jp.terminal.printer import Printer
from tests.terminal_unit.properties import patient

SOURCE = Path(__file__).parents[2] / "src" / "jp"
TESTS = Path(__file__).parents[1]
OWNERS = ("terminal", "prompt")

# Not a question of what may be shown or asked: putting escapes back when everything else is gone.
EXCEPTIONS = {"interrupt/end.py", "plugin/sdk/plugin.py"}  # the second is in a process of its own


@cache
def trees(root: Path = SOURCE) -> list[tuple[str, ast.Module]]:
    """Every module under `root`, by its path."""
    paths = (path for path in sorted(root.rglob("*.py")) if "__pycache__" not in path.parts)
    return [(path.relative_to(root).as_posix(), ast.parse(path.read_text("utf-8"))) for path in paths]


def outside() -> Iterator[tuple[str, ast.Module]]:
    """The modules that are handed values."""
    return ((name, tree) for name, tree in trees() if name.split("/")[0] not in OWNERS)


def called(node: ast.AST) -> str:
    """The last name of what is called or referred to."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def docstrings(tree: ast.Module) -> set[int]:
    """The ids of the constants that are documentation."""
    found = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            found.add(id(first.value))
    return found


def names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Parameters, fields and variables, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.value.lineno
        elif isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno


def test_there_is_source_to_search() -> None:
    assert len(trees()) > 20
    assert 0 < len(list(outside())) < len(trees())


@pytest.mark.req("104-6")
def test_only_the_terminal_and_prompt_packages_look_at_a_descriptor() -> None:
    asking = {"isatty", "ttyname", "ctermid"}
    opening = {"/dev/tty", "CONIN$", "CONOUT$"}
    found = []
    for name, tree in outside():
        documentation = docstrings(tree)
        for node in ast.walk(tree):
            opened = isinstance(node, ast.Constant) and node.value in opening and id(node) not in documentation
            if opened or called(node) in asking:
                found.append(f"{name}:{getattr(node, 'lineno', 0)}")
    assert [place for place in found if place.partition(":")[0] not in EXCEPTIONS] == []


@pytest.mark.req("104-7")
def test_no_single_flag_says_on_a_terminal() -> None:
    flags = {"is_tty", "istty", "on_tty", "on_terminal", "in_terminal", "on_a_terminal", "has_tty", "stdout_is_tty"}
    found = [
        f"{name}:{line}"
        for name, tree in trees()
        for word, line in names(tree)
        if word in flags or (word.endswith("is_tty") and word != "is_tty")
    ]
    assert found == []


@pytest.mark.req("104-106")
def test_the_platform_is_chosen_in_one_place() -> None:
    """Callers of the terminal have no platform branch; the console's names stand in one file."""
    consoles, branches, callers = set(), set(), set()
    for name, tree in trees():
        documentation = docstrings(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
                if "CONIN$" in node.value or "CONOUT$" in node.value:
                    consoles.add(name)
            elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.platform", "os.name"):
                branches.add(name)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jp.terminal"):
                callers.add(name)
    assert consoles - {"terminal/windows.py"} == set()
    assert {name for name in callers & branches if not name.startswith("terminal/")} == set()
    assert {name for name in branches if name.startswith("terminal/")} <= {
        "terminal/system.py",
        "terminal/posix.py",
        "terminal/windows.py",
    }


@pytest.mark.req("104-106")
@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_the_other_platforms_check_clean(platform: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--platform", platform, "--cache-dir", str(tmp_path), "-p", "jp.terminal"]
    done = subprocess.run(command, cwd=SOURCE.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.req("104-105")
def test_on_windows_both_halves_of_the_console_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform's own file, run over a stand-in for the system's calls: nothing of it has run on Windows."""
    consoles = {"CONIN$": 10, "CONOUT$": 11}
    opened: list[int] = []

    def fake_open(name: str, _flags: int) -> int:
        if name not in consoles:
            raise FileNotFoundError(2, "no console", name)
        opened.append(consoles[name])
        return consoles[name]

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "O_BINARY", 0, raising=False)
    monkeypatch.setitem(sys.modules, "msvcrt", ModuleType("msvcrt"))
    windows = runpy.run_path(str(SOURCE / "terminal" / "windows.py"))
    monkeypatch.setattr(os, "open", fake_open)
    monkeypatch.setattr(os, "close", opened.remove)
    monkeypatch.setattr(os, "isatty", lambda _: True)
    assert windows["open_terminal"]() == (10, 11)
    assert opened == [10, 11]
    for half in ("CONIN$", "CONOUT$"):
        opened.clear()
        fd = consoles.pop(half)
        with pytest.raises(OSError, match="no console"):
            windows["open_terminal"]()
        assert opened == [], "the other half is given back"
        consoles[half] = fd


@pytest.mark.req("104-111")
def test_there_is_one_printer() -> None:
    printers = [
        (name, node.name)
        for root in (SOURCE, TESTS)
        for name, tree in trees(root)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and (node.name.endswith("Printer") or any("Printer" in ast.unparse(base) for base in node.bases))
    ]
    assert printers == [("terminal/printer.py", "Printer")]
    assert Printer.__mro__ == (Printer, object)


@pytest.mark.req("104-112")
def test_no_destination_can_be_replaced_without_its_capabilities() -> None:
    """There is no such call: descriptors and buffers go in where a Printer is made, and nowhere else."""
    public = {name: member for name, member in inspect.getmembers(Printer) if not name.startswith("_")}
    makers = {"for_process", "memory", "memory_with"}
    for name, member in public.items():
        if isinstance(member, property):
            assert member.fset is None or name in {"on_closed", "on_hangup", "max_latency"}
        elif name not in makers:
            parameters = set(inspect.signature(member).parameters)
            assert not parameters & {"fd", "file", "stream", "sink", "writer", "buffer", "caps", "out", "err"}, name


@pytest.mark.req("104-20")
def test_capabilities_are_decided_in_one_place() -> None:
    found = [
        name
        for name, tree in outside()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Call) and called(node.func) == "ChannelCaps")
        or (isinstance(node, ast.Attribute) and node.attr == "addressable" and isinstance(node.ctx, ast.Store))
    ]
    assert found == []


VARIABLES = [
    "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", "CI", "JP_NONINTERACTIVE",
    "JP_SESSION", "JP_EDITOR", "JP_LOG_FILE", "JP_DEBUG", "JP_STYLE_MARKDOWN_HYPERLINKS", "TERM_PROGRAM", "TMUX", "STY",
]  # fmt: skip


@pytest.mark.req("104-20")
@patient
@given(
    st.sampled_from(list(Format)),
    st.dictionaries(st.sampled_from(VARIABLES), st.sampled_from(["", "0", "1", "true", "always", "never"])),
    st.booleans(),
    st.booleans(),
)
def test_nothing_a_user_sets_turns_addressability(
    format_: Format, environ: dict[str, str], out_tty: bool, err_tty: bool
) -> None:
    out, err = resolve(format_, out_tty=out_tty, err_tty=err_tty, environ={"TERM": "xterm", **environ})
    assert (out.addressable, err.addressable) == (out_tty, err_tty)


def test_only_the_posix_part_knows_termios() -> None:
    found = [
        name
        for name, tree in trees()
        if name.startswith("terminal/") and name != "terminal/posix.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if alias.name in ("termios", "tty", "fcntl") and not isinstance(node, ast.ImportFrom)
    ]
    assert found == []


def test_the_worker_is_the_only_one_that_writes() -> None:
    """Nothing in the package writes to a descriptor but the sinks and the wake-up pipe."""
    found = {
        name
        for name, tree in trees()
        if name.startswith("terminal/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.write", "print", "sys.stdout.write")
    }
    assert found <= {"terminal/sink.py", "terminal/posix.py"}
