"""Tools at work, on a terminal: progress, the menu, replies from it, restart, questions, results."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.marked import still_marked
from tests.support.terminal import CTRL_C, ESC, Terminal
from tests.support.tools import Make, answer, asks, editing, query, ran, responses, sent
from tests.support.workspace import events, messages
from tests.wire.model_server import ModelServer, text, tool_call, tool_calls

MENU = "Interrupted: [c,r,s,t,?]?"
OVER = "Interrupted: [c,r,s,t,b,?]?"
GRACEFUL = "gracefully shutting down…"
# Says that it runs, then waits to be let go; a SIGINT of the terminal would show in the file.
WAITS = """trap 'echo pressed > $DIR/signal' INT
echo "$1" >> $DIR/ran; echo $$ >> $DIR/pids
while [ ! -e $DIR/go ]; do sleep 0.02; done
echo "went on" """


@pytest.fixture
def slow(tool: Make, server: ModelServer) -> Path:
    """The model calls two tools that wait for the file `go` in the directory that is returned."""
    tool("one", WAITS, cancellation_response="one was stopped")
    folder = tool("two", WAITS)
    server.then(tool_calls(("one", {}), ("two", {})), text("All done."))
    return folder


def begun(folder: Path, times: int = 2) -> Any:
    return lambda _: len(ran(folder / "ran")) >= times


def go(folder: Path) -> None:
    (folder / "go").touch()


def gone() -> None:
    """Nothing of the tools runs any more, after a moment at most."""
    assert not still_marked(5)


def calls_and_responses(workspace: Path) -> tuple[list[str], list[str]]:
    found = events(workspace)
    calls = [event["id"] for event in found if event["type"] == "tool_call_request"]
    return calls, [event["id"] for event in found if event["type"] == "tool_call_response"]


@pytest.mark.req("092-56", "092-57", "092-28", "088-66")
@pytest.mark.parametrize("press", [lambda t: t.send(CTRL_C), lambda t: t.kill(signal.SIGINT)], ids=["key", "signal"])
@pytest.mark.parametrize("key", [b"c", ESC], ids=["c", "ESC"])
def test_continue_leaves_the_tools_alone(slow: Path, workspace: Path, press: Any, key: bytes):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        press(terminal)
        terminal.until(MENU)
        terminal.send(key)
        terminal.until(lambda screen: MENU not in screen)
        go(slow)
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert sorted(responses(workspace)) == [("went on\n", False)] * 2
    assert not (slow / "signal").exists()
    assert messages(workspace) == ["All done."]


@pytest.mark.req("092-58", "088-67", "088-66")
def test_a_reply_is_the_response_of_every_call_that_it_ends(slow: Path, workspace: Path, server: ModelServer):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        terminal.send(CTRL_C)
        terminal.until(MENU)
        terminal.send(b"r")
        terminal.until("Reply:")
        assert len(still_marked(0)) > 1  # it does not by itself stop the tools
        terminal.send(b"try it without\r")
        assert terminal.wait() == "exited 0"
    assert responses(workspace) == [("try it without", False)] * 2
    assert [message["content"] for message in sent(server)[-2:]] == ["try it without"] * 2
    assert messages(workspace) == ["All done."]
    gone()


@pytest.mark.req("092-59", "088-69", "088-88")
def test_an_empty_reply_is_each_tools_own(slow: Path, workspace: Path, server: ModelServer):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        terminal.send(CTRL_C)
        terminal.until(MENU)
        terminal.send(b"r")
        terminal.until("Reply:")
        terminal.send(b" \r")
        assert terminal.wait() == "exited 0"
    contents = [content for content, _ in responses(workspace)]
    assert contents[0] == "one was stopped"
    assert "intentionally rejected" in contents[1]
    assert len(server.requests) == 2
    gone()


@pytest.mark.req("088-89", "092-94")
@pytest.mark.parametrize("leave", [CTRL_C, ESC], ids=["Ctrl-C", "ESC"])
def test_a_reply_that_is_left_leads_back_to_the_menu(slow: Path, workspace: Path, leave: bytes):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        terminal.send(CTRL_C)
        terminal.until(MENU)
        terminal.send(b"r")
        terminal.until("Reply:")
        terminal.send(b"half a thought")
        terminal.until("half a thought")
        terminal.send(leave)
        terminal.until(lambda screen: MENU in screen and "Reply:" not in screen)
        assert len(still_marked(0)) > 1
        terminal.send(b"c")
        terminal.until(lambda screen: MENU not in screen)
        go(slow)
        assert terminal.wait() == "exited 0"
    assert sorted(responses(workspace)) == [("went on\n", False)] * 2


@pytest.mark.req("088-90", "092-31")
@pytest.mark.parametrize("through_reply", [True, False], ids=["reply", "menu"])
def test_ctrl_c_in_the_menu_cancels_and_shuts_down(slow: Path, workspace: Path, through_reply: bool):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        terminal.send(CTRL_C)
        terminal.until(MENU)
        if through_reply:
            terminal.send(b"r")
            terminal.until("Reply:")
            terminal.send(CTRL_C)
            terminal.until(MENU)
        terminal.send(CTRL_C)
        assert terminal.wait() == "killed SIGINT"
        assert GRACEFUL in terminal.screen
    calls, ended = calls_and_responses(workspace)
    assert len(calls) == 2
    assert sorted(ended) == calls
    assert responses(workspace)[0][0] == "one was stopped"
    gone()


@pytest.mark.req("092-60")
def test_stop_saves_and_exits(slow: Path, workspace: Path, server: ModelServer):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        terminal.send(CTRL_C)
        terminal.until(MENU)
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
    contents = [content for content, _ in responses(workspace)]
    assert contents[0] == "one was stopped"
    assert "intentionally rejected" in contents[1]
    assert len(server.requests) == 1
    gone()


@pytest.mark.req("092-61")
def test_restart_runs_the_batch_again(slow: Path, workspace: Path):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        first = set((slow / "pids").read_text().split())
        terminal.send(CTRL_C)
        terminal.until(MENU)
        terminal.send(b"t")
        terminal.until(begun(slow, 4))
        assert not [pid for pid in first if Path(f"/proc/{pid}").exists()]
        go(slow)
        assert terminal.wait() == "exited 0"
    calls, ended = calls_and_responses(workspace)
    assert sorted(ended) == calls
    assert sorted(responses(workspace)) == [("went on\n", False)] * 2


@pytest.mark.req("092-73", "092-82")
@pytest.mark.parametrize("then", [b"b", b"s"])
def test_a_permission_for_the_restart_has_the_turn_menu(tool: Make, server: ModelServer, workspace: Path, then: bytes):
    folder = tool("one", WAITS, run="ask")
    server.then(tool_call("one", {}), text("All done."))
    asked, menu = "Run one [y,Y,n,N,p,r,e,?]?", "Interrupted: [c,r,s,b,?]?"
    with query(workspace) as terminal:
        terminal.until(asked)
        answer(terminal, b"y")
        terminal.until(begun(folder, 1))
        terminal.send(CTRL_C)
        terminal.until(MENU)
        terminal.send(b"t")
        terminal.until(asked)
        terminal.send(CTRL_C)
        terminal.until(menu)
        terminal.send(then)
        if then == b"b":
            terminal.until(lambda screen: asked in screen and menu not in screen)
            answer(terminal, b"y")
            terminal.until(begun(folder, 2))
            go(folder)
        assert terminal.wait() == "exited 0"
    assert len(responses(workspace)) == 1
    assert len(ran(folder / "ran")) == (2 if then == b"b" else 1)
    gone()


# --- fixed actions


@pytest.mark.req("092-62", "088-91", "088-92", "088-93")
@pytest.mark.parametrize(
    ("action", "keys", "expected"),
    [
        ("continue", b"", "went on"),
        ("restart", b"", "went on"),
        ("stop", b"", "one was stopped"),
        ("respond", b"no more\r", "no more"),
        ("respond", b" \r", "one was stopped"),
        ("respond", ESC, "one was stopped"),
        ("respond", CTRL_C, "one was stopped"),
    ],
)
def test_a_fixed_action_takes_the_place_of_the_menu(
    slow: Path, workspace: Path, action: str, keys: bytes, expected: str
):
    with query(workspace, "-c", f"interrupt.tool_call.action={action}") as terminal:
        terminal.until(begun(slow))
        terminal.send(CTRL_C)
        if action == "respond":
            terminal.until("Reply:")
            assert MENU not in terminal.screen
            terminal.send(keys)
        elif action == "restart":
            terminal.until(begun(slow, 4))
        elif action == "continue":
            terminal.pump(0.3)
        if action in ("continue", "restart"):
            go(slow)
        assert terminal.wait() == "exited 0"
        assert "Interrupted:" not in terminal.output.decode()
    assert responses(workspace)[0][0].strip() == expected
    assert bool(messages(workspace)) == (action != "stop")
    gone()


@pytest.mark.req("092-25", "092-24")
def test_a_second_press_climbs_over_the_change_of_scope(tool: Make, server: ModelServer, workspace: Path):
    folder = tool("one", WAITS)
    server.then(tool_calls(("one", {}), message="word " * 40, pause_ms=300), text("All done."))
    with query(
        workspace, "-c", "interrupt.streaming.action=continue", "-c", "interrupt.escalation_cooldown_secs=30"
    ) as t:
        t.until("word")
        t.send(CTRL_C)
        t.until(begun(folder, 1))
        t.send(CTRL_C)
        assert t.wait() == "killed SIGINT"
        assert MENU not in t.screen
        assert GRACEFUL in t.screen
    assert len(responses(workspace)) == 1
    gone()


# --- where the reply is written


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    path = tmp_path / "editor"
    path.write_text(f'#!/bin/sh\ncat {tmp_path}/text > "$1"\nexit $(cat {tmp_path}/status)\n')
    path.chmod(0o755)
    (tmp_path / "text").write_text("from the editor\n")
    (tmp_path / "status").write_text("0")
    return path


def tool_menu(workspace: Path, slow: Path, editor: Path, compose: str, *more: str) -> Terminal:
    terminal = query(
        workspace,
        "-c",
        f"interrupt.tool_call.compose_in_editor={compose}",
        "-c",
        "interrupt.streaming.compose_in_editor=never",
        "-c",
        f"editor.cmd={editor}",
        *more,
    )
    terminal.until(begun(slow))
    terminal.send(CTRL_C)
    return terminal


@pytest.mark.req("088-77", "088-80")
@pytest.mark.parametrize("compose", ["true", "always"])
def test_editor_first_saves_the_response(slow: Path, workspace: Path, editor: Path, compose: str):
    with tool_menu(workspace, slow, editor, compose) as terminal:
        terminal.until(MENU)
        terminal.send(b"r")
        assert terminal.wait() == "exited 0"
    assert responses(workspace) == [("from the editor", False)] * 2


@pytest.mark.req("088-77", "088-68", "088-52")
@pytest.mark.parametrize("compose", ["false", "never"])
def test_inline_first_with_the_editor_a_key_away(slow: Path, workspace: Path, editor: Path, compose: str):
    with tool_menu(workspace, slow, editor, compose) as terminal:
        terminal.until(MENU)
        terminal.send(b"r")
        terminal.until("Reply:")
        terminal.send(b"\x18")
        if compose == "false":
            terminal.until("from the editor")
            assert len(still_marked(0)) > 1
        else:
            terminal.pump(0.2)
            assert "from the editor" not in terminal.screen
            terminal.send(b"by hand")
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
    assert responses(workspace)[0][0] == ("from the editor" if compose == "false" else "by hand")


@pytest.mark.req("088-78")
@pytest.mark.parametrize("how", ["empty", "cancelled"])
def test_an_editor_that_saves_nothing_leads_back_to_the_menu(
    slow: Path, workspace: Path, editor: Path, tmp_path: Path, how: str
):
    (tmp_path / "text").write_text("")
    (tmp_path / "status").write_text("1" if how == "cancelled" else "0")
    with tool_menu(workspace, slow, editor, "true") as terminal:
        terminal.until(MENU)
        terminal.send(b"r")
        terminal.until(lambda _: terminal.output.count(MENU.encode()) > 1)
        assert len(still_marked(0)) > 1
        terminal.send(b"c")
        go(slow)
        assert terminal.wait() == "exited 0"
    assert sorted(responses(workspace)) == [("went on\n", False)] * 2


@pytest.mark.req("088-79")
def test_without_an_editor_the_fallback_prompt_has_the_canned_message(slow: Path, workspace: Path):
    with tool_menu(workspace, slow, Path("/nonexistent/editor"), "true") as terminal:
        terminal.until(MENU)
        terminal.send(b"r")
        terminal.until("Reply:")
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
    assert responses(workspace)[0][0] == "one was stopped"


@pytest.mark.req("088-95", "088-97")
@pytest.mark.parametrize(("compose", "broken"), [("true", False), ("always", False), ("always", True)])
def test_respond_in_an_editor_that_gives_nothing_sends_the_canned_message(
    slow: Path, workspace: Path, editor: Path, tmp_path: Path, compose: str, broken: bool
):
    (tmp_path / "text").write_text("")
    used = Path("/nonexistent/editor") if broken else editor
    with tool_menu(workspace, slow, used, compose, "-c", "interrupt.tool_call.action=respond") as terminal:
        assert terminal.wait() == "exited 0"
        assert ("/nonexistent/editor" in terminal.screen) == broken
        assert "Reply:" not in terminal.output.decode()
    assert responses(workspace)[0][0] == "one was stopped"


# --- the ladder


def test_two_presses_without_a_menu_end_the_tools(slow: Path, workspace: Path):
    with query(workspace) as terminal:
        terminal.until(begun(slow))
        terminal.send(CTRL_C)
        terminal.until(MENU)
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"
    gone()
    calls, ended = calls_and_responses(workspace)
    assert sorted(ended) == calls


@pytest.mark.req("104-91", "104-117", "104-156")
def test_progress_is_shown_on_stderr_without_a_person(slow: Path, workspace: Path, tmp_path: Path):
    progress = ("-c", "style.tool_call.progress.delay_secs=0")
    with (
        (tmp_path / "out").open("w") as out,
        query(workspace, "--no-interactive", *progress, stdout=out) as terminal,
    ):
        terminal.until(lambda screen: "Running…" in screen and "one, two" in screen)
        go(slow)
        assert terminal.wait() == "exited 0"
        assert "Running" not in terminal.screen
        assert "Calling tool one" in terminal.screen
    assert (tmp_path / "out").read_text() == "All done.\n"


# --- questions


@pytest.mark.req("092-74", "092-78", "092-86")
def test_a_tools_question_is_asked_answered_and_kept(tool: Make, server: ModelServer, workspace: Path):
    tool("ask", asks(id="sure", text="Really?", answer_type={"type": "boolean"}, pre_amble="It is dangerous."))
    tool("pick", asks(id="one", text="Which?", answer_type={"Select": {"options": ["red", "green"]}}, default="green"))
    server.then(tool_calls(("ask", {}), ("pick", {})), text("All done."))
    with query(workspace) as terminal:
        terminal.until(lambda screen: "Really?" in screen or "Which?" in screen)
        first = "Really?" if "Really?" in terminal.screen else "Which?"
        second = "Which?" if first == "Really?" else "Really?"
        assert second not in terminal.screen
        shown = terminal.screen.text
        terminal.send(CTRL_C)
        terminal.until(OVER)
        terminal.send(b"b")
        terminal.until(lambda screen: OVER not in screen and screen.text == shown)
        for question in (first, second):
            terminal.until(question)
            if question == "Really?":
                assert "It is dangerous." in terminal.screen
            answer(terminal, b"y" if question == "Really?" else b"\r")
        assert terminal.wait() == "exited 0"
    found = events(workspace)
    asked = {event["id"]: event for event in found if event["type"] == "inquiry_request"}
    answers = {event["id"]: event["answer"] for event in found if event["type"] == "inquiry_response"}
    assert answers == {"call_1.sure": True, "call_2.one": "green"}
    assert asked["call_1.sure"]["question"] == {"text": "Really?", "answer_type": {"type": "boolean"}}
    assert asked["call_1.sure"]["source"] == {"source": "tool", "name": "ask"}
    assert asked["call_2.one"]["question"]["answer_type"] == {"type": "select", "options": ["red", "green"]}
    assert all("answered" in content for content, _ in responses(workspace))


def test_a_secret_is_nowhere(tool: Make, server: ModelServer, workspace: Path, tmp_path: Path):
    folder = tool("login", asks(id="token", text="Token?", answer_type={"type": "secret"}) + '; echo "$1" > $DIR/got')
    server.then(tool_call("login", {}), text("All done."))
    log = tmp_path / "log"
    with query(workspace, "-vvvvv", "--log-file", str(log)) as terminal:
        terminal.until("Token?")
        terminal.pump(0.3)
        terminal.send(b"hunter2hunter2")
        terminal.pump(0.2)
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        assert b"hunter2" not in terminal.output
    assert "hunter2hunter2" in (folder / "got").read_text()
    (folder / "got").unlink()
    for request in server.requests:
        assert b"hunter2" not in request.body
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes(), path
    found = [event for event in events(workspace) if event["type"] == "inquiry_response"]
    assert [event["answer"] for event in found] == ["[redacted]"]


@pytest.mark.req("088-109", "088-110", "088-111", "088-112", "092-74", "088-29")
def test_a_result_is_confirmed_or_edited(tool: Make, server: ModelServer, workspace: Path):
    tool("get", "echo secret stuff", result="ask")
    tool("change", "printf 'some text'", result="edit")
    server.then(tool_call("get", {}), tool_call("change", {}), tool_call("change", {}), text("All done."))
    asked = "Give the result of {} to the model [y,n,e,?]?".format
    with query(workspace, "-c", "editor.inline.edit_mode=vi") as terminal:
        terminal.until(asked("get"))
        assert "secret stuff" in terminal.screen
        answer(terminal, b"e")
        terminal.until("Result of get:")
        terminal.send(ESC)
        terminal.pump(0.2)
        terminal.send(b"ggdGi")  # vi: all of it away, insert again
        terminal.send(b"edited\r")
        editing(terminal, "Result of change:")
        terminal.send(b"\x7f and more")
        terminal.until("some text and more")
        terminal.send(CTRL_C)
        terminal.until(OVER)
        terminal.send(b"b")
        terminal.until(lambda screen: OVER not in screen and "some text and more" in screen)
        answer(terminal, b"\r", lambda screen: screen.text.count("Calling tool change") == 2)  # again unasked
        editing(terminal, "Result of change:")
        terminal.send(b"\x7f" * 20 + b"\r")
        terminal.until(asked("change"))
        answer(terminal, b"n")
        assert terminal.wait() == "exited 0"
    contents = [content for content, _ in responses(workspace)]
    assert contents[0] == "edited"
    assert contents[1] == "some text and more"
    assert "kept from you" in contents[2]


@pytest.mark.req("104-83", "104-84")
@pytest.mark.parametrize(
    ("kind", "policy", "status"),
    [
        ("tool", "deny", "exited 3"),
        ("tool", "defaults", "exited 0"),
        ("deliver", "deny", "exited 3"),
        ("deliver", "auto", "exited 0"),
    ],
)
def test_nobody_there_the_policy_decides(
    tool: Make, server: ModelServer, workspace: Path, ask: Any, kind: str, policy: str, status: str
):
    if kind == "tool":
        tool("ask", asks(id="sure", text="Really?", answer_type={"type": "boolean"}, default=True))
    else:
        tool("ask", "echo result", result="ask")
    server.then(tool_call("ask", {}), text("All done."))
    result = ask("q", "hi", "-c", f"conversation.tools.ask.detached.{kind}={policy}")
    assert result.status == status
    if policy == "deny":
        assert f"conversation.tools.ask.detached.{kind}" in result.stderr
        assert len(server.requests) == 1
    else:
        assert not responses(workspace)[0][1]


def test_the_model_answers_a_question_by_structured_output(tool: Make, server: ModelServer, workspace: Path, ask: Any):
    tool(
        "ask",
        asks(id="sure", text="Really?", answer_type="Boolean"),
        questions={"sure": {"target": "assistant"}},
    )
    server.then(tool_call("ask", {}), text('{"answer": true}'), text("All done."))
    result = ask("q", "hi")
    assert result.status == "exited 0"
    request = json.loads(server.requests[1].body)
    assert request["response_format"]["json_schema"]["schema"]["properties"]["answer"]["type"] == "boolean"
    assert "Really?" in request["messages"][-1]["content"]
    assert '"sure": true' in responses(workspace)[0][0] or '"sure":true' in responses(workspace)[0][0]


def test_a_result_that_is_cut_names_the_file_with_all_of_it(tool: Make, server: ModelServer, workspace: Path):
    lines = "seq -f 'line %g' 1 40"
    tool("long", lines)
    tool("short", "echo one")
    tool("off", lines, style={"results_file_link": "off"})
    server.then(tool_calls(("long", {}), ("short", {}), ("off", {})), text("All done."))
    with query(workspace, columns=200, rows=60) as terminal:
        assert terminal.wait() == "exited 0"
        shown = terminal.screen.contents
    assert shown.count("… 30 more lines") == 2
    (path,) = [line.partition("All of it: ")[2] for line in shown.splitlines() if "All of it: " in line]
    assert Path(path).read_text().splitlines()[-1] == "line 40"
    assert "line 40" not in shown


def test_what_was_said_is_on_the_screen_before_a_question(tool: Make, server: ModelServer, workspace: Path):
    tool("note", run="ask")
    server.then(tool_call("note", {}, message="I would like to note it"), text("All done."))
    with query(workspace) as terminal:
        terminal.until(lambda screen: "I would like to note it" in screen and "Run note" in screen)
        answer(terminal, b"n")
        terminal.until("note was skipped")
        assert terminal.wait() == "exited 0"
