"""A plugin under the whole program: what it is told, where its log goes, what `jp` makes of its end."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.support.plugins import Make
from tests.support.terminal import Terminal
from tests.support.tools import answer, configure
from tests.support.workspace import Ask


@pytest.mark.req("PROTO-18", "PROTO-19", "PROTO-20", "PROTO-21", "PROTO-16")
def test_init_tells_where_it_is_and_what_is_configured(ask: Ask, workspace: Path, hermetic: Path, plugin: Make) -> None:
    options = {"bind": "::1", "ports": [1, 2], "deep": {"a": True}}
    configure(**{"plugins.command.it.options": options})
    notes = plugin("note(init); finish()")
    result = ask("-c", "assistant.name=Ada", "it", "-c", "x", "--", "ü")
    assert result.status == "exited 0"
    (init,) = notes.now
    assert init["type"] == "init"
    assert init["version"] == 1
    assert init["workspace"]["root"] == str(workspace)
    assert init["workspace"]["storage"] == str(workspace / ".jp")
    assert init["workspace"]["id"] == "abcde"
    paths = init["paths"]
    assert paths["user_data"] == str(hermetic / ".local/share/jp")
    assert paths["user_config"] == str(hermetic / ".config/jp")
    assert paths["user_workspace"].startswith(str(hermetic / ".local/share/jp/workspace"))
    assert paths["user_workspace"].endswith("abcde")
    assert init["config"]["assistant"]["name"] == "Ada"
    assert init["config"]["style"]["sanitize"] == "strip"
    assert init["options"] == options
    assert init["args"] == ["-c", "x", "--", "ü"]
    assert init["output_format"] == "text"


@pytest.mark.req("PROTO-23")
@pytest.mark.parametrize("count", range(7))
def test_the_log_level_follows_the_flags(ask: Ask, plugin: Make, count: int) -> None:
    notes = plugin("note(init['log_level']); finish()")
    ask(*["-v"] * count, "it", "-v")
    assert notes.now == [min(count, 4)]


LOGS = """
for level in ("error", "warn", "info", "debug", "trace"):
    send(type="log", level=level, message="said " + level, fields={"n": 1, "deep": {"a": [level]}})
send(type="log", level="warn", message="bare")
sys.stderr.write("first\\nsecond \\x1b[31m\\nno end"); sys.stderr.flush()
note(ask(type="log", level="loud", message="x")); note(ask(type="list_conversations")["type"])
time.sleep(0.2)
finish()
"""


@pytest.mark.req("PROTO-47", "PROTO-48")
def test_logs_and_stderr_are_in_the_log_and_nowhere_else(ask: Ask, tmp_path: Path, plugin: Make) -> None:
    notes = plugin(LOGS)
    result = ask("-vvvv", "--log-file", str(tmp_path / "log"), "it")
    assert (result.stdout, result.stderr) == ("", "")
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    mine = [line for line in lines if line["target"] == "plugin" and line["fields"].get("plugin") == "jp-it"]
    said = {line["message"]: line for line in mine}
    for level in ("error", "warn", "info", "debug", "trace"):
        assert said[f"said {level}"]["level"] == level.upper()
        assert said[f"said {level}"]["fields"]["fields"] == {"n": 1, "deep": {"a": [level]}}
    assert "bare" in said
    assert [line["message"] for line in mine if line["fields"].get("stream") == "stderr"] == [
        "first",
        "second \x1b[31m",
        "no end",
    ]
    assert notes.now[0]["type"] == "error"
    assert "level" in notes.now[0]["message"]
    assert notes.now[1] == "conversations"


@pytest.mark.req("PROTO-47")
def test_the_log_file_holds_what_its_level_asks_for(ask: Ask, tmp_path: Path, plugin: Make) -> None:
    plugin(LOGS)
    ask("--log-file", str(tmp_path / "log"), "it")
    assert "said info" in (tmp_path / "log").read_text()
    assert "said debug" not in (tmp_path / "log").read_text()


@pytest.mark.slow
@pytest.mark.req("PROTO-49")
def test_a_flood_of_stderr_blocks_nobody(ask: Ask, tmp_path: Path, plugin: Make) -> None:
    notes = plugin("for _ in range(2000): sys.stderr.write('x' * 100_000)\nnote('done'); finish()")
    result = ask("--log-file", str(tmp_path / "log"), "it")
    assert result.status == "exited 0"
    assert notes.now == ["done"]
    assert os.path.getsize(tmp_path / "log") < 1_000_000


@pytest.mark.req("PROTO-52", "PROTO-51")
@pytest.mark.parametrize("format_", ["text", "json"])
def test_the_reason_is_an_error_in_the_format_in_force(ask: Ask, plugin: Make, format_: str) -> None:
    plugin('send(type="exit", code=5, reason="use `--web`\\x1b[2J"); sys.exit(0)')
    result = ask("-F", format_, "it")
    assert result.status == "exited 5"
    assert result.stdout == ""
    if format_ == "json":
        record = json.loads(result.stderr)
        assert record["message"].startswith("use `--web`")
        assert record["metadata"]["plugin"] == "jp-it"
    else:
        assert result.stderr == "jp: use `--web`\n"


@pytest.mark.req("PROTO-53")
def test_an_unexpected_end_names_the_plugin(ask: Ask, plugin: Make) -> None:
    plugin("sys.exit(0)")
    result = ask("it")
    assert result.status == "exited 1"
    assert result.stderr.startswith("jp: jp-it ended unexpectedly")


def test_a_plugin_ends_when_the_reader_of_stdout_is_gone(workspace: Path, plugin: Make) -> None:
    from tests.conftest import program
    from tests.support.status import of_returncode

    notes = plugin(
        """
        while True:
            send(type="print", text="x" * 1000)
            import select
            if select.select([0], [], [], 0)[0] and read() == {"type": "shutdown"}:
                note("told"); finish()
        """
    )
    import subprocess

    running = subprocess.Popen([*program(), "it"], cwd=workspace, stdout=subprocess.PIPE, start_new_session=True)
    assert running.stdout is not None
    running.stdout.read(10)
    running.stdout.close()
    assert of_returncode(running.wait(20)) == "killed SIGPIPE"
    assert notes.now == ["told"]


@pytest.mark.req("D60-62")
def test_messages_are_types_and_drawing_has_one_way() -> None:
    package = REPOSITORY / "src/jp/plugin"
    source = (package / "messages.py").read_text()
    assert set(re.findall(r"^\s*(?:from|import) (\S+)", source, re.M)) == {"__future__", "typing", "msgspec"}
    host = ["asking", "conversations", "host", "lending", "link", "order", "outbox", "prompts", "pushing", "requests"]
    for name in [*host, "secrets", "settings", "wire", "printing"]:
        text = (package / f"{name}.py").read_text()
        assert not re.search(r"\bprint\(|sys\.std|/dev/tty['\"]|os\.write\((1|2)\b|open\(['\"]/dev", text), name


CHANGES_LATE = """
import sys
from jp.cli import plugin_run
real = plugin_run.run_plugin
def late(ctx, config, found, *rest):
    with open(found.path, "a") as file:
        file.write("# changed")
    return real(ctx, config, found, *rest)
plugin_run.run_plugin = late
from jp.boot import main
sys.argv = ["jp", "it"]
main()
"""


def test_a_file_that_is_changed_between_the_look_and_the_start_is_not_run(workspace: Path, plugin: Make) -> None:
    notes = plugin("note('ran'); finish()", run="ask")
    with Terminal([sys.executable, "-c", CHANGES_LATE], cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        terminal.until("Run the plugin it?")
        answer(terminal, b"y")
        assert terminal.wait() == "exited 1"
        assert "changed just now" in terminal.screen.contents
    assert notes.now == []
