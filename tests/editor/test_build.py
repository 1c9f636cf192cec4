"""Where an editor comes from."""

import ast
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jp.config.sections.interaction import EDITOR_VARIABLES, Editor, Inline
from jp.config.sections.tools import Command
from jp.editor.backend import EditorBackend, EditOutcome, EditRequest
from jp.editor.build import build_editor, missing
from jp.errors import JpError
from tests.conftest import REPOSITORY
from tests.editor.conftest import Script


def section(cmd: str | Command | None) -> Editor:
    return Editor(envs=list(EDITOR_VARIABLES), inline=Inline("emacs"), cmd=cmd)


@contextmanager
def hand_over() -> Iterator[int | None]:
    fd = os.open(os.devnull, os.O_RDWR)
    yield fd
    os.close(fd)


def build(cmd: str | Command | None, environ: dict[str, str], said: list[str] | None = None) -> EditorBackend | None:
    say = [].append if said is None else said.append
    return build_editor(section(cmd), environ, hand_over=hand_over, router=None, say=say)


@pytest.mark.req("088-38")
def test_no_editor_is_no_backend() -> None:
    assert build(None, {}) is None
    assert build("", {"EDITOR": ""}) is None


def test_the_error_says_what_was_looked_for_and_how_to_set_one() -> None:
    error = missing(section(None), {})
    assert isinstance(error, JpError)
    assert error.code == "editor_missing"
    for name in ("editor.cmd", *EDITOR_VARIABLES):
        assert name in error.message
    assert any("editor.cmd" in hint and "JP_EDITOR" in hint for hint in error.hints)


def test_a_broken_command_is_told_and_named_in_the_error() -> None:
    said: list[str] = []
    assert build("vim '", {"EDITOR": "vim"}, said) is None
    assert len(said) == 1
    assert said[0] in missing(section("vim '"), {}).hints


@pytest.mark.req("088-51", "088-53")
def test_one_editor_for_texts_and_files(script: Script, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    log = tmp_path / "log"
    program = script(f'echo "$1" >>{log}; for last; do :; done; echo new >"$last"')
    for cmd, environ in ((f"{program} -w", {"EDITOR": "false"}), (None, {"JP_EDITOR": f"{program} -w"})):
        backend = build(cmd, {**environ, "PATH": os.environ["PATH"]})
        assert backend is not None
        assert backend.edit_text("old") == (EditOutcome.SAVED, "new")
        assert backend.edit_file(EditRequest((str(tmp_path / "file"),))) is EditOutcome.SAVED
    assert log.read_text() == "-w\n" * 4


@pytest.mark.req("088-39")
def test_nothing_else_makes_one() -> None:
    using = set()
    for path in (REPOSITORY / "src" / "jp").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Call):
                names.append(ast.unparse(node.func).rpartition(".")[2])
            if "TerminalEditor" in names:
                using.add(path.name)
    assert using == {"build.py"}
