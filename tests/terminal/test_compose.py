"""Composing a query on a real terminal: the inline editor, the document, drafts, and every way out."""

import ctypes
import json
import os
import platform
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import program
from tests.support.process import Process
from tests.support.terminal import CTRL_C, ESC, Screen, Terminal, shell, until_stopped
from tests.support.workspace import events
from tests.wire.model_server import ModelServer, status, text

CTRL_X, ENTER, CTRL_U = b"\x18", b"\r", b"\x15"
HELP = "Enter sends"
TWO_HUNDRED = "".join(f"word{n:03} " for n in range(25))


def compose(workspace: Path, *args: str, editor: str | None = None, **options: Any) -> Terminal:
    env: dict[str, str | None] = {"JP_SESSION": "test", "EDITOR": None, **options.pop("env", {})}
    if editor is not None:
        env["JP_EDITOR"] = editor
    return Terminal([*program(), "q", *args], cwd=workspace, env=env, **options)


def requests(server: ModelServer) -> list[str]:
    """What the user said in each request, the last message of it."""
    return [json.loads(each.body)["messages"][-1]["content"] for each in server.requests]


@pytest.fixture
def editor(tmp_path: Path) -> Callable[[str], str]:
    """An editor that is a shell script; it gets the document as `$1`, and leaves a copy of it beside itself."""

    def write(body: str, name: str = "editor") -> str:
        path = tmp_path / name
        last = 'for last; do :; done; set -- "$last"'
        path.write_text(f'#!/bin/sh\n{last}\ncp "$1" "{path}.saw"\n{body}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return write


def set_config(workspace: Path, more: str) -> None:
    path = workspace / ".jp" / "config.toml"
    path.write_text(path.read_text() + "\n" + more)


def drafts(hermetic: Path) -> list[str]:
    """The texts that are kept."""
    return [path.read_text() for path in hermetic.rglob("drafts/*.md")]


# --- the inline editor


@pytest.mark.req("088-116")
def test_a_bare_query_is_written_inline_and_sent_by_enter(workspace: Path, server: ModelServer, hermetic: Path):
    with compose(workspace) as terminal:
        terminal.until(HELP)
        terminal.send("two\x1b\rlines, é🎉".encode())
        terminal.until("lines, é🎉")
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert "> two\n  lines, é🎉\nHello from the test model." in terminal.screen.contents
        assert HELP not in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
    assert requests(server) == ["two\nlines, é🎉"]
    assert [e["content"] for e in events(workspace) if e["type"] == "chat_request"] == ["two\nlines, é🎉"]
    assert drafts(hermetic) == []


def test_what_cannot_be_asked_fails_before_anything_is_written(workspace: Path):
    set_config(workspace, '[conversation]\nattachments = ["file:missing.txt"]\n')
    with compose(workspace, "-m", "openai/gpt-5-mini") as terminal:
        assert terminal.wait() == "exited 1"
        assert "OPENAI_API_KEY" in terminal.screen.contents
        assert HELP not in terminal.screen.contents


def test_an_empty_query_ends_with_a_notice(workspace: Path, server: ModelServer):
    with compose(workspace) as terminal:
        terminal.until(HELP)
        terminal.send(b"  " + ENTER)
        assert terminal.wait() == "exited 0"
        assert "nothing was written, so nothing was sent" in terminal.screen.contents
    assert not server.requests


def test_an_escape_ends_with_a_notice_and_keeps_the_draft(workspace: Path, hermetic: Path):
    with compose(workspace) as terminal:
        terminal.until(HELP)
        terminal.send(b"a thought")
        terminal.until("a thought")
        terminal.send(ESC)
        assert terminal.wait() == "exited 0"
        assert "kept for the next" in terminal.screen.contents
    assert drafts(hermetic) == ["a thought"]


def test_nothing_is_composed_where_it_was_not_wanted(workspace: Path, server: ModelServer):
    with compose(workspace, "-E") as terminal:
        assert terminal.wait() == "exited 1"
        assert "there is nothing to ask" in terminal.screen.contents
    with compose(workspace, "sent", "at once") as terminal:
        assert terminal.wait() == "exited 0"
        assert HELP not in terminal.screen.contents
    assert requests(server) == ["sent at once"]


def test_the_last_answer_is_quoted(workspace: Path, server: ModelServer):
    server.then(text("One.\n\nTwo."))
    with compose(workspace, "first") as terminal:
        assert terminal.wait() == "exited 0"
    with compose(workspace, "--quote") as terminal:
        terminal.until("> Two.")
        terminal.send(b"really?" + ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server)[-1] == "> One.\n>\n> Two.\n\nreally?"


@pytest.mark.req("088-54", "088-137")
def test_without_an_editor_the_key_does_nothing_and_is_not_named(workspace: Path, server: ModelServer):
    with compose(workspace) as terminal:
        terminal.until(HELP)
        assert "editor" not in terminal.screen.text
        terminal.send(b"abc" + CTRL_X + b"def")
        terminal.until("abcdef")
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["abcdef"]


@pytest.mark.req("088-76")
def test_never_wires_no_editor(workspace: Path, server: ModelServer, editor):
    set_config(workspace, '[query]\ncompose_in_editor = "never"\n')
    command = editor("echo edited > $1")
    with compose(workspace, editor=command) as terminal:
        terminal.until(HELP)
        assert "editor" not in terminal.screen.text
        terminal.send(b"abc" + CTRL_X + b"def" + ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["abcdef"]
    assert not os.path.exists(command + ".saw")


# --- the document


@pytest.mark.req("088-7", "088-28")
@pytest.mark.parametrize("mode", ["emacs", "vi"])
def test_ctrl_x_moves_the_text_to_the_editor_and_back(workspace: Path, server: ModelServer, editor, mode: str):
    command = editor("sed -i 's/inline/edited/' $1")
    with compose(workspace, "-c", f"editor.inline.edit_mode={mode}", editor=command) as terminal:
        terminal.until("Ctrl+X editor")
        terminal.send(b"written inline" + CTRL_X)
        terminal.until("written edited")
        terminal.send(b"!" + CTRL_X)
        terminal.until(lambda _: Path(command + ".saw").read_text().startswith("written edited!\n"))
        terminal.until("written edited!")
        assert not server.requests
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert requests(server) == ["written edited!"]


@pytest.mark.req("088-118")
@pytest.mark.parametrize("body", ["exit 3", ": > $1", "sed -i '1,/8</{/8</!d}' $1", "kill -9 $$"])
def test_an_editor_that_was_cancelled_or_emptied_gives_the_text_back(workspace, server, editor, body: str):
    with compose(workspace, editor=editor(body)) as terminal:
        terminal.until(HELP)
        terminal.send(b"keep me" + CTRL_X)
        terminal.until(lambda s: s.text.count("keep me") == 1 and HELP in s.text and terminal.output.count(b"keep") > 1)
        terminal.send(b"!" + ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["keep me!"]


@pytest.mark.req("088-119", "088-50", "088-142")
def test_an_editor_that_cannot_run_says_so_and_gives_the_text_back(workspace: Path, server: ModelServer):
    with compose(workspace, editor="/no/such/editor -w", stderr=-1) as terminal:
        terminal.until(HELP)
        terminal.send(b"keep me" + CTRL_X)
        terminal.until(lambda _: b"/no/such/editor" in terminal.piped[2])
        terminal.until(lambda s: "keep me" in s.text and HELP in s.text)
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert b"could not be started" in terminal.piped[2]
    assert requests(server) == ["keep me"]


@pytest.mark.req("088-117", "088-45", "088-35")
@pytest.mark.parametrize("how", ["flag", "true", "always"])
def test_editor_first_sends_what_is_saved_without_a_further_step(workspace, server, editor, hermetic, how: str):
    with compose(workspace, "begin") as terminal:
        assert terminal.wait() == "exited 0"
    command = editor("sed -i '1s/.*/from the editor/' $1")
    args = ("-e",) if how == "flag" else ("-c", f"query.compose_in_editor={how}")
    with compose(workspace, *args, editor=f"{command} --wait") as terminal:
        assert terminal.wait() == "exited 0"
        assert HELP not in terminal.screen.contents
    assert requests(server)[-1] == "from the editor"


@pytest.mark.req("088-117", "088-35", "088-51")
def test_the_document_is_opened_with_all_arguments_in_the_directory_of_the_conversation(workspace, editor, hermetic):
    with compose(workspace, "begin") as terminal:
        assert terminal.wait() == "exited 0"
    command = editor("true", "picky")
    Path(command).write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > "{command}.args"; pwd > "{command}.cwd"; sed -i "1s/.*/ok/" "$3"\n'
    )
    with compose(workspace, "-e", editor=f"{command} --flag 'two words'") as terminal:
        assert terminal.wait() == "exited 0"
    (folder,) = hermetic.rglob("conversations/1*")
    flag, words, path = Path(command + ".args").read_text().splitlines()
    assert (flag, words) == ("--flag", "two words")
    # The directory may have got its title since.
    assert Path(path).name == "QUERY_MESSAGE.md"
    assert Path(path).parent.parent == folder.parent
    assert Path(command + ".cwd").read_text().strip() == str(Path(path).parent)


def test_editor_first_takes_a_text_given_as_its_beginning(workspace, server, editor):
    command = editor("sed -i '1s/$/, edited/' $1")
    with compose(workspace, "-e", "given", editor=command) as terminal:
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["given, edited"]


def test_editor_first_left_empty_goes_on_inline(workspace, server, editor):
    set_config(workspace, "[query]\ncompose_in_editor = true\n")
    with compose(workspace, editor=editor("exit 1")) as terminal:
        terminal.until(HELP)
        terminal.send(b"inline then" + ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["inline then"]


def test_editor_first_without_an_editor_says_why_and_goes_on_inline(workspace, server):
    set_config(workspace, "[query]\ncompose_in_editor = true\n")
    with compose(workspace) as terminal:
        terminal.until(HELP)
        assert "no editor is configured" in terminal.screen.contents
        terminal.send(b"inline then" + ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["inline then"]


@pytest.mark.parametrize("command", [None, "exit 1", "false-start"])
def test_always_never_shows_the_inline_editor(workspace, server, editor, command: str | None):
    set_config(workspace, '[query]\ncompose_in_editor = "always"\n')
    named = "/no/such/editor" if command == "false-start" else editor(command) if command else None
    with compose(workspace, editor=named) as terminal:
        assert terminal.wait() == "exited 0"
        assert HELP not in terminal.screen.contents
        assert "nothing was" in terminal.screen.contents
    assert not server.requests


def test_a_window_that_returns_at_once_sends_nothing(workspace, server, editor):
    with compose(workspace, "-e", "not yet", editor=editor("true")) as terminal:
        terminal.until(lambda s: HELP in s.text and "not yet" in s.text)
        assert "--wait" in terminal.screen.contents
        terminal.send(b", now" + ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["not yet, now"]


def test_an_editor_that_waits_for_trust_is_named_where_it_is_missed(workspace):
    set_config(workspace, '[editor]\ncmd = "vim"\n')
    with compose(workspace, "-e") as terminal:
        terminal.until("Trust this value")
        terminal.pump(0.4)
        terminal.send(b"n")
        terminal.until(HELP)
        assert "editor.cmd" in terminal.screen.contents
        assert "trust" in terminal.screen.contents
        terminal.press()
        assert terminal.wait() == "killed SIGINT"


def test_settings_changed_in_the_document_hold(workspace, server, editor):
    command = editor("sed -i 's/^id = .*/id = \"llamacpp\\/other\"/; 1s/.*/with another/' $1")
    with compose(workspace, editor=command) as terminal:
        terminal.until(HELP)
        terminal.send(b"x" + CTRL_X)
        terminal.until("with another")
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert json.loads(server.requests[-1].body)["model"] == "other"


def test_a_broken_block_opens_again_with_its_error_and_is_never_rebuilt(workspace, server, editor, tmp_path):
    mark = tmp_path / "second"
    body = (
        f'if [ ! -e {mark} ]; then touch {mark}; sed -i "s/^id = .*/id = [broken/; 1s/.*/mine/" $1; '
        f'else cp $1 {mark}.saw; sed -i "s/^id = .*/id = \\"llamacpp\\/test\\"/" $1; fi'
    )
    with compose(workspace, editor=editor(body)) as terminal:
        terminal.until(HELP)
        terminal.send(b"x" + CTRL_X)
        terminal.until("mine")
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    second = Path(f"{mark}.saw").read_text()
    assert second.startswith("mine\n")
    assert "id = [broken" in second
    assert "# !!! " in second
    assert requests(server) == ["mine"]


def test_a_block_that_stays_broken_is_kept_and_named(workspace, server, editor, hermetic):
    command = editor('grep -q broken $1 || sed -i "s/^id = .*/id = [broken/; 1s/.*/mine/" $1')
    with compose(workspace, editor=command) as terminal:
        terminal.until(HELP)
        terminal.send(b"x" + CTRL_X)
        terminal.until("the document is kept")
        terminal.until(lambda s: HELP in s.text)
        terminal.send(CTRL_C)
        assert terminal.wait() == "killed SIGINT"
    (kept,) = hermetic.rglob("QUERY_MESSAGE.md")
    assert kept.read_text().startswith("mine\n")
    # The next composition opens it as it is.
    again = editor("true", "again")
    with compose(workspace, editor=again) as terminal:
        terminal.until(lambda _: os.path.exists(again + ".saw"))
        terminal.until(HELP)
        terminal.send(CTRL_C)
        assert terminal.wait() == "killed SIGINT"
    assert "id = [broken" in Path(again + ".saw").read_text()
    assert not server.requests


@pytest.mark.req("088-43", "092-92")
@pytest.mark.parametrize("press", ["key", "signal"])
def test_a_press_in_the_editor_is_the_editors(workspace, server, editor, tmp_path, press: str):
    ready = tmp_path / "ready"
    command = editor(
        f"trap 'echo caught > {ready}.caught' INT; touch {ready}; while [ ! -e {ready}.go ]; do sleep 0.05; done"
    )
    with compose(workspace, editor=command) as terminal:
        terminal.until(HELP)
        terminal.send(b"text" + CTRL_X)
        terminal.until(lambda _: ready.exists())
        for _ in range(3):
            if press == "key":
                terminal.press()
                terminal.until(lambda _: Path(f"{ready}.caught").exists())
            else:
                terminal.kill(signal.SIGINT)
        Path(f"{ready}.go").touch()
        terminal.until(lambda s: HELP in s.text and "text" in s.text)
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["text"]


@pytest.mark.req("088-44")
def test_what_an_editor_leaves_switched_on_is_switched_off(workspace, server, editor):
    body = "stty raw -echo </dev/tty; printf '\\033[?1049h\\033[?2004h\\033[?1000h\\033[?25l\\033[31m' >/dev/tty"
    with compose(workspace, editor=editor(body)) as terminal:
        terminal.until(HELP)
        terminal.send(b"text" + CTRL_X)
        terminal.until(lambda s: b"\x1b[?1000h" in terminal.output and "Query: text" in s.text and s.mode(25))
        assert not terminal.screen.mode(1000)
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
        assert not terminal.screen.mode(2004)
        assert "> text\nHello" in terminal.screen.text
    assert requests(server) == ["text"]


@pytest.mark.parametrize("body", ["rm $1", 'rm -rf "$(dirname $1)"'])
def test_a_document_that_the_editor_removes_is_an_error_and_the_text_is_back(workspace, server, editor, body: str):
    with compose(workspace, editor=editor(body)) as terminal:
        terminal.until(HELP)
        terminal.send(b"keep me" + CTRL_X)
        terminal.until("has left no file")
        terminal.until(lambda s: HELP in s.text and "keep me" in s.text)
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["keep me"]


def test_the_foreground_is_taken_back_from_an_editor_that_is_gone(workspace, server, editor):
    take = (
        "import os, signal; os.setpgid(0, 0); signal.signal(signal.SIGTTOU, signal.SIG_IGN); "
        "os.tcsetpgrp(0, os.getpgrp())"
    )
    with compose(workspace, editor=editor(f"exec {sys.executable} -c '{take}'")) as terminal:
        terminal.until(HELP)
        terminal.send(b"keep me" + CTRL_X)
        terminal.until(lambda s: HELP in s.text and "keep me" in s.text and b"\x1b[!p" in terminal.output)
        terminal.send(b"!" + ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["keep me!"]


def test_margins_and_character_sets_of_an_editor_are_undone(workspace, server, editor):
    with compose(
        workspace, editor=editor("printf '\\033(0\\033[3;5r\\033[4h\\033[?1004h\\033[?9h' >/dev/tty")
    ) as terminal:
        terminal.until(HELP)
        terminal.send(b"text" + CTRL_X)
        terminal.until(lambda s: "Query: text" in s.text and b"\x1b[!p" in terminal.output)
        assert not terminal.screen.mode(1004)
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
        assert "> text\nHello from the test model." in terminal.screen.text


def test_a_new_conversation_whose_first_question_failed_begins_with_it(workspace, server, hermetic):
    server.then(status(401), text("better"))
    with compose(workspace, "-n") as terminal:
        terminal.until(HELP)
        terminal.send(b"refused" + ENTER)
        assert terminal.wait() == "exited 1"
    with compose(workspace) as terminal:
        terminal.until("refused")
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert drafts(hermetic) == []


def test_a_document_that_was_left_is_gone_on_with_settings_and_all(workspace, server, hermetic, editor, tmp_path):
    ready = tmp_path / "ready"
    change = "sed -i '1s/.*/saved in the editor/; s/^id = .*/id = \"llamacpp\\/other\"/' $1"
    with compose(workspace, editor=editor(f"{change}; touch {ready}; sleep 60")) as terminal:
        terminal.until(HELP)
        terminal.send(b"before" + CTRL_X)
        terminal.until(lambda _: ready.exists())
        terminal.kill(signal.SIGKILL)
        assert terminal.wait() == "killed SIGKILL"
    with compose(workspace) as terminal:
        terminal.until("saved in the editor")
        assert "before" not in terminal.screen.text
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["saved in the editor"]
    assert json.loads(server.requests[-1].body)["model"] == "other"
    assert not list(hermetic.rglob("QUERY_MESSAGE.md"))
    with compose(workspace, "-n") as terminal:
        terminal.until(HELP)
        assert "saved" not in terminal.screen.text
        terminal.send(CTRL_C)
        terminal.wait()


def test_two_compositions_of_one_conversation_keep_out_of_each_others_way(workspace, server, editor, tmp_path):
    with compose(workspace, "begin") as terminal:
        assert terminal.wait() == "exited 0"
    ready = tmp_path / "ready"
    slow = f"sed -i '1s/.*/saved by the first/' $1; touch {ready}; while [ ! -e {ready}.go ]; do sleep 0.05; done"
    with compose(workspace, editor=editor(slow)) as first:
        first.until(HELP)
        first.send(b"first" + CTRL_X)
        first.until(lambda _: ready.exists())
        with compose(workspace, editor=editor("sed -i '1s/.*/saved by the second/' $1", "other")) as second:
            second.until(HELP)
            assert "first" not in second.screen.text
            second.send(b"second" + CTRL_X)
            second.until("saved by the second")
            second.send(ENTER)
            assert second.wait() == "exited 0"
        Path(f"{ready}.go").touch()
        first.until("saved by the first")
        first.send(ENTER)
        assert first.wait() == "exited 0"
    assert requests(server)[1:] == ["saved by the second", "saved by the first"]


# --- nothing that was written is lost

Leave = Callable[[Terminal], None]
WAYS: dict[str, tuple[Leave, str]] = {
    "Ctrl-C": (lambda t: t.press(), "killed SIGINT"),
    "ESC": (lambda t: t.send(ESC), "exited 0"),
    "INT": (lambda t: t.kill(signal.SIGINT), "killed SIGINT"),
    "TERM": (lambda t: t.kill(signal.SIGTERM), "killed SIGTERM"),
    "HUP": (lambda t: t.kill(signal.SIGHUP), "killed SIGHUP"),
    "KILL": (lambda t: t.kill(signal.SIGKILL), "killed SIGKILL"),
    "hang-up": (lambda t: t.hang_up(), "killed SIGHUP"),
    "QUIT": (lambda t: t.kill(signal.SIGQUIT), "killed SIGQUIT"),
}


@pytest.mark.req("088-140", "088-138", "104-73", "104-74", "088-6", "092-75", "092-134")
@pytest.mark.parametrize(("leave", "ended"), WAYS.values(), ids=WAYS)
def test_200_characters_survive(workspace: Path, server: ModelServer, hermetic: Path, leave: Leave, ended: str):
    with compose(workspace, columns=60) as terminal:
        terminal.until(HELP)
        terminal.send(TWO_HUNDRED.encode())
        terminal.until("word024")
        if ended in ("killed SIGKILL", "killed SIGQUIT"):  # bytes that a killed program has not read yet are nobody's
            terminal.until(lambda _: drafts(hermetic) == [TWO_HUNDRED])
        leave(terminal)
        if terminal.master >= 0:
            assert terminal.wait() == ended
            if ended != "killed SIGKILL":
                assert terminal.modes() == terminal.modes_before
        else:
            assert terminal.process.wait(30) == -signal.SIGHUP
    assert drafts(hermetic) == [TWO_HUNDRED]
    with compose(workspace) as terminal:
        terminal.until("word024")
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert requests(server) == [TWO_HUNDRED]
    assert drafts(hermetic) == []


@pytest.mark.req("088-140")
@pytest.mark.parametrize("body", ["kill -9 $$", "exit 1", "echo more >> $1; kill -SEGV $$"])
def test_200_characters_survive_a_crashing_editor(workspace, server, hermetic, editor, body: str):
    with compose(workspace, editor=editor(body)) as terminal:
        terminal.until(HELP)
        terminal.send(TWO_HUNDRED.encode())
        terminal.until("word024")
        terminal.send(CTRL_X)
        terminal.until(lambda s: terminal.output.count(b"word024") > 1 and HELP in s.text)
        terminal.kill(signal.SIGKILL)
        assert terminal.wait() == "killed SIGKILL"
    assert drafts(hermetic) == [TWO_HUNDRED]


@pytest.mark.req("088-140", "092-134")
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_while_the_editor_has_the_terminal(workspace, server, hermetic, editor, tmp_path, sig, no_leftovers):
    ready = tmp_path / "ready"
    command = editor(
        f"stty raw -echo </dev/tty; sed -i '1s/.*/saved in the editor/' $1; touch {ready}; "
        "trap 'exit 0' HUP; while :; do sleep 0.05; done"
    )
    with compose(workspace, editor=command) as terminal:
        terminal.until(HELP)
        terminal.send(b"before" + CTRL_X)
        terminal.until(lambda _: ready.exists())
        terminal.kill(sig)
        assert terminal.wait() == f"killed {sig.name}"
        if sig != signal.SIGKILL:
            assert terminal.modes() == terminal.modes_before
    with compose(workspace) as terminal:
        terminal.until("saved in the editor")
        terminal.send(CTRL_C)
        assert terminal.wait() == "killed SIGINT"


@pytest.mark.req("088-141")
def test_a_draft_goes_when_it_is_emptied_on_purpose(workspace, hermetic):
    with compose(workspace) as terminal:
        terminal.until(HELP)
        terminal.send(b"abc")
        terminal.until(lambda _: drafts(hermetic) == ["abc"])
        terminal.send(CTRL_U)
        terminal.until(lambda _: drafts(hermetic) == [])
        terminal.send(CTRL_C)
        assert terminal.wait() == "killed SIGINT"
    assert drafts(hermetic) == []


@pytest.mark.req("088-141")
def test_a_draft_stays_until_its_text_was_answered(workspace, server, hermetic):
    server.then(status(401), text("better"))
    with compose(workspace) as terminal:
        terminal.until(HELP)
        terminal.send(b"refused" + ENTER)
        assert terminal.wait() == "exited 1"
    assert drafts(hermetic) == ["refused"]
    with compose(workspace) as terminal:
        terminal.until("refused")
        terminal.send(ENTER)
        assert terminal.wait() == "exited 0"
    assert drafts(hermetic) == []


def test_a_full_disk_does_not_take_the_words(workspace, server, hermetic, tmp_path):
    """The limit on file sizes stands for a disk that is full: what was written is said, or kept where there is room."""
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *program(), "q"]
    env: dict[str, str | None] = {"JP_SESSION": "test", "EDITOR": None}
    with Terminal(limited, cwd=workspace, env=env) as terminal:
        terminal.until(HELP)
        terminal.send(TWO_HUNDRED.encode())
        terminal.until("word024")
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert "could not be kept" in terminal.screen.contents
        assert all(word in terminal.screen.contents for word in TWO_HUNDRED.split())


# --- channels


@pytest.mark.req("088-125", "088-126", "088-127", "088-128", "104-99", "104-100")
def test_everything_redirected_the_query_is_written_on_the_terminal(workspace: Path, server: ModelServer):
    with compose(workspace, "-F", "json", stdin=subprocess.DEVNULL, stdout=-1, stderr=-1) as terminal:
        terminal.until(HELP)
        terminal.send(b"asked" + ENTER)
        assert terminal.wait() == "exited 0"
        lines = [json.loads(line) for line in terminal.piped[1].decode().splitlines()]
        assert [line["content"] for line in lines if line["type"] == "chat_request"] == ["asked"]
        assert b"Enter sends" not in terminal.piped[2]
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("088-81")
@pytest.mark.parametrize("compose_in_editor", ["false", "true", "always", "never"])
def test_without_a_user_nothing_opens(workspace: Path, server: ModelServer, compose_in_editor: str, editor):
    command = editor("echo no > $1")
    env = {"JP_SESSION": "test", "JP_EDITOR": command}
    for args in ([], ["-e"]):
        with Process(
            [*program(), "q", "-c", f"query.compose_in_editor={compose_in_editor}", *args], cwd=workspace, env=env
        ) as process:
            assert process.wait() == "exited 1"
            assert not os.path.exists(command + ".saw")
    assert not server.requests


# --- job control


def stopped(screen: Screen) -> bool:
    return "Stopped" in screen.text and screen.text.rstrip().endswith("$")


@pytest.fixture(params=["bash", "dash"])
def in_shell(request: pytest.FixtureRequest, workspace: Path, shells: list[str]) -> Iterator[Terminal]:
    """`jp query` in an interactive shell, with a text begun."""
    if request.param not in shells:
        pytest.skip(f"no {request.param} here")
    with shell(request.param, cwd=workspace, env={"JP_SESSION": "test", "EDITOR": None}) as terminal:
        terminal.at_shell = terminal.modes()  # type: ignore[attr-defined]
        terminal.send(f"{program()[0]} q\r".encode())
        terminal.until(HELP)
        terminal.send(b"begun")
        terminal.until("begun")
        yield terminal


def job(terminal: Terminal) -> int:
    """The process id of the job in the foreground."""
    return terminal.foreground


@pytest.mark.req("088-18", "104-80")
@pytest.mark.parametrize("how", ["key", "signal"])
def test_a_composition_can_be_stopped_and_brought_back(in_shell: Terminal, server: ModelServer, how: str):
    terminal = in_shell
    for round_ in range(2):
        if how == "key":
            terminal.send(b"\x1a")
        else:
            os.killpg(job(terminal), signal.SIGTSTP)
        terminal.until(lambda s, n=round_ + 1: s.text.count("Stopped") == n and s.text.rstrip().endswith("$"))
        assert HELP not in terminal.screen.text
        assert terminal.modes() == terminal.at_shell  # type: ignore[attr-defined]
        terminal.send(b"fg\r")
        terminal.until(lambda s: HELP in s.text and "begun" in s.text)
    terminal.send(b" again" + ENTER)
    terminal.until("Hello from the test model.")
    terminal.send(b"exit\r")
    assert requests(server) == ["begun again"]


@pytest.mark.req("104-80")
def test_a_composition_that_goes_on_in_the_background_stops_again(in_shell: Terminal, server: ModelServer):
    terminal = in_shell
    terminal.send(b"\x1a")
    terminal.until(stopped)
    terminal.send(b"bg\r")
    until_stopped(terminal)
    terminal.send(b"echo still $((40+2))\r")
    terminal.until("still 42")
    assert HELP not in terminal.screen.text
    terminal.send(b"fg\r")
    terminal.until(lambda s: HELP in s.text and "begun" in s.text)
    terminal.send(ENTER)
    terminal.until("Hello from the test model.")
    assert requests(server) == ["begun"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of tgkill is another one here")
def test_a_stop_that_the_kernel_gives_to_another_thread_stops_all_the_same(in_shell: Terminal):
    """It does so when the main thread has a signal to see already."""
    terminal = in_shell
    pid = job(terminal)
    threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir() if path.name != str(pid)]
    others = [tid for tid in threads if not blocked(pid, tid) & 1 << (signal.SIGTSTP - 1)]
    assert others
    ctypes.CDLL(None).syscall(234, pid, others[0], int(signal.SIGTSTP))  # tgkill
    terminal.until(stopped)
    terminal.send(b"fg\r")
    terminal.until(lambda s: HELP in s.text and "begun" in s.text)
    terminal.send(CTRL_C)
    terminal.until(lambda s: s.text.rstrip().endswith("$"))


def blocked(pid: int, tid: int) -> int:
    """The signals that a thread blocks, as the kernel shows them."""
    fields = Path(f"/proc/{pid}/task/{tid}/status").read_text().splitlines()
    return next(int(line.split()[1], 16) for line in fields if line.startswith("SigBlk"))


def test_a_composition_stopped_behind_its_back_is_drawn_again(in_shell: Terminal, server: ModelServer):
    terminal = in_shell
    terminal.until("Shift+Enter")  # the terminal's answers are in; a stopped program would leave them to the shell
    os.killpg(job(terminal), signal.SIGSTOP)
    terminal.until("Stopped")
    drawn = terminal.output.count(HELP.encode())
    terminal.send(b"fg\n")  # dash reads in the modes that it finds, and nobody could put them back
    terminal.until(lambda _: terminal.output.count(HELP.encode()) > drawn)
    terminal.send(b"!" + ENTER)
    terminal.until("Hello from the test model.")
    assert requests(server) == ["begun!"]


@pytest.mark.parametrize("how", ["key", "signal"])
def test_the_editor_and_jp_stop_and_go_on_together(workspace, server, editor, tmp_path, shells, how: str):
    ready = tmp_path / "ready"
    command = editor(f"sed -i '1s/.*/edited/' $1; touch {ready}; while [ ! -e {ready}.go ]; do sleep 0.05; done")
    with shell("bash", cwd=workspace, env={"JP_SESSION": "test", "JP_EDITOR": command}) as terminal:
        terminal.send(f"{program()[0]} q\r".encode())
        terminal.until(HELP)
        terminal.send(b"begun" + CTRL_X)
        terminal.until(lambda _: ready.exists())
        if how == "key":
            terminal.send(b"\x1a")
        else:
            os.killpg(job(terminal), signal.SIGTSTP)
        terminal.until(stopped)
        terminal.send(b"fg\r")
        Path(f"{ready}.go").touch()
        terminal.until(lambda s: HELP in s.text and "Query: edited" in s.text)
        terminal.send(ENTER)
        terminal.until("Hello from the test model.")
    assert requests(server) == ["edited"]
