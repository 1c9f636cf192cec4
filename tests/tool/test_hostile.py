"""Tools that mean no good: whatever they do, there is an outcome, it is bounded, and nothing of them is left."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jp.config.sections.tools import Command
from jp.tool.outcome import Failure, Success
from jp.tool.output import MAX_CONTENT, MAX_FILE
from tests.conftest import REPOSITORY
from tests.support.marked import marked, still_marked
from tests.tool.running import DEADLINE, Runner, shell

pytestmark = pytest.mark.usefixtures("no_leftovers")

MIB = 1024 * 1024


@pytest.fixture
def tools(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def python(code: str) -> Command:
    return Command(sys.executable, ["-c", code], False)


@pytest.mark.parametrize(
    ("flood", "spilled"),
    [
        ("yes | head -c 256M", 64),
        ("yes | head -c 256M >&2", 0),
        ("head -c 256M /dev/zero; head -c 64M /dev/zero >&2", 64),
    ],
    ids=["out", "err", "both, one line"],
)
def test_a_flood_is_bounded_in_memory_and_on_disk(tmp_path: Path, flood: str, spilled: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.tool.flood", tmp_path, tmp_path / "spill", flood],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    grown, length = map(int, done.stdout.split())
    assert grown * 1024 < 32 * MIB
    assert length < MAX_CONTENT + 500
    files = list((tmp_path / "spill").glob("*"))
    assert [file.stat().st_size for file in files] == ([MAX_FILE] if spilled else [])
    assert MAX_FILE == 64 * MIB


def test_a_flood_can_be_cancelled(tools: Runner) -> None:
    started = tools.start("yes")
    while not tools.spilled():
        time.sleep(0.001)
    began = time.monotonic()
    started.run.cancel()
    assert started.run.over(DEADLINE)
    assert time.monotonic() - began < 0.5


def test_it_never_ends_and_ignores_being_told_to(tools: Runner) -> None:
    began = time.monotonic()
    said = tools.failure(shell("trap '' TERM INT HUP; sh -c \"trap '' TERM; sleep 60\" & sleep 60"), timeout_secs=1)
    assert "took longer than 1 seconds" in said
    assert time.monotonic() - began < 4
    assert not still_marked(1)


class TestWhatItLeavesBehind:
    def test_holds_its_pipes(self, tools: Runner) -> None:
        began = time.monotonic()
        assert (
            tools.content(shell("echo before; (trap '' TERM HUP; sleep 60; echo after) & echo and")) == "before\nand\n"
        )
        assert 0.9 < time.monotonic() - began < 3
        assert tools.logged == ["something that it had left running held its output open; its process group was ended"]
        assert not still_marked(1)

    def test_and_writes_for_a_while(self, tools: Runner) -> None:
        assert tools.content(shell("(sleep 0.3; echo late) & echo early")) == "early\nlate\n"
        assert tools.logged == []

    def test_and_floods_them(self, tools: Runner) -> None:
        text = tools.content(shell("yes & echo"))
        assert "bytes are left out here" in text
        assert not still_marked(1)

    def test_holds_nothing(self, tools: Runner) -> None:
        began = time.monotonic()
        assert tools.content(shell("sleep 60 >/dev/null 2>&1 & echo x")) == "x\n"
        assert time.monotonic() - began < 1
        assert not still_marked(1)

    def test_is_many(self, tools: Runner) -> None:
        assert tools.content(shell("for i in 1 2 3 4 5 6 7 8 9; do (sleep 60 & sleep 60) & done; echo x")) == "x\n"
        assert not still_marked(1)

    def test_and_the_whole_of_an_outcome_counts_all_the_same(self, tools: Runner) -> None:
        assert tools.outcome(shell("""sleep 60 & echo '{"type":"success","content":"x"}'""")) == Success("x")


def test_it_closes_its_pipes_and_runs_on(tools: Runner, tmp_path: Path) -> None:
    began = time.monotonic()
    said = tools.failure(shell("echo x; exec >&- 2>&-; sleep 0.4; touch done; exit 3"))
    assert said == "t failed with exit status 3\n\nstdout:\nx"
    assert time.monotonic() - began < 2
    assert (tmp_path / "done").exists()


def test_it_closes_its_pipes_and_never_ends(tools: Runner) -> None:
    assert "took longer than 1 seconds" in tools.failure(shell("exec >&- 2>&-; sleep 60"), timeout_secs=1)


class TestTheTerminal:
    def test_there_is_none(self, tools: Runner) -> None:
        assert "/dev/tty" in tools.failure(shell("read x </dev/tty || exit 9"))
        assert tools.content(shell("ps -o tty= -p $$")).strip() == "?"
        assert (
            tools.content(python("import os; print([os.isatty(fd) for fd in range(3)])")) == "[False, False, False]\n"
        )

    @pytest.mark.parametrize("name", ["STOP", "TTIN"])
    def test_it_stops_for_it(self, tools: Runner, name: str) -> None:
        # A handler would be asked for the others, and the system drops them in a session like its own.
        began = time.monotonic()
        said = tools.failure(
            python(f"import os, signal; os.kill(os.getpid(), signal.SIG{name}); os.kill(os.getpid(), 19)")
        )
        assert "it wanted the terminal" in said
        assert time.monotonic() - began < 3
        assert signal.SIGSTOP == 19


class TestWhatItPrints:
    @pytest.mark.parametrize("text", ["\x1b]0;title\x07\x1b[2J\x1b[31mred\r\b\x9b5n", "\0\x01", "\u202e\ufeff"])
    def test_is_kept_exactly(self, tools: Runner, text: str) -> None:
        assert tools.content(python(f"import sys; sys.stdout.buffer.write({text.encode()!r})")) == text
        whole = json.dumps({"type": "success", "content": text})
        assert tools.content(python(f"print({whole!r})")) == text

    @pytest.mark.parametrize(
        "code",
        [
            'print(\'{"type":"success","content":"half\', end=\'\')',
            "print('{\"a\":' * 100_000 + '}' * 100_000)",
            "print('{\"a\":' + '[' * 100_000 + ']' * 100_000 + '}')",
            "print('{\"type\":\"success\",\"content\":' + '9' * 1_000_000 + '}')",
            'print(\'{"type":"success","content":"\' + \'x\' * 5 * 1024 * 1024 + \'"}\')',
            "print('{\"type\":\"needs_input\",\"question\":' + '[' * 50_000 + ']' * 50_000 + '}')",
        ],
    )
    def test_is_text_where_it_only_claims_to_be_an_outcome(self, tools: Runner, code: str) -> None:
        text = tools.content(python(code))
        assert text.startswith('{"')
        assert len(text) < MAX_CONTENT + 500

    def test_a_large_outcome_within_the_bound_is_one(self, tools: Runner) -> None:
        text = tools.content(python('print(\'{"type":"success","content":"\' + \'x\' * 4_000_000 + \'"}\')'))
        assert text.startswith("xxx")
        assert text.endswith("xxx")
        assert "bytes are left out here" in text

    def test_a_million_options(self, tools: Runner) -> None:
        code = """import json; print(json.dumps({"type":"needs_input","question":{"id":"q","text":"t",
            "answer_type":{"type":"select","options":["x"]*500_000}}}))"""
        assert "more than 1,000 options" in tools.failure(python(code))


def test_it_changes_directory_and_removes_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    tools = Runner(tmp_path / "root")
    assert tools.content(shell('cd / && rmdir "$OLDPWD" && pwd')) == "/\n"
    assert "there is no directory" in tools.failure("true")


def test_its_arguments_are_hostile(tools: Runner, tmp_path: Path) -> None:
    evil = "$(touch pwned)`touch pwned`';touch pwned;'\";touch pwned;\"\n--help {{tool}} \ud800\x1b"
    said = tools.content(
        shell("printf %s {{tool.arguments.a}} \"{{tool.arguments.a}}\" '{{tool.arguments.a}}'"), {"a": evil}
    )
    assert said == evil.replace("\ud800", "?") * 3
    assert tools.content("printf %s {{tool.arguments.a}}", {"a": evil}) == evil.replace("\ud800", "?")
    assert not (tmp_path / "pwned").exists()
    assert isinstance(tools.outcome("echo {{tool.arguments.a}}", {"a": "\0"}), Failure)


def test_it_is_killed_from_outside(tools: Runner) -> None:
    started = tools.start("sleep 60")
    while "sleep 60" not in (found := marked()).values():
        assert not started.outcomes
    (pid,) = (pid for pid, line in found.items() if line == "sleep 60")
    subprocess.run(["kill", "-9", str(pid)], check=True)
    assert started.outcome() == Failure("t was killed by SIGKILL")
    assert started.run.over(DEADLINE)
