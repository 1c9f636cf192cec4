"""Which files are plugins, what they answer to, and which of them answers."""

import os
import sys
import time
from pathlib import Path

import pytest

from jp.plugin.discovery import BUNDLED, INSTALLED, ON_PATH, Found, find, route
from jp.plugin.messages import Description
from tests.plugin.scripts import install_directory, script

SH = "#!/bin/sh\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No plugins beside this interpreter."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no" / "python"))


def found(*directories: Path | str) -> list[Found]:
    return find({**os.environ, "PATH": os.pathsep.join(map(str, directories))})


def names(*directories: Path | str) -> list[str]:
    return [each.name for each in found(*directories)]


def described(name: str, *command: str, origin: str = ON_PATH) -> Found:
    said = Description(name="x", version="1", description="x", command=list(command)) if command else None
    return Found(name, f"/bin/jp-{name}", origin).described(said, "")


@pytest.mark.req("PROTO-1")
def test_what_is_installed_comes_first_then_path_in_its_order(tmp_path: Path):
    one, two, own = tmp_path / "one", tmp_path / "two", install_directory()
    for directory, file in ((own, "jp-a"), (one, "jp-a"), (one, "jp-b"), (two, "jp-b"), (two, "jp-c")):
        script(directory / file, SH)
    script(two / "other", SH)
    assert [(each.name, each.path, each.origin) for each in found(one, two)] == [
        ("a", str(own / "jp-a"), INSTALLED),
        ("b", str(one / "jp-b"), ON_PATH),
        ("c", str(two / "jp-c"), ON_PATH),
    ]


def test_what_can_not_be_run_is_none(tmp_path: Path):
    bin_ = tmp_path / "bin"
    (bin_ / "jp-directory").mkdir(parents=True)
    (bin_ / "jp-dangling").symlink_to(tmp_path / "nothing")
    (bin_ / "jp-round").symlink_to(bin_ / "jp-round")
    (bin_ / "jp-data").write_text(SH)
    os.mkfifo(bin_ / "jp-fifo", 0o777)
    (bin_ / "jp-link").symlink_to(script(tmp_path / "elsewhere", SH))
    script(bin_ / "jp-text", "no shebang\n")  # whether it can be started is seen when it is
    assert names(bin_) == ["link", "text"]


@pytest.mark.parametrize("name", ["", "-x", "a b", "a\x1b[2J", "a\nb", "a\u202eb", os.fsdecode(b"\xff"), "a\u00a0b"])
def test_a_name_that_can_not_be_typed_is_none(tmp_path: Path, name: str):
    script(tmp_path / "bin" / f"jp-{name}", SH)
    script(tmp_path / "bin" / "jp-x", SH)
    assert names(tmp_path / "bin") == ["x"]


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "../here/bin"])
def test_what_the_current_directory_supplies_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str):
    script(tmp_path / "here" / "jp-x", SH)
    script(tmp_path / "here" / "bin" / "jp-x", SH)
    monkeypatch.chdir(tmp_path / "here")
    assert names(entry, f"{entry}:{entry}") == []
    assert names(entry, tmp_path / "here" / "bin") == ["x"]


def test_directories_that_can_not_be_read_are_passed_over(tmp_path: Path):
    script(tmp_path / "file", SH)
    (tmp_path / "closed").mkdir(mode=0o300)
    script(tmp_path / "bin" / "jp-x", SH)
    assert names(tmp_path / "missing", tmp_path / "file", tmp_path / "closed", tmp_path / "bin") == ["x"]
    assert find({}) == []
    assert find({"HOME": "relative", "XDG_DATA_HOME": "relative", "PATH": ""}) == []


def test_a_full_path_is_read_in_a_moment(tmp_path: Path):
    directories = [tmp_path / str(number) for number in range(10)]
    for directory in directories:
        directory.mkdir()
        for number in range(500):
            (directory / f"program-{number}").touch()
        for number in range(3):
            script(directory / f"jp-{directory.name}-{number}", SH)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        assert len(found(*directories)) == 30
        taken.append(time.perf_counter() - began)
    assert min(taken) < 0.02


# --- what comes with JP


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the interpreter, `jp` and its two plugins are."""
    directory = tmp_path / "venv" / "bin"
    for name in ("python", "jp", "jp-export", "jp-serve-web", "jp-stranger"):
        script(directory / name, SH)
    monkeypatch.setattr(sys, "executable", str(directory / "python"))
    return directory


def test_what_is_beside_jp_came_with_it(own: Path, tmp_path: Path):
    script(tmp_path / "bin" / "jp-x", SH)
    everything = found(tmp_path / "bin")
    assert [(each.name, each.origin) for each in everything] == [
        ("x", ON_PATH), ("export", BUNDLED), ("serve-web", BUNDLED),
    ]  # fmt: skip
    assert [each.claims for each in everything[1:]] == [(("export",),), (("serve", "web"),)]
    assert all(each.summary for each in everything[1:])


def test_it_came_with_jp_where_path_leads_to_it_too(own: Path, tmp_path: Path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "jp-export").symlink_to(own / "jp-export")
    assert {each.name: each.origin for each in found(tmp_path / "bin", own)} == {
        "export": BUNDLED, "serve-web": BUNDLED, "stranger": ON_PATH,
    }  # fmt: skip


def test_what_came_with_jp_is_run_by_its_own_path_wherever_it_was_found(own: Path, tmp_path: Path):
    """A link to it can lead elsewhere when it is run, and nobody is asked about it."""
    for directory in (tmp_path / "bin", install_directory()):
        directory.mkdir(parents=True)
        (directory / "jp-export").symlink_to(own / "jp-export")
        (directory / "jp-serve-web").hardlink_to(own / "jp-serve-web")
        bundled = {each.name: each.path for each in found(tmp_path / "bin") if each.origin == BUNDLED}
        assert bundled == {name: str(own / f"jp-{name}") for name in ("export", "serve-web")}


def test_another_one_of_its_name_is_a_stranger(own: Path, tmp_path: Path):
    script(tmp_path / "bin" / "jp-export", SH)
    assert {each.name: each.origin for each in found(tmp_path / "bin", own)}["export"] == ON_PATH


def test_without_a_jp_beside_the_interpreter_nothing_came_with_it(own: Path):
    (own / "jp").unlink()
    assert found() == []


# --- what they answer to


@pytest.mark.req("PROTO-2", "PROTO-3")
@pytest.mark.parametrize(
    ("plugin", "claims"),
    [
        (described("hello"), (("hello",),)),
        (described("serve-web"), (("serve", "web"), ("serve-web",))),
        (described("a--b"), (("a--b",),)),
        (described("a-"), (("a-",),)),
        (described("serve-web", "show"), (("show",),)),
        (described("x", "serve", "dev-web"), (("serve", "dev-web"),)),
        (described("export", "conversation", "export", origin=BUNDLED), (("conversation", "export"),)),
    ],
)
def test_a_plugin_answers_to_its_file_name_or_to_what_it_declares(plugin: Found, claims: tuple[tuple[str, ...], ...]):
    assert plugin.claims == claims
    assert not plugin.problem


@pytest.mark.parametrize("command", [["--help"], ["serve", "-x"], [""], ["a b"], ["a\x1b[2J"], ["a\n"]])
def test_a_command_that_can_not_be_typed_counts_for_nothing(command: list[str]):
    plugin = described("hello", *command)
    assert plugin.claims == (("hello",),)
    assert "can't be typed" in plugin.problem


def test_no_command_at_all_is_that_of_the_file_name():
    said = Description(name="x", version="1", description="x", command=[])
    assert Found("hello", "/x", ON_PATH).described(said, "").claims == (("hello",),)


# --- who answers


def answers(words: str, *plugins: Found, builtin: str = "query") -> tuple[str, int] | None:
    """The plugin for the words; `builtin` is a command, `conversation` a group that is called `c` for short."""

    def free(claim: tuple[str, ...]) -> tuple[str, ...] | None:
        if claim[0] == builtin or claim in (("conversation",), ("c",)):
            return None
        return ("conversation", *claim[1:]) if claim[0] == "c" else claim

    routed = route(words.split(), plugins, free)
    return (routed[0].name, routed[1]) if routed else None


@pytest.mark.req("PROTO-2", "PROTO-3", "PROTO-4")
@pytest.mark.parametrize(
    ("words", "plugins", "expected"),
    [
        ("hello", ["hello"], ("hello", 1)),
        ("hello there", ["hello"], ("hello", 1)),
        ("serve web x", ["serve", "serve-web"], ("serve-web", 2)),
        ("serve web x", ["serve-web", "serve"], ("serve-web", 2)),
        ("serve other", ["serve", "serve-web"], ("serve", 1)),
        ("serve-web x", ["serve", "serve-web"], ("serve-web", 1)),
        ("serve", ["serve-web"], None),
        ("hell", ["hello"], None),
        ("query x", ["query"], None),
        ("query x", ["query-x"], None),
        ("conversation stats", ["conversation-stats"], ("conversation-stats", 2)),
        ("conversation stats", ["c-stats"], ("c-stats", 2)),
        ("conversation", ["conversation"], None),
        ("", ["hello"], None),
    ],
)
def test_the_longest_command_wins_and_a_built_in_one_always(words: str, plugins: list[str], expected: object):
    assert answers(words, *(described(name) for name in plugins)) == expected


def test_of_two_with_the_same_command_the_first_one_answers():
    assert answers("show", described("a", "show"), described("show")) == ("a", 1)
    assert answers("show", described("show"), described("a", "show")) == ("show", 1)
    assert answers("a", described("a", "show"), described("b", "a")) == ("b", 1)
