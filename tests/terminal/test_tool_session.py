"""One session from the question to the fix: the built-in tools in a small repository, and a person who watches them."""

import subprocess
from pathlib import Path

import pytest

from tests.support.marked import still_marked
from tests.support.terminal import Terminal
from tests.support.tools import GUARD, answer, query, responses, sent
from tests.support.workspace import events, messages
from tests.wire.model_server import ModelServer, text, tool_call, tool_calls

SHOP = '''\
"""What a basket costs."""

DISCOUNT = 10  # percent, from 100 on


def total(prices):
    """The sum, with the discount."""
    whole = sum(prices)
    return whole - whole * DISCOUNT if whole >= 100 else whole
'''
TESTS = """\
import unittest

from shop.basket import total


class Basket(unittest.TestCase):
    def test_small(self):
        self.assertEqual(total([1, 2]), 3)

    def test_discount(self):
        self.assertEqual(total([150, 50]), 180)
"""
WRONG, PROPOSED, MINE = "whole * DISCOUNT if", "whole * DISCOUNT / 10 if", "whole * DISCOUNT / 100 if"
RUN_TESTS = "python3 -B -m unittest"
ASKS = "Run {} [y,n,p,r,e,?]?"  # a command is approved each time, so that there is no Y for it
ASKS_ALL = "Run {} [y,Y,n,N,p,r,e,?]?"


def git(root: Path, *args: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
    return subprocess.run(["git", *identity, *args], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(workspace: Path) -> Path:
    """The workspace as a git repository with a package, a bug in it, and a test that finds it."""
    for path, content in {
        "shop/__init__.py": "",
        "shop/basket.py": SHOP,
        "tests/__init__.py": "",
        "tests/test_basket.py": TESTS,
        ".gitignore": "__pycache__/\nbuild/\n",
        "build/old.py": "DISCOUNT = 1\n",
    }.items():
        (workspace / path).parent.mkdir(exist_ok=True)
        (workspace / path).write_text(content)
    git(workspace, "init", "-q")
    git(workspace, "add", ".")
    git(workspace, "commit", "-q", "-m", "A shop")
    return workspace


@pytest.mark.req("092-160", "104-117", "088-103")
def test_a_bug_is_found_fixed_by_both_and_tested(repository: Path, server: ModelServer, no_leftovers: None):
    edit = {"path": "shop/basket.py", "edits": [{"old": WRONG, "new": PROPOSED}]}
    server.then(
        tool_call("grep_files", {"pattern": "DISCOUNT"}, message="I look for it.\n\n"),
        tool_calls(("read_file", {"path": "shop/basket.py"}), ("read_file", {"path": "tests/test_basket.py"})),
        tool_call("run_command", {"command": RUN_TESTS}),
        tool_call("modify_file", edit, message="The discount is no fraction.\n\n"),
        tool_call("run_command", {"command": RUN_TESTS}),
        tool_call("ask_user", {"question": "Shall I note it in CHANGELOG.md?", "kind": "boolean"}),
        tool_call("ask_user", {"question": "Under which version?"}),
        tool_call("write_file", {"path": "CHANGELOG.md", "content": "# 1.2\n- Discounts are percentages.\n"}),
        text("It is **fixed**."),
    )
    with query(repository, columns=100, rows=45) as terminal:
        # What reads is not asked about. The tests fail at first.
        terminal.until(ASKS.format("run_command"))
        shown = terminal.screen.contents
        assert shown.index("I look for it.") < shown.index("Calling tool grep_files") < shown.index("shop/basket.py:3:")
        assert "build/old.py" not in shown
        assert shown.count("Calling tool read_file(") == 2
        assert RUN_TESTS in terminal.screen
        answer(terminal, b"y")

        # The diff stands above the question; the person makes another one of it.
        terminal.until(ASKS_ALL.format("modify_file"))
        assert "FAIL: test_discount" in terminal.screen.contents  # the beginning of a long result
        assert "The discount is no fraction." in terminal.screen
        change(terminal.screen.lines, "-", WRONG)
        change(terminal.screen.lines, "+", PROPOSED)
        assert (repository / "shop/basket.py").read_text() == SHOP
        mend(terminal)

        terminal.until(ASKS.format("run_command"))
        assert (repository / "shop/basket.py").read_text() == SHOP.replace(WRONG, MINE)
        change(terminal.screen.lines, "+", MINE)
        answer(terminal, b"y")

        terminal.until("Shall I note it in CHANGELOG.md?")
        assert "OK" in terminal.screen
        answer(terminal, b"y")
        terminal.until("Under which version?")
        quiet(terminal)
        terminal.send(b"1.2")
        terminal.until("version? 1.2")
        terminal.send(b"\r")
        terminal.until(ASKS_ALL.format("write_file"))
        change(terminal.screen.lines, "+", "# 1.2")
        assert not (repository / "CHANGELOG.md").exists()
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.text.rstrip().endswith("It is fixed.")
        shown = terminal.screen.contents
        assert "[y,n" not in shown
        # What was approved stays to be read, as it ran.
        assert shown.count(f"Calling tool run_command\n{RUN_TESTS}\n") == 2
        assert PROPOSED not in shown
        change(shown.splitlines(), "+", MINE)
        change(shown.splitlines(), "+", "# 1.2")
        assert "ask_user-" not in shown
        assert terminal.modes() == terminal.modes_before
    assert not still_marked(1)

    assert git(repository, "diff", "--numstat").split() == ["1", "1", "shop/basket.py"]
    untracked = git(repository, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert [line for line in untracked if ".jp/" not in line] == [" M shop/basket.py", "?? CHANGELOG.md"]

    stored = responses(repository)
    assert [failed for _, failed in stored].index(True) == 3
    contents = [content for content, _ in stored]
    assert contents[0].startswith("shop/basket.py:3:DISCOUNT")
    given = [message["content"] for message in sent(server) if message["role"] == "tool"]
    assert sorted(given) == sorted(contents)  # two were read at the same time
    assert "FAILED" in contents[3]
    assert "OK" in contents[5]
    assert contents[7] == "1.2"
    assert len(server.requests) == 9
    assert messages(repository) == ["I look for it.\n\n", "The discount is no fraction.\n\n", "It is **fixed**."]
    found = events(repository)
    asked = [event for event in found if event["type"] == "inquiry_request"]
    assert [event["question"]["text"] for event in asked] == [
        "Shall I note it in CHANGELOG.md?",
        "Under which version?",
    ]
    assert [event["answer"] for event in found if event["type"] == "inquiry_response"] == [True, "1.2"]


def quiet(terminal: Terminal) -> None:
    """Wait until nothing is drawn any more: what is typed sooner may be meant for something else."""
    seen = -1
    while seen != len(terminal.output):
        seen = len(terminal.output)
        terminal.pump(GUARD)


def change(lines: list[str], sign: str, piece: str) -> None:
    """A line of a diff is on the screen, as a person recognises it."""
    assert any(line.strip().startswith(sign) and piece in line for line in lines), lines


def mend(terminal: Terminal) -> None:
    """Edit the arguments: back to the number, and another one in its place."""
    answer(terminal, b"e")
    terminal.until(lambda screen: "Arguments of modify_file:" in screen and PROPOSED in screen)
    _, row = terminal.screen.cursor
    lines = terminal.screen.lines
    at = next(number for number, line in enumerate(lines) if PROPOSED in line)
    terminal.send(b"\x1b[A" * (row - at) + b"\x1b[H")
    place = lines[at].index("/ 10 if") + len("/ 10")
    terminal.until(lambda screen: screen.cursor[1] == at)
    column, _ = terminal.screen.cursor
    terminal.send(b"\x1b[C" * (place - column))
    terminal.until(lambda screen: screen.cursor == (place, at))
    terminal.send(b"0")
    terminal.until(lambda screen: MINE in screen)
    terminal.send(b"\r")
