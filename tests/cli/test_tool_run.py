"""`jp tool run`: a tool's run without a model, as scripts use it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.trying import add, configure, project, server
from tests.conftest import Jp, Result

SERVERS = Path(__file__).parents[1] / "tool" / "mcp_servers"


@pytest.fixture
def root(tmp_path: Path, hermetic: Path) -> Path:
    configure(hermetic)
    return project(tmp_path)


class Try:
    """`jp tool run …` in a workspace."""

    def __init__(self, jp: Jp, root: Path) -> None:
        self._jp = jp
        self.root = root

    def __call__(self, *args: str, **options: Any) -> Result:
        return self._jp("tool", "run", *args, cwd=self.root, **options)

    def record(self, *args: str, **options: Any) -> dict[str, Any]:
        done = self(*args, "-F", "json", **options)
        found: dict[str, Any] = json.loads(done.stdout)
        assert list(found) == [
            "tool", "arguments", "outcome", "content", "message", "trace", "transient", "seconds",
        ]  # fmt: skip
        assert done.status == ("exited 0" if found["outcome"] == "success" else "exited 1")
        return found


@pytest.fixture
def trial(jp: Jp, root: Path) -> Try:
    return Try(jp, root)


# --- the result


@pytest.mark.parametrize("text", ["plain", "two\nlines\n", "  tabs\tand\r\nmore\n\n", "ü \u202e …"])
def test_what_it_says_goes_to_stdout_as_it_is(trial: Try, text: str):
    done = trial("say", f"text={text}")
    assert (done.stdout, done.stderr, done.status) == (text, "", "exited 0")


def test_escapes_go_where_the_channel_takes_them_and_into_the_record(trial: Try):
    word = "text=\x1b[31mred\x1b[0m\x1b[2J"
    assert trial("say", word).stdout == "red"
    assert trial("say", word, "-F", "text-pretty").stdout == word.removeprefix("text=")
    assert trial.record("say", word)["content"] == word.removeprefix("text=")


def test_a_failure_is_an_error_on_stderr(trial: Try):
    done = trial("fail")
    assert (done.stdout, done.status) == ("", "exited 1")
    assert done.stderr.splitlines() == [
        "jp: fail: no such thing",
        "      caused by: the disk",
        "      caused by: the cable",
        "    → it may help to try again",
    ]
    crashed = trial("crash")
    assert (crashed.stdout, crashed.status) == ("", "exited 1")
    assert crashed.stderr.startswith("jp: crash failed with exit status 1\n")
    assert "half of it" in crashed.stderr
    assert "out of luck" in crashed.stderr


def test_the_record_of_a_failure_is_on_stdout(trial: Try):
    found = trial.record("fail")
    assert found.pop("seconds") > 0
    assert found == {
        "tool": "fail", "arguments": {}, "outcome": "error", "content": None, "message": "no such thing",
        "trace": ["the disk", "the cable"], "transient": True,
    }  # fmt: skip
    assert trial("fail", "-F", "json").stderr == ""


def test_the_record_of_a_success(trial: Try):
    found = trial.record("give", "count=4")
    assert found["arguments"] == {"count": 4}
    assert (found["outcome"], json.loads(found["content"]), found["message"]) == ("success", {"count": 4}, None)


# --- arguments


def test_words_become_what_the_schema_wants_and_defaults_are_filled_in(trial: Try):
    done = trial("give", "share=0.5", "sure=true", "text=7", 'paths:=["a", "b"]', "either=1", "colour=blue")
    assert json.loads(done.stdout) == {
        "count": 3, "share": 0.5, "sure": True, "text": "7", "paths": ["a", "b"], "either": 1, "colour": "blue",
    }  # fmt: skip


def test_all_that_does_not_fit_is_listed_and_nothing_is_run(trial: Try):
    there = trial.root / "there"
    done = trial("slow", f"there={there}", "unti=x", "-F", "json")
    assert (done.stdout, done.status) == ("", "exited 2")
    assert "did you mean `until`?" in json.loads(done.stderr)["message"]
    assert not there.exists()
    done = trial("give", "count=x", "colour=green", "sure=maybe", "paths:=[1]", 'edits:=[{"new": ""}]', "-F", "json")
    assert done.status == "exited 2"
    error = json.loads(done.stderr)
    assert error["code"] == "tool_arguments"
    starts = sorted(each.split("`")[1] for each in error["metadata"]["errors"])
    assert starts == ["colour", "count", "edits[0].new", "edits[0].old", "paths[0]", "sure"]
    assert trial("say").stderr.splitlines()[0] == "jp: the arguments do not fit say: `text` is missing"


def test_files_and_stdin_are_read(trial: Try):
    (trial.root / "text").write_bytes("a\nü\n".encode())
    (trial.root / "list.json").write_text('["x"]')
    done = trial("give", "text=@text", "paths:=@list.json", "colour=@-", stdin=b"red")
    assert json.loads(done.stdout) == {"count": 3, "text": "a\nü\n", "paths": ["x"], "colour": "red"}
    missing = trial("say", "text=@nowhere")
    assert missing.status == "exited 1"
    assert "nowhere" in missing.stderr


@pytest.mark.parametrize("where", ["word", "file", "stdin"])
def test_all_arguments_at_once_and_words_over_them(trial: Try, where: str):
    text = '{"count": 1, "text": "a"}'
    (trial.root / "all.json").write_text(text)
    given = {"word": text, "file": "@all.json", "stdin": "-"}[where]
    done = trial("give", "--arguments", given, "text=b", stdin=text.encode())
    assert json.loads(done.stdout) == {"count": 1, "text": "b"}


@pytest.mark.parametrize("given", ["[1]", "{", "7", ""])
def test_what_is_no_object_is_a_usage_error(trial: Try, given: str):
    assert trial("give", "--arguments", given).status == "exited 2"


@pytest.mark.parametrize("word", ["text", "=x", "paths:=[", "--nope=1"])
def test_a_word_that_is_none_is_a_usage_error(trial: Try, word: str):
    done = trial("give", word)
    assert (done.stdout, done.status) == ("", "exited 2")
    assert "did you mean" in trial("giev").stderr


# --- its questions


def test_where_nobody_can_be_asked_the_flag_is_named(trial: Try):
    done = trial("asks", "--answer", "sure=yes", "-F", "json")
    assert (done.stdout, done.status) == ("", "exited 3")
    error = json.loads(done.stderr)
    assert error["code"] == "tool_denied"
    assert error["metadata"]["question"] == "which"
    assert any("--answer which=" in hint for hint in error["metadata"]["hints"])


def test_answers_are_given_beforehand_or_configured_or_the_default_by_policy(jp: Jp, trial: Try, hermetic: Path):
    given = ("--answer", "sure=true", "--answer", "which=red", "--answer", 'why:="x y"')
    done = trial("asks", *given)
    assert json.loads(done.stdout) == {"sure": True, "which": "red", "why": "x y"}
    policy = ("-c", "conversation.tools.asks.detached.tool=defaults")
    assert json.loads(trial("asks", *policy).stdout) == {"sure": False, "which": "blue", "why": "none"}
    configure(hermetic, asks={"questions": {"which": {"answer": "red"}, "sure": {"answer": True}}})
    done = trial("asks", *policy, "--answer", "sure=no")
    assert json.loads(done.stdout) == {"sure": False, "which": "red", "why": "none"}


@pytest.mark.parametrize(("answer", "said"), [("sure=perhaps", "true or false"), ("which=green", "one of red, blue")])
def test_an_answer_that_is_none_is_a_usage_error(trial: Try, answer: str, said: str):
    done = trial("asks", "--answer", "sure=yes", "--answer", answer)
    assert (done.stdout, done.status) == ("", "exited 2")
    assert said in done.stderr


def test_an_answer_to_no_question_is_noticed(trial: Try):
    done = trial("say", "text=x", "--answer", "sure=yes")
    assert (done.stdout, done.stderr, done.status) == ("x", "say did not ask: sure\n", "exited 0")


def test_a_secret_is_taken_from_a_file_and_shown_nowhere(trial: Try, hermetic: Path):
    (trial.root / "key").write_text("sesame-street\n")
    done = trial("secret", "--answer", "key=@key", "-vvvvv", "--log-file", str(trial.root / "log"))
    assert (done.stdout, done.status) == ("the key is [redacted] of length 13\n", "exited 0")
    assert "sesame" not in (trial.root / "log").read_text()
    assert trial("secret", "-c", "conversation.tools.secret.detached.tool=defaults").status == "exited 3"


# --- what kind of tool it is


@pytest.mark.parametrize("key", ["enable=false", "run=skip", "result=skip"])
def test_what_is_typed_is_run_whatever_a_model_may_do(trial: Try, key: str):
    assert trial("say", "text=x", "-c", f"conversation.tools.say.{key}").stdout == "x"


def test_the_built_in_ones_just_run(trial: Try):
    done = trial("write_file", "path=a/new.txt", "content=@-", stdin=b"one\ntwo\n")
    assert done.status == "exited 0"
    assert (trial.root / "a" / "new.txt").read_text() == "one\ntwo\n"
    assert "two" in trial("read_file", "path=a/new.txt", "start_line=2").stdout
    edits = json.dumps([{"old": "two", "new": "2"}])
    assert trial("modify_file", "path=a/new.txt", f"edits:={edits}").status == "exited 0"
    assert (trial.root / "a" / "new.txt").read_text() == "one\n2\n"
    assert "out" in trial("run_command", "command=echo out").stdout
    assert trial("read_file", "path=nowhere").status == "exited 1"
    assert "Give" in trial("describe_tools", 'names:=["give"]', "-c", "conversation.tools.give.summary=Give").stdout


def test_the_arguments_as_the_tool_shows_them(trial: Try):
    (trial.root / "a.txt").write_text("one\n")
    done = trial("write_file", "path=a.txt", "content=two\n", "--format-arguments")
    assert "-one\n+two" in done.stdout
    assert (trial.root / "a.txt").read_text() == "one\n"
    shown = ("-c", "conversation.tools.say.style.parameters=echo formatted", "--format-arguments")
    assert trial("say", "text=x", *shown).stdout == "formatted\n"
    plain = trial("give", "--format-arguments")
    assert json.loads(plain.stdout) == {"count": 3}
    assert "does not format" in plain.stderr


def test_an_mcp_tool_is_run_and_its_server_ended(trial: Try, hermetic: Path, no_leftovers):
    configure(hermetic, plus={"source": "mcp.lab.add"})
    add(hermetic, server("lab", SERVERS / "python_server.py"))
    assert trial.record("plus", "a=2", "b=3")["content"] == "5"


def test_outside_a_workspace_there_is_nothing_to_run_it_in(jp: Jp, root: Path, tmp_path: Path):
    done = jp("tool", "run", "say", "text=x", cwd=tmp_path)
    assert done.status == "exited 1"
    assert "workspace" in done.stderr
