"""Command lines from templates: a value is never more than a value, with a shell and without one."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jp.config.sections.tools import Command
from jp.tool.template import TemplateError, render, split
from tests.tool.running import invocation, shell

EVIL = "$(touch pwned) `touch pwned` '; touch pwned; ' \" ; touch pwned # \\ * ~ \n\t${HOME} {{tool}} x"
CONTEXT = {"action": "run", "root": "/w", "workspace_id": "abcde", "conversation_id": "1", "access": None}


def rendered(command: str | Command, arguments: dict[str, Any] | None = None, **more: Any) -> list[str]:
    return render(command, invocation(command, arguments, **more), CONTEXT)


def refused(command: str | Command, arguments: dict[str, Any] | None = None, **more: Any) -> str:
    with pytest.raises(TemplateError) as caught:
        rendered(command, arguments, **more)
    return caught.value.message


class TestWords:
    def test_split_as_a_shell_does(self) -> None:
        assert split("""run 'a b' "c d" e\\ f #not -x="1 2" ''""") == [
            "run", "a b", "c d", "e f", "#not", "-x=1 2", "",
        ]  # fmt: skip

    def test_a_tag_is_never_split(self) -> None:
        assert split("just x {{tool.arguments.m | default('')}}") == ["just", "x", "{{tool.arguments.m | default('')}}"]
        assert split("""x {{ "}} 'a" }}{# a b #}{%if x%}y z{%endif%} w""") == [
            "x", """{{ "}} 'a" }}{# a b #}{%if x%}y""", "z{%endif%}", "w",
        ]  # fmt: skip

    def test_a_value_stays_one_word(self) -> None:
        argv = rendered("run {{tool.arguments.a}} --x={{ tool.arguments.a }} end", {"a": EVIL})
        assert argv == ["run", EVIL, f"--x={EVIL}", "end"]

    def test_even_an_empty_one(self) -> None:
        assert rendered("run {{tool.arguments.a}} {{ tool.arguments.b | default('') }}", {"a": ""}) == ["run", "", ""]

    def test_a_program_with_arguments_is_not_split(self) -> None:
        assert rendered(Command("my program", ["a b", "{{tool.name}}"], False)) == ["my program", "a b", "t"]

    def test_what_looks_like_a_template_in_a_value_is_none(self) -> None:
        assert rendered("run {{tool.arguments.a}}", {"a": "{{tool.name}}"}) == ["run", "{{tool.name}}"]


class TestPrinting:
    def test_the_whole_tool_and_context_are_json(self) -> None:
        arguments = {"a": EVIL, "n": [1, 2.5, None, True], "o": {"k": "é"}}
        argv = rendered("run {{tool}} {{context}}", arguments, answers={"q": False}, options={"z": 1})
        tool, context = map(json.loads, argv[1:])
        assert tool == {"name": "t", "arguments": arguments, "answers": {"q": False}, "options": {"z": 1}}
        assert list(tool) == ["name", "arguments", "answers", "options"]
        assert context == CONTEXT
        assert "é" in argv[1]

    @pytest.mark.parametrize(
        ("value", "printed"),
        [("x", "x"), (True, "true"), (3, "3"), (2**70, str(2**70)), (1.5, "1.5"), (None, ""), ([1, "a"], '[1,"a"]'),
         ({}, "{}"), ({"a": None}, '{"a":null}')],
    )  # fmt: skip
    def test_a_value(self, value: object, printed: str) -> None:
        assert rendered("run {{tool.arguments.a}}", {"a": value}) == ["run", printed]

    def test_a_text_as_json_where_that_is_said(self) -> None:
        assert rendered("run {{tool.arguments.a|tojson}}", {"a": '<"'}) == ["run", '"<\\""']

    def test_half_a_surrogate_pair_is_replaced(self) -> None:
        assert rendered("run {{tool.arguments.a}} {{tool.arguments}}", {"a": "x\ud800"}) == ["run", "x?", '{"a":"x?"}']


class TestRefused:
    @pytest.mark.parametrize(
        ("command", "said"),
        [
            ("run {{tool.nope}}", "`{{tool.nope}}`: undefined value: `tool.nope` is undefined"),
            ("run {{tool.arguments.a.b}}", "undefined"),
            ("run {{ tool.", "syntax error"),
            ("run {% if x %}", "syntax error"),
            ("run {{ tool | nope }}", "unknown filter"),
            ("run 'a", "no closing quotation"),
            ("", "it names no program"),
            ("{{tool.arguments.a.b | default('')}}", "it names no program"),
        ],
    )
    def test_a_template_that_is_wrong(self, command: str, said: str) -> None:
        assert said in refused(command, {"a": {}})

    def test_one_that_never_ends(self) -> None:
        loops = "{% for i in range(10000) %}{% for i in range(10000) %}{% endfor %}{% endfor %}"
        assert "fuel" in refused(Command("run", [loops], False))

    def test_a_nul_which_no_command_line_holds(self) -> None:
        assert "NUL" in refused("run {{tool.arguments.a}}", {"a": "x\0y"})
        assert "NUL" in refused(shell("run {{tool.arguments.a}}"), {"a": "x\0y"})
        assert rendered("run {{tool.arguments}}", {"a": "x\0y"}) == ["run", '{"a":"x\\u0000y"}']

    def test_values_nested_too_deep(self) -> None:
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        assert "levels deep" in refused("run {{tool}}", {"a": deep})


def says(text: str, value: str, directory: Path) -> str:
    """What the shell prints that is given `text` with `value` in it."""
    argv = rendered(shell(text), {"a": value})
    assert argv[:2] == ["sh", "-c"]
    done = subprocess.run(argv, cwd=directory, capture_output=True, check=False, env={"PATH": os.environ["PATH"]})
    assert done.stderr == b""
    assert not (directory / "pwned").exists(), "a value was run"
    return done.stdout.decode()


class TestShell:
    @pytest.mark.parametrize(
        "text",
        [
            "printf %s {{tool.arguments.a}}",
            'printf %s "{{tool.arguments.a}}"',
            "printf %s '{{tool.arguments.a}}'",
            "printf %s ''{{tool.arguments.a}}\"\"",
            'printf %s "$(printf %s {{tool.arguments.a}})"',
            'printf %s "$(printf %s "{{tool.arguments.a}}")"',
            "printf %s \"$(printf %s '{{tool.arguments.a}}')\"",
            'x=; printf %s "${x:-{{tool.arguments.a}}}"',
            "x=; printf %s ${x:-{{tool.arguments.a}}}",
            "x={{tool.arguments.a}}; printf %s \"$x\"",
            "f() { printf %s {{tool.arguments.a}}; }; f other",
            "set -- other; printf %s {{tool.arguments.a}}",
            "# it's \"{{tool.arguments.a}}\nprintf %s {{tool.arguments.a}}",
            "printf %s {{tool.arguments.a}} | cat",
            "(printf %s {{tool.arguments.a}})",
            "printf %s {{ tool.arguments.a ~ '' }}",
            "{% set x %}{{tool.arguments.a}}{% endset %}printf %s {{x}}",
            "{% if tool.arguments.a %}printf %s {{tool.arguments.a}}{% endif %}",
            "case x in x) printf %s {{tool.arguments.a}};; esac",
            "printf %s {{tool.arguments.a|escape}}",
        ],
    )  # fmt: skip
    def test_a_value_is_itself_wherever_it_stands(self, text: str, tmp_path: Path) -> None:
        assert says(text, EVIL, tmp_path) == EVIL

    def test_json_of_it_too(self, tmp_path: Path) -> None:
        assert json.loads(says("printf %s {{tool.arguments.a|tojson}}", EVIL, tmp_path)) == EVIL
        assert json.loads(says("printf %s {{tool}}", EVIL, tmp_path))["arguments"] == {"a": EVIL}

    def test_many_values_keep_their_places(self, tmp_path: Path) -> None:
        text = "printf '%s|' " + " ".join(f"{{{{tool.arguments.a}}}}{number}" for number in range(12))
        assert says(text, "v", tmp_path) == "".join(f"v{number}|" for number in range(12))

    def test_an_empty_one_is_an_empty_word(self, tmp_path: Path) -> None:
        assert says("printf '<%s>' {{tool.arguments.a}} x", "", tmp_path) == "<><x>"

    def test_what_the_template_marks_is_the_shells(self, tmp_path: Path) -> None:
        assert says("printf '<%s>' {{tool.arguments.a|safe}}", "a b $((1+1))", tmp_path) == "<a><b><2>"

    def test_program_and_arguments_are_one_text(self) -> None:
        assert rendered(Command("echo a |", ["tr a", "'{{tool.name}}'"], True))[2].endswith(
            """echo a | tr a ''"${jp_0}"''"""
        )

    def test_without_a_value_it_is_the_text(self) -> None:
        assert rendered(shell("echo $1")) == ["sh", "-c", "echo $1"]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("echo $(( {{tool.arguments.a}} ))", "arithmetic"),
            ("(( x = {{tool.arguments.a}} ))", "arithmetic"),
            ("cat <<EOF\n{{tool.arguments.a}}\nEOF", "here-document"),
            ("echo \\{{tool.arguments.a}}", "backslash"),
            ('echo "\\{{tool.arguments.a}}"', "backslash"),
            ("  ", "no program"),
        ],
    )
    def test_where_a_value_would_be_more_it_is_refused(self, text: str, said: str) -> None:
        assert said in refused(shell(text), {"a": "x"})
