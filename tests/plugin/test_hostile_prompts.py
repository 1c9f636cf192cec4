"""Prompts of plugins that ask too much, at the wrong time or in the wrong way; secrets that they spill; shells."""

import shutil
import threading
from pathlib import Path

import pytest

from jp.interrupt.end import Cause
from jp.plugin.errors import PluginError
from jp.prompt.outcomes import Submitted
from jp.prompt.questions import Question
from jp.prompt.scripted import ScriptedPrompts
from tests.plugin.hostile import SOON, Logged, failure, when
from tests.plugin.hosting import Hosting
from tests.support.marked import still_marked


@pytest.mark.req("D60-58", "D60-108", "D60-107", "D60-110", "D60-111", "PROTO-46")
def test_prompts_that_are_too_much(hosting: Hosting) -> None:
    status = hosting.run(
        """
        for fields in (
            {"kind": "text", "message": "x" * 1_000_000},
            {"kind": "text", "message": "x", "default": "x" * 1_000_000},
            {"kind": "select", "message": "x", "options": ["x"] * 10_000},
            {"kind": "select", "message": "x", "options": ["x" * 1_000_000]},
            {"kind": "select", "message": "x", "options": []},
            {"kind": "select", "message": "x", "options": ["a", "b"], "default": "c"},
            {"kind": "select", "message": "x", "options": ["a", "b"] * 400_000, "default": "a"},
            {"kind": "secret", "message": "x", "default": "x"},
        ):
            error = ask(type="prompt", **fields)
            note([error["type"], error["request"], error["message"].split("`")[1]])
        note(ask(type="prompt", kind="text", message="x" * 65536)["value"])
        send(type="exit", code=1)
        """,
        [Submitted("yes")],
    )
    assert status == 1
    named = ["message", "default", "options", "options[0]", "options", "default", "options", "secret"]
    assert hosting.notes == [*(["error", "prompt", name] for name in named), "yes"]
    assert len(hosting.prompts.asked) == 1


@pytest.mark.req("D60-16", "D60-3")
def test_control_characters_come_back_as_they_were_sent(hosting: Hosting) -> None:
    """The question holds them, for whoever draws it to take out; the answer is the string that was sent."""
    hostile = "\x1b[2J\x1b]0;title\x07\r\n\u202eevil\x9b5n\x00"
    hosting.run(
        f"""
        hostile = {hostile!r}
        answer = ask(type="prompt", kind="select", message=hostile, options=["a", hostile], default=hostile)
        note(answer["value"] == hostile)
        send(type="exit")
        """,
        [lambda question: Submitted(question.marked)],
    )
    assert hosting.notes == [True]


@pytest.mark.req("D60-38", "D60-39")
def test_a_hundred_prompts_wait_and_the_next_is_refused(hosting: Hosting) -> None:
    refused = threading.Event()

    def first(question: Question) -> Submitted:
        refused.wait(SOON)
        return Submitted("0")

    when(1, hosting, refused.set)
    status = hosting.run(
        """
        for number in range(101):
            send(type="prompt", kind="text", message=str(number), id=number)
        error = read()
        note([error["type"], error["id"]])
        note([(read())["id"] for _ in range(100)])
        note(ask(type="prompt", kind="text", message="101", id=101)["value"])
        send(type="exit", code=1)
        """,
        [first, *[lambda question: Submitted(question.message)] * 100],
    )
    assert status == 1
    assert hosting.notes == [["error", 100], [*range(100)], "101"]
    assert [question.message for question in hosting.prompts.asked] == [*map(str, range(100)), "101"]


@pytest.mark.req("D60-65", "D60-34")
def test_a_prompt_after_the_shutdown_is_unavailable(hosting: Hosting) -> None:
    when(1, hosting, lambda: hosting.router.shutdown(Cause.TERM))
    status = hosting.run(
        """
        note("up")
        note(read())
        for kind in ("confirm", "text"):
            note(ask(type="prompt", kind=kind, message="Save?", default=True if kind == "confirm" else "x", id=kind))
        note(ask(type="prompt", kind="text", id="wrong")["type"])
        send(type="exit", code=3)
        """
    )
    assert status == 3
    assert hosting.notes[1:] == [
        {"type": "shutdown"},
        *(
            {"type": "prompt_response", "id": kind, "outcome": "unavailable", "reason": "shutting down"}
            for kind in ("confirm", "text")
        ),
        "error",
    ]
    assert hosting.prompts.asked == []


SECRET = 'hush-"hush"-Größe'

ASKED = f"""
secret = ask(type="prompt", kind="secret", message="Token", id="i")["value"]
assert secret == {SECRET!r}
"""


@pytest.mark.req("D60-82", "D60-85", "D60-86")
def test_a_secret_that_the_plugin_spills_is_in_no_log(hosting: Hosting, logged: Logged) -> None:
    """Clumsy ways of a script: the value where a message, a field, a path or a name should be."""
    status = hosting.run(
        ASKED
        + """
for text in (secret, "x" * 1990 + secret, "x" * 3000 + secret, json.dumps(secret), repr(secret)):
    print(text, file=sys.stderr, flush=True)
for level in ("error", "trace"):
    send(type="log", level=level, message=secret, fields={"a": [secret, {"b": secret}], secret: 1})
send(type="print", text="", channel=secret, format=secret)
for fields in (
    {"type": secret}, {"type": "prompt", "kind": secret, "message": ""}, {"type": "lock", "conversation": secret},
    {"type": "read_config", "path": secret}, {"type": "log", "level": secret, "message": ""},
    {"type": "create_conversation", "title": [secret]}, {"type": "read_events", "conversation": "x" * 50 + secret},
):
    note(ask(**fields)["type"])
print("the last line", file=sys.stderr, flush=True)
os.close(2)
send(type="exit", code=3)
""",
        [Submitted(SECRET)],
    )
    assert status == 3
    assert hosting.notes == ["error"] * 7
    assert b"hush" not in logged
    assert [line["level"] for line in logged.lines].count("TRACE") == 1  # and they are there, but for it


@pytest.mark.req("D60-82", "D60-85")
@pytest.mark.parametrize("line", [b"oops %s", b"{'%s'}", b"x" * 50 + b"%s", b"x" * 57 + b"%s", b"\xff%s"])
def test_a_secret_in_place_of_a_message_is_in_no_error(hosting: Hosting, logged: Logged, line: bytes) -> None:
    written = line % SECRET.encode() + b"\n"
    error = failure(hosting, f"{ASKED}\nraw({written!r})\ntime.sleep(600)", [Submitted(SECRET)])
    assert b"hush" not in logged
    assert "hush" not in f"{error!r} {error.message} {error.hints} {error.metadata}"


@pytest.mark.req("D60-85")
def test_a_secret_in_the_reason_of_a_failure_is_in_no_error(hosting: Hosting, logged: Logged) -> None:
    body = f"{ASKED}\nsend(type='exit', code=1, reason=f'the registry refuses {{secret}}')"
    with pytest.raises(PluginError) as caught:
        hosting.run(body, [Submitted(SECRET)])
    assert "the registry refuses" in caught.value.message
    assert "hush" not in caught.value.message
    assert b"hush" not in logged


# --- shells


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.req("PROTO-50", "D60-76")
def test_a_shell_that_forgets_to_read_and_leaves(hosting: Hosting, shell: str) -> None:
    """Not even `init`."""
    status = hosting.host(
        script(
            hosting,
            shell,
            """
            echo '{"type":"ready"}'
            for i in 1 2 3 4 5 6 7 8 9; do echo '{"type":"list_conversations"}'; echo '{"type":"read_config"}'; done
            echo '{"type":"print","text":"done"}'
            echo '{"type":"exit","code":6}'
            """,
        )
    ).run()
    assert status == 6
    assert hosting.out.text == "done"
    assert still_marked(SOON) == {}


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_a_shell_that_asks_on_and_reads_nothing(hosting: Hosting, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jp.plugin.intake.STALLED_SECS", 0.5)
    path = script(hosting, shell, """while :; do echo '{"type":"read_config"}'; done""")
    assert "does not read" in failure(hosting, path, within=20).message


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_a_shell_that_prints_what_is_for_a_person(hosting: Hosting, shell: str) -> None:
    path = script(hosting, shell, 'read -r init; echo "Working on it…"; sleep 600')
    assert "`Working on it" in failure(hosting, path).message


@pytest.mark.req("D60-6", "D60-5")
@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_a_shell_asks_all_four_kinds_with_one_read_each(hosting: Hosting, shell: str) -> None:
    if not shutil.which("jq"):
        pytest.skip("needs jq")
    outcomes = [Submitted("y"), Submitted("1"), Submitted('a "b" \\n'), Submitted("hush")]
    hosting.prompts = ScriptedPrompts(outcomes)
    status = hosting.host(
        script(
            hosting,
            shell,
            r"""
            read -r init
            for kind in 'confirm"' 'select","options":["main","de v"]' 'text"' 'secret"'; do
                echo "{\"type\":\"prompt\",\"message\":\"?\",\"kind\":\"$kind}"
                read -r response
                case $(printf '%s\n' "$response" | jq -r .outcome) in
                    answered) printf '%s\n' "$response" | jq -c .value >> "$NOTES" ;;
                    *) echo '"not answered"' >> "$NOTES" ;;
                esac
            done
            echo '{"type":"exit","code":3}'
            """,
        )
    ).run()
    assert status == 3
    assert hosting.notes == [True, "de v", 'a "b" \\n', "hush"]


def script(hosting: Hosting, shell: str, body: str) -> Path:
    """A plugin in shell; skips where that is not there."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell}")
    path = hosting.place / "jp-it"
    path.write_text(f"#!{found}\n{body}\n")
    path.chmod(0o755)
    return path
