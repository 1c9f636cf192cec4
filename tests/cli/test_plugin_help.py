"""The help of plugins: listed behind the built-in commands, each one's own, and what it may cost."""

import re
from pathlib import Path

import pytest

from tests.cli.test_imports import loaded, ours
from tests.cli.test_plugin_routing import bin_, may, printed, root, says
from tests.conftest import Jp, program
from tests.plugin.scripts import approve, describe, install_directory, plugin, script, traces

__all__ = ["bin_", "root"]  # fixtures

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.mark.req("PROTO-7")
def test_help_lists_plugins_behind_the_built_in_commands(jp: Jp, root: Path, bin_: Path):
    for name in ("hello", "known"):
        plugin(bin_ / f"jp-{name}", description=f"Greets {name}", command=[name, "there"])
    plugin(install_directory() / "jp-mine", description="Mine")
    plugin(bin_ / "jp-query")
    may("hello")
    approve("known", bin_ / "jp-known")
    shown = printed(jp, root, "-h")
    commands, _, plugins = shown.partition("\nplugins:\n")
    assert "  query, q " in commands
    assert "hello" not in commands
    rows = [re.split(r"  +", line.strip(), maxsplit=1) for line in plugins.partition("\n\n")[0].splitlines()]
    assert [row for row in rows if row[0] not in ("export", "serve web")] == [  # those are JP's own
        ["hello there", "Greets hello"],
        ["known there", "Greets known"],
        ["mine", "(not approved yet; see `jp plugin show mine`)"],
    ]
    assert shown.endswith("`jp <command> --help` describes one.\n")
    assert printed(jp, root) == shown
    assert traces(install_directory() / "jp-mine") == []


@pytest.mark.req("PROTO-7", "PROTO-25")
def test_help_asks_only_once_and_outside_a_workspace_too(jp: Jp, root: Path, bin_: Path, tmp_path: Path):
    path = plugin(bin_ / "jp-hello", description="Greets")
    broken = plugin(bin_ / "jp-broken", answer="exit 3")
    approve("hello", path)
    approve("broken", broken)
    for where in (tmp_path, root, tmp_path):
        shown = printed(jp, where, "--help")
        assert re.search("^  hello +Greets$", shown, re.M)
        assert re.search(r"^  broken +\(it does not say what it is; see `jp plugin show broken`\)$", shown, re.M)
    assert traces(path) == traces(broken) == ["describe"]
    says(path, "other", description="Greets otherwise")
    assert re.search(r"^  hello +\(changed since it was approved; see `jp plugin show", printed(jp, root, "-h"), re.M)
    assert traces(path) == ["describe"]


def test_without_plugins_there_is_no_part_for_them(jp: Jp, tmp_path: Path):
    own = Path(program()[0]).parent
    shown = jp("-h", env={"PATH": "/nowhere"}, cwd=tmp_path).stdout
    assert ("\nplugins:\n" in shown) == (own / "jp-export").exists()


HELPS = [("hello", "-h"), ("hello", "--help"), ("-h", "hello"), ("--help", "hello"), ("-qh", "hello", "x"),
         ("hello", "-h", "x")]  # fmt: skip


@pytest.mark.req("PROTO-8")
@pytest.mark.parametrize("words", HELPS)
def test_the_help_of_a_plugin_is_its_own(jp: Jp, root: Path, bin_: Path, words: tuple[str, ...]):
    path = plugin(bin_ / "jp-hello", help="usage: jp hello\n\n\tgreets\n")
    approve("hello", path)
    assert printed(jp, root, *words) == "usage: jp hello\n\n    greets\n"
    assert traces(path) == ["describe"]


@pytest.mark.req("PROTO-8")
def test_without_help_it_is_the_name_and_the_description(jp: Jp, root: Path, bin_: Path):
    path = plugin(bin_ / "jp-hello", name="greeter", version="2.1", description="Greets", help="\n")
    approve("hello", path)
    assert printed(jp, root, "hello", "-h") == "greeter 2.1\n\nGreets\n"


@pytest.mark.req("PROTO-8")
@pytest.mark.parametrize("words", HELPS)
@pytest.mark.parametrize(("run", "why"), [(None, "not approved yet"), ("ask", "asked about before every run")])
def test_one_that_may_not_be_run_is_not_run_for_its_help(
    jp: Jp, root: Path, bin_: Path, words: tuple[str, ...], run: str | None, why: str
):
    path = plugin(bin_ / "jp-hello")
    if run:
        may("hello", run)
    shown = printed(jp, root, *words)
    assert str(path) in shown
    assert why in shown
    assert "jp plugin trust hello" in shown
    assert traces(path) == []


@pytest.mark.req("PROTO-8", "PROTO-9")
def test_one_that_is_denied_is_not_run_for_its_help(jp: Jp, root: Path, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    approve("hello", path)
    may("hello", "deny")
    shown = printed(jp, root, "hello", "-h")
    assert "denied by the configuration" in shown
    assert "jp plugin trust" not in shown
    assert traces(path) == []


def test_nothing_that_a_plugin_says_acts_on_the_terminal(jp: Jp, root: Path, bin_: Path):
    evil = "\x1b[2J\x1b]0;title\x07\x9b31m\x1b[31mred\u202e\r"
    path = plugin(bin_ / "jp-hello", description=f"{evil}Greets", help=f"{evil}help\n{evil}more\n")
    approve("hello", path)
    for words in (("-h",), ("hello", "-h"), ("plugin", "ls"), ("plugin", "show", "hello")):
        shown = printed(jp, root, *words)
        assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set(shown), words
    refusing = plugin(bin_ / "jp-loud", answer=f"printf '%s\\n' '{evil}' >&2; exit 1")
    approve("loud", refusing)
    for words in (("loud", "-h"), ("plugin", "show", "loud")):
        done = jp(*words, cwd=root)
        assert "red" in done.stdout
        assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set(done.stdout + done.stderr), words


# --- what it costs


@pytest.mark.parametrize("args", [("--version",), ("c", "ls"), ("q", "--help"), ("config", "show")])
def test_built_in_commands_know_nothing_of_plugins(root: Path, bin_: Path, args: tuple[str, ...]):
    plugin(bin_ / "jp-hello")
    modules = ours(loaded(*args, cwd=root))
    assert not any(name.startswith(("jp.plugin", "jp.cli.plugin")) for name in modules)


def test_help_starts_nothing_where_all_is_known(root: Path, bin_: Path, jp: Jp):
    path = plugin(bin_ / "jp-hello")
    approve("hello", path)
    plugin(bin_ / "jp-other")
    printed(jp, root, "-h")
    (bin_ / "jp-other").unlink()
    modules = loaded("-h", cwd=root)
    assert "jp.plugin.descriptions" in modules
    assert not {"jp.config.load", "subprocess", "jp.plugin.describing", "hashlib"} & modules
    path.unlink()
    script(bin_ / "other", f"#!/bin/sh\n{describe()}\n")
    assert "msgspec" not in loaded("-h", cwd=root)


def test_what_is_on_path_and_not_approved_is_not_even_read(root: Path, bin_: Path, jp: Jp):
    path = plugin(bin_ / "jp-hello")
    with path.open("r+b") as file:
        file.truncate(1 << 40)  # a hole; to read it takes minutes
    for words in (("-h",), ("hello", "-h"), ("nothing",), ("plugin", "ls")):
        jp(*words, cwd=root, timeout=10)
