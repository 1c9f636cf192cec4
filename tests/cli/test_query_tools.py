"""Tools in `jp query`: which the model is offered, what the flags say about it, and models that call them badly."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from jp.config.load import Paths, load
from jp.tool.builtin.catalogue import CATALOGUE
from jp.tool.toolbox import Toolbox
from tests.support.marked import still_marked
from tests.support.terminal import Terminal
from tests.support.tools import configure, query, responses, sent
from tests.support.workspace import Ask, events, messages
from tests.wire.model_server import Exchange, ModelServer, text, tool_call, tool_calls

pytestmark = pytest.mark.usefixtures("no_leftovers")


def local(name: str, command: Any = "echo ran {{tool.arguments.n}}", **settings: Any) -> None:
    """A tool in the user's own configuration."""
    parameters = {"n": {"type": "integer"}}
    keys = {"source": "local", "command": command, "run": "unattended", "parameters": parameters} | settings
    configure(**{f"conversation.tools.{name}.{key}": value for key, value in keys.items()})


@pytest.fixture
def four() -> None:
    """Tools that are on, off, on when they are named, and always on."""
    local("alpha")
    local("beta", enable=False)
    local("gamma", enable="explicit")
    local("delta", enable="always")


def offered(server: ModelServer, number: int = -1) -> list[str]:
    """The tools of a request, by name."""
    return [tool["function"]["name"] for tool in server.bodies()[number].get("tools", [])]


def choice(server: ModelServer, number: int = -1) -> Any:
    return server.bodies()[number].get("tool_choice")


# --- what is offered


def test_where_none_is_configured_the_built_in_ones_are(ask: Ask, server: ModelServer):
    ask("q", "hi")
    assert sorted(offered(server)) == sorted(CATALOGUE)
    assert choice(server) == "auto"


def test_with_tools_of_ones_own_only_those_are(ask: Ask, server: ModelServer):
    local("alpha")
    ask("q", "hi")
    assert offered(server) == ["alpha"]


def test_a_description_that_does_not_fit_is_there_for_the_asking(ask: Ask, server: ModelServer):
    local("alpha", summary="Runs.", description="All about running.")
    ask("q", "hi", replies=(tool_call("describe_tools", {"names": ["alpha"]}), text("I see.")))
    assert offered(server) == ["alpha", "describe_tools"]
    assert "All about running." in sent(server)[-1]["content"]


def test_the_built_in_ones_can_be_turned_off_by_configuration(ask: Ask, server: ModelServer):
    ask("q", "hi", "-c", "conversation.tools.'*'.enable=false")
    assert offered(server) == []


def test_the_embedded_model_is_offered_what_is_configured_or_named_alone(tmp_path: Path):
    paths = Paths(str(tmp_path / "user"), str(tmp_path), str(tmp_path), None)
    assert Toolbox(load(paths, {}).root.conversation.tools, offer=False).enabled() == []
    named = load(paths, {}, flags={"conversation.tools.read_file.enable": True})
    assert Toolbox(named.root.conversation.tools, offer=False).enabled() == ["read_file"]
    assert len(Toolbox(load(paths, {}).root.conversation.tools).enabled()) == len(CATALOGUE) - 1


# --- --tool and --no-tools


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", "alpha delta"),
        ("-t beta", "alpha beta delta"),
        ("--tool=beta", "alpha beta delta"),
        ("--tool beta", "alpha beta delta"),
        ("-t gamma", "alpha gamma delta"),
        ("-t delta", "alpha delta"),
        ("-t beta -t gamma", "alpha beta gamma delta"),
        ("-t", "alpha beta delta"),
        ("-T", "delta"),
        ("-T -t beta", "beta delta"),
        ("-t beta -T", "delta"),
        ("-T -t", "alpha beta delta"),
        ("-t -T", "delta"),
        ("-t --no-tools=alpha", "beta delta"),
        ("--no-tools=alpha -t", "alpha beta delta"),
        ("-T=alpha", "delta"),
        ("-T --tool=gamma --no-tools=gamma -t alpha", "alpha delta"),
        ("-t read_file", "alpha delta read_file describe_tools"),
    ],
)
def test_the_flags_are_read_from_left_to_right(ask: Ask, server: ModelServer, flags: str, expected: str):
    words = flags.split()
    done = ask("q", *words, "why?") if words[-1:] != ["-t"] else ask("q", "why?", *words)
    assert (done.status, done.stderr) == ("exited 0", "")
    assert offered(server) == expected.split()
    assert sent(server)[-1]["content"] == "why?"


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize("flag", ["-t", "--tool"])
def test_a_question_behind_the_bare_flag_stays_the_question(ask: Ask, server: ModelServer, flag: str):
    ask("q", flag, "why does beta fail?")
    assert sent(server)[-1]["content"] == "why does beta fail?"
    assert "beta" in offered(server)
    ask("q", "-T", "alpha")  # off has a name behind `=` alone
    assert sent(server)[-1]["content"] == "alpha"
    ask("q", flag, "--", "beta")
    assert sent(server)[-1]["content"] == "beta"


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize("flag", ["-t alhpa", "--tool=alhpa", "--no-tools=alhpa", "--tool-use=alhpa"])
def test_an_unknown_tool_fails_before_anything_is_sent_or_made(
    ask: Ask, server: ModelServer, workspace: Path, flag: str
):
    done = ask("q", *flag.split(), "hi")
    assert done.status == "exited 2"
    assert "there is no tool alhpa" in done.stderr
    assert "did you mean alpha?" in done.stderr
    assert "jp tool ls" in done.stderr
    assert server.requests == []
    assert not list(workspace.glob(".jp/conversations/*"))
    record = json.loads(ask("q", "-F", "json", *flag.split(), "hi").stderr)
    assert (record["code"], record["metadata"]["nearest"]) == ("unknown_tool", "alpha")


@pytest.mark.usefixtures("four")
def test_a_question_that_was_taken_for_a_name_is_told_so(ask: Ask, server: ModelServer):
    done = ask("q", "-t", "why")
    assert done.status == "exited 1"
    assert "`why` was read as a tool's name" in done.stderr
    assert "comes before `-t`" in ask("q", "-t", "why", "not").stderr
    assert server.requests == []


@pytest.mark.usefixtures("four")
def test_what_is_always_on_stays_on(ask: Ask, server: ModelServer):
    done = ask("q", "--no-tools=delta", "hi")
    assert done.status == "exited 2"
    assert "delta is always as it is configured" in done.stderr
    assert server.requests == []


def test_what_a_flag_turned_on_holds_in_the_next_turn(ask: Ask, server: ModelServer):
    local("alpha")
    ask("q", "-t", "read_file", "--no-tools=alpha", "hi")
    ask("q", "again")
    assert offered(server) == ["read_file", "describe_tools"]
    ask("q", "-t", "alpha", "and again")
    ask("q", "at last")
    assert offered(server) == ["alpha", "read_file", "describe_tools"]
    ask("q", "-n", "something else")
    assert offered(server) == ["alpha"]


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize("begun", [False, True])
def test_what_a_flag_turned_on_against_the_users_own_configuration_holds_as_well(
    ask: Ask, server: ModelServer, begun: bool
):
    if begun:
        ask("q", "hi")
    ask("q", "-t", "beta", "-t", "gamma", "hi")
    ask("q", "again")
    assert offered(server) == ["alpha", "beta", "gamma", "delta"]


# --- --tool-use


@pytest.mark.usefixtures("four")
def test_a_tool_has_to_be_used_once(ask: Ask, server: ModelServer):
    calls = (tool_call("alpha", {"n": 1}), tool_call("alpha", {"n": 2}), text("All done."))
    assert ask("q", "-u", "hi", replies=calls).stdout == "All done.\n"
    assert [choice(server, number) for number in range(3)] == ["required", "auto", "auto"]
    assert [offered(server, number) for number in range(3)] == [["alpha", "delta"]] * 3


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
def test_the_tool_that_has_to_be_used_comes_alone_and_is_turned_on(ask: Ask, server: ModelServer, name: str):
    ask("q", f"--tool-use={name}", "hi", replies=(tool_call(name, {"n": 1}), text("All done.")))
    assert offered(server, 0) == [name]
    assert choice(server, 0) == "required"  # this server knows no names
    assert name in offered(server, 1)
    assert "alpha" in offered(server, 1)
    assert choice(server, 1) == "auto"
    openai = ("-m", "cerebras/test", "-c", f"providers.llm.cerebras.base_url={server.base_url}")
    server.requests.clear()
    ask("q", "-n", f"--tool-use={name}", *openai, "hi", env={"CEREBRAS_API_KEY": "x"})
    assert choice(server, 0) == {"type": "function", "function": {"name": name}}


@pytest.mark.usefixtures("four")
def test_no_tool_is_offered_when_none_is_to_be_used(ask: Ask, server: ModelServer):
    done = ask("q", "-U", "-t", "beta", "hi", replies=(tool_call("alpha", {"n": 1}), text("All done.")))
    assert offered(server, 0) == []
    assert choice(server, 0) is None
    assert "ran" not in done.stderr
    assert ask("q", "-u", "-U", "hi").status == "exited 2"


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize("flag", ["-u", "-U", "--tool-use=alpha"])
def test_which_tool_has_to_be_used_is_said_for_one_query(ask: Ask, server: ModelServer, flag: str):
    ask("q", flag, "hi")
    ask("q", "again")
    assert choice(server) == "auto"
    assert offered(server) == ["alpha", "delta"]


# --- what is shown


@pytest.mark.req("104-117")
def test_calls_are_on_stderr_and_the_texts_around_them_are_set_apart(ask: Ask, server: ModelServer, workspace: Path):
    local("alpha")
    replies = (tool_call("alpha", {"n": 5}, message="I look."), text("All done."))
    done = ask("q", "hi", replies=replies)
    assert done.stdout == "I look.\n\nAll done.\n"
    assert "Calling tool alpha({\n" in done.stderr
    assert "  ran 5\n" in done.stderr
    for hide in (("--hide-tool-calls",), ("-c", "style.tool_call.show=false")):
        done = ask("q", "-n", *hide, "hi", replies=replies)
        assert (done.stdout, done.stderr) == ("I look.\n\nAll done.\n", "")
        assert sent(server)[-1]["content"] == "ran 5\n"


@pytest.mark.req("104-117")
@pytest.mark.parametrize("hide", [False, True])
def test_under_json_stdout_is_events_and_stderr_records(ask: Ask, workspace: Path, hide: bool):
    local("alpha")
    replies = (tool_calls(("alpha", {"n": 5}), ("nope", {}), message="I look."), text("All done."))
    done = ask("q", "-F", "json", *(["--hide-tool-calls"] if hide else []), "hi", replies=replies)
    assert done.status == "exited 0"
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert printed == events(workspace)
    assert [event["type"] for event in printed if event["type"].startswith("tool")] == [
        "tool_call_request",
        "tool_call_request",
        "tool_call_response",
        "tool_call_response",
    ]
    said = [json.loads(line) for line in done.stderr.splitlines()]
    notice = "the model called nope, which is no tool that it was offered"
    calls = [] if hide else ["Calling tool alpha(n: 5)", "Tool alpha is done"]
    assert sorted(said, key=str) == sorted(({"message": each} for each in [*calls, notice]), key=str)


# --- models that call badly


def test_a_tool_that_is_not_there_is_told_to_the_model(ask: Ask, server: ModelServer, workspace: Path):
    local("alpha")
    done = ask("q", "hi", replies=(tool_call("alpa", {"n": 5}), text("I see.")))
    assert done.stdout == "I see.\n"
    assert "the model called alpa" in done.stderr
    assert responses(workspace) == [("There is no tool alpa. The tools are: alpha.", True)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"n": "five"}, "is not of type"),
        ({}, "`n` is missing"),
        ({"n": 5, "m": 1}, "`m` is not one of its parameters"),
        ('{"n": 5', "`n` is missing"),
        ("[1]", "`n` is missing"),
        ("null", "`n` is missing"),
    ],
    ids=str,
)
def test_arguments_that_do_not_fit_run_nothing(
    ask: Ask, server: ModelServer, workspace: Path, arguments: Any, said: str
):
    local("alpha", "touch ran", parameters={"n": {"type": "integer", "required": True}})
    done = ask("q", "hi", replies=(tool_call("alpha", arguments), text("I see.")))
    assert done.status == "exited 0"
    ((content, failed),) = responses(workspace)
    assert failed
    assert said in content
    assert sent(server)[-1]["content"] == content
    assert not (workspace / "ran").exists()


def same_id(*numbers: int) -> Any:
    def reply(exchange: Exchange) -> None:
        exchange.start()
        for index, number in enumerate(numbers):
            function = {"name": "alpha", "arguments": json.dumps({"n": number})}
            exchange.delta({"tool_calls": [{"index": index, "id": "same", "type": "function", "function": function}]})
        exchange.finish("tool_calls")

    return reply


def test_the_same_id_twice_is_two_calls_with_a_response_each(ask: Ask, server: ModelServer, workspace: Path):
    local("alpha")
    ask("q", "hi", replies=(same_id(1, 2), text("I see.")))
    assert sorted(responses(workspace)) == [("ran 1\n", False), ("ran 2\n", False)]
    assert [message["role"] for message in sent(server)[-3:]] == ["assistant", "tool", "tool"]
    assert ask("q", "again").status == "exited 0"


def test_each_call_of_the_same_id_has_its_own_response(ask: Ask, server: ModelServer, workspace: Path):
    script = "sleep 0.$((9 - 3 * $1)); echo $1"
    local("alpha", {"program": "sh", "args": ["-c", script, "sh", "{{tool.arguments.n}}"]})
    ask("q", "hi", replies=(same_id(1, 2, 3), text("I see.")))
    assert [message["content"] for message in sent(server)[-3:]] == ["1\n", "2\n", "3\n"]


@pytest.mark.req("092-60")
def test_a_model_that_calls_for_ever_is_stopped_by_the_person(server: ModelServer, workspace: Path):
    local("alpha", "sleep 0.1; echo ran")
    server.then(tool_call("alpha", {"n": 1}))
    with query(workspace) as terminal:
        terminal.until(lambda screen: screen.contents.count("ran") > 2)
        stop(terminal)
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert not still_marked(2)
    found = events(workspace)
    calls = sum(event["type"] == "tool_call_request" for event in found)
    assert calls == len(responses(workspace)) >= 3
    assert messages(workspace) == []


def stop(terminal: Terminal) -> None:
    """Press until it is the tools that are asked about: the model may just be the one that works."""
    while True:
        terminal.press()
        shown = terminal.until("Interrupted: [c,r,s,").text
        if "[c,r,s,t,?]?" in shown:
            terminal.send(b"s")
            return
        terminal.send(b"c")
        terminal.until(lambda screen: "Interrupted:" not in screen)


# --- many at once


@pytest.mark.slow
def test_fifty_calls_of_one_answer_run_side_by_side(ask: Ask, server: ModelServer, workspace: Path):
    local("alpha", "sleep 0.01")
    taken = {}
    for number in (1, 50):
        calls = tool_calls(*[("alpha", {"n": each}) for each in range(number)])
        began = time.monotonic()
        assert ask("q", "-n", "-q", "--hide-tool-calls", "hi", replies=(calls, text("I see."))).status == "exited 0"
        taken[number] = time.monotonic() - began
    assert len([message for message in sent(server) if message["role"] == "tool"]) == 50
    assert taken[50] - taken[1] < 1.5
