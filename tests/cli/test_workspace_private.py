"""A clone that gives itself the id of another workspace gets nothing of what the user has set for that one."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.test_workspace import quiet
from tests.conftest import Jp, program
from tests.support.terminal import Terminal
from tests.support.tools import query
from tests.support.workspace import Ask
from tests.wire.model_server import ModelServer, text

OFFER = "[y,N,?]?"


@pytest.fixture
def mine(ask: Ask, workspace: Path) -> Path:
    """A workspace for which the user has set something of his own."""
    assert ask("config", "set", "--local", "editor.cmd", "mine").status == "exited 0"
    return workspace


@pytest.fixture
def clone(mine: Path, tmp_path: Path) -> Path:
    """Another directory with the same id: a clone, a worktree, or a trap."""
    return Path(shutil.copytree(mine, tmp_path / "clone"))


def editor(jp: Jp, cwd: Path) -> str:
    return jp("config", "show", "editor.cmd", cwd=cwd).stdout.strip()


def waiting(jp: Jp, cwd: Path) -> list[str]:
    return [each["key"] for each in json.loads(jp("workspace", "show", "-F", "json", cwd=cwd).stdout)["waiting"]]


def test_where_it_was_set_it_is_in_effect(jp: Jp, mine: Path) -> None:
    assert editor(jp, mine) == "mine"
    assert waiting(jp, mine) == []


def test_in_a_clone_it_waits_and_is_shown_as_what_it_is(jp: Jp, clone: Path) -> None:
    assert editor(jp, clone) == ""
    assert waiting(jp, clone) == ["editor.cmd"]
    shown = jp("workspace", "trust", cwd=clone).stdout
    assert "your own file for the workspace with this id" in shown
    assert jp("workspace", "trust", "--yes", cwd=clone).status == "exited 0"
    assert editor(jp, clone) == "mine"


def test_a_clone_is_asked_once(jp: Jp, ask: Ask, clone: Path, mine: Path, server: ModelServer) -> None:
    server.then(text("All done."))
    with query(clone, "-n", columns=140, rows=40) as terminal:
        terminal.until(OFFER)
        assert "your own file for the workspace with this id" in terminal.screen.contents
        quiet(terminal)
        terminal.send(b"y")
        assert terminal.wait() == "exited 0"
    # From then on what is set for it, wherever, counts here too.
    ask("config", "set", "--local", "providers.mcp.gh.command", "gh")
    assert editor(jp, clone) == "mine"
    assert waiting(jp, clone) == []
    assert jp("workspace", "untrust", cwd=clone).status == "exited 0"
    assert sorted(waiting(jp, clone)) == ["editor.cmd", "providers.mcp.gh"]
    assert waiting(jp, mine) == []


def test_to_set_one_thing_in_a_clone_is_not_to_have_all(jp: Jp, clone: Path) -> None:
    done = jp("config", "set", "--local", "plugins.command.x.run", "unattended", cwd=clone)
    assert done.status == "exited 0"
    assert "not used in this place" in done.stderr
    assert waiting(jp, clone) == ["editor.cmd"]
    assert "unattended" in jp("config", "show", "plugins.command.x.run", cwd=clone).stdout


def test_a_workspace_without_an_id_is_ones_own_from_the_first_word(jp: Jp, tmp_path: Path) -> None:
    assert jp("init", cwd=tmp_path).status == "exited 0"
    jp("config", "set", "--local", "editor.cmd", "first", cwd=tmp_path)
    jp("config", "set", "--local", "providers.mcp.x.command", "second", cwd=tmp_path)
    assert (editor(jp, tmp_path), waiting(jp, tmp_path)) == ("first", [])


def test_an_argument_set_in_the_workspaces_file_is_trusted_over_what_is_below(
    jp: Jp, ask: Ask, workspace: Path
) -> None:
    """What is trusted is what comes of it: the user's own program with it."""
    ask("config", "set", "--user", "providers.mcp.gh.command", "gh-mcp")
    done = ask("config", "set", "providers.mcp.gh.arguments", "more")
    assert "what you have set is trusted in this workspace" in done.stderr
    assert waiting(jp, workspace) == []
    assert "more" in ask("config", "show", "providers.mcp.gh").stdout
    ask("config", "set", "--user", "providers.mcp.gh.command", "other")
    assert waiting(jp, workspace) == ["providers.mcp.gh"]


def test_nothing_that_is_trusted_side_by_side_is_lost(ask: Ask, workspace: Path, hermetic: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        many = [pool.submit(ask, "config", "set", f"plugins.command.x{n}.run", "unattended") for n in range(4)]
        assert [each.result().status for each in many] == ["exited 0"] * 4
    store = json.loads((hermetic / ".local/share/jp/trust.json").read_text())
    assert len(store["workspaces"][os.path.realpath(workspace)]) == 4


def test_a_store_that_somebody_holds_is_not_written_over(ask: Ask, workspace: Path, hermetic: Path) -> None:
    from jp.storage.lock import Holder, acquire

    folder = hermetic / ".local/share/jp"
    with acquire(str(folder / "trust.json.lock"), Holder.this_process("test")):
        done = ask("config", "set", "editor.cmd", "vim", timeout=60)
    assert done.status == "exited 4"
    assert "what is trusted" in done.stderr
    assert not (folder / "trust.json").exists()


HOSTILE = "import pathlib\npathlib.Path({trap!r}).write_text('x')\n"


@pytest.mark.slow
@pytest.mark.usefixtures("no_leftovers")
def test_a_server_of_the_users_own_is_not_the_workspaces_module(
    workspace: Path, server: ModelServer, tmp_path: Path
) -> None:
    """Nobody is asked about that: so it must not be started where the workspace can put itself in its place."""
    from tests.support.tools import configure

    trap = tmp_path / "PWNED"
    (workspace / "mcp_server_fetch.py").write_text(HOSTILE.format(trap=str(trap)))
    key = "providers.mcp.fetch"
    configure(**{f"{key}.command": "python3", f"{key}.arguments": ["-m", "mcp_server_fetch"]})
    configure(**{f"{key}.optional": True, "conversation.tools.fetch.source": '"mcp.fetch.fetch"'.strip('"')})
    server.then(text("All done."))
    with Terminal([*program(), "q", "-n", "hi"], cwd=workspace, rows=40, columns=140) as terminal:
        assert terminal.wait() == "exited 0"
        assert "fetch" in terminal.screen.contents, "it was tried"
    assert not trap.exists()


def test_a_labels_command_is_told_no_key(ask: Ask, workspace: Path, tmp_path: Path) -> None:
    from tests.support.tools import configure

    said = tmp_path / "said"
    label = {"value": {"cmd": {"program": "sh", "args": ["-c", f"env >{said}; echo x"]}}, "run": "unattended"}
    configure(**{"conversation.labels.x": label})
    done = ask("q", "-n", "hi", env={"OPENAI_API_KEY": "sk-secret", "MINE": "told"})
    assert done.status == "exited 0"
    assert "told" in said.read_text()
    assert "sk-secret" not in said.read_text()
