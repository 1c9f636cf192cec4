"""A plugin's prompts on a real terminal: keys, what is seen, what is left (RFD D60, "Wire format" and "Rendering")."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.plugins import Make, run
from tests.support.terminal import ESC, Terminal
from tests.support.tools import answer, configure

ASK = """
note(ask(type="prompt", **json.loads(init["args"][0])))
finish()
"""


def asking(workspace: Path, request: dict[str, object], *args: str, **options: object) -> Terminal:
    """`jp it REQUEST` on a terminal."""
    environment = {"JP_SESSION": "test"}
    return Terminal([*program(), *args, "it", json.dumps(request)], cwd=workspace, env=environment, **options)  # type: ignore[arg-type]


def confirm(**more: object) -> dict[str, object]:
    return {"kind": "confirm", "message": "Delete 14 stale entries?", **more}


@pytest.mark.req("D60-7", "D60-8", "D60-14", "D60-60", "D60-63")
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"y", {"outcome": "answered", "value": True}),
        (b"n", {"outcome": "answered", "value": False}),
        (ESC, {"outcome": "cancelled"}),
    ],
)
def test_confirm_takes_one_key(workspace: Path, plugin: Make, key: bytes, expected: dict[str, object]) -> None:
    notes = plugin("signal.signal(signal.SIGINT, lambda *_: note('INT'))" + ASK)
    with asking(workspace, confirm()) as terminal:
        terminal.until("Delete 14 stale entries? [y,n,?]?")
        assert "it asks:" in terminal.screen
        answer(terminal, key)
        assert terminal.wait() == "exited 0"
        assert notes.now == [{"type": "prompt_response", **expected}]
        assert terminal.modes() == terminal.modes_before
        assert terminal.screen.mode(25)
        assert not terminal.screen.mode(2004)


@pytest.mark.req("D60-9", "D60-10")
@pytest.mark.parametrize("default", [True, False])
def test_enter_stands_for_the_default(workspace: Path, plugin: Make, default: bool) -> None:
    notes = plugin(ASK)
    with asking(workspace, confirm(default=default)) as terminal:
        terminal.until("[Y,n,?]?" if default else "[y,N,?]?")
        answer(terminal, b"\r")
        terminal.wait()
    assert notes.now[0]["value"] is default


@pytest.mark.req("D60-11", "D60-12", "D60-13")
def test_other_keys_answer_nothing_and_the_help_explains(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    with asking(workspace, confirm()) as terminal:
        terminal.until("[y,n,?]?")
        answer(terminal, b"?", done=lambda screen: "y - yes" in screen and "n - no" in screen)
        assert "Delete 14 stale entries? [y,n,?]?" in terminal.screen
        for key in (b"\r", b"x", b" "):
            terminal.send(key)
            terminal.pump(0.3)
        assert "[y,n,?]?" in terminal.screen
        assert notes.now == []
        answer(terminal, b"n")
        terminal.wait()
    assert notes.now[0]["value"] is False


OPTIONS = [f"branch-{number:03}" for number in range(300)]


@pytest.mark.req("D60-15", "D60-17")
def test_select_offers_all_of_many_and_begins_at_the_default(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    request = {"kind": "select", "message": "Which branch?", "options": OPTIONS, "default": "branch-150"}
    with asking(workspace, request) as terminal:
        terminal.until(lambda screen: "› branch-150" in screen and "Which branch?" in screen)
        answer(terminal, b"\x1b[F", done=lambda screen: "› branch-299" in screen)
        answer(terminal, b"\x1b[H", done=lambda screen: "› branch-000" in screen and "branch-001" in screen)
        answer(terminal, b"042", done=lambda screen: "› branch-042" in screen)
        answer(terminal, b"\r")
        terminal.wait()
    assert notes.now[0]["value"] == "branch-042"


@pytest.mark.req("D60-17", "D60-18")
@pytest.mark.parametrize(("key", "expected"), [(b"\r", "branch-150"), (ESC, None)])
def test_enter_at_once_answers_with_the_default(
    workspace: Path, plugin: Make, key: bytes, expected: str | None
) -> None:
    notes = plugin(ASK)
    with asking(workspace, {"kind": "select", "message": "?", "options": OPTIONS, "default": "branch-150"}) as terminal:
        terminal.until("› branch-150")
        answer(terminal, key)
        terminal.wait()
    assert notes.now[0].get("value") == expected
    assert notes.now[0]["outcome"] == ("answered" if expected else "cancelled")


HOSTILE = "\x1b]0;owned\x07a\x1b[2Jb\x1b]52;c;b3duZWQ=\x07c\x1b[?1049hd\x1b[10;10He\x9bf\x08\x07"


@pytest.mark.req("D60-16", "D60-56", "D60-57")
def test_what_the_plugin_sends_can_not_act_on_the_terminal(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    options = ["plain", HOSTILE]
    with asking(workspace, {"kind": "select", "message": HOSTILE, "options": options}) as terminal:
        terminal.until("› plain")
        answer(terminal, b"\x1b[B", done=lambda screen: "› plain" not in screen and "›" in screen)
        assert not terminal.screen.mode(1049)
        raw = terminal.output
        for sequence in (b"owned", b"\x1b]52", b"\x1b[2J", b"\x1b[10;10H", b"1049", b"\x9b", b"\x07"):
            assert sequence not in raw.replace(b"[?1047l", b""), sequence
        answer(terminal, b"\r")
        terminal.wait()
    assert notes.now[0]["value"] == HOSTILE


@pytest.mark.req("D60-19", "D60-20", "D60-35")
def test_text_is_what_was_entered(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    with asking(workspace, {"kind": "text", "message": "Commit message"}) as terminal:
        terminal.until("Commit message")
        terminal.send("  Größe 端 👍 ".encode())
        terminal.until("Größe")
        terminal.send(b"\x1b\r")
        terminal.send(b"two\xff\xc3\x28")
        terminal.until("two")
        terminal.send(b"\x1b[200~three\nfour\x1b[201~")
        terminal.until("four")
        terminal.send(b"\r")
        terminal.wait()
    value = notes.now[0]["value"]
    assert value.startswith("  Größe 端 👍 \ntwo")
    assert value.endswith("three\nfour")


@pytest.mark.req("D60-19")
@pytest.mark.parametrize("typed", [b"", b"   "])
def test_an_empty_text_is_an_answer(workspace: Path, plugin: Make, typed: bytes) -> None:
    notes = plugin(ASK)
    with asking(workspace, {"kind": "text", "message": "Tag"}) as terminal:
        terminal.until("Tag")
        terminal.send(typed + b"\r")
        terminal.wait()
    assert notes.now == [{"type": "prompt_response", "outcome": "answered", "value": typed.decode()}]


@pytest.mark.req("D60-21", "D60-22")
def test_text_is_edited_with_the_keys_of_every_editor(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    with asking(workspace, {"kind": "text", "message": "Name", "default": "one two"}) as terminal:
        terminal.until("one two")
        terminal.send(b"\x1bb\x1bd")  # Alt+B, Alt+D: the last word goes
        terminal.until(lambda screen: "two" not in screen and "one" in screen)
        terminal.send(b"\x01X\r")
        terminal.wait()
    assert notes.now[0]["value"] == "Xone "


@pytest.mark.req("D60-22", "D60-25")
def test_a_cancelled_text_is_there_the_next_time(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    request = {"kind": "text", "message": "Name"}
    with asking(workspace, request) as terminal:
        terminal.until("Name")
        terminal.send(b"half a na")
        terminal.until("half a na")
        terminal.send(ESC)
        terminal.wait()
    assert notes.now == [{"type": "prompt_response", "outcome": "cancelled"}]
    with asking(workspace, request) as terminal:
        terminal.until("half a na")
        terminal.send(b"me\r")
        terminal.wait()
    assert notes.now[1]["value"] == "half a name"
    with asking(workspace, request) as terminal:  # it was sent: the next one begins empty
        terminal.until("Name")
        terminal.send(b"\r")
        terminal.wait()
    assert notes.now[2]["value"] == ""


@pytest.mark.req("D60-23")
def test_escape_in_vi_leads_to_normal_mode_and_from_there_away(workspace: Path, plugin: Make) -> None:
    configure(**{"editor.inline.edit_mode": "vi"})
    notes = plugin(ASK)
    with asking(workspace, {"kind": "text", "message": "Name"}) as terminal:
        terminal.until("Name")
        terminal.send(b"abc")
        terminal.until("abc")
        terminal.send(ESC)
        terminal.until("NORMAL")
        assert notes.now == []
        terminal.send(ESC)
        terminal.wait()
    assert notes.now == [{"type": "prompt_response", "outcome": "cancelled"}]


@pytest.mark.req("D60-24", "D60-29")
def test_what_is_typed_ahead_is_kept_for_a_text_alone(workspace: Path, plugin: Make) -> None:
    notes = plugin(
        """
        note("up"); time.sleep(0.7)
        note(ask(type="prompt", kind="text", message="First"))
        note("up"); time.sleep(0.7)
        note(ask(type="prompt", kind="secret", message="Token"))
        note("up"); time.sleep(0.7)
        note(ask(type="prompt", kind="confirm", message="Sure?"))
        finish()
        """
    )
    with run(workspace) as terminal:
        notes.of(1)
        terminal.send(b"ahead ")
        terminal.until("First ahead")
        terminal.send(b"and after\r")
        notes.of(3)
        terminal.send(b"dropped")
        terminal.until("Token")
        terminal.pump(0.35)
        answer(terminal, b"kept", done=lambda _: True)
        answer(terminal, b"\r", done=lambda _: len(notes.now) > 4)
        notes.of(5)
        terminal.send(b"y")
        terminal.until("Sure? [y,n,?]?")
        terminal.pump(0.3)
        assert len(notes.now) == 5
        answer(terminal, b"n")
        terminal.wait()
    assert [note["value"] for note in notes.now if note != "up"] == ["ahead and after", "kept", False]


@pytest.mark.req("D60-26", "D60-28")
def test_nothing_of_a_secret_is_seen(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    with asking(workspace, {"kind": "secret", "message": "Registry token"}) as terminal:
        terminal.until("Registry token")
        answer(terminal, b"hunter2-\xc3\xa9", done=lambda _: True)
        terminal.pump(0.3)
        assert "hunter2" not in terminal.screen.contents
        answer(terminal, b"\r")
        terminal.wait()
        assert b"hunter2" not in terminal.output
        assert "•" not in terminal.screen.contents
    assert notes.now[0]["value"] == "hunter2-é"


@pytest.mark.req("D60-28")
def test_a_secret_is_cancelled_by_escape(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    with asking(workspace, {"kind": "secret", "message": "Token"}) as terminal:
        terminal.until("Token")
        answer(terminal, ESC)
        terminal.wait()
    assert notes.now == [{"type": "prompt_response", "outcome": "cancelled"}]


@pytest.mark.req("D60-48", "D60-53")
def test_it_is_asked_on_the_terminal_whatever_is_redirected(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    with asking(
        workspace, confirm(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as terminal:
        terminal.until("Delete 14 stale entries? [y,n,?]?")
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert terminal.piped == {1: b"", 2: b""}
    assert notes.now[0]["value"] is True


@pytest.mark.req("D60-49", "D60-102")
def test_json_stays_parseable_around_a_prompt(workspace: Path, plugin: Make) -> None:
    plugin(
        """
        send(type="print", text="# one\\ntwo", format="markdown")
        send(type="print", text="note", channel="chrome")
        note(ask(type="prompt", kind="confirm", message="Sure?"))
        send(type="print", text="after")
        finish()
        """
    )
    with run(workspace, "--format", "json", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as terminal:
        terminal.until("Sure? [y,n,?]?")
        answer(terminal, b"y")
        terminal.wait()
        out = [json.loads(line) for line in terminal.piped[1].splitlines()]
        err = [json.loads(line) for line in terminal.piped[2].splitlines()]
    assert [(each["type"], each["text"]) for each in out] == [("print", "# one\ntwo"), ("print", "after")]
    assert [(each["channel"], each["text"]) for each in err] == [("chrome", "note")]


@pytest.mark.req("D60-54", "D60-101")
def test_what_comes_while_a_prompt_is_up_is_shown_after_it_in_order(workspace: Path, plugin: Make) -> None:
    notes = plugin(
        """
        send(type="print", text="before\\n")
        send(type="prompt", kind="confirm", message="Sure?")
        while not os.path.exists(os.environ["NOTES"] + ".go"):
            time.sleep(0.01)
        for number in range(3):
            send(type="print", text=f"line {number}\\n")
        note("printed")
        read()
        send(type="print", text="end\\n")
        finish()
        """
    )
    with run(workspace) as terminal:
        terminal.until("Sure? [y,n,?]?")
        notes.path.with_name("notes.go").touch()
        notes.of(1)
        terminal.pump(0.3)
        assert "line" not in terminal.screen
        answer(terminal, b"y")
        terminal.wait()
        lines = [line for line in terminal.screen.lines if line]
    assert lines == ["before", "line 0", "line 1", "line 2", "end"]


@pytest.mark.req("D60-41", "D60-38", "D60-40")
def test_prompts_come_one_after_the_other(workspace: Path, plugin: Make) -> None:
    notes = plugin(
        """
        send(type="prompt", kind="confirm", message="First?", id="1")
        send(type="prompt", kind="confirm", message="Second?", id="2")
        send(type="list_conversations", id="3")
        note(read()); note(read()); note(read())
        finish()
        """
    )
    with run(workspace) as terminal:
        terminal.until("First? [y,n,?]?")
        assert [note["id"] for note in notes.of(1)] == ["3"]  # not after the person
        assert "Second?" not in terminal.screen
        answer(terminal, ESC, done=lambda screen: "Second? [y,n,?]?" in screen)
        assert "First?" not in terminal.screen
        answer(terminal, b"y")
        terminal.wait()
    assert [(note["id"], note.get("outcome")) for note in notes.now] == [
        ("3", None), ("1", "cancelled"), ("2", "answered"),
    ]  # fmt: skip


@pytest.mark.req("D60-58", "D60-59")
@pytest.mark.parametrize("kind", ["confirm", "select", "text", "secret"])
def test_a_long_message_is_shortened_and_shown_whole_on_request(workspace: Path, plugin: Make, kind: str) -> None:
    notes = plugin(ASK)
    lines = "\n".join(f"entry {number:04}" for number in range(200))
    long_option = "begin " + "x" * 500 + " end"
    request: dict[str, object] = {"kind": kind, "message": f"{lines}\nAll of these?"}
    if kind == "select":
        request["options"] = [long_option, "other"]
    with asking(workspace, request) as terminal:
        terminal.until(lambda screen: "All of these?" in screen and "more lines" in screen)
        assert "entry 0100" not in terminal.screen
        assert terminal.screen.cursor[1] < 24
        key = b"p" if kind == "confirm" else b"\x0f"
        answer(terminal, key, done=lambda screen: "entry 0100" in screen.contents)
        terminal.until("All of these?")
        if kind == "select":
            assert long_option in terminal.screen.contents.replace("\n", "")
        answer(terminal, b"y" if kind == "confirm" else b"\r")
        terminal.wait()
        assert terminal.modes() == terminal.modes_before
    expected = {"confirm": True, "select": long_option, "text": "", "secret": ""}[kind]
    assert notes.now[0]["value"] == expected


@pytest.mark.req("D60-58")
@pytest.mark.parametrize("kind", ["confirm", "select", "text", "secret"])
@pytest.mark.parametrize(("columns", "rows"), [(20, 6), (8, 3), (200, 2)])
def test_a_narrow_window_keeps_the_place_to_answer(
    workspace: Path, plugin: Make, kind: str, columns: int, rows: int
) -> None:
    notes = plugin(ASK)
    request: dict[str, object] = {"kind": kind, "message": "word " * 300}
    if kind == "select":
        request["options"] = ["a" * 300, "b"]
    with asking(workspace, request, columns=columns, rows=rows) as terminal:
        terminal.until(lambda _: b"\x1b[?2004h" in terminal.output)
        answer(terminal, b"y" if kind == "confirm" else b"\r")
        assert terminal.wait() == "exited 0"
    assert notes.now[0]["outcome"] == "answered"


@pytest.mark.req("D60-46", "D60-45")
@pytest.mark.parametrize(("args", "env"), [(("--no-interactive",), {}), ((), {"JP_NONINTERACTIVE": "1"}), ((), {})])
def test_where_nobody_may_be_asked_it_is_unavailable_at_once(
    workspace: Path, plugin: Make, args: tuple[str, ...], env: dict[str, str]
) -> None:
    notes = plugin(ASK)
    terminal_there = bool(args or env)
    argv = [*program(), *args, "it", json.dumps(confirm(default=True))]
    with Terminal(argv, cwd=workspace, env={"JP_SESSION": "test", **env}, controlling=terminal_there) as terminal:
        assert terminal.wait() == "exited 0"
        assert "Delete" not in terminal.screen.contents
    (response,) = notes.now
    assert response["outcome"] == "unavailable"
    assert "value" not in response
    named = args[0] if args else "JP_NONINTERACTIVE" if env else "/dev/tty"
    assert named in response["reason"]


@pytest.mark.req("D60-47")
def test_in_the_background_it_is_unavailable_and_jp_is_not_stopped(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    with asking(workspace, confirm(), background=True) as terminal:
        assert terminal.wait() == "exited 0"
        assert not [report for report in terminal.reports if "stopped" in report]
        assert terminal.modes() == terminal.modes_before
    assert notes.now[0]["outcome"] == "unavailable"
    assert "background" in notes.now[0]["reason"]


@pytest.mark.req("D60-50")
def test_an_asserted_person_without_a_terminal_fails_before_the_plugin_is_run(workspace: Path, plugin: Make) -> None:
    notes = plugin("note('ran'); finish()")
    with run(workspace, "--interactive", controlling=False) as terminal:
        assert terminal.wait() == "exited 1"
    assert notes.now == []


@pytest.mark.req("D60-51")
def test_an_asserted_person_in_the_background_fails_at_the_first_prompt(workspace: Path, plugin: Make) -> None:
    notes = plugin("note('ran')" + ASK)
    with asking(workspace, confirm(), "--interactive", background=True) as terminal:
        assert terminal.wait() == "exited 1"
        assert "background" in terminal.screen.contents
    assert notes.now == ["ran"]


@pytest.mark.req("D60-46", "D60-55")
def test_a_terminal_without_escapes_is_asked_in_whole_lines(workspace: Path, plugin: Make) -> None:
    notes = plugin(ASK)
    argv = [*program(), "it", json.dumps({"kind": "select", "message": "Which?", "options": ["a", "b"]})]
    with Terminal(argv, cwd=workspace, env={"JP_SESSION": "test", "TERM": "dumb"}) as terminal:
        terminal.until("Which?")
        terminal.pump(0.4)
        terminal.send(b"2\r")
        terminal.wait()
        assert b"\x1b" not in terminal.output
    assert notes.now[0]["value"] == "b"


@pytest.mark.req("D60-6")
def test_a_shell_script_asks_all_four_kinds(workspace: Path) -> None:
    path = Path(os.environ["XDG_DATA_HOME"]) / "jp/plugins/command/jp-ask"
    path.parent.mkdir(parents=True)
    script = """#!/bin/sh
        read -r first
        if [ "$(printf '%s' "$first" | jq -r .type)" = describe ]; then
            echo '{"type":"describe","name":"ask","version":"1","description":"Asks"}'
            exit 0
        fi
        for kind in confirm text secret; do
            printf '{"type":"prompt","kind":"%s","message":"A %s?"}\\n' $kind $kind
            read -r answer
            printf '%s %s\\n' $kind "$(printf '%s' "$answer" | jq -r '.outcome, .value' | tr '\\n' ' ')" >> "$NOTES"
        done
        echo '{"type":"prompt","kind":"select","message":"A select?","options":["a","b"]}'
        read -r answer
        printf 'select %s\\n' "$(printf '%s' "$answer" | jq -r '.outcome')" >> "$NOTES"
        echo '{"type":"exit","code":0}'
    """
    path.write_text("\n".join(line.removeprefix("        ") for line in script.splitlines()) + "\n")
    path.chmod(0o755)
    configure(**{"plugins.command.ask.run": "unattended"})
    notes = workspace / "notes"
    argv = [*program(), "ask"]
    with Terminal(argv, cwd=workspace, env={"JP_SESSION": "test", "NOTES": str(notes)}) as terminal:
        terminal.until("A confirm? [y,n,?]?")
        answer(terminal, b"y")
        terminal.until("A text?")
        terminal.send(b"hello\r")
        terminal.until("A secret?")
        answer(terminal, b"hush", done=lambda _: True)
        answer(terminal, b"\r", done=lambda screen: "A select?" in screen)
        answer(terminal, ESC)
        assert terminal.wait() == "exited 0"
    assert notes.read_text().split("\n")[:4] == [
        "confirm answered true ", "text answered hello ", "secret answered hush ", "select cancelled",
    ]  # fmt: skip


@pytest.mark.req("D60-56", "D60-57")
@pytest.mark.parametrize("kind", ["confirm", "select", "text", "secret"])
def test_what_is_printed_whole_can_not_act_either(workspace: Path, plugin: Make, kind: str) -> None:
    plugin(ASK)
    lines = "\n".join(f"entry {number}" for number in range(100))
    request: dict[str, object] = {"kind": kind, "message": f"{HOSTILE}\n{lines}\nReally?"}
    if kind == "select":
        request["options"] = [HOSTILE, "other"]
    with asking(workspace, request) as terminal:
        terminal.until("Really?")
        key = b"p" if kind == "confirm" else b"\x0f"
        answer(terminal, key, done=lambda screen: "entry 50" in screen.contents)
        for sequence in (b"owned", b"\x1b]52", b"\x1b[2J", b"\x1b[10;10H", b"?1049", b"\x07"):
            assert sequence not in terminal.output, sequence
        answer(terminal, ESC)
        terminal.wait()


@pytest.mark.req("D60-25", "D60-38")
def test_the_same_question_twice_is_two_questions(workspace: Path, plugin: Make) -> None:
    """While JP is busy with something else, what was answered is no draft of the next."""
    notes = plugin(
        """
        send(type="prompt", kind="text", message="Name", id="1")
        send(type="prompt", kind="text", message="Name", id="2")
        send(type="list_conversations", id="3")
        for _ in range(200): send(type="list_conversations", id="more")
        got = []
        while len(got) < 2:
            line = read()
            if line["type"] == "prompt_response": got.append(line["value"])
        note(got)
        finish()
        """
    )
    with run(workspace) as terminal:
        terminal.until("Name")
        terminal.send(b"first\rsecond\r")
        assert terminal.wait() == "exited 0"
    assert notes.now == [["first", "second"]]
