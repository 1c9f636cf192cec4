"""Both plugins run by JP itself, in a workspace where a turn is running."""

import json
import os
import re
import stat
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import program
from tests.plugin_web import served
from tests.support.process import DEADLINE, Process
from tests.support.workspace import Ask, messages
from tests.wire.model_server import ModelServer, text

RUN = ("-c", "plugins.command.export.run=unattended", "-c", "plugins.command.serve-web.run=unattended")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two programs on `$PATH`."""
    for name, module in (("jp-export", "export"), ("jp-serve-web", "web")):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable}\nfrom jp_plugins.{module}.__main__ import main\nmain()\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("JP_SESSION", "test")


@pytest.mark.usefixtures("plugins")
def test_export_to_stdout_and_beside_where_one_is(ask: Ask, workspace: Path) -> None:
    ask("q", "-n", "A question", replies=(text("An **answer**."),))
    result = ask(*RUN, "export")
    assert (result.status, result.stderr) == ("exited 0", "")
    assert re.fullmatch(
        r"# Untitled conversation\n\nConversation \d+ · 1 turn · last used .* UTC\n\n"
        r"## Turn 1 · .* UTC\n\n> A question\n\nAn \*\*answer\*\*\.\n",
        result.stdout,
    )
    result = ask(*RUN, "export", "--to", "html", "-o", "out.html")
    assert (result.status, result.stdout, result.stderr) == ("exited 0", "", "Wrote out.html\n")
    assert "<p>An <strong>answer</strong>.</p>" in (workspace / "out.html").read_text()
    result = ask(*RUN, "export", "--to", "html", "-o", "out.html")
    assert result.status == "exited 1"
    assert "out.html is there already; `--force` replaces it" in result.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("plugins", "no_leftovers")
def test_a_running_turn_is_seen_word_by_word(ask: Ask, workspace: Path, server: ModelServer) -> None:
    ask("q", "-n", "First", replies=(text("One."),))
    server.then(text("Several words, and then some more of them.", delay_ms=200))
    with Process([*program(), *RUN, "serve", "web"], cwd=workspace) as serving:
        serving.until(b"\n")
        client = Client(serving.out.decode().strip())
        (conversation,) = set(re.findall(r'href="/c/(\d+)"', client.get("/").text))
        found = re.search('data-cursor="([^"]+)"', client.get(f"/c/{conversation}").text)
        assert found is not None
        with Process([*program(), "q", "Second"], cwd=workspace) as asking:
            replies = follow(client, f"/c/{conversation}/new?after=", found[1], asking)
            assert asking.wait() == "exited 0"
        assert len(replies) > 1
        assert "some more" not in replies[0]
        assert "<p>Several words, and then some more of them.</p>" in replies[-1]
        assert messages(workspace) == ["One.", "Several words, and then some more of them."]
        serving.kill()
        serving.wait()


def follow(client: "Client", path: str, cursor: str, asking: Process) -> list[str]:
    """The reply as it is shown from the beginning of the turn to its end."""
    replies: list[str] = []
    ran = False
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        answer = client.get(path + cursor)
        if answer.status == 200:
            news = json.loads(answer.body)
            assert "reload" not in news
            cursor = news["cursor"]
            replies += [part["html"] for part in news["parts"] if 'class="reply"' in part["html"]]
            if ran and not news["running"]:
                return replies
            ran = ran or news["running"]
        asking.pump(0.05)
    raise AssertionError(replies)


class Client:
    """Whoever opens the address that was printed."""

    def __init__(self, url: str) -> None:
        self.base, _, query = url.partition("/?")
        self.port = int(self.base.rpartition(":")[2])
        self._cookie = "x=y"
        self._cookie = self.get(f"/?{query}").headers["set-cookie"].partition(";")[0]

    def get(self, path: str) -> served.Answer:
        """A page."""
        return request(self.port, path, self._cookie)


def request(port: int, path: str, cookie: str) -> served.Answer:
    return served.ask(port, f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Cookie: {cookie}")
