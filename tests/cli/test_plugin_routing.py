"""From the command line to a plugin: which one runs, what it is given, and what does not run at all."""

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.trying import project
from tests.conftest import Jp, Result, program
from tests.plugin.scripts import approve, install_directory, plugin, traces
from tests.support.process import Process
from tests.support.tools import configure

pytestmark = pytest.mark.usefixtures("no_leftovers")

SAID = 'printf \'%s\\n\' \'{{"type":"print","text":"{}\\n"}}\''


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on `$PATH` whose plugins may all run, if they are named for it (`may`)."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    return directory


@pytest.fixture
def root(tmp_path: Path, bin_: Path) -> Path:
    return project(tmp_path)


def may(name: str, run: str = "unattended") -> None:
    configure(**{f"plugins.command.{name}.run": run})


def says(path: Path, text: str, **fields: Any) -> Path:
    """A plugin that prints `text`."""
    return plugin(path, SAID.format(text), **fields)


def printed(jp: Jp, root: Path, *args: str) -> str:
    done = jp(*args, cwd=root)
    assert (done.stderr, done.status) == ("", "exited 0")
    return done.stdout


# --- which one runs


@pytest.mark.req("PROTO-1", "PROTO-11")
def test_an_installed_one_runs_before_one_on_path(jp: Jp, root: Path, bin_: Path):
    may("hello")
    path = says(bin_ / "jp-hello", "from path")
    assert printed(jp, root, "hello") == "from path\n"
    says(install_directory() / "jp-hello", "installed")
    assert printed(jp, root, "hello") == "installed\n"
    assert traces(path) == ["describe", "init"]


@pytest.mark.req("PROTO-2")
def test_words_are_the_parts_of_a_file_name(jp: Jp, root: Path, bin_: Path):
    may("serve-web")
    plugin(bin_ / "jp-serve-web")
    assert printed(jp, root, "serve", "web", "x") == "[x]\n".replace("x", '"x"')
    assert printed(jp, root, "serve-web", "x") == '["x"]\n'
    may("serve")
    says(bin_ / "jp-serve", "the shorter one")
    assert printed(jp, root, "serve", "web") == "[]\n"
    assert printed(jp, root, "serve", "wide") == "the shorter one\n"


@pytest.mark.req("PROTO-3")
def test_what_a_plugin_declares_replaces_its_file_name(jp: Jp, root: Path, bin_: Path):
    may("some-thing")
    plugin(bin_ / "jp-some-thing", command=["serve", "dev-web"])
    assert printed(jp, root, "serve", "dev-web", "x") == '["x"]\n'
    for words in (("some", "thing"), ("some-thing",)):
        done = jp(*words, cwd=root)
        assert done.status == "exited 2"
        assert f"unknown command `{words[0]}`" in done.stderr
    assert "the plugin some-thing answers to `jp serve dev-web`" in done.stderr


@pytest.mark.req("PROTO-4")
def test_a_built_in_command_is_never_shadowed(jp: Jp, root: Path, bin_: Path):
    own = {
        "query": (), "conversation-ls": (), "c-ls": (), "one": ("conversation", "ls"), "two": ("c", "list"),
        "three": ("conversation",), "four": ("init",), "five": ("model", "deep"), "model": (),
    }  # fmt: skip
    for name, command in own.items():
        may(name)
        plugin(bin_ / f"jp-{name}", **({"command": list(command)} if command else {}))
    assert printed(jp, root, "-F", "json", "conversation", "ls") == "[]\n"
    assert printed(jp, root, "-F", "json", "c", "list") == "[]\n"
    assert jp("conversation", cwd=root).stderr.startswith("jp: `jp conversation` needs a command")
    assert "usage: jp init" in printed(jp, root, "init", "-h")
    assert jp("model", "deep", cwd=root).status == "exited 2"
    assert "usage: jp query" in printed(jp, root, "q", "-h")
    assert not any(traces(bin_ / f"jp-{name}") for name in own)
    # But what is free in a built-in group can be had, by the group's other name as well.
    may("conversation-stats")
    plugin(bin_ / "jp-conversation-stats")
    assert printed(jp, root, "conversation", "stats", "x") == '["x"]\n'
    assert printed(jp, root, "-q", "c", "stats", "-q") == '["-q"]\n'
    assert "conversation stats" in printed(jp, root, "c", "-h").partition("\nplugins:\n")[2]


@pytest.mark.req("PROTO-5")
@pytest.mark.parametrize(
    ("words", "near"),
    [(("hell",), "hello"), (("qery",), "query"), (("conversation", "stat"), "stats"), (("zzz",), None)],
)
def test_without_a_built_in_one_and_a_plugin_it_is_a_usage_error(
    jp: Jp, root: Path, bin_: Path, words: tuple[str, ...], near: str | None
):
    plugin(bin_ / "jp-hello")
    plugin(bin_ / "jp-conversation-stats")
    done = jp(*words, cwd=root)
    assert (done.status, done.stdout) == ("exited 2", "")
    assert f"unknown command `{words[-1]}`" in done.stderr
    assert ("did you mean" in done.stderr) == (near is not None)
    assert near is None or f"did you mean `{near}`?" in done.stderr
    assert jp(*words, "-F", "json", cwd=root) == done


def test_the_beginning_of_plugins_commands_is_a_group_of_theirs(jp: Jp, root: Path, bin_: Path):
    for name in ("serve-web", "serve-files-all", "serve-files-one"):
        plugin(bin_ / f"jp-{name}")
    done = jp("serve", cwd=root)
    assert done.status == "exited 2"
    assert "`jp serve` needs a command: `jp serve files all`, `jp serve files one`, `jp serve web`" in done.stderr
    done = jp("serve", "files", "-q", cwd=root)
    assert done.status == "exited 2"
    assert "`jp serve files` needs a command: `jp serve files all`, `jp serve files one`" in done.stderr
    done = jp("serve", "wep", cwd=root)
    assert done.status == "exited 2"
    assert "unknown command `wep`" in done.stderr
    assert "did you mean `web`?" in done.stderr
    for words in (("serve", "-h"), ("-h", "serve"), ("serve", "--help")):
        shown = printed(jp, root, *words)
        assert shown.startswith("usage: jp serve <command>")
        assert len(re.findall(r"^  serve ", shown, re.M)) == 3
    assert not any(traces(path) for path in bin_.iterdir())


def test_two_that_declare_the_same_command_are_one_of_them(jp: Jp, root: Path, bin_: Path):
    for name in ("one", "two"):
        may(name)
        says(bin_ / f"jp-{name}", f"from {name}", description=f"This is {name}", command=["serve", "files"])
    assert printed(jp, root, "serve", "files") == "from one\n"
    shown = printed(jp, root, "-h")
    assert len(re.findall(r"^  serve files +This is one$", shown, re.M)) == 1
    assert "This is two" not in shown
    assert "`jp serve` needs a command: `jp serve files`, `jp serve web`\n" in jp("serve", cwd=root).stderr
    why = "another plugin, one, answers to `jp serve files`"
    done = jp("two", cwd=root)
    assert done.status == "exited 2"
    assert f"the plugin two has no command of its own: {why}" in done.stderr
    assert "the plugin one answers to `jp serve files`" in jp("one", cwd=root).stderr
    listed = {each["name"]: each for each in json.loads(printed(jp, root, "-F", "json", "plugin", "ls"))}
    assert (listed["one"]["commands"], listed["one"]["problem"]) == ([["serve", "files"]], None)
    assert (listed["two"]["commands"], listed["two"]["problem"]) == ([], why)
    assert json.loads(printed(jp, root, "-F", "json", "plugin", "show", "two"))["problem"] == why
    done = jp("plugin", "install", str(bin_ / "jp-two"), cwd=root)
    assert "it answers to `jp serve files`" in done.stderr  # what is installed comes first
    assert printed(jp, root, "serve", "files") == "from two\n"


# --- what it is given


@pytest.mark.req("PROTO-22")
@pytest.mark.parametrize(
    "words",
    [
        [], ["a", "b"], ["-F", "json", "--quiet", "-vv"], ["--cfg", "a=b", "x"], ["--", "-h"], ["--version"],
        ["sub", "-h"], ["-x", "--help"], ["-V"], ["--format=nonsense"], ["a b", ""], ["é"],
    ],
)  # fmt: skip
def test_everything_behind_the_command_is_its_own(jp: Jp, root: Path, bin_: Path, words: list[str]):
    may("hello")
    plugin(bin_ / "jp-hello")
    assert json.loads(printed(jp, root, "hello", *words)) == words


@pytest.mark.req("PROTO-22")
def test_what_stands_before_it_is_for_jp(jp: Jp, root: Path, bin_: Path, tmp_path: Path):
    plugin(bin_ / "jp-hello")
    configure(**{"plugins.command.hello.run": "deny"})
    before = ("-c", "plugins.command.hello.run=unattended", "-w", str(root), "--no-interactive", "-F", "json")
    done = jp(*before, "hello", "-F", "text")
    assert (done.stderr, done.status) == ("", "exited 0")
    assert json.loads(done.stdout)["text"] == '["-F","text"]\n'
    assert jp("--nonsense", "hello", cwd=root).status == "exited 2"
    assert jp("-F", "nonsense", "hello", cwd=root).status == "exited 2"
    assert jp("-V", "hello", cwd=root).stdout.startswith("jp ")
    assert jp("--interactive", "--no-interactive", "hello", cwd=root).status == "exited 2"


@pytest.mark.req("PROTO-6")
def test_it_leads_a_group_of_its_own_and_has_pipes(jp: Jp, root: Path, bin_: Path):
    may("hello")
    check = f"""
    for fd in 0 1 2; do [ -p /dev/fd/$fd ] || echo "no pipe $fd" >> {root}/wrong; done
    set -- $(cut -d')' -f2 /proc/$$/stat)
    [ "$3" = $$ ] || echo "group $3 of $$" >> {root}/wrong
    echo ran > {root}/ran
    """
    plugin(bin_ / "jp-hello", check)
    printed(jp, root, "hello")
    assert (root / "ran").exists()
    assert not (root / "wrong").exists()


def test_a_run_wants_a_workspace(jp: Jp, root: Path, bin_: Path, tmp_path: Path):
    may("hello")
    plugin(bin_ / "jp-hello")
    done = jp("hello", cwd=tmp_path)
    assert done.status == "exited 1"
    assert "no workspace found" in done.stderr
    assert printed(jp, tmp_path, "-w", str(root), "hello") == "[]\n"


# --- who may


def refused(done: Result, *said: str) -> None:
    assert done.status == "exited 1"
    assert all(each in done.stderr for each in said), done.stderr


@pytest.mark.req("PROTO-9", "PROTO-10", "PROTO-13", "PROTO-12", "104-85")
@pytest.mark.parametrize(
    ("run", "approved", "said"),
    [
        ("deny", True, "plugins.command.hello.run is deny"),
        ("ask", True, "not promptable (plugins.command.hello.run)"),
        (None, False, "not promptable (plugins.command.hello.run)"),
    ],
)
def test_what_is_refused_is_not_executed_at_all(
    jp: Jp, root: Path, bin_: Path, run: str | None, approved: bool, said: str
):
    path = plugin(bin_ / "jp-hello")
    if approved:
        approve("hello", path)
    if run:
        may("hello", run)
    refused(jp("hello", cwd=root), said)
    for words in (("-h",), ("hello", "-h"), ("plugin", "ls"), ("plugin", "show", "hello"), ("nothing",)):
        jp(*words, cwd=root)
    assert traces(path) == []


@pytest.mark.req("PROTO-12")
def test_an_approved_one_runs_until_it_changes(jp: Jp, root: Path, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    approve("hello", path)
    assert printed(jp, root, "hello", "a") == '["a"]\n'
    assert traces(path) == ["describe", "init"]
    with path.open("a") as file:
        file.write("# changed\n")
    refused(jp("hello", cwd=root), "it has changed since it was approved", "jp plugin trust hello")
    assert traces(path) == ["describe", "init"]


@pytest.mark.req("PROTO-14", "PROTO-15")
def test_a_pinned_file_is_run_and_no_other_one(jp: Jp, root: Path, bin_: Path):
    import hashlib

    path = plugin(bin_ / "jp-hello")
    for algorithm in ("sha256", "sha1"):
        pinned = hashlib.new(algorithm, path.read_bytes()).hexdigest()
        keys = (
            "-c", f"plugins.command.hello.checksum.algorithm={algorithm}",
            "-c", f"plugins.command.hello.checksum.value={pinned}",
        )  # fmt: skip
        assert printed(jp, root, *keys, "hello") == "[]\n"
    before = traces(path)
    with path.open("a") as file:
        file.write("# changed\n")
    found = hashlib.sha1(path.read_bytes()).hexdigest()
    approve("hello", path)
    for run in ("unattended", "ask", "deny"):
        done = jp(*keys, "-c", f"plugins.command.hello.run={run}", "hello", cwd=root)
        refused(done, f"expected sha1 {pinned} (plugins.command.hello.checksum.value)", f"found sha1 {found}")
    assert traces(path) == before


def test_a_workspace_can_not_allow_a_plugin(jp: Jp, root: Path, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    (root / ".jp.toml").write_text('plugins.command.hello.run = "unattended"\n')
    done = jp("hello", cwd=root)
    refused(done, "it has not been approved", "plugins.command.hello")
    assert "jp workspace trust" in done.stderr
    assert "hello" in printed(jp, root, "-h")
    assert traces(path) == []


def test_a_configuration_that_can_not_be_read_runs_nothing(jp: Jp, root: Path, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    approve("hello", path)
    configure(**{"plugins.nonsense": 1})
    assert "hello" in printed(jp, root, "-h")
    done = jp("hello", cwd=root)
    refused(done, "nonsense")
    assert traces(path) == []


def test_an_assertion_that_fails_runs_nothing(jp: Jp, root: Path, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    approve("hello", path)
    done = jp("--interactive", "-F", "json", "hello", cwd=root)
    assert json.loads(done.stderr)["code"] == "not_promptable"
    assert done.status == "exited 1"
    assert traces(path) == []


@pytest.mark.parametrize("args", [("-h",), ("hello", "-h"), ("nonsense",)])
def test_a_press_while_plugins_are_asked_ends_it(root: Path, bin_: Path, args: tuple[str, ...]):
    path = plugin(bin_ / "jp-hello", answer="exec sleep 600")
    approve("hello", path)
    with Process([*program(), *args], cwd=root) as process:
        process.until(lambda _: traces(path))
        process.kill(signal.SIGINT)
        assert process.wait(4) == "killed SIGINT"
        assert process.out == b""
