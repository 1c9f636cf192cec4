"""Which installer is taken, what it is told, and what its last words come to."""

import importlib.util
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from jp.llm.embedded import installer
from jp.llm.embedded.install import install
from jp.llm.embedded.installer import BadPackageError, Fetching, Installer, NoSpaceError, environment, failure, find
from jp.llm.embedded.part import SourceError
from tests.embedded.fakes import build_model, noise


@pytest.fixture
def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else found(name))


def program(directory: Path, name: str) -> str:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_pip_of_this_python_comes_first() -> None:
    tool = find({})
    assert tool.command[:4] == (sys.executable, "-P", "-m", "pip")
    assert {"--no-cache-dir", "--no-deps", "--no-input", ":all:"} <= set(tool.command)
    assert not tool.unpacks


def test_then_uv_then_any_pip(tmp_path: Path, without_pip: None) -> None:
    environ = {"PATH": str(tmp_path / "bin")}
    with pytest.raises(SourceError, match="neither pip nor uv"):
        find(environ)
    pip = program(tmp_path / "bin", "pip3")
    assert find(environ).command[0] == pip
    uv = program(tmp_path / "bin", "uv")
    assert find(environ).command[0] == uv
    assert find(environ).unpacks


def test_uv_is_told_what_pip_is_told() -> None:
    uv = Installer("uv", (), unpacks=True)
    environ = {
        "PIP_INDEX_URL": "https://mirror/simple",
        "PIP_EXTRA_INDEX_URL": "x",
        "UV_INDEX": "y",
        "PIP_FIND_LINKS": "a b",
    }
    told = environment(uv, environ, "/d")
    assert told["UV_DEFAULT_INDEX"] == "https://mirror/simple"
    assert told["UV_INDEX"] == "y", "what the user tells uv itself wins"
    assert told["UV_FIND_LINKS"] == "a,b"
    assert told["TMPDIR"] == "/d"


@pytest.mark.parametrize(
    ("log", "kind", "says"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device\n", NoSpaceError, ""),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM\n Expected…", BadPackageError, "another file"),
        ("error: Hash mismatch for `toy==1`\n", BadPackageError, "another file"),
        (
            "WARNING: Retrying … NameResolutionError(… Name or service not known)\nERROR: No matching distribution",
            SourceError,
            "it can't be reached: Name or service not known",
        ),
        ("WARNING: a\nERROR: first\nERROR: last\n", SourceError, "pip says: last"),
        ("Traceback\nValueError: x\n", SourceError, "pip says: ValueError: x"),
        ("", SourceError, "pip says: exit status 3"),
    ],
)
def test_last_words(log: str, kind: type[Exception], says: str) -> None:
    error = failure("pip", log, 3)
    assert type(error) is kind
    assert says in str(error)


def test_uv_fetches_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_pip: None) -> None:
    if shutil.which("uv") is None:
        pytest.skip("no uv on the PATH: the way without pip was not tried")
    pieces = [noise(200_000, 1), noise(100_000, 2)]
    model = build_model(tmp_path / "links", pieces)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    assert installer.find(os.environ).name == "uv"
    done = install(model, os.environ, lambda event: None)
    assert Path(done.path).read_bytes() == b"".join(pieces)


def test_where_nobody_can_take_its_words_it_is_not_started(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    tool = Installer("pip", ("touch", str(mark)), unpacks=False)
    (tmp_path / "fetch").mkdir()
    before = set(os.listdir("/dev/fd"))
    size = threading.stack_size(1 << 47)  # more than can be addressed: no thread starts
    try:
        with pytest.raises(SourceError, match="pip can't be run: can't start new thread"):
            Fetching(tool, build_model(tmp_path, [b"x"]).pieces[0], str(tmp_path / "fetch"), os.environ)
    finally:
        threading.stack_size(size)
    assert set(os.listdir("/dev/fd")) == before
    assert not mark.exists()
