"""The conformance suite finds what is wrong with a plugin, says where, and leaves nothing behind."""

import argparse
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from jp.cli.commands import plugin_check
from jp.cli.context import Context
from jp.errors import JpError
from jp.interrupt.router import Router
from jp.plugin.check import CHECKS, Finding, check
from jp.plugin.check_cases import Usual
from jp.plugin.check_run import Program, Run, perform
from jp.plugin.messages import Message
from jp.plugin.wire import Faulty
from jp.terminal.capabilities import Format
from jp.terminal.printer import Printer
from jp.terminal.promptability import Request, resolve

pytestmark = pytest.mark.usefixtures("no_leftovers")

DESCRIBE = """echo '{"type":"describe","name":"x","version":"1","description":"Does x"}'; exit"""
READ = "IFS= read -r line || exit 1"
LIST = """echo '{"type":"list_conversations"}'; IFS= read -r line || exit 1"""
PROMPT = """echo '{"type":"prompt","kind":"confirm","message":"Sure?"}'; IFS= read -r line || exit 1"""
EXIT = """echo '{"type":"exit","code":0}'"""
SH = """\
#!/bin/sh
IFS= read -r line || exit 1
case $line in *'"type":"describe"'*)
{describe}
;; esac
echo '{{"type":"ready"}}'
{body}
"""
PYTHON = """\
#!{python} -S
import json, os, sys, time
def send(**message):
    sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()
def read():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(1)
def ask(**message):
    send(**message); return read()
init = read()
if init["type"] == "describe":
    send(type="describe", name="x", version="1", description="Does x"); sys.exit()
"""

Make = Callable[[str], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a plugin of a script."""

    def write(script: str) -> Path:
        path = tmp_path / "jp-x"
        path.write_text(script)
        path.chmod(0o755)
        return path

    return write


def shell(body: str = f"{LIST}\n{EXIT}", describe: str = DESCRIBE) -> str:
    return SH.format(body=body, describe=describe)


def python(body: str) -> str:
    return PYTHON.format(python=sys.executable) + textwrap.dedent(body)


def tried(path: Path, *args: str, seconds: float = 20.0) -> list[Finding]:
    return check(os.fspath(path), args=args, environ=os.environ, cwd=os.fspath(path.parent), seconds=seconds)


def failed(findings: list[Finding]) -> dict[str, Finding]:
    return {each.check: each for each in findings if each.ok is False}


def test_a_good_plugin_passes_and_every_check_has_its_say(make: Make):
    findings = tried(make(shell(f"{LIST}\n{PROMPT}\n{EXIT}")))
    assert failed(findings) == {}
    assert [each.check for each in findings] == list(CHECKS)
    assert {each.check for each in findings if each.ok is None} == {"ids", "big-events"}


def test_a_plugin_that_asks_for_nothing_passes(make: Make):
    assert failed(tried(make(shell(EXIT)))) == {}


@pytest.mark.parametrize("body", ["trap '' INT", """trap 'echo "{\\"type\\":\\"exit\\",\\"code\\":1}"; exit' INT"""])
def test_a_plugin_may_go_on_after_an_interrupt_or_end_in_its_own_way(make: Make, body: str):
    assert failed(tried(make(shell(f"{body}\n{LIST}\n{EXIT}")))) == {}


def test_its_command_is_given_its_arguments(make: Make):
    path = make(python('send(type="exit", code=0) if init["args"] == ["--days", "3"] else sys.exit(1)'))
    assert failed(tried(path, "--days", "3")) == {}
    assert "exit" in failed(tried(path))


BAD = {
    "describes nothing": (
        shell(describe="exit"),
        {"describe": "did not describe itself"},
    ),
    "describes itself by a ready": (
        shell(describe="""echo '{"type":"ready"}'"""),
        {"describe": "did not describe itself"},
    ),
    "says more than its description": (
        shell(describe=f"""echo '{{"type":"ready"}}'\n{DESCRIBE}"""),
        {"describe": '`{"type":"ready"}`'},
    ),
    "waits for the end of the input to end": (
        shell(describe=f"{DESCRIBE.removesuffix('; exit')}; cat >/dev/null; exit"),
        {"describe": "had not ended"},
    ),
    "describes itself too late": (
        """\
#!/usr/bin/env node
process.stdin.on('end', () => process.exit(1));
process.stdin.on('data', () => setTimeout(() => {
  console.log(JSON.stringify({ type: 'describe', name: 'x', version: '1', description: 'Does x' }));
  process.exit();
}, 50));
""",
        {"describe": "when its input had ended", "begins": "described itself", "exit": "without `exit`"},
    ),
    "has no version": (
        shell(describe="""echo '{"type":"describe","name":"x","description":"Does x"}'; exit"""),
        {"describe": "did not describe itself", "lines": "`version`"},
    ),
    "describes itself on two lines": (
        shell(describe=DESCRIBE.replace("echo", "printf '%s\\n'").replace("Does", r"Does\n")),
        {"description": "`description`"},
    ),
    "has a command that nobody can type": (
        shell(describe=DESCRIBE.replace('"}', '","command":["two words"]}')),
        {"description": "`command`"},
    ),
    "lacks a field": (
        shell(f"""echo '{{"type":"print","txt":"x"}}'\n{EXIT}"""),
        {"lines": 'the usual run, line 2: `{"type":"print","txt":"x"}`: a wrong `print` message: '
         "Object missing required field `text`"},
    ),
    "has a field of another type": (
        shell(f"""echo '{{"type":"log","level":"loud","message":"x"}}'\n{EXIT}"""),
        {"lines": "`level`"},
    ),
    "sends what nobody knows": (
        shell(f"""echo '{{"type":"prnt","text":"x"}}'\n{EXIT}"""),
        {"lines": "`type` is one of `ready`"},
    ),
    "selects from nothing": (
        shell(f"""echo '{{"type":"prompt","kind":"select","message":"?"}}'\n{READ}\n{EXIT}"""),
        {"lines": "`options` of `select`"},
    ),
    "has another exit status than there are": (
        shell("""echo '{"type":"exit","code":256}'"""),
        {"lines": "`code`", "exit": "without `exit`"},
    ),
    "writes for people": (
        shell(f"echo hello\n{EXIT}"),
        {"lines": "no JSON object", "exit": "what is no message"},
    ),
    "ends in the middle of a line": (
        shell("""printf '{"type":"exit"}'"""),
        {"lines": "no line end behind", "exit": "without `exit`"},
    ),
    "writes a line without end": (
        shell(f"head -c 17000000 /dev/zero | tr '\\0' x\n{EXIT}"),
        {"lines": "16,777,216", "exit": "what is no message"},
    ),
    "says nothing": (
        f"#!/bin/sh\nIFS= read -r line\ncase $line in *describe*) {DESCRIBE};; esac\n",
        {"begins": "wrote nothing", "exit": "without `exit`"},
    ),
    "describes itself unasked": (
        shell(EXIT).replace("""echo '{"type":"ready"}'""", DESCRIBE.removesuffix("; exit")),
        {"begins": "described itself"},
    ),
    "ends without exit": (
        shell(f"{LIST}\nexit 3"),
        {"exit": "exit status 3"},
    ),
    "never ends": (
        shell(f"{LIST}\n{READ}"),
        {"exit": "not over after 1 s"},
    ),
    "never ends and never rests": (
        shell("""yes '{"type":"ready"}'"""),
        {"exit": "on and on"},
    ),
    "stops itself": (
        shell("kill -STOP $$"),
        {"exit": "stopped by signal"},
    ),
    "runs on after exit": (
        shell(f"{EXIT}\nexec cat >/dev/null"),
        {"ends": "still ran"},
    ),
    "writes after exit": (
        shell(f"""{LIST}\n{EXIT}\necho '{{"type":"ready"}}'"""),
        {"silent-after-exit": 'the usual run, line 4: `{"type":"ready"}`'},
    ),
    "uses an id twice": (
        python("""
            for n in range(2): send(type="read_config", id="a")
            read(); read(); send(type="exit")
        """),
        {"ids": "'a'"},
    ),
    "takes responses for ordered": (
        python("""
            for n in range(2): send(type="read_config", id=n)
            for n in range(2): assert read()["id"] == n
            send(type="exit")
        """),
        {"ids": "responses in another order: it ended without `exit`"},
    ),
    "wants a conversation": (
        python('send(type="exit", code=0, reason=ask(type="list_conversations").get("data", "x")[0] and "x")'),
        {"no-conversations": "no conversations: it ended without `exit`"},
    ),
    "reads part of a line": (
        python("""
            send(type="read_events", conversation="17800836875")
            json.loads(sys.stdin.readline(100_000)); send(type="exit")
        """),
        {"big-events": "a big conversation: it ended without `exit`"},
    ),
    "knows all fields": (
        python('send(type="exit", code=int("x_unknown" in init))'),
        {"unknown-fields": "it left with 1, and without that with 0"},
    ),
    "wants a yes": (
        python("""
            while True:
                said = ask(type="prompt", kind="confirm", message="Sure?")
                if said.get("value") or said["type"] != "prompt_response" or said["outcome"] != "answered": break
            send(type="exit")
        """),
        {"other-answers": "more than 2,000 requests"},
    ),
    "does not take a no for an answer": (
        python("""
            while ask(type="prompt", kind="confirm", message="Sure?").get("outcome") == "cancelled": pass
            send(type="exit")
        """),
        {"cancelled": "again and again"},
    ),
    "does not think that nobody is there": (
        python("""
            said = ask(type="prompt", kind="confirm", message="Sure?")
            assert said.get("reason", "shutting down") == "shutting down"
            send(type="exit")
        """),
        {"unavailable": "exit status 1"},
    ),
    "knows no errors": (
        python("""
            said = ask(type="list_conversations")
            assert said["type"] != "error"
            send(type="exit")
        """),
        {"errors": "`error` for `list_conversations`: it ended without `exit`"},
    ),
    "hangs in a shutdown": (
        shell(f"{LIST}\ncase $line in *shutdown*) exec sleep 1000 ;; esac\n{EXIT}"),
        {"shutdown": "still ran 1 s after `shutdown`"},
    ),
    "leaves an interrupt in its own way": (
        shell(f"trap 'exit 3' INT\n{LIST}\n{EXIT}"),
        {"interrupt": "exit status 3"},
    ),
    "does not notice that JP is gone": (
        shell(f"""echo '{{"type":"list_conversations"}}'\nuntil IFS= read -r line; do :; done\n{EXIT}"""),
        {"host-gone": "still ran 1 s after the end of its input"},
    ),
    "leaves a child": (
        shell(f"sleep 1000 </dev/null >/dev/null 2>&1 &\n{EXIT}"),
        {"leaves-nothing": "`sleep 1000`"},
    ),
    "leaves a daemon": (
        shell(f"setsid sleep 1000 </dev/null >/dev/null 2>&1 &\n{EXIT}"),
        {"leaves-nothing": "`sleep 1000`"},
    ),
    "prints as JavaScript does": (
        """\
#!/usr/bin/env node
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (JSON.parse(line).type === 'describe') {
    console.log(JSON.stringify({ type: 'describe', name: 'x', version: '1', description: 'Does x' }));
    process.exit();
  }
  console.log({ type: 'ready' });
});
""",
        {"lines": "no JSON object", "exit": "what is no message"},
    ),
    "builds JSON by hand": (
        r"""#!/usr/bin/env -S awk -f
BEGIN {
  "IFS= read -r l; printf %s \"$l\"" | getline line
  if (line ~ /"describe"/)
    print "{\"type\":\"describe\",\"name\":\"x\",\"version\":\"1\"," \
      "\"description\":\"x\"}"
  else print "{\"type\":\"print\",\"text\":\"a\tb\"}\n{\"type\":\"exit\"}"
}
""",
        {"lines": "no JSON object", "exit": "what is no message"},
    ),
}  # fmt: skip
HANGS = {
    "describes itself by a ready",
    "waits for the end of the input to end",
    "never ends",
    "stops itself",
    "runs on after exit",
    "hangs in a shutdown",
    "does not notice that JP is gone",
}
NEEDS = {
    "describes itself too late": "node",
    "prints as JavaScript does": "node",
    "builds JSON by hand": "awk",
    "leaves a daemon": "setsid",
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_plugin_is_found_out(make: Make, what: str):
    if what in NEEDS and not shutil.which(NEEDS[what]):
        pytest.skip(f"needs {NEEDS[what]}")
    if what == "leaves a daemon" and not os.path.isdir("/proc"):
        pytest.skip("only /proc tells of what has left the group")
    script, expected = BAD[what]
    findings = tried(make(script), seconds=1.0 if what in HANGS else 20.0)
    found = failed(findings)
    assert found.keys() == expected.keys(), findings
    for name, words in expected.items():
        assert words in found[name].message
    assert all(each.hint for each in found.values() if each.check != "exit"), findings


class TestWords:
    def test_what_is_allowed_is_said(self, make: Make):
        found = failed(
            tried(make(shell(f"""echo '{{"type":"prompt","kind":"tick","message":"?"}}'\n{READ}\n{EXIT}""")))
        )
        assert "`kind` (confirm | secret | select | text)" in (found["lines"].hint or "")
        assert "`default`? (true or false or string)" in (found["lines"].hint or "")

    def test_what_is_ignored_is_said_and_no_fault(self, make: Make):
        body = f"""echo '{{"type":"print","text":"x","chanel":"error","format":"html"}}'\n{EXIT}"""
        findings = tried(make(shell(body)))
        (lines,) = [each for each in findings if each.check == "lines"]
        assert lines.ok is True
        assert "line 2: `print` has no field `chanel`" in lines.message
        assert "`format` 'html' is none, and counts as `plain`" in lines.message

    def test_a_name_under_which_nobody_finds_it(self, make: Make):
        path = make(shell())
        findings = tried(path.rename(path.with_name("titles")))
        (said,) = [each for each in findings if each.check == "description"]
        assert said.ok is True
        assert "begins with `jp-`" in (said.hint or "")

    def test_nothing_that_it_writes_acts_on_a_terminal(self, make: Make):
        body = "printf '{\"type\":\"\\033]0;title\\007\"\\n'; printf '\\033[2J' >&2; exit 1"
        findings = tried(make(shell(body)))
        assert {"lines", "exit"} <= failed(findings).keys()
        assert all((each.message + (each.hint or "")).isprintable() for each in findings)

    def test_its_last_words_are_a_hint(self, make: Make):
        found = failed(tried(make(python('raise ValueError("what now")'))))
        assert "its stderr ends with: ValueError: what now" in (found["exit"].hint or "")

    def test_each_fault_is_told_once_and_a_few_of_many(self, make: Make):
        body = "\n".join(f"""echo '{{"type":"unknown{n}"}}'""" for n in range(9))
        wrong = [each for each in tried(make(shell(f"{body}\n{EXIT}"))) if each.check == "lines"]
        assert len(wrong) == 1  # the same is wrong with all of them


class TestStart:
    def test_what_can_not_be_started(self, make: Make):
        path = make("no program\n")
        for reason in ("Exec format error", "Permission denied"):
            findings = tried(path)
            assert reason in failed(findings)["starts"].message
            assert all(each.ok is None for each in findings if each.check != "starts")
            path.chmod(0o644)


class TestRun:
    def test_whatever_ends_it_nothing_is_left(self, make: Make):
        # The test's own fixture looks for what is left.
        class Broken(Usual):
            def take(self, run: Run, message: Message | Faulty) -> None:
                raise KeyboardInterrupt

        path = make(shell("sleep 1000 & setsid sleep 1000 & wait"))
        program = Program(path=os.fspath(path), environ=os.environ, cwd=os.fspath(path.parent))
        with pytest.raises(KeyboardInterrupt):
            perform(program, Broken("broken", []), 20)


class Command:
    """`jp plugin check`, with its output in memory."""

    def __init__(self, *argv: str, shape: Format = Format.TEXT) -> None:
        parser = argparse.ArgumentParser()
        plugin_check.add_arguments(parser)
        printer, out, _ = Printer.memory(shape)
        ctx = Context(
            args=parser.parse_args(argv),
            argv=argv,
            environ=os.environ,
            printer=printer,
            promptability=resolve(Request.FORCED_OFF, {}, False),
            router=Router(),
            wind_down=lambda: None,
        )
        self.status = plugin_check.run(ctx.args, ctx)
        self.out = out.text


class TestCommand:
    def test_a_line_a_check(self, make: Make):
        done = Command(os.fspath(make(shell())))
        assert done.status == 0
        assert [line.split()[1] for line in done.out.splitlines()[:-2]] == list(CHECKS)
        assert done.out.splitlines()[-1] == "15 ok, 0 failed, 5 skipped"

    def test_a_failure_is_a_status_and_says_what_to_do(self, make: Make):
        done = Command(os.fspath(make(shell("exit 3"))), "--timeout", "20")
        assert done.status == 1
        assert "FAILS  exit" in done.out
        assert "1 failed" in done.out

    def test_json(self, make: Make):
        done = Command(os.fspath(make(shell("echo x"))), "--", "--days", shape=Format.JSON)
        records = json.loads(done.out)
        assert all(each.keys() == {"check", "ok", "message", "hint"} for each in records)
        assert {each["ok"] for each in records} == {True, False, None}
        assert done.status == 1

    def test_there_is_no_such_file(self, tmp_path: Path):
        with pytest.raises(JpError, match="there is no file"):
            Command(os.fspath(tmp_path / "jp-none"))
        with pytest.raises(JpError, match="is a directory"):
            Command(os.fspath(tmp_path))

    def test_what_can_not_be_started_is_said_once(self, tmp_path: Path):
        path = tmp_path / "jp-broken"
        path.write_text("#!/no/such/interpreter\n")
        path.chmod(0o755)
        done = Command(os.fspath(path))
        assert done.status == 1
        lines = [" ".join(line.split()) for line in done.out.splitlines()]
        assert lines[0].startswith("FAILS starts it can't be started: ")
        assert lines[2:] == ["- all others skipped: it can't be started", "", "0 ok, 1 failed, 19 skipped"]
        assert len(json.loads(Command(os.fspath(path), shape=Format.JSON).out)) == len(CHECKS)

    @pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf"])
    def test_a_time_that_is_none(self, make: Make, seconds, capsys):
        with pytest.raises(SystemExit):
            Command(os.fspath(make(shell())), f"--timeout={seconds}")
        assert "is no number of seconds" in capsys.readouterr().err
