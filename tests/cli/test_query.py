"""`jp query` as a whole, without a terminal: what is printed, stored and sent."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from jp.storage.store import Store
from jp.storage.workspace import Workspace
from tests.conftest import Jp, program
from tests.support.status import of_returncode
from tests.support.workspace import Ask, events, messages
from tests.wire.model_server import ModelServer, echo, text, tool_call


@pytest.mark.req("104-114")
def test_stdout_is_the_answer_and_nothing_else(ask: Ask, workspace: Path):
    done = ask("query", "say", "hello")
    assert str(done) == "Hello from the test model.\n[EOF]\n"
    assert [e["type"] for e in events(workspace)] == ["turn_start", "chat_request", "chat_response"]
    assert events(workspace)[1]["content"] == "say hello"


def test_the_next_query_continues_the_conversation(ask: Ask, server: ModelServer, workspace: Path):
    ask("q", "first")
    ask("q", "second")
    sent = server.bodies()[-1]["messages"]
    assert [m["content"] for m in sent if m["role"] != "system"] == ["first", "Hello from the test model.", "second"]
    assert len(messages(workspace)) == 2


def test_another_session_has_another_conversation(ask: Ask, workspace: Path):
    ask("q", "first")
    done = ask("q", "second", env={"JP_SESSION": "other"})
    assert "`--new`" in done.stderr
    assert "`--id`" in done.stderr
    assert done.status == "exited 1"
    assert ask("q", "-n", "second", env={"JP_SESSION": "other"}).status == "exited 0"
    assert len(list((workspace / ".jp" / "conversations").iterdir())) == 2


@pytest.mark.req("104-64", "104-127")
@pytest.mark.parametrize(
    ("words", "piped", "sent"),
    [
        (["explain"], b"some code\n", "explain\n\nsome code"),
        ([], b"only piped\n", "only piped"),
        (["only words"], b"", "only words"),
        (["y?"], b"y\n", "y?\n\ny"),
        (["bytes"], b"caf\xc3\xa9 \xff\n", "bytes\n\ncafé \ufffd"),
    ],
)
def test_the_text_is_the_words_then_what_was_piped(ask: Ask, workspace: Path, words, piped, sent):
    assert ask("q", *words, stdin=piped).status == "exited 0"
    assert events(workspace)[1]["content"] == sent


@pytest.mark.req("104-128")
def test_the_text_comes_from_a_file(ask: Ask, workspace: Path):
    (workspace / "ask.md").write_text("from a file\n")
    ask("q", "@ask.md")
    assert events(workspace)[1]["content"] == "from a file"


@pytest.mark.req("104-128")
def test_a_lone_at_sign_is_the_character(ask: Ask, workspace: Path):
    ask("q", "@")
    assert events(workspace)[1]["content"] == "@"


@pytest.mark.req("104-129")
def test_an_unreadable_file_fails_before_anything_is_made(
    ask: Ask, workspace: Path, server: ModelServer, hermetic: Path
):
    done = ask("q", "@missing.md")
    assert done.status == "exited 1"
    assert "missing.md" in done.stderr
    assert not (workspace / ".jp" / "conversations").exists()
    assert not list(hermetic.rglob("sessions"))
    assert server.requests == []


def test_nothing_to_ask_is_said(ask: Ask):
    done = ask("q")
    assert done.status == "exited 1"
    assert "nothing to ask" in done.stderr


@pytest.mark.req("104-119", "104-121")
def test_json_is_one_stored_event_a_line(ask: Ask, workspace: Path):
    done = ask("q", "-F", "json", "hi", replies=(text("An *answer*.", reasoning="Let me see."),))
    assert [json.loads(line) for line in done.stdout.splitlines()] == events(workspace)
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == [
        "turn_start",
        "chat_request",
        "chat_response",
        "chat_response",
    ]
    assert done.stderr == ""


def test_reasoning_is_stored_and_not_on_stdout(ask: Ask, workspace: Path):
    done = ask("q", "hi", replies=(text("The answer.", reasoning="Some thoughts."),))
    assert done.stdout == "The answer.\n"
    assert [e.get("reasoning") for e in events(workspace)] == [None, None, "Some thoughts.", None]


def test_piped_the_answer_is_the_source_text(ask: Ask):
    source = "# Title\n\nA *word* and `code`.\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert ask("q", "hi", replies=(text(source),)).stdout == source


def test_a_terminal_sequence_in_the_answer_does_not_reach_stdout(ask: Ask, workspace: Path):
    evil = "before\x1b]0;owned\x07\x1b[2Jafter"
    done = ask("q", "hi", replies=(text(evil),))
    assert done.stdout == "beforeafter\n"
    assert messages(workspace) == [evil]


def test_no_persist_leaves_nothing(ask: Ask, workspace: Path, hermetic: Path):
    assert ask("q", "-!", "hi").stdout == "Hello from the test model.\n"
    assert not (workspace / ".jp" / "conversations").exists()
    assert not list(hermetic.rglob("events.json"))
    assert not list(hermetic.rglob("sessions"))


def test_no_persist_only_reads_the_conversation_it_continues(ask: Ask, workspace: Path, server: ModelServer):
    ask("q", "first")
    before = {p: p.read_bytes() for p in workspace.rglob("*") if p.is_file()}
    ask("q", "-!", "--id", "newest", "second")
    assert {p: p.read_bytes() for p in workspace.rglob("*") if p.is_file()} == before
    assert "first" in json.dumps(server.bodies()[-1])


def test_local_keeps_the_conversation_out_of_the_workspace(ask: Ask, workspace: Path, hermetic: Path):
    ask("q", "-l", "hi")
    assert not list((workspace / ".jp").rglob("events.json"))
    assert len(list(hermetic.rglob("events.json"))) == 1


def test_a_temporary_conversation_expires(ask: Ask, workspace: Path):
    ask("q", "--tmp=1h", "hi")
    (metadata,) = workspace.rglob("metadata.json")
    assert "expires_at" in json.loads(metadata.read_text())


def test_an_expired_conversation_goes_when_nothing_uses_it(ask: Ask, workspace: Path):
    ask("q", "--tmp=1s", "hi")
    (metadata,) = workspace.rglob("metadata.json")
    ids = ["jp-c" + metadata.parent.name.partition("-")[0]]
    fields = json.loads(metadata.read_text())
    for path in [metadata, *Path(os.environ["HOME"]).rglob("metadata.json")]:
        path.write_text(json.dumps(fields | {"expires_at": "2020-01-01 00:00:00.0"}))
    assert ids[0] in ask("c", "ls").stdout  # it is active in this session
    ask("q", "-n", "another")
    assert ids[0] not in ask("c", "ls").stdout
    assert not metadata.exists()


@pytest.mark.parametrize("value", ["nonsense", "-1h", "0", ""])
def test_a_bad_duration_is_a_usage_error(ask: Ask, value):
    done = ask("q", f"--tmp={value}", "hi")
    assert done.status == ("exited 2" if value else "exited 0")


@pytest.mark.parametrize(
    ("args", "asked", "title"),
    [
        (["--title", "Mine"], "hi", "Mine"),
        ([], "# From the heading\n\nhi", "From the heading"),
        ([], "hi", None),
    ],
)
def test_titles(ask: Ask, workspace: Path, args, asked, title):
    ask("q", *args, asked)
    (metadata,) = workspace.rglob("metadata.json")
    assert json.loads(metadata.read_text()).get("title") == title


def test_a_title_is_written_by_the_model_beside_the_answer(ask: Ask, workspace: Path, server: ModelServer):
    titled = text('{"titles": ["A fine title"]}')

    def either(exchange):
        (titled if "response_format" in exchange.json else text("The answer."))(exchange)

    done = ask("q", "-c", "conversation.title.generate.auto=true", "hi", replies=(either,))
    assert done.stdout == "The answer.\n"
    (metadata,) = workspace.rglob("metadata.json")
    assert json.loads(metadata.read_text())["title"] == "A fine title"
    assert metadata.parent.name.endswith("-a-fine-title")
    assert messages(workspace) == ["The answer."]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["-p", "temperature=0.5"], {"temperature": 0.5}),
        (["-p", "max_tokens=7"], {"max_tokens": 7}),
        (["-c", "assistant.model.parameters.top_p=0.25"], {"top_p": 0.25}),
        (["-m", "llamacpp/other"], {"model": "other"}),
    ],
)
def test_flags_reach_the_request(ask: Ask, server: ModelServer, args, expected):
    assert ask("q", *args, "hi").status == "exited 0"
    body = server.bodies()[-1]
    assert {key: body.get(key) for key in expected} == expected


def test_what_a_flag_changes_holds_for_the_rest_of_the_conversation(ask: Ask, server: ModelServer, workspace: Path):
    ask("q", "one")
    ask("q", "-m", "llamacpp/other", "two")
    ask("q", "three")
    assert [body["model"] for body in server.bodies()] == ["test", "other", "other"]
    assert sum(e["type"] == "config_delta" for e in events(workspace)) == 1


@pytest.mark.parametrize(
    "args",
    [["-n", "--id", "."], ["--tmp", "--id", "."], ["-l", "--id", "."], ["-r", "low", "-R"], ["-p", "nonsense"]],
)
def test_contradicting_flags_are_usage_errors(ask: Ask, args):
    assert ask("q", *args, "hi").status == "exited 2"


def test_outside_of_a_workspace_it_says_how_to_make_one(jp: Jp):
    done = jp("q", "hi")
    assert done.status == "exited 1"
    assert "`jp init`" in done.stderr


def test_without_a_model_it_says_the_three_ways_on(jp: Jp, tmp_path: Path):
    root = tmp_path / "bare"
    root.mkdir()
    jp("init", cwd=root)
    done = jp("q", "hi", cwd=root)
    assert done.status == "exited 1"
    for way in ("jp init -m", "base_url", "jp model install"):
        assert way in done.stderr
    assert not (root / ".jp" / "conversations").exists()


def test_a_missing_key_is_said_before_anything_is_made(ask: Ask, workspace: Path):
    done = ask("q", "-m", "openai/gpt-5-mini", "hi")
    assert done.status == "exited 1"
    assert "OPENAI_API_KEY" in done.stderr
    assert "jp init" in done.stderr
    assert not (workspace / ".jp" / "conversations").exists()


@pytest.mark.parametrize(
    ("args", "named", "near"),
    [
        (["-m", "opnai/gpt-5"], "opnai", "openai"),
        (["--id", "12345678901"], "12345678901", None),
        (["--id", "newst"], "newst", "newest"),
        (["-c", "assistant.modl.id=x"], "assistant.modl", "assistant.model"),
    ],
)
def test_an_unknown_name_is_named_with_the_nearest(ask: Ask, args, named, near):
    done = ask("q", *args, "hi")
    assert done.status != "exited 0"
    assert named in done.stderr
    assert near is None or near in done.stderr


@pytest.mark.req("104-123")
def test_an_error_under_json_is_one_record_on_stderr(ask: Ask):
    done = ask("q", "-F", "json", "-m", "openai/gpt-5-mini", "hi")
    record = json.loads(done.stderr)
    assert set(record) == {"message", "metadata", "code"}
    assert record["code"] == "missing_key"
    assert done.stdout == ""


def test_a_reader_that_leaves_ends_the_run_by_sigpipe_and_what_came_is_stored(workspace: Path, server: ModelServer):
    server.then(text("line of text\n" * 2000, chunk=40, delay_ms=1))
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*program(), "q", "hi"], cwd=workspace, **pipes) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"line of text\n"
        process.stdout.close()
        assert of_returncode(process.wait(30)) == "killed SIGPIPE"
        assert process.stderr.read() == b""
    assert messages(workspace)[0].startswith("line of text\n")


def test_a_full_disk_under_stdout_is_said_and_the_answer_stored(workspace: Path, server: ModelServer):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*program(), "q", "hi"],
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert messages(workspace) == ["Hello from the test model."]


def test_an_echo_goes_out_and_comes_back_unchanged(ask: Ask, workspace: Path):
    odd = "tab\t 日本語 👨‍👩‍👧 \u202e nul-free \\ \" ' \n line"
    ask("q", odd, replies=(echo(chunk=1),))
    assert messages(workspace) == [odd]


def test_an_argument_that_is_no_text_is_no_crash(ask: Ask, workspace: Path):
    assert ask("q", "--title", os.fsdecode(b"t\xff"), "hi").status == "exited 0"
    (metadata,) = workspace.rglob("metadata.json")
    assert json.loads(metadata.read_text())["title"] == "t\ufffd"


def test_a_title_is_asked_for_without_what_the_answer_was_asked_with(ask: Ask, server: ModelServer):
    server.then(text('{"titles": ["T"]}'))
    ask("q", "-c", "conversation.title.generate.auto=true", "-p", "max_tokens=10", "-r", "high", "hi")
    (title,) = [body for body in server.bodies() if "response_format" in body]
    assert "max_tokens" not in title
    assert title["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_session_that_cannot_be_written_does_not_cost_the_answer(ask: Ask, workspace: Path, hermetic: Path):
    ask("q", "hi")
    (sessions,) = hermetic.rglob("sessions")
    for path in sessions.iterdir():
        path.unlink()
    sessions.rmdir()
    sessions.write_text("in the way")
    done = ask("q", "-n", "again")
    assert (done.stdout, done.status) == ("Hello from the test model.\n", "exited 0")
    assert "sessions" in done.stderr
    assert len(list(workspace.rglob("events.json"))) == 2


@pytest.mark.parametrize("source", ["fifo", "/dev/stdin"])
def test_a_query_file_may_be_a_pipe(ask: Ask, workspace: Path, source):
    if source == "fifo":
        os.mkfifo(workspace / "fifo")
        with subprocess.Popen(["sh", "-c", "echo through a pipe > fifo"], cwd=workspace):
            ask("q", "@fifo")
    else:
        ask("q", "@/dev/stdin", stdin=b"through a pipe")
    assert events(workspace)[1]["content"] == "through a pipe"


def test_more_text_than_any_model_takes_is_refused(ask: Ask, workspace: Path, server: ModelServer):
    done = ask("q", "@/dev/zero")
    assert done.status == "exited 1"
    assert "64 MiB" in done.stderr
    assert server.requests == []


def test_an_answer_without_words_is_said(ask: Ask):
    done = ask("q", "hi", replies=(text(""),))
    assert (done.stdout, done.status) == ("", "exited 0")
    assert "no answer" in done.stderr


def test_a_tool_that_nobody_runs_is_said_and_does_not_break_the_next_turn(ask: Ask, workspace: Path):
    done = ask("q", "hi", replies=(tool_call("run_me", {"a": 1}), text("Fine.")))
    assert "run_me" in done.stderr
    assert ask("q", "and now?").stdout == "Fine.\n"
    assert "tool_call_request" in [e["type"] for e in events(workspace)]


def test_a_workspace_that_is_not_there_is_named(ask: Ask):
    done = ask("-w", "/no/such/place", "q", "hi")
    assert done.status == "exited 1"
    assert "/no/such/place" in done.stderr


def test_a_checkout_that_cannot_be_written_says_what_to_do(ask: Ask, workspace: Path):
    (workspace / ".jp" / "conversations").write_text("in the way")
    done = ask("q", "hi")
    assert done.status == "exited 1"
    assert "--local" in done.stderr
    assert ask("q", "--local", "hi").stdout == "Hello from the test model.\n"


@pytest.mark.parametrize(
    ("default_id", "expected"),
    [("last_activated", "one"), ("last_created", "two"), ("FIRST", "one"), ("ask", None), ("previous", None)],
)
def test_the_configured_default_decides_where_no_conversation_is_active(ask: Ask, workspace, default_id, expected):
    ask("q", "-n", "one")
    ask("q", "-n", "two")
    first = min(path.name for path in (workspace / ".jp" / "conversations").iterdir())
    ask("q", "--id", first, "again")
    setting = f"conversation.default_id={first if default_id == 'FIRST' else default_id}"
    fresh = {"JP_SESSION": "fresh"}
    printed = ask("c", "print", "-c", setting, env=fresh)
    asked = ask("q", "more", "-c", setting, env=fresh)
    if expected is None:
        assert (printed.status, asked.status) == ("exited 1", "exited 1")
        assert "--id" in asked.stderr
    else:
        assert expected in printed.stdout
        assert expected in ask("c", "print", "recent").stdout
        assert "more" in ask("c", "print", env=fresh).stdout


def test_a_default_that_names_nothing_is_named(ask: Ask):
    ask("q", "hi")
    done = ask("q", "-c", "conversation.default_id=last_activted", "hi", env={"JP_SESSION": "fresh"})
    assert done.status == "exited 1"
    assert "last_activted" in done.stderr
    assert "last_activated" in done.stderr


def test_an_archived_conversation_can_be_continued(ask: Ask, workspace: Path):
    ask("q", "hi")
    store = Store(Workspace.find(str(workspace), os.environ), os.environ)
    store.archive(store.ids()[0])
    assert ask("c", "use", "archived").status == "exited 0"
    assert ask("q", "more").status == "exited 0"
    assert "more" in ask("c", "print", "archived").stdout


@pytest.mark.parametrize(
    ("config", "value"), [("conversation.start_local=true", 0), ("conversation.title.from_heading=false", 1)]
)
def test_how_a_new_conversation_begins_is_configured(ask: Ask, workspace: Path, config, value):
    ask("q", "-c", config, "# A heading")
    found = list((workspace / ".jp").rglob("metadata.json"))
    assert len(found) == value
    assert all("title" not in json.loads(path.read_text()) for path in found)


def test_the_users_name_and_the_labels_are_recorded(ask: Ask, workspace: Path):
    ask("q", "-c", "user.name=Ada", "-c", "conversation.labels.team=core", "hi")
    assert events(workspace)[1]["author"] == "Ada"
    (metadata,) = workspace.rglob("metadata.json")
    assert json.loads(metadata.read_text())["labels"] == {"team": ["core"]}


@pytest.mark.req("104-116")
@pytest.mark.parametrize(("finish", "said"), [("length", "cut off"), ("content_filter", "content filter")])
def test_a_notice_comes_behind_the_answer(ask: Ask, workspace: Path, server: ModelServer, finish, said):
    server.then(text("some words that were cut", finish=finish))
    done = subprocess.run(
        [*program(), "q", "hi"],
        cwd=workspace,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert first == "some words that were cut"
    assert said in second


@pytest.mark.parametrize(
    ("args", "shown"), [([], "thinking"), (["--hide-reasoning"], ""), (["-c", "style.reasoning.display=hidden"], "")]
)
def test_reasoning_is_shown_as_configured(ask: Ask, args, shown):
    assert ask("q", *args, "hi", replies=(text("ok", reasoning="thinking"),)).stderr.strip() == shown


@pytest.mark.parametrize(("mode", "shown"), [("strip", "ab"), ("visualize", "a␛b"), ("off", "ab")])
def test_control_sequences_are_treated_as_configured(ask: Ask, mode, shown):
    done = ask("q", "-c", f"style.sanitize={mode}", "hi", replies=(text("a\x1b[2Jb", chunk=100),))
    assert done.stdout == shown + "\n"


@pytest.mark.parametrize(("flags", "thinks"), [(["-r", "low"], True), (["-R"], False), (["--no-reasoning"], False)])
def test_reasoning_flags_reach_the_request(ask: Ask, server: ModelServer, flags, thinks):
    ask("q", *flags, "hi")
    assert server.bodies()[-1]["chat_template_kwargs"] == {"enable_thinking": thinks}


@pytest.mark.parametrize("flags", [["-E"], ["--no-edit"], ["--no-title"], ["-p", "temperature:=0.5"]])
def test_flags_that_change_nothing_that_can_be_seen(ask: Ask, flags):
    assert ask("q", *flags, "hi").stdout == "Hello from the test model.\n"


def test_a_workspace_is_named_from_anywhere(jp: Jp, workspace: Path):
    assert jp("q", "--workspace", str(workspace), "hi").stdout == "Hello from the test model.\n"


def test_a_log_on_a_full_stderr_holds_nothing_up(workspace: Path):
    read, write = os.pipe()
    try:
        os.set_blocking(write, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write, b"x" * 4096)
        os.set_blocking(write, True)
        done = subprocess.run(
            [*program(), "q", "-vvvvv", "--log-file", "-", "hi"],
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=write,
            timeout=30,
            check=False,
        )
        assert done.stdout == b"Hello from the test model.\n"
    finally:
        os.close(read)
        os.close(write)


def test_an_address_that_waits_for_trust_is_said(ask: Ask, workspace: Path):
    (workspace / ".jp.toml").write_text('providers.llm.ollama.base_url = "http://192.0.2.1:11434"\n')
    done = ask("q", "-m", "ollama/x", "-c", "assistant.request.max_retries=0", "hi")
    assert done.status == "exited 1"
    assert "providers.llm.ollama.base_url" in done.stderr
    assert "jp config set --local" in done.stderr
    assert "localhost:11434" in done.stderr
