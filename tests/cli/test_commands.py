"""The commands beside `jp query`: init, conversation, config."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.conftest import Jp
from tests.support.workspace import Ask


def ids(ask: Ask, *args: str) -> list[str]:
    return [one["id"] for one in json.loads(ask("c", "ls", "-F", "json", *args).stdout)]


@pytest.fixture
def three(ask: Ask) -> Ask:
    """Three conversations, the last one active."""
    for number in (1, 2, 3):
        ask("q", "-n", "--title", f"Number {number}", f"question {number}")
    return ask


# --- init


def test_init_makes_a_workspace_that_asks_the_model_given(jp: Jp, tmp_path: Path):
    root = tmp_path / "project"
    root.mkdir()
    done = jp("init", "-m", "ollama/qwen3", cwd=root)
    assert done.status == "exited 0"
    assert done.stdout == ""
    assert tomllib.loads((root / ".jp" / "config.toml").read_text()) == {"assistant": {"model": {"id": "ollama/qwen3"}}}
    assert len((root / ".jp" / ".id").read_text().split()[-1]) == 5


def test_init_again_keeps_what_is_there(jp: Jp, tmp_path: Path):
    root = tmp_path / "project"
    root.mkdir()
    jp("init", "-m", "ollama/qwen3", cwd=root)
    first = (root / ".jp" / ".id").read_bytes()
    config = root / ".jp" / "config.toml"
    config.write_text(config.read_text() + "\n[style.code]\ncolor = false  # mine\n")
    assert "already" in jp("init", "-m", "llamacpp/other", cwd=root).stderr
    assert (root / ".jp" / ".id").read_bytes() == first
    assert tomllib.loads(config.read_text())["assistant"]["model"]["id"] == "llamacpp/other"
    assert "color = false  # mine" in config.read_text()


def test_init_of_a_directory_and_as_a_record(jp: Jp, tmp_path: Path):
    done = jp("init", "-F", "json", str(tmp_path / "there"), "-m", "ollama/qwen3")
    record = json.loads(done.stdout)
    assert record["root"] == str(tmp_path / "there")
    assert record["model"] == "ollama/qwen3"
    assert all("message" in json.loads(line) for line in done.stderr.splitlines())


def test_init_with_an_unknown_model_makes_nothing(jp: Jp, tmp_path: Path):
    done = jp("init", "-m", "opnai/x", cwd=tmp_path)
    assert done.status != "exited 0"
    assert "openai" in done.stderr
    assert not (tmp_path / ".jp").exists()


# --- conversation


def test_the_listing_is_by_activity_and_marks_the_active_one(three: Ask):
    lines = three("c", "ls").stdout.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["3", "2", "1"]
    assert [" * " in line for line in lines[1:]] == [True, False, False]
    assert len(three("c", "ls", "-n", "2").stdout.splitlines()) == 3


@pytest.mark.parametrize("number", ["0", "-3", "x", "²"])
def test_a_limit_that_is_none_is_a_usage_error(three: Ask, number):
    assert three("c", "ls", f"--limit={number}").status == "exited 2"
    assert "archived" in three("c", "ls", "--archived").stderr


def test_use_changes_what_the_next_query_continues(three: Ask):
    first = ids(three)[2]
    done = three("c", "use", first)
    assert (done.stdout, done.status) == ("", "exited 0")
    assert "Number 1" in done.stderr
    three("q", "more")
    assert "question 1" in three("c", "print").stdout
    assert "more" in three("c", "print").stdout
    three("c", "use", "session")
    assert "question 3" in three("c", "print").stdout


def test_print_is_the_conversation(three: Ask):
    printed = three("c", "print", "newest").stdout
    assert "question 3" in printed
    assert "Hello from the test model." in printed
    lines = three("c", "print", "newest", "-F", "json").stdout.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["turn_start", "chat_request", "chat_response"]
    three("q", "one more")
    assert "question 3" not in three("c", "print", "--last", "1").stdout
    assert three("c", "print", "--last", "0").status == "exited 2"
    assert "question 3" in three("c", "print", "--last", "99").stdout


def test_show_tells_what_is_known(three: Ask):
    record = json.loads(three("c", "show", "newest", "-F", "json").stdout)
    assert record["title"] == "Number 3"
    assert (record["turns"], record["events"], record["active"], record["local"]) == (1, 3, True, False)
    assert record["model"] == "llamacpp/test"
    documented = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text()
    assert all(f"`{key}`" in documented for key in record)
    assert "Number 3" in three("c", "show").stdout


def test_path_is_where_it_is(three: Ask, workspace: Path):
    path = Path(three("c", "path", "newest").stdout.rstrip("\n"))
    assert (path / "events.json").is_file()
    projection = Path(three("c", "path", "newest", "--projection").stdout.rstrip("\n"))
    assert projection.parent == workspace / ".jp" / "conversations"


def test_rm_removes_both_copies_and_nothing_else(three: Ask, workspace: Path, hermetic: Path):
    first, second, third = ids(three)
    done = three("c", "rm", second, third)
    assert done.status == "exited 0"
    assert ids(three) == [first]
    assert len(list((workspace / ".jp" / "conversations").iterdir())) == 1
    assert len(list(hermetic.rglob("events.json"))) == 1


def test_rm_takes_ids_from_stdin(three: Ask):
    first, second, third = ids(three)
    assert three("c", "rm", "-", stdin=f"{second}\n{third}\n".encode()).status == "exited 0"
    assert ids(three) == [first]


def test_rm_of_an_unknown_one_removes_nothing(three: Ask):
    known = ids(three)
    done = three("c", "rm", known[0], "jp-c99999999999")
    assert done.status == "exited 1"
    assert "jp-c99999999999" in done.stderr
    assert ids(three) == known


@pytest.mark.parametrize("word", ["newest", "+live", "."])
def test_rm_of_what_a_word_stands_for_wants_to_be_sure(three: Ask, word):
    known = ids(three)
    done = three("c", "rm", word)
    assert done.status == "exited 2"
    assert "--yes" in done.stderr
    assert ids(three) == known
    assert three("c", "rm", "--yes", word).status == "exited 0"
    assert len(ids(three)) == (0 if word == "+live" else 2)


@pytest.mark.parametrize("command", ["show", "print", "path", "use"])
def test_an_unknown_id_is_named_with_the_nearest(three: Ask, command):
    known = ids(three)[0]
    wrong = "jp-c9" + known[5:]
    done = three("c", command, wrong)
    assert done.status == "exited 1"
    assert wrong in done.stderr
    assert "did you mean" in done.stderr.lower()


def test_an_ambiguous_prefix_names_the_candidates(three: Ask):
    done = three("c", "show", ids(three)[0][: len("jp-c") + 3])
    assert done.status == "exited 1"
    assert all(one in done.stderr for one in ids(three))


def test_without_an_active_one_it_says_how_to_name_one(three: Ask):
    done = three("c", "print", env={"JP_SESSION": "other"})
    assert done.status == "exited 1"
    assert "--id" in done.stderr


# --- config


def test_show_is_what_is_in_effect(ask: Ask):
    shown = tomllib.loads(ask("config", "show").stdout)
    assert shown["assistant"]["model"]["id"] == "llamacpp/test"
    assert json.loads(ask("config", "show", "-F", "json").stdout) == shown
    assert ask("config", "show", "assistant.model.id").stdout == "llamacpp/test\n"
    assert json.loads(ask("config", "show", "style.code", "-F", "json").stdout)["color"] is True
    assert "id" not in tomllib.loads(ask("config", "show", "--defaults").stdout)["assistant"]["model"]
    assert "JP_ASSISTANT_MODEL_ID" in ask("config", "show", "--envs").stdout.splitlines()


@pytest.mark.req("092-162")
def test_the_defaults_of_the_interrupt_keys(ask: Ask):
    shown = tomllib.loads(ask("config", "show", "--defaults").stdout)["interrupt"]
    assert shown["escalation_cooldown_secs"] == 2
    assert shown["turn"] == {"action": "prompt", "compose_in_editor": False}
    assert shown["shutdown"] == {"show": True, "delay_secs": 1, "interval_ms": 100, "timeout_secs": 10}


def test_explain_names_every_source_in_order(ask: Ask, workspace: Path):
    (workspace / ".jp.toml").write_text('assistant.model.id = "llamacpp/nearer"\n')
    env = {"JP_ASSISTANT_MODEL_ID": "llamacpp/environment"}
    done = ask(
        "config", "explain", "assistant.model.id", "-c", "assistant.model.id=llamacpp/flag", "-F", "json", env=env
    )
    record = json.loads(done.stdout)
    assert record["value"] == "llamacpp/flag"
    assert [one["value"] for one in record["sources"]] == [
        "llamacpp/test",
        "llamacpp/nearer",
        "llamacpp/environment",
        "llamacpp/flag",
    ]
    assert record["sources"][0]["path"] == str(workspace / ".jp" / "config.toml")
    text = ask("config", "explain", "assistant.model.id", env=env).stdout
    assert "JP_ASSISTANT_MODEL_ID" in text


def test_set_keeps_what_else_is_in_the_file(ask: Ask, workspace: Path):
    path = workspace / ".jp" / "config.toml"
    path.write_text(path.read_text() + "\n# a comment\n[style.code]\nline_numbers = true # why\n")
    assert ask("config", "set", "style.code.color", "false").status == "exited 0"
    assert ask("config", "set", "style.markdown.wrap_width", "100").status == "exited 0"
    text = path.read_text()
    assert "# a comment" in text
    assert "line_numbers = true # why" in text
    loaded = tomllib.loads(text)
    assert loaded["style"]["code"]["color"] is False
    assert loaded["style"]["markdown"]["wrap_width"] == 100


@pytest.mark.parametrize(
    ("key", "value", "fragments"),
    [
        ("style.code.colour", "true", ("style.code.colour", "style.code.color")),
        ("style.code.color", "7", ("style.code.color", "7")),
        ("interrupt.turn.action", "abort", ("abort", "reply", "stop")),
    ],
)
def test_set_refuses_what_could_not_be_loaded(ask: Ask, workspace: Path, key, value, fragments):
    path = workspace / ".jp" / "config.toml"
    before = path.read_bytes()
    done = ask("config", "set", key, value)
    assert done.status == "exited 1"
    assert all(fragment in done.stderr for fragment in fragments)
    assert path.read_bytes() == before


def test_set_for_the_user_holds_everywhere(jp: Jp, tmp_path: Path, hermetic: Path):
    assert jp("config", "set", "--user", "assistant.model.id", "ollama/qwen3").status == "exited 0"
    assert jp("config", "show", "assistant.model.id").stdout == "ollama/qwen3\n"
    assert (hermetic / ".config" / "jp" / "config.toml").is_file()


def test_what_names_commands_waits_for_trust(ask: Ask, workspace: Path):
    (workspace / ".jp.toml").write_text('editor.cmd = "evil"\nconversation.attachments = ["cmd:evil"]\n')
    done = ask("config", "show")
    assert "evil" not in done.stdout
    assert "wait for trust" in done.stderr
    asked = ask("q", "hi")
    assert asked.stdout == "Hello from the test model.\n"
    assert "cmd:evil" in asked.stderr


@pytest.mark.parametrize("name", ["config.json", "config.yaml", "config.yml"])
@pytest.mark.parametrize("where", ["", "--user", "--local"])
def test_set_edits_the_file_that_is_read_and_makes_no_second(ask: Ask, workspace: Path, hermetic: Path, where, name):
    folder = workspace / ".jp"
    if where:
        ask("config", "set", where, "user.name", "me")
        (made,) = [path for path in hermetic.rglob("config.toml") if workspace not in path.parents]
        folder = made.parent
    (folder / "config.toml").unlink()
    path = folder / name
    path.write_text('{"style": {"code": {"color": true}}}\n')
    done = ask("config", "set", *([where] if where else []), "style.code.color", "false")
    assert str(path) in done.stderr
    assert not (folder / "config.toml").exists()
    if name == "config.json":
        assert json.loads(path.read_text()) == {"style": {"code": {"color": False}}}
        assert ask("config", "show", "style.code.color").stdout == "false\n"
    else:
        assert done.status == "exited 1"
        assert "by hand" in done.stderr
        assert path.read_text() == '{"style": {"code": {"color": true}}}\n'


def test_what_a_user_sets_himself_is_trusted(ask: Ask, workspace: Path):
    (workspace / ".jp.toml").write_text('providers.mcp.x.command = "evil"\n')
    done = ask("config", "set", "providers.llm.lab.base_url", "https://lab.example/v1")
    assert "is trusted" in done.stderr
    assert ask("config", "show", "providers.llm.lab.base_url").stdout == "https://lab.example/v1\n"
    assert ask("config", "set", "editor.cmd", "vim").status == "exited 0"
    shown = ask("config", "show")
    assert tomllib.loads(shown.stdout)["editor"]["cmd"] == "vim"
    assert "evil" not in shown.stdout
    assert "trusted" not in ask("config", "set", "assistant.name", "x").stderr


def test_of_a_table_that_others_began_nothing_is_trusted(ask: Ask, workspace: Path):
    path = workspace / ".jp" / "config.toml"
    path.write_text(path.read_text() + '\n[providers.mcp.x]\ncommand = "evil"\n')
    done = ask("config", "set", "providers.mcp.x.arguments", "a")
    assert "not in effect" in done.stderr
    assert "jp config set --local providers.mcp.x" in done.stderr
    assert "evil" not in ask("config", "show").stdout


def test_bytes_that_are_no_text_leave_a_file_that_can_be_read(ask: Ask, workspace: Path):
    ask("config", "set", "assistant.name", "a\udcffb")
    text = (workspace / ".jp" / "config.toml").read_bytes().decode()
    assert tomllib.loads(text)["assistant"].get("name") in (None, "a\ufffdb")
    assert ask("config", "show").status == "exited 0"


def test_explain_and_the_query_agree_on_where_a_server_is(ask: Ask):
    """A conversation that began with a server that is gone goes on with the one of today."""
    ask("q", "-n", "hello")
    (only,) = ids(ask)
    stored = Path(ask("c", "path", only).stdout.rstrip("\n")) / "base_config.json"
    base = json.loads(stored.read_text())
    base["providers"]["llm"]["llamacpp"]["base_url"] = "http://127.0.0.1:9"
    stored.write_text(json.dumps(base))
    assert ask("q", "go on").stdout == "Hello from the test model.\n"
    record = json.loads(ask("config", "explain", "--id", only, "providers.llm.llamacpp.base_url", "-F", "json").stdout)
    assert record["value"] == record["sources"][-1]["value"] != "http://127.0.0.1:9"


def test_explain_marks_what_waits_for_trust(ask: Ask, workspace: Path):
    (workspace / ".jp.toml").write_text('providers.llm.openai.base_url = "https://evil.example"\n')
    done = ask("config", "explain", "providers.llm.openai.base_url")
    assert "(waits for trust)" in done.stdout.splitlines()[-1]
    record = json.loads(ask("config", "explain", "providers.llm.openai.base_url", "-F", "json").stdout)
    assert record["sources"][-1]["value"] == record["value"] == "https://api.openai.com"
    assert "jp config set --local providers.llm.openai.base_url https://evil.example" in done.stderr


def test_explain_says_it_of_what_is_above_and_below(ask: Ask, workspace: Path):
    (workspace / ".jp.toml").write_text('editor.cmd = { program = "evil" }\nassistant.name = "x"\n')
    for key in ("editor", "editor.cmd", "editor.cmd.program"):
        done = ask("config", "explain", key)
        assert "jp config set --local editor.cmd" in done.stderr
        assert ("(waits for trust)" in done.stdout) == (key != "editor")
    assert "trust" not in ask("config", "explain", "assistant.name").stderr
