"""`jp plugin`: what is there, and what is installed, approved, updated and removed."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from jp.plugin.describing import AT_ONCE
from tests.cli.trying import project
from tests.conftest import Jp, Result
from tests.plugin.scripts import approvals, approve, describe, install_directory, plugin, script, traces
from tests.support.tools import configure

pytestmark = pytest.mark.usefixtures("no_leftovers")

LISTED = ["name", "commands", "origin", "path", "state", "run", "version", "description", "problem"]
SHOWN = [*LISTED, "sha256", "approved_at", "source", "checksum", "options", "author", "repository", "help"]
APPROVED_AT = "2026-01-02T03:04:05Z"


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on `$PATH`; none of what is there came with JP."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")
    return directory


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record(jp: Jp, *args: str, status: str = "exited 0") -> Any:
    done = jp("-F", "json", "plugin", *args)
    assert done.status == status, done
    return json.loads(done.stdout)


def fine(done: Result) -> Result:
    assert done.status == "exited 0", done
    return done


def failed(done: Result, *said: str, status: str = "exited 1") -> None:
    assert (done.status, done.stdout) == (status, "")
    assert all(each in done.stderr for each in said), done.stderr


def listed(jp: Jp) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in record(jp, "ls") if each["origin"] != "bundled"}


# --- ls and show


def test_the_listing_has_its_keys_and_the_names_are_sorted(jp: Jp, bin_: Path):
    plugin(bin_ / "jp-serve-web")
    path = plugin(install_directory() / "jp-hello", description="Greets", command=["greet"])
    approve("hello", path, installed=True)
    everything = record(jp, "ls")
    assert [each["name"] for each in everything] == sorted(each["name"] for each in everything)
    assert all(list(each) == LISTED for each in everything)
    assert listed(jp) == {
        "hello": {
            "name": "hello", "commands": [["greet"]], "origin": "installed", "path": str(path), "state": "approved",
            "run": None, "version": "1.0", "description": "Greets", "problem": None,
        },
        "serve-web": {
            "name": "serve-web", "commands": [["serve", "web"], ["serve-web"]], "origin": "path",
            "path": str(bin_ / "jp-serve-web"), "state": "unapproved", "run": None, "version": None,
            "description": None, "problem": None,
        },
    }  # fmt: skip
    assert jp("plugin", "list", "-F", "json").stdout == jp("plugin", "ls", "-F", "json").stdout


def test_the_state_is_what_would_come_of_running_it(jp: Jp, bin_: Path):
    paths = {name: plugin(bin_ / f"jp-{name}") for name in "abcdefgh"}
    for name, run in (("a", "unattended"), ("b", "ask"), ("c", "deny")):
        configure(**{f"plugins.command.{name}.run": run})
    configure(**{"plugins.command.d.checksum.value": sha(paths["d"]), "plugins.command.e.checksum.value": "00"})
    for name in "abcefg":
        approve(name, paths[name])
    with paths["f"].open("a") as file:
        file.write("\n")
    approve("g", bin_ / "jp-a")
    found = listed(jp)
    assert {name: each["state"] for name, each in found.items()} == {
        "a": "unattended", "b": "ask", "c": "denied", "d": "pinned", "e": "mismatch", "f": "changed",
        "g": "elsewhere", "h": "unapproved",
    }  # fmt: skip
    assert {name for name, each in found.items() if each["description"]} == {"a", "d"}
    assert {name for name, path in paths.items() if traces(path)} == {"a", "d"}
    assert [found[name]["run"] for name in "abcd"] == ["unattended", "ask", "deny", None]


def test_in_text_it_is_a_line_a_plugin(jp: Jp, bin_: Path):
    approve("hello", plugin(bin_ / "jp-hello", description="Greets\nall"))
    plugin(bin_ / "jp-other")
    lines = fine(jp("plugin", "ls")).stdout.splitlines()
    assert lines[0].split() == ["Name", "Command", "Origin", "State", "Version", "Description"]
    assert any(line.split() == ["hello", "jp", "hello", "path", "approved", "1.0", "Greets", "all"] for line in lines)
    assert any(line.split() == ["other", "jp", "other", "path", "not", "approved", "yet"] for line in lines)


def test_what_is_wrong_with_one_is_listed_with_it(jp: Jp, bin_: Path):
    approve("broken", plugin(bin_ / "jp-broken", answer="echo 'no luck' >&2; exit 1"))
    approve("odd", plugin(bin_ / "jp-odd", command=["--x"]))
    plugin(bin_ / "jp-query")
    found = listed(jp)
    assert found["broken"]["problem"] == "it ended without describing itself (exit status 1): no luck"
    assert "can't be typed" in found["odd"]["problem"]
    assert found["odd"]["commands"] == [["odd"]]
    assert found["query"]["commands"] == []
    assert "a built-in command answers to `jp query`" in found["query"]["problem"]


def test_everything_that_is_known_is_shown(jp: Jp, bin_: Path):
    more: dict[str, Any] = {"author": "me", "repository": "https://example.org", "help": "usage: jp greet\n"}
    path = plugin(bin_ / "jp-hello", description="Greets", command=["greet", "now"], **more)
    approve("hello", path, installed=True, source="/from/here")
    pinned = {"algorithm": "sha256", "value": sha(path)}
    configure(**{"plugins.command.hello": {"run": "unattended", "options": {"a": [1]}, "checksum": pinned}})
    shown = record(jp, "show", "hello")
    assert list(shown) == SHOWN
    assert shown == {
        "name": "hello", "commands": [["greet", "now"]], "origin": "path", "path": str(path), "state": "unattended",
        "run": "unattended", "version": "1.0", "description": "Greets", "problem": None, "sha256": sha(path),
        "approved_at": APPROVED_AT, "source": "/from/here", "options": {"a": [1]},
        "checksum": pinned, **more,
    }  # fmt: skip
    text = fine(jp("plugin", "show", "jp-hello")).stdout
    for said in ("jp greet now", f"{path} (found on $PATH)", sha(path), APPROVED_AT, "me", "  usage: jp greet\n"):
        assert said in text


def test_one_that_is_not_approved_is_shown_without_running_it(jp: Jp, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    shown = record(jp, "show", "hello")
    assert (shown["state"], shown["sha256"], shown["help"]) == ("unapproved", sha(path), None)
    assert traces(path) == []


def test_one_that_did_not_answer_is_asked_again_when_it_is_shown(jp: Jp, bin_: Path, tmp_path: Path):
    path = plugin(bin_ / "jp-hello", answer=f"[ -e {tmp_path}/there ] && {describe()}; exit 0")
    approve("hello", path)
    assert listed(jp)["hello"]["problem"]
    (tmp_path / "there").touch()
    assert listed(jp)["hello"]["problem"]
    assert record(jp, "show", "hello")["problem"] is None
    assert listed(jp)["hello"]["problem"] is None
    assert traces(path) == ["describe"] * 2


def test_one_that_is_replaced_while_others_are_asked_is_not_run(jp: Jp, bin_: Path, tmp_path: Path):
    """All are judged before the first is asked; the last is not among those that are asked at once."""
    paths = {f"p{number:02}": bin_ / f"jp-p{number:02}" for number in range(AT_ONCE + 1)}
    first, *_, last = paths
    other = plugin(tmp_path / "other")
    for name, path in paths.items():
        approve(name, plugin(path, answer=f"mv {other} {paths[last]}; {describe()}" if name == first else ""))
    found = listed(jp)
    assert [name for name, each in found.items() if each["problem"]] == [last]
    assert found[last]["problem"] == "changed just now"
    assert listed(jp)[last]["state"] == "changed"
    assert not other.exists()
    assert traces(other) == traces(paths[last]) == []


def test_what_waits_for_trust_is_said(jp: Jp, bin_: Path, tmp_path: Path):
    root = project(tmp_path)
    (root / ".jp.toml").write_text('plugins.command.hello.run = "unattended"\n')
    plugin(bin_ / "jp-hello")
    done = fine(jp("plugin", "show", "hello", cwd=root))
    assert "plugins.command.hello" in done.stderr
    assert "jp workspace trust" in done.stderr


@pytest.mark.parametrize("command", ["show", "rm", "trust"])
def test_an_unknown_one_is_named_with_the_nearest(jp: Jp, bin_: Path, command: str):
    plugin(bin_ / "jp-hello")
    failed(jp("plugin", command, "helo"), "there is no plugin helo", "did you mean hello?", status="exited 2")


def test_a_file_that_can_not_be_read_can_be_listed(jp: Jp, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    path.chmod(0o111)
    if os.access(path, os.R_OK):
        pytest.skip("root reads everything")
    assert listed(jp)["hello"]["state"] == "unreadable"
    failed(jp("plugin", "trust", "hello", "-y"), "its file can't be read")


# --- install, update, rm


@pytest.mark.req("PROTO-1", "PROTO-12")
def test_what_is_installed_runs(jp: Jp, bin_: Path, tmp_path: Path):
    source = plugin(tmp_path / "src" / "jp-hello", command=["greet"])
    source.chmod(0o644)
    there = install_directory() / "jp-hello"
    installed = record(jp, "install", str(source))
    assert installed == {
        "name": "hello", "path": str(there), "sha256": sha(source), "source": str(source), "before": None,
        "commands": [["greet"]], "version": "1.0", "description": "Does it", "problem": None,
    }  # fmt: skip
    entry = json.loads(approvals().read_text())["approved"]["hello"]
    assert (entry["path"], entry["sha256"], entry["installed"]) == (str(there), sha(source), True)
    assert fine(jp("greet", "x", cwd=project(tmp_path))).stdout == '["x"]\n'
    assert listed(jp)["hello"]["state"] == "approved"
    said = fine(jp("plugin", "install", str(source))).stderr
    assert f"installed and approved: {there}" in said
    assert f"sha256 {sha(source)}" in said
    assert "it answers to `jp greet`" in said
    # A file that was changed afterwards asks again, and says so.
    with there.open("a") as file:
        file.write("\n")
    failed(jp("greet", cwd=tmp_path / "project"), "unknown command `greet`", status="exited 2")
    failed(jp("hello", cwd=tmp_path / "project"), "it has changed since it was installed")


def test_a_relative_path_and_another_name(jp: Jp, bin_: Path, tmp_path: Path):
    script(tmp_path / "cwd" / "hello.sh", f"#!/bin/sh\n{describe()}\n")
    assert record(jp, "install", "hello.sh", "--name", "greet")["source"] == str(tmp_path / "cwd" / "hello.sh")
    assert list(listed(jp)) == ["greet"]


def test_one_that_does_not_describe_itself_is_installed_with_a_warning(jp: Jp, bin_: Path, tmp_path: Path):
    source = script(tmp_path / "jp-hello", "#!/no/such/thing\n")
    done = fine(jp("plugin", "install", str(source)))
    assert "it is not described: it can't be started: No such file or directory" in done.stderr
    done = fine(jp("plugin", "install", str(plugin(tmp_path / "jp-init"))))
    assert "a built-in command answers to `jp init`, so that nothing runs this plugin" in done.stderr
    assert record(jp, "install", str(tmp_path / "jp-init"))["commands"] == []


def test_what_can_not_be_installed(jp: Jp, bin_: Path, tmp_path: Path):
    (tmp_path / "text").write_text("no shebang\n")
    failed(jp("plugin", "install", str(tmp_path / "text")), "is no program", "#!/bin/sh")
    failed(jp("plugin", "install", str(tmp_path / "none")), "can't read")
    failed(jp("plugin", "install", str(tmp_path)), "not a regular file")
    fine(jp("plugin", "install", str(plugin(tmp_path / "one" / "jp-x"))))
    other = plugin(tmp_path / "two" / "jp-x", description="Other")
    failed(jp("plugin", "install", str(other)), "there is another plugin x", "--force")
    assert record(jp, "install", "-f", str(other))["before"] == sha(tmp_path / "one" / "jp-x")
    failed(jp("plugin", "install", str(other), env={"HOME": None, "XDG_DATA_HOME": None}), "no place to remember")


def test_updating_tells_what_has_changed(jp: Jp, bin_: Path, tmp_path: Path):
    hello, other = plugin(tmp_path / "src" / "jp-hello"), plugin(tmp_path / "src" / "jp-other")
    for path in (hello, other):
        fine(jp("plugin", "install", str(path)))
    before = sha(hello)
    plugin(hello, version="2.0")
    keys = ["name", "path", "source", "changed", "sha256", "before", "version", "version_before", "problem"]
    updated = record(jp, "update")
    assert all(list(each) == keys for each in updated)
    assert updated[0] == {
        "name": "hello", "path": str(install_directory() / "jp-hello"), "source": str(hello), "changed": True,
        "sha256": sha(hello), "before": before, "version": "2.0", "version_before": "1.0", "problem": None,
    }  # fmt: skip
    assert (updated[1]["name"], updated[1]["changed"], updated[1]["before"]) == ("other", False, None)
    plugin(hello, version="3.0")
    done = fine(jp("plugin", "update", "hello"))
    assert "hello is updated (2.0 → 3.0)" in done.stderr
    assert f"sha256 {updated[0]['sha256']} → {sha(hello)}" in done.stderr
    assert "hello is what" in fine(jp("plugin", "update", "hello")).stderr


def test_what_can_not_be_updated_does_not_stop_the_others(jp: Jp, bin_: Path, tmp_path: Path):
    assert record(jp, "update") == []
    hello, gone = plugin(tmp_path / "src" / "jp-hello"), plugin(tmp_path / "src" / "jp-gone")
    for path in (hello, gone):
        fine(jp("plugin", "install", str(path)))
    gone.unlink()
    plugin(hello, version="2.0")
    updated = record(jp, "update", status="exited 1")
    assert [(each["name"], each["changed"]) for each in updated] == [("gone", False), ("hello", True)]
    assert "can't read" in updated[0]["problem"]
    failed(jp("plugin", "update", "gone"), "can't read")
    failed(jp("plugin", "update", "nothing"), "no plugin nothing is installed")
    there = install_directory() / "jp-hello"
    there.write_text("#!/bin/sh\n# mine\n")
    plugin(hello, version="3.0")
    failed(jp("plugin", "update", "hello"), "was changed after it was installed", "--force")
    fine(jp("plugin", "update", "--force", "hello"))
    assert sha(there) == sha(hello)


def test_removing_deletes_the_copy_and_the_approval(jp: Jp, bin_: Path, tmp_path: Path):
    source = plugin(tmp_path / "jp-hello")
    fine(jp("plugin", "install", str(source)))
    there = install_directory() / "jp-hello"
    assert record(jp, "rm", "hello") == {"name": "hello", "path": str(there)}
    assert not there.exists()
    assert source.exists()
    assert json.loads(approvals().read_text()) == {"approved": {}}
    assert listed(jp) == {}


def test_what_jp_has_not_installed_it_does_not_delete(jp: Jp, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    failed(jp("plugin", "rm", "-y", "hello"), "was not installed by JP", "jp plugin trust --revoke hello")
    assert path.exists()


# --- trust


@pytest.mark.req("PROTO-12")
def test_what_is_approved_is_described_and_runs(jp: Jp, bin_: Path, tmp_path: Path):
    path = plugin(bin_ / "jp-hello", command=["greet"])
    done = fine(jp("plugin", "trust", "hello", "--yes"))
    assert str(path) in done.stdout
    assert sha(path) in done.stdout
    assert "it is approved" in done.stderr
    assert "it answers to `jp greet`" in done.stderr
    assert fine(jp("greet", "x", cwd=project(tmp_path))).stdout == '["x"]\n'
    done = fine(jp("plugin", "approve", "hello", "-y"))
    assert "it is approved already" in done.stderr
    assert record(jp, "trust", "hello") == {"name": "hello", "path": str(path), "sha256": sha(path), "approved": True}


def test_nothing_is_approved_where_nobody_says_so(jp: Jp, bin_: Path):
    path = plugin(bin_ / "jp-hello")
    done = jp("plugin", "trust", "hello")
    assert done.status == "exited 1"
    assert sha(path) in done.stdout
    assert "--yes" in done.stderr
    assert not approvals().exists()
    assert traces(path) == []


@pytest.mark.req("PROTO-9", "PROTO-10")
@pytest.mark.parametrize("run", ["deny", "ask"])
def test_the_configuration_holds_all_the_same(jp: Jp, bin_: Path, run: str):
    path = plugin(bin_ / "jp-hello")
    configure(**{"plugins.command.hello.run": run})
    done = fine(jp("plugin", "trust", "hello", "-y"))
    assert f"plugins.command.hello.run is {run} all the same" in done.stderr
    assert traces(path) == []


def test_an_approval_can_be_taken_back(jp: Jp, bin_: Path, tmp_path: Path):
    path = plugin(bin_ / "jp-hello", description="Greets")
    fine(jp("plugin", "trust", "hello", "-y"))
    assert "Greets" in fine(jp("-h")).stdout
    done = fine(jp("plugin", "trust", "--revoke", "hello"))
    assert "hello is not approved any more" in done.stderr
    assert "Greets" not in fine(jp("-h")).stdout
    failed(jp("hello", cwd=project(tmp_path)), "it has not been approved")
    assert record(jp, "trust", "--revoke", "hello") == {
        "name": "hello", "path": str(path), "sha256": None, "approved": False,
    }  # fmt: skip
    approve("hello", path)
    path.unlink()
    fine(jp("plugin", "trust", "--revoke", "hello"))
    assert json.loads(approvals().read_text()) == {"approved": {}}
    failed(jp("plugin", "trust", "--revoke", "hello"), "there is no plugin hello", status="exited 2")


def test_a_list_of_approvals_that_can_not_be_understood_is_left_alone(jp: Jp, bin_: Path):
    plugin(bin_ / "jp-hello")
    approvals().parent.mkdir(parents=True)
    approvals().write_text("{")
    assert listed(jp)["hello"]["state"] == "unapproved"
    done = jp("plugin", "trust", "-y", "hello")
    assert done.status == "exited 1"
    assert "plugin-approvals.json" in done.stderr
    assert approvals().read_text() == "{"


def test_a_path_that_is_no_text_can_be_installed(jp: Jp, bin_: Path, tmp_path: Path):
    odd = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(odd)
    plugin(tmp_path / "jp-hello").rename(os.fsdecode(odd + b"/jp-hello"))
    assert record(jp, "install", os.fsdecode(odd + b"/jp-hello"))["name"] == "hello"
    assert listed(jp)["hello"]["state"] == "approved"
