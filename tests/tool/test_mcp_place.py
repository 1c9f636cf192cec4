"""Where an MCP server is started: the user's own nowhere that a workspace has put something, a workspace's in it."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from jp.tool.mcp.launch import in_workspace, of_the_user
from tests.tool.mcp_servers.host import HERE, Host, stdio, wait

EVIL = "import pathlib; pathlib.Path(__file__).with_name('PWNED').write_text('x')\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "me").mkdir()
    return tmp_path / "me"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A hostile workspace: its modules have the names of everything that may be imported or run."""
    root = tmp_path / "ws"
    (root / "bin").mkdir(parents=True)
    for name in ("raw_server", "json", "sys", "runpy", "server", "sitecustomize", "usercustomize"):
        (root / f"{name}.py").write_text(EVIL)
    (root / "bin" / "serve").write_text(f"#!/bin/sh\ntouch {root}/PWNED\n")
    (root / "bin" / "serve").chmod(0o755)
    return root


def environ(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], **more}


class Started(Host):
    """A host whose servers are the user's own where they are among `own`."""

    def __init__(self, root: Path, config: object, environ: Mapping[str, str], *own: str) -> None:
        super().__init__(root, {"s": config}, environ)  # type: ignore[dict-item]
        self.servers._surroundings = self.servers._surroundings._replace(own=frozenset(own))


def where(root: Path, home: Path, *own: str, command: str = sys.executable, **more: str) -> dict[str, str]:
    """What a server says of its surroundings."""
    told = home / "told"
    code = f"import json, os; json.dump({{'cwd': os.getcwd(), **os.environ}}, open({str(told)!r}, 'w'))"
    with Started(root, stdio("-c", code, command=command), environ(home, **more), *own).ready("s"):
        wait(lambda: told.exists() and told.read_text(), "it was started")
    found: dict[str, str] = json.loads(told.read_text())
    return found


def test_one_of_the_users_own_starts_in_an_empty_directory_of_his(root: Path, home: Path) -> None:
    said = where(root, home, "s")
    place = home / ".local/state/jp/mcp"
    assert said["cwd"] == str(place)
    assert (said["JP_WORKSPACE_ROOT"], said["PYTHONSAFEPATH"]) == (str(root), "1")
    assert list(place.iterdir()) == []
    assert place.stat().st_mode & 0o777 == 0o700


def test_one_that_the_workspace_defines_starts_in_the_workspace(tmp_path: Path, home: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    said = where(plain, home)
    assert (said["cwd"], said["JP_WORKSPACE_ROOT"]) == (str(plain), str(plain))
    assert "PYTHONSAFEPATH" not in said


@pytest.mark.parametrize("arguments", [("-m", "server"), ("-m", "raw_server", "fine"), ("-c", "import server")])
def test_nothing_of_the_workspace_is_imported(root: Path, home: Path, arguments: tuple[str, ...]) -> None:
    with Started(root, stdio(*arguments), environ(home), "s").ready("s") as host:
        assert host.servers.errors, "there is no such module"
    assert not (root / "PWNED").exists()


def test_nor_run_by_a_relative_command(root: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    for command, path in (("bin/serve", os.environ["PATH"]), ("serve", f"bin:{os.environ['PATH']}")):
        around = environ(home) | {"PATH": path}
        with Started(root, stdio(command=command), around, "s").ready("s") as host:
            (error,) = host.servers.errors
            assert "has not started" in error.message
    assert not (root / "PWNED").exists()


def test_a_path_of_the_users_own_is_one_in_his_configuration(root: Path, home: Path) -> None:
    config = home / ".config/jp"
    (config / "bin").mkdir(parents=True)
    (config / "bin" / "serve").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (config / "bin" / "serve").chmod(0o755)
    assert where(root, home, "s", command="bin/serve")["cwd"] == str(home / ".local/state/jp/mcp")


def test_a_script_may_use_what_lies_beside_it(root: Path, home: Path) -> None:
    with Started(root, stdio("-S", str(HERE / "raw_server.py"), "fine"), environ(home), "s").ready("s") as host:
        assert host.servers.errors == ()
    assert of_the_user(str(root), "", environ(home), ["/x/server.py"]).variables == {}


@pytest.mark.parametrize(
    "told", [{}, {"HOME": "/"}, {"HOME": "relative"}, {"HOME": "/proc/nowhere"}, {"XDG_STATE_HOME": "{root}/state"}]
)
def test_where_there_is_no_place_for_that_it_is_the_root_of_the_system(root: Path, told: dict[str, str]) -> None:
    around = {key: value.format(root=root) for key, value in told.items()}
    if around.get("HOME") == "/":
        around["XDG_STATE_HOME"] = "/proc/nowhere"
    assert of_the_user(str(root), "/bin", around, []).directory == "/"


def test_a_home_that_is_a_workspace_is_the_users(home: Path) -> None:
    place = of_the_user(str(home), "/bin:bin::/x", environ(home), [])
    assert place.directory == str(home / ".local/state/jp/mcp")
    assert place.path == "/bin:/x"
    assert in_workspace("/ws", "bin:/bin").path == "bin:/bin"
