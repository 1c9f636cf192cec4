"""A configuration that somebody else has written ends in an error, not in a JP that hangs or eats all memory."""

import glob
import os
import re
from pathlib import Path

import pytest

from jp.config.errors import ExtendsError, SyntaxFault, UnreadableFileError
from jp.config.files import MOST_NESTED
from jp.config.globs import MOST_MATCHES, Budget, TooMuch, find
from jp.config.load import Paths, load
from jp.config.read import MOST_BYTES
from jp.interrupt import checkpoint
from jp.interrupt.end import Cause
from jp.interrupt.token import Shutdown, ShutdownToken
from tests.config.conftest import Write

SUFFIXES = (".toml",)


def search(pattern: str, budget: Budget | None = None) -> list[str]:
    return find(pattern, SUFFIXES, budget or Budget())


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero here")
@pytest.mark.parametrize("argument", ["extends", "--cfg"])
def test_a_file_without_end_is_an_error(paths: Paths, write: Write, argument: str) -> None:
    if argument == "extends":
        write("ws/.jp/config.toml", 'extends = ["/dev/zero"]')
    why = "/dev/zero: larger than 4 MiB" if argument == "--cfg" else "/dev/zero: not a regular file"
    with pytest.raises(UnreadableFileError, match=why) as caught:
        load(paths, {}, cfg=["/dev/zero"] if argument == "--cfg" else [])
    assert [f"{paths.workspace_root}/.jp/config.toml extends it"] * (argument == "extends") == list(caught.value.hints)


def test_the_largest_file_is_read_and_a_byte_more_is_not(paths: Paths, write: Write) -> None:
    text = 'assistant.name = "x"\n#'
    path = write("ws/.jp/config.toml", text.ljust(MOST_BYTES, "."))
    assert load(paths, {}).root.assistant.name == "x"
    write("ws/.jp/config.toml", text.ljust(MOST_BYTES + 1, "."))
    with pytest.raises(UnreadableFileError, match=re.escape(f"{path}: larger than 4 MiB")):
        load(paths, {})


def test_a_glob_over_too_many_files_is_an_error_that_names_it(paths: Paths, write: Write) -> None:
    file = write("ws/.jp/config.toml", 'extends = ["many/*"]')
    for number in range(MOST_MATCHES + 1):
        write(f"ws/.jp/many/{number}.toml", "")
    with pytest.raises(ExtendsError) as caught:
        load(paths, {})
    assert caught.value.message == f'{file}: extends "many/*" finds more than 4,096 files'


@pytest.mark.parametrize("pattern", ["**/*", "**", "*/*/*", "**/*/**/*", "**/**/**/**/**/*.none"])
def test_a_glob_looks_at_no_more_than_it_may(write: Write, tmp_path: Path, pattern: str) -> None:
    for number in range(200):
        write(f"{number % 10}/{number % 7}/{number}.toml", "")
    search(f"{tmp_path}/{pattern}", Budget(2_000))
    with pytest.raises(TooMuch, match="more than 50 files and directories to look at"):
        search(f"{tmp_path}/{pattern}", Budget(50))


def test_all_globs_of_one_file_share_what_they_may_look_at(tmp_path: Path, write: Write) -> None:
    for number in range(10):
        write(f"{number}.toml", "")
    budget = Budget(25)
    search(f"{tmp_path}/*", budget)
    search(f"{tmp_path}/*", budget)
    with pytest.raises(TooMuch):
        search(f"{tmp_path}/*", budget)


def test_a_link_to_a_directory_above_is_followed_once(tmp_path: Path, write: Write) -> None:
    write("a/x.toml", "")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert {os.path.realpath(path) for path in search(f"{tmp_path}/**/*", Budget(200))} == {f"{tmp_path}/a/x.toml"}


PATTERNS = ["*", "**", "**/*", "*.toml", "a/**/*.toml", "**/b/*", ".*", "**/.*", "?.toml", "[xy].toml", "*/x.toml"]
PATTERNS += ["**/x.toml", "none/**/*", "**/**", "**/.h/*", "a/*/../*", "[", "a*/**/b/**/*.toml", ".h/**/*"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_finds_what_a_glob_finds(tmp_path: Path, write: Write, pattern: str) -> None:
    for name in ("x", "y", "a/x", "a/b/x", "a/b/c/y", ".h/x", "a/.h/y", ".z", "a/.z", "b/x", "[/x", "ab/b/x"):
        write(f"{name}.toml", "")
        write(f"{name}.txt", "")
    full = os.path.normpath(f"{tmp_path}/{pattern}")
    expected = {path for path in glob.glob(full, recursive=True) if path.endswith(SUFFIXES) and os.path.isfile(path)}
    assert search(full) == sorted(expected)


def test_files_that_extend_each_other_too_deeply_are_an_error(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'extends = ["0.toml"]')
    for number in range(MOST_NESTED):
        write(f"ws/.jp/{number}.toml", f'extends = ["{number + 1}.toml"]')
    with pytest.raises(ExtendsError, match=f"deeper than {MOST_NESTED} files"):
        load(paths, {})


LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))


def test_anchors_that_double_without_end_are_an_error(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.yaml", LAUGHS)
    with pytest.raises(SyntaxFault, match="more than 200,000 values"):
        load(paths, {})


@pytest.fixture
def pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graceful shutdown that has begun."""
    token = ShutdownToken()
    monkeypatch.setattr(checkpoint, "_token", checkpoint._token)
    monkeypatch.setattr(checkpoint, "_cancelled", checkpoint._cancelled)
    checkpoint.watch(token)
    token.cancel(Cause.PRESS)


@pytest.mark.usefixtures("pressed")
def test_a_press_ends_the_search_and_the_reading(tmp_path: Path, paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", "assistant.name = 'x'")
    with pytest.raises(Shutdown):
        search(f"{tmp_path}/**/*")
    with pytest.raises(Shutdown):
        load(paths, {})
