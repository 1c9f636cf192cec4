"""Which editor is started, and how: a table of configurations and environments."""

import subprocess
from pathlib import Path

import pytest

from jp.config.sections.interaction import EDITOR_VARIABLES, Editor, Inline
from jp.config.sections.tools import Command
from jp.editor.command import Invocation, Resolution, resolve

SH = "/bin/sh"
PATHS = ["/t/a b.md", "/t/it's $HOME.md"]


def section(cmd: str | Command | None = None, envs: tuple[str, ...] = EDITOR_VARIABLES) -> Editor:
    return Editor(envs=list(envs), inline=Inline("emacs"), cmd=cmd)


def found(cmd: str | Command | None, environ: dict[str, str] | None = None, shell: str | None = SH) -> Invocation:
    invocation = resolve(section(cmd), environ or {}, shell).invocation
    assert invocation is not None
    return invocation


class TestWords:
    @pytest.mark.req("088-45", "088-46", "088-47")
    @pytest.mark.parametrize(
        ("cmd", "words"),
        [
            ("vim", ["vim"]),
            ("code --wait", ["code", "--wait"]),
            ("  code   --wait ", ["code", "--wait"]),
            ("'my editor' --title \"a b\"", ["my editor", "--title", "a b"]),
            (r"my\ editor", ["my editor"]),
            ("vim && rm $HOME | tee > x # no", ["vim", "&&", "rm", "$HOME", "|", "tee", ">", "x", "#", "no"]),
            ("vim `id` ~ *", ["vim", "`id`", "~", "*"]),
            ("vim ''", ["vim", ""]),
        ],
    )
    def test_a_text_is_split_and_nothing_interprets_it(self, cmd: str, words: list[str]) -> None:
        invocation = found(cmd)
        assert invocation == Invocation(tuple(words), False, "editor.cmd", cmd)
        assert invocation.argv(PATHS) == [*words, *PATHS]

    @pytest.mark.req("088-45")
    def test_a_table_is_taken_word_by_word(self) -> None:
        assert found(Command("my editor", ["--wait", "a b", "$HOME"], False)).argv(PATHS) == [
            "my editor",
            "--wait",
            "a b",
            "$HOME",
            *PATHS,
        ]

    def test_a_backslash_divides_names_where_there_is_no_posix_shell(self) -> None:
        assert found(r'"C:\Program Files\vim.exe" -f C:\x', shell=None).prefix == (
            r"C:\Program Files\vim.exe",
            "-f",
            r"C:\x",
        )

    def test_a_path_is_never_an_option(self) -> None:
        assert found("vim").argv(["-c", "a-b"]) == ["vim", "./-c", "a-b"]

    @pytest.mark.parametrize("cmd", ["vim 'x", 'vim "', "vim \\", "''", '" "'])
    def test_a_broken_one_is_no_reason_to_take_another_editor(self, cmd: str) -> None:
        invocation, notices, _ = resolve(section(cmd), {"EDITOR": "vim"}, SH)
        assert invocation is None
        assert len(notices) == 1
        assert notices[0].startswith(f"editor.cmd = `{cmd}` is no command: ")


def run_shell(invocation: Invocation, paths: list[str]) -> str:
    """What the command writes, run as the editor is."""
    return subprocess.run(invocation.argv(paths), stdout=subprocess.PIPE, check=True, text=True).stdout


class TestShell:
    @pytest.mark.req("088-47", "088-48")
    @pytest.mark.parametrize(
        "cmd",
        [
            Command("printf '<%s>'", [], True),
            Command("printf '<%s>' \"$@\"", [], True),
            Command("printf", ["<%s>"], True),
            Command("printf", ["<%s>", "$@"], True),
            Command("printf", ["<%s>", '"$@"'], True),
            Command("true && printf '<%s>' \"$@\" | cat", [], True),
            Command("(printf '<%s>' \"$@\")", [], True),
            Command('sh -c \'printf "<%s>" "$@"\' inner', [], True),
            Command("printf '<%s>' \"${@}\"", [], True),
            Command("for each; do printf '<%s>' \"$each\"; done; : $1", [], True),
            Command("printf '<%s>'\n", [], True),
        ],
        ids=lambda cmd: " ".join([cmd.program, *cmd.args]).strip(),
    )
    def test_the_paths_arrive_whole_wherever_the_text_has_them(self, cmd: Command) -> None:
        invocation = found(cmd)
        assert invocation.shell
        assert run_shell(invocation, PATHS) == "".join(f"<{path}>" for path in PATHS)

    @pytest.mark.req("088-48")
    def test_the_program_is_shell_text_and_its_arguments_are_not(self) -> None:
        invocation = found(Command("X=1; echo $X", ["$X", "a  b", "&&", "it's"], True))
        assert run_shell(invocation, ["path"]) == "1 $X a  b && it's path\n"

    def test_one_parameter_is_enough(self) -> None:
        assert run_shell(found(Command('echo "$1"; :', [], True)), ["one", "two"]) == "one\n"

    @pytest.mark.parametrize(
        "text", [r"echo \$1", "echo '$1'", r'echo "\$1"', "echo $HOME", "echo '\"' '$1'", "echo $#"]
    )
    def test_what_the_shell_does_not_expand_is_no_parameter(self, text: str) -> None:
        assert found(Command(text, [], True)).prefix[2] == f'{text} "$@"'

    def test_a_dash_in_a_path_is_safe_here_too(self) -> None:
        assert run_shell(found(Command("echo", [], True)), ["-n"]) == "./-n\n"

    @pytest.mark.req("088-49")
    def test_without_a_shell_the_program_is_started_directly_and_the_log_says_so(self) -> None:
        invocation, notices, entries = resolve(section(Command("code", ["--wait"], True)), {}, None)
        assert invocation is not None
        assert not invocation.shell
        assert invocation.argv(["a"]) == ["code", "--wait", "a"]
        assert not notices
        assert len(entries) == 1
        assert "code" in entries[0]


class TestVariables:
    @pytest.mark.req("088-51")
    def test_a_variable_is_a_command_with_its_arguments(self) -> None:
        invocation = found(None, {"JP_EDITOR": "subl -w"})
        assert invocation == Invocation(("subl", "-w"), False, "JP_EDITOR", "subl -w")
        assert invocation.argv(["p"]) == ["subl", "-w", "p"]

    @pytest.mark.req("088-53", "088-54")
    @pytest.mark.parametrize(
        ("cmd", "environ", "source"),
        [
            ("nano", {"JP_EDITOR": "a", "VISUAL": "b", "EDITOR": "c"}, "editor.cmd"),
            (None, {"JP_EDITOR": "a", "VISUAL": "b", "EDITOR": "c"}, "JP_EDITOR"),
            (None, {"VISUAL": "b", "EDITOR": "c"}, "VISUAL"),
            (None, {"EDITOR": "c"}, "EDITOR"),
            (None, {"JP_EDITOR": "", "EDITOR": "c"}, "EDITOR"),
            ("", {"EDITOR": "c"}, "EDITOR"),
            ("  ", {"EDITOR": "c"}, "EDITOR"),
            (Command(" ", [], False), {"EDITOR": "c"}, "EDITOR"),
        ],
    )
    def test_the_first_that_is_set(self, cmd: str | Command | None, environ: dict[str, str], source: str) -> None:
        assert found(cmd, environ).source == source

    @pytest.mark.req("088-54")
    def test_the_variables_are_those_of_the_section_in_its_order(self) -> None:
        environ = {"EDITOR": "a", "MINE": "b", "OTHER": "c"}
        named = resolve(section(None, ("OTHER", "MINE")), environ, SH).invocation
        assert named is not None
        assert named.source == "OTHER"
        assert resolve(section(None, ("ABSENT",)), environ, SH) == Resolution(None)
        assert resolve(section(None, ()), environ, SH) == Resolution(None)

    @pytest.mark.parametrize("value", ["vim 'x", "   ", "''"])
    def test_a_broken_one_is_skipped_with_a_notice(self, value: str) -> None:
        invocation, notices, _ = resolve(section(), {"JP_EDITOR": value, "EDITOR": "nano"}, SH)
        assert invocation is not None
        assert invocation.source == "EDITOR"
        assert [notice.split(" is no command: ")[0] for notice in notices] == [f"JP_EDITOR = `{value}`"]

    def test_no_shell_reads_a_variable(self, tmp_path: Path) -> None:
        assert found(None, {"EDITOR": "vim; rm $HOME"}).argv(["p"]) == ["vim;", "rm", "$HOME", "p"]
