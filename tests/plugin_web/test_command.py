"""`jp serve web` as JP runs it: arguments, and the end."""

import os
import socket
import stat
import sys
import time
from pathlib import Path

import pytest

from jp.plugin import messages
from jp.plugin.testing import FakeHost
from jp_plugins.web.__main__ import plugin
from jp_plugins.web.arguments import HELP
from jp_plugins.web.library import MOST
from jp_plugins.web.texts import MOST_OF_A_RESULT
from tests.plugin_web.made_up import conversations
from tests.plugin_web.served import Served


@pytest.mark.req("PROTO-55")
@pytest.mark.parametrize("how", ["shutdown", "interrupt"])
def test_it_ends_at_once_and_cleanly(how: str) -> None:
    with Served(conversations()) as served:
        cookie = served.cookie()
        idle = socket.create_connection(("127.0.0.1", served.port))
        assert served.get("/", cookie).status == 200
        begun = time.monotonic()
        served.shutdown() if how == "shutdown" else served.interrupt()
        assert served.wait() == 0
        assert time.monotonic() - begun < 1
        idle.close()
        end = time.monotonic() + 5
        while served.exit is None:
            assert time.monotonic() < end
        assert served.exit == messages.Exit(code=0)
        assert served.stderr == ""


def test_it_listens_where_it_is_told_to() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Served({}, "--port", str(port)) as served:
        assert served.port == port
        assert served.get("/", served.cookie()).status == 200


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = FakeHost(args=["--port", str(port)]).run(plugin)
    assert (result.code, result.reason) == (
        1,
        f"can't listen on port {port}: address already in use; `--port 0` takes a free one",
    )


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--port", "x"], '--port is a number from 0 to 65535, not "x"'),
        (["--port", "65536"], '--port is a number from 0 to 65535, not "65536"'),
        (["--port", "-1"], '--port is a number from 0 to 65535, not "-1"'),
        (["--host", "0.0.0.0"], "unrecognized arguments: --host 0.0.0.0; `jp serve web --help` says more"),
        (["x"], "unrecognized arguments: x; `jp serve web --help` says more"),
    ],
)
def test_arguments_that_are_wrong(args: list[str], reason: str) -> None:
    result = FakeHost(args=args).run(plugin)
    assert (result.code, result.reason) == (2, reason)


def test_help() -> None:
    result = FakeHost(args=["--help"]).run(plugin)
    assert (result.code, result.printed["content"]) == (0, HELP)
    assert f"{MOST >> 20} MB" in HELP
    assert f"{MOST_OF_A_RESULT:,} characters" in HELP


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.req("PROTO-25", "PROTO-26")
def test_without_the_extra(tmp_path: Path) -> None:
    code = 'import sys; sys.modules["markdown_it"] = None\nfrom jp_plugins.web.__main__ import main; main()'
    program = script(tmp_path / "jp-serve-web", f"#!{sys.executable}\n{code}\n")
    assert FakeHost().describe(program).command == ["serve", "web"]
    result = FakeHost().run(program)
    assert result.code == 1
    assert "pip install 'jean-pierre[plugins]'" in (result.reason or "")


def test_open_gives_the_browser_an_address_that_works_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    os.mkfifo(seen)
    browser = script(tmp_path / "browser", f'#!/bin/sh\nprintf "%s" "$1" > "{seen}"\n')
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with Served(conversations(), "--open") as served:
        address = seen.read_text()
        assert address.startswith(f"{served.base}/?token=")
        assert address != served.url
        path = address.removeprefix(served.base)
        assert served.get(path, "x=y").status == 303
        assert served.get(path, "x=y").status == 403
