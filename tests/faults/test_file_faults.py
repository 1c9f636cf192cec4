"""Files that cannot be read or written: named, set aside, nothing overwritten, nothing lost."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Jp
from tests.support.workspace import CONFIG, Ask, messages
from tests.wire.model_server import ModelServer, text


def conversation(workspace: Path) -> Path:
    (folder,) = (workspace / ".jp" / "conversations").iterdir()
    return folder


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ('[assistant.model\nid = "x"', ("config.toml:1",)),
        ('[assistant.modle]\nid = "x"', ("config.toml", "assistant.modle", "assistant.model")),
        ("[style.code]\ncolor = 3", ("config.toml", "style.code.color", "3")),
        ('[interrupt.turn]\naction = "abort"', ("config.toml", "interrupt.turn.action", "abort", "stop")),
    ],
)
def test_a_config_that_cannot_be_meant_names_file_and_key(ask: Ask, workspace: Path, content, named):
    path = workspace / ".jp" / "config.toml"
    path.write_text(content)
    done = ask("q", "hi")
    assert done.status == "exited 1"
    for fragment in named:
        assert fragment in done.stderr
    assert path.read_text() == content


def test_a_config_that_may_not_be_read_is_named(ask: Ask, workspace: Path):
    (workspace / ".jp.toml").mkdir()
    done = ask("q", "hi")
    assert done.status == "exited 1"
    assert ".jp.toml" in done.stderr


@pytest.mark.parametrize("damage", [b"", b"[{", b"not json", b'{"a": 1}', b"\xff\xfe[]"])
def test_damaged_events_are_named_and_not_overwritten(ask: Ask, workspace: Path, hermetic: Path, damage):
    ask("q", "--title", "Mine", "hi")
    copies = [path for root in (workspace, hermetic) for path in root.rglob("events.json")]
    assert len(copies) == 2
    for path in copies:
        path.write_bytes(damage)
    done = ask("q", "again")
    assert done.status == "exited 1"
    assert "events.json" in done.stderr
    assert all(path.read_bytes() == damage for path in copies)
    assert "Mine" in ask("c", "ls").stdout


def test_one_damaged_copy_is_set_aside_and_the_other_goes_on(ask: Ask, workspace: Path, hermetic: Path):
    ask("q", "hi")
    (path,) = workspace.rglob("events.json")
    path.write_bytes(b"damaged")
    done = ask("q", "again")
    assert done.status == "exited 0"
    assert str(path) in done.stderr
    assert len(messages(workspace)) == 2
    assert any(p.read_bytes() == b"damaged" for p in path.parent.iterdir())


def test_a_damaged_base_config_of_one_copy_is_said_and_the_other_used(ask: Ask, workspace: Path, hermetic: Path):
    ask("q", "hi")
    (path,) = hermetic.rglob("base_config.json")
    path.write_bytes(b"garbage")
    done = ask("q", "again")
    assert done.status == "exited 0"
    assert str(path) in done.stderr
    assert path.read_bytes() == b"garbage"


def test_unreadable_metadata_is_reported_and_the_rest_listed(ask: Ask, workspace: Path, hermetic: Path):
    ask("q", "--title", "One", "hi")
    ask("q", "-n", "--title", "Two", "hi")
    damaged = [
        p for root in (workspace, hermetic) for p in root.rglob("metadata.json") if p.parent.name.endswith("one")
    ]
    for path in damaged:
        path.write_text("{")
    done = ask("c", "ls")
    assert done.status == "exited 0"
    assert "Two" in done.stdout
    assert "metadata.json" in done.stderr
    assert all(path.read_text() == "{" for path in damaged)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for little."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_disk_that_fills_up_loses_no_word_and_no_file(small_disk: Path, jp: Jp, server: ModelServer):
    root = small_disk / "project"
    (root / ".jp").mkdir(parents=True)
    (root / ".jp" / "config.toml").write_text(CONFIG.format(url=server.base_url))
    env = {"XDG_DATA_HOME": str(small_disk / "data"), "JP_SESSION": "test"}
    assert jp("q", "first", cwd=root, env=env).status == "exited 0"
    (events,) = root.rglob("events.json")
    before = events.read_bytes()
    big = "word " * 40_000
    server.then(text(big, chunk=500))
    done = jp("q", "second", cwd=root, env=env)
    assert done.stdout == big.rstrip("\n") + "\n"
    assert done.status == "exited 1"
    assert "No space left on device" in done.stderr
    assert events.read_bytes() == before
    assert "go on with" not in done.stderr
    (rescued,) = Path(os.environ["TMPDIR"]).glob("jp-c*-unstored-*.json")
    assert str(rescued) in done.stderr
    assert json.loads(rescued.read_text())[-1]["message"] == big
    assert rescued.stat().st_mode & 0o077 == 0
    assert "first" in jp("c", "print", cwd=root, env=env).stdout


def test_a_full_disk_from_the_start_is_said(small_disk: Path, jp: Jp, server: ModelServer):
    root = small_disk / "project"
    (root / ".jp").mkdir(parents=True)
    (root / ".jp" / "config.toml").write_text(CONFIG.format(url=server.base_url))
    ballast = os.open(small_disk / "ballast", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(ballast, bytes(4096))
    except OSError:
        os.close(ballast)
    done = jp("q", "hi", cwd=root, env={"XDG_DATA_HOME": str(small_disk / "data")})
    assert done.status == "exited 1"
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_data_directory_that_cannot_be_made(ask: Ask, tmp_path: Path, server: ModelServer):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = ask("q", "hi", env={"XDG_DATA_HOME": str(blocked)})
    assert done.status == "exited 1"
    assert str(blocked) in done.stderr
    assert server.requests == []


def test_without_home(ask: Ask, server: ModelServer):
    nowhere = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"))
    done = ask("q", "hi", env=nowhere)
    assert done.status == "exited 1"
    assert "HOME" in done.stderr
    assert server.requests == []
    assert ask("q", "-!", "hi", env=nowhere).stdout == "Hello from the test model.\n"
    assert ask("c", "ls", env=nowhere).status == "exited 0"


def test_a_current_directory_that_is_gone(jp: Jp, tmp_path: Path):
    from tests.conftest import program

    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {' '.join(program())} q hi"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "current directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_real_workspace_is_continued_with_nothing_else_changed(
    data_dir: Path, tmp_path: Path, jp: Jp, server: ModelServer
):
    root = tmp_path / "real"
    shutil.copytree(data_dir / "workspace", root)
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    (root / ".jp" / "conversations" / "17758406187-missing-date-in-version-string" / "notes.txt").write_text("mine")
    before = {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    env = {"JP_PROVIDERS_LLM_LLAMACPP_BASE_URL": server.base_url}
    done = jp("q", "--id", "17758406187", "-m", "llamacpp/test", "and now?", cwd=root, env=env)
    assert done.stdout == "Hello from the test model.\n", done.stderr
    after = {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    changed = {path for path in after if before.get(path) != after[path]}
    folder = Path(".jp/conversations/17758406187-missing-date-in-version-string")
    assert changed == {folder / "events.json", folder / "metadata.json"}
    assert set(before) == set(after)
    old, new = before[folder / "events.json"], after[folder / "events.json"]
    assert new.startswith(old[: old.rindex(b"}") + 1])
    added = json.loads(new)[len(json.loads(old)) :]
    assert [e["type"] for e in added] == ["config_delta", "turn_start", "chat_request", "chat_response"]
    assert jp("q", "--id", "17758406187", "once more", cwd=root, env=env).status == "exited 0"
    for conversation_id in ("17648402467", "17662304290", "17800836875", "17727523543"):
        assert jp("c", "print", conversation_id, cwd=root).status == "exited 0"
        assert jp("c", "show", conversation_id, cwd=root).status == "exited 0"


@pytest.mark.parametrize("name", ["metadata.json", "events.json", "base_config.json"])
@pytest.mark.parametrize("content", ['{"title": "mine"}', "[]", "export PATH=important\n"])
def test_a_link_in_a_cloned_conversation_leads_nowhere(
    ask: Ask, workspace: Path, tmp_path: Path, monkeypatch, name, content
):
    """What it leads to is a file of the user's: neither shown, sent nor written."""
    ask("q", "-n", "hi")
    (folder,) = (workspace / ".jp" / "conversations").iterdir()
    victim = tmp_path / "victim"
    victim.write_text(content)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(victim)
    elsewhere = tmp_path / "another-home"  # the user who has cloned it has no copy
    for variable, place in {"HOME": ".", "XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state"}.items():
        monkeypatch.setenv(variable, str(elsewhere / place))
    elsewhere.mkdir()
    listed = ask("c", "ls", "-F", "json")
    assert '"mine"' not in listed.stdout
    for command in (["q", "--id", folder.name.split("-")[0], "again"], ["c", "show"], ["c", "print"]):
        done = ask(*command)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
    assert victim.read_text() == content
