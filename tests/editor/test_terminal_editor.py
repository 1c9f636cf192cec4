"""The terminal editor, against editors that do what editors should not."""

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jp.editor.backend import EditOutcome, EditRequest
from jp.editor.command import Invocation
from jp.editor.errors import EditorError, EditorIoError, EditorSpawnError, EditorTerminalError
from jp.editor.terminal_editor import TerminalEditor
from tests.editor.conftest import Script

SAVED, CANCELLED = EditOutcome.SAVED, EditOutcome.CANCELLED
pytestmark = pytest.mark.usefixtures("no_leftovers")


class Desk:
    """An editor on a pty, its drafts, and what it said."""

    def __init__(self, tmp_path: Path) -> None:
        self.master, self.slave = os.openpty()
        self.drafts = tmp_path / "drafts"
        self.said: list[str] = []
        self.lent: list[str] = []
        self.editor: TerminalEditor

    @contextmanager
    def hand_over(self) -> Iterator[int | None]:
        self.lent.append("begun")
        yield self.slave
        self.lent.append("ended")

    def use(self, *words: str, shell: bool = False, **environ: str) -> TerminalEditor:
        invocation = Invocation(words, shell, "editor.cmd", shlex.join(words))
        self.editor = TerminalEditor(
            invocation, {**os.environ, **environ}, self.hand_over, None, str(self.drafts), self.said.append
        )
        return self.editor

    @property
    def kept(self) -> list[Path]:
        """Everything that is still among the drafts."""
        return [path for path in self.drafts.rglob("*") if not path.name.startswith("jp-edit-")]

    def nothing_left(self) -> bool:
        return self.editor.kept is None and list(self.drafts.iterdir()) == []

    def one_kept(self) -> Path:
        """The one text that was kept, and named."""
        [path] = self.kept
        assert self.editor.kept == str(path)
        assert str(path) in self.said[-1]
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    os.close(made.master)
    os.close(made.slave)


def failing(editor: TerminalEditor, content: str = "given") -> EditorError:
    with pytest.raises(EditorError) as caught:
        editor.edit_text(content)
    error = caught.value
    assert editor.invocation.shown in error.message
    assert error.cause in error.message
    assert error.code.startswith("editor_")
    return error


class TestTheFile:
    @pytest.mark.req("088-30", "088-47")
    @pytest.mark.parametrize("content", ["", "one", "one\n", "two\n\n", "a\r\nb\r\n", "ünï €\n", "\ufeffbom", "a\0b"])
    def test_it_holds_exactly_the_text_and_is_private(
        self, desk: Desk, script: Script, tmp_path: Path, content: str
    ) -> None:
        editor = desk.use(
            script(f'cp -p "$1" {tmp_path}/seen; ls -ld "$(dirname "$1")" >{tmp_path}/folder; echo x >"$1"')
        )
        assert editor.edit_text(content, ".json")[0] is SAVED
        assert (tmp_path / "seen").read_bytes() == content.encode()
        assert stat.S_IMODE((tmp_path / "seen").stat().st_mode) == 0o600
        assert (tmp_path / "folder").read_text().startswith("drwx------")
        assert (tmp_path / "folder").read_text().rstrip().rpartition("/")[2].startswith("jp-edit-")
        assert desk.nothing_left()

    def test_its_name_has_the_suffix_and_its_path_is_absolute(
        self, desk: Desk, script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.chdir(tmp_path)
        desk.drafts = Path("drafts")
        editor = desk.use(script('echo "$1" >"$1.tmp"; mv "$1.tmp" "$1"'))
        _, text = editor.edit_text("", ".toml")
        assert text.startswith(f"{tmp_path}/drafts/jp-edit-")
        assert text.endswith("/edit.toml")

    @pytest.mark.req("088-31")
    @pytest.mark.parametrize("content", ["", "one", "one\n", "\n", "a\r\nb\r\n", "a\r\nb", "\ufeffbom", "a\0b", "\n\n"])
    def test_an_unchanged_one_is_the_same_text(self, desk: Desk, content: str) -> None:
        assert desk.use("true").edit_text(content) == (SAVED, content)

    @pytest.mark.req("088-31")
    def test_an_unchanged_one_is_deleted_once_a_person_has_looked_at_it(self, desk: Desk) -> None:
        assert desk.use("sh", "-c", "sleep 1.1").edit_text("one") == (SAVED, "one")
        assert desk.nothing_left()
        assert not desk.said

    @pytest.mark.parametrize(
        ("given", "written", "text"),
        [
            ("a", "b\\n", "b"),
            ("a", "b\\n\\n", "b\n"),
            ("a", "b", "b"),
            ("a", "b\\r\\n", "b"),
            ("a\n", "b\\n", "b\n"),
            ("a\n", "b", "b"),
            ("", "b\\n", "b"),
            ("", "\\n", ""),
            ("a", "x\\r\\ny\\r\\n", "x\r\ny"),
            ("a\n", "x\\r\\ny\\r\\n", "x\r\ny\r\n"),
            ("a", "\\357\\273\\277b", "b"),
            ("\ufeffa", "\\357\\273\\277b", "\ufeffb"),
        ],
    )
    def test_one_final_newline_is_the_editors_and_a_byte_order_mark_is_no_text(
        self, desk: Desk, script: Script, given: str, written: str, text: str
    ) -> None:
        assert desk.use(script(f"printf '{written}' >\"$1\"")).edit_text(given) == (SAVED, text)
        assert desk.nothing_left()

    def test_what_editors_leave_beside_it_goes_too_and_nothing_else(self, desk: Desk, script: Script) -> None:
        body = (
            'echo b >"$1"; cd "$(dirname "$1")"; for f in edit.md~ .edit.md.swp \\#edit.md\\# notes; do : >"$f"; done'
        )
        assert desk.use(script(body)).edit_text("a") == (SAVED, "b")
        assert [path.name for path in desk.kept] == ["notes"]

    @pytest.mark.req("088-33")
    def test_a_text_that_cannot_be_written_is_an_io_error_before_any_editor(self, desk: Desk, tmp_path: Path) -> None:
        desk.drafts.write_text("in the way")
        error = failing(desk.use("true"))
        assert isinstance(error, EditorIoError)
        assert not desk.lent
        desk.drafts.unlink()
        assert isinstance(failing(desk.use("true"), "\ud800"), EditorIoError)


class TestOutcomes:
    @pytest.mark.req("088-31")
    def test_emptied_is_saved(self, desk: Desk, script: Script) -> None:
        assert desk.use(script(': >"$1"')).edit_text("given") == (SAVED, "")
        assert desk.nothing_left()

    @pytest.mark.req("088-32")
    @pytest.mark.parametrize(
        "end", ["exit 1", "exit 126", "exit 127", "kill -TERM $$", "kill -KILL $$", "kill -INT $$"]
    )
    @pytest.mark.parametrize("write", ["", 'echo mine >"$1"; '])
    def test_not_zero_is_cancelled_and_what_it_wrote_is_kept(
        self, desk: Desk, script: Script, write: str, end: str
    ) -> None:
        assert desk.use(script(write + end)).edit_text("given")[0] is CANCELLED
        if write:
            assert desk.one_kept().read_text() == "mine\n"
        else:
            assert desk.nothing_left()
            assert not desk.said

    def test_cancelled_after_deleting_it_leaves_nothing(self, desk: Desk, script: Script) -> None:
        assert desk.use(script('rm "$1"; exit 1')).edit_text("given")[0] is CANCELLED
        assert desk.nothing_left()

    @pytest.mark.req("088-33")
    @pytest.mark.parametrize(
        ("body", "kept"),
        [
            ('rm "$1"', None),
            ('rm -r "$(dirname "$1")"; mkdir "$(dirname "$1")"', None),
            ('rm "$1"; mkdir "$1"; echo x >"$1/inner"', "directory"),
            ('rm "$1"; mkfifo "$1"', None),
            ('rm "$1"; ln -s /nowhere "$1"', None),
            ('rm "$1"; ln -s /dev/zero "$1"', None),
            ('rm "$1"; ln -s "$1" "$1"', "link"),
            ("printf 'caf\\351' >\"$1\"", "file"),
            ("printf '\\377\\376h\\000i\\000' >\"$1\"", "file"),
            ("printf 'h\\000i\\000' >\"$1\"", "file"),
            ('truncate -s 200M "$1"', "file"),
            ("printf 'half \\342\\202' >\"$1\"", "file"),
        ],
        ids=[
            "deleted",
            "directory-deleted",
            "directory",
            "fifo",
            "dangling",
            "device",
            "loop",
            "latin-1",
            "utf-16",
            "utf-16-bare",
            "huge",
            "cut",
        ],
    )
    def test_what_is_no_text_is_an_io_error_and_kept(
        self, desk: Desk, script: Script, body: str, kept: str | None
    ) -> None:
        error = failing(desk.use(script(body)))
        assert isinstance(error, EditorIoError)
        assert desk.lent == ["begun", "ended"]
        if kept is None:
            assert error.kept is None
            assert desk.nothing_left()
        else:
            assert error.kept == desk.editor.kept
            assert error.kept is not None
            assert error.kept in desk.said[-1]
            assert os.path.lexists(error.kept)

    def test_replaced_by_another_file_it_is_read_by_its_path(self, desk: Desk, script: Script, tmp_path: Path) -> None:
        assert desk.use(script('echo new >"$1.n"; mv "$1.n" "$1"')).edit_text("given") == (SAVED, "new")
        assert desk.nothing_left()
        body = f'echo there >{tmp_path}/elsewhere; rm "$1"; ln -s {tmp_path}/elsewhere "$1"'
        assert desk.use(script(body)).edit_text("given") == (SAVED, "there")
        assert desk.nothing_left()
        assert (tmp_path / "elsewhere").read_text() == "there\n"

    @pytest.mark.parametrize("mode", ["000", "200"])
    def test_one_made_unreadable_is_kept(self, desk: Desk, script: Script, mode: str) -> None:
        if os.getuid() == 0:
            pytest.skip("root reads everything")
        error = failing(desk.use(script(f'echo mine >"$1"; chmod {mode} "$1"')))
        assert isinstance(error, EditorIoError)
        assert str(desk.one_kept()) == error.kept


class TestStarting:
    @pytest.mark.req("088-50", "088-142")
    @pytest.mark.parametrize("shown", ["/nowhere/ed", "no-such-editor", "~/bin/ed", "$EDITOR"])
    def test_a_missing_program(self, desk: Desk, shown: str) -> None:
        error = failing(desk.use(shown, "--wait"))
        assert isinstance(error, EditorSpawnError)
        assert error.code == "editor_spawn"
        assert error.cause == f"{shown} is not there"
        assert any("shell = true" in hint for hint in error.hints) == (shown[0] in "~$")
        assert desk.nothing_left()
        assert desk.lent == ["begun"]  # left by the exception

    @pytest.mark.req("088-50")
    @pytest.mark.parametrize(
        ("first", "mode", "cause"),
        [
            ("#!/bin/sh", 0o644, "permission denied"),
            ("", 0o755, "exec format error"),
            ("#!/nowhere/sh", 0o755, "interpreter"),
        ],
    )
    def test_one_that_cannot_be_run(self, desk: Desk, script: Script, first: str, mode: int, cause: str) -> None:
        program = script("echo", first=first, mode=mode)
        error = failing(desk.use(program))
        assert isinstance(error, EditorSpawnError)
        assert program in error.cause
        assert cause in error.cause

    @pytest.mark.parametrize("word", ["a\0b", "\ud800"])
    def test_words_that_are_none_for_the_system(self, desk: Desk, word: str) -> None:
        assert isinstance(failing(desk.use("true", word)), EditorSpawnError)

    def test_a_directory_and_a_folder_as_cwd(self, desk: Desk, tmp_path: Path) -> None:
        assert isinstance(failing(desk.use(str(tmp_path))), EditorSpawnError)
        with pytest.raises(EditorSpawnError, match="directory /nowhere is not there"):
            desk.use("true").edit_file(EditRequest(("x",), "/nowhere"))

    @pytest.mark.req("088-48", "088-50")
    @pytest.mark.parametrize(("text", "status"), [("no-such-editor", 127), ("/etc/passwd", 126)])
    def test_a_shell_that_cannot_run_it(self, desk: Desk, text: str, status: int) -> None:
        error = failing(desk.use("/bin/sh", "-c", f'{text} "$@"', "jp-editor", shell=True))
        assert isinstance(error, EditorSpawnError)
        assert str(status) in error.cause

    @pytest.mark.req("088-48")
    def test_a_shell_runs_it(self, desk: Desk) -> None:
        text = 'true && (echo shell; echo text) | cat >"$1"'
        assert desk.use("/bin/sh", "-c", text, "jp-editor", shell=True).edit_text("x") == (SAVED, "shell\ntext")
        assert desk.use("/bin/sh", "-c", "exit 3", "jp-editor", shell=True).edit_text("x")[0] is CANCELLED

    def test_without_a_terminal_nothing_is_started(self, desk: Desk, script: Script, tmp_path: Path) -> None:
        os.close(desk.slave)
        desk.slave = None  # type: ignore[assignment]
        error = failing(desk.use(script(f"touch {tmp_path}/ran")))
        desk.slave = os.dup(desk.master)
        assert isinstance(error, EditorTerminalError)
        assert not (tmp_path / "ran").exists()
        assert desk.nothing_left()

    def test_its_streams_are_the_terminal_and_nothing_else_is_open(
        self, desk: Desk, script: Script, tmp_path: Path
    ) -> None:
        body = (
            'exec 9>"$1"; for n in 0 1 2; do tty <&$n >&9; done; ls /proc/self/fd >&9; echo hello; echo oops >&2; cd /'
        )
        here = os.getcwd()
        outcome, text = desk.use(script(body)).edit_text("")
        assert outcome is SAVED
        assert text.split() == [os.ttyname(desk.slave)] * 3 + ["0", "1", "2", "3", "9"]  # 3 is the directory listed
        assert os.read(desk.master, 100) == b"hello\r\noops\r\n"
        assert os.getcwd() == here

    def test_the_environment_is_the_one_given(self, desk: Desk, script: Script) -> None:
        assert desk.use(script('echo "$MINE" >"$1"'), MINE="yes").edit_text("") == (SAVED, "yes")

    def test_it_is_in_our_group(self, desk: Desk, script: Script) -> None:
        assert desk.use(script('ps -o pgid= -p $$ | tr -d " " >"$1"')).edit_text("")[1] == str(os.getpgrp())


class TestAtOnce:
    @pytest.mark.req("088-31")
    def test_an_editor_that_forks_gets_a_hint_and_its_file_stays(self, desk: Desk, script: Script) -> None:
        assert desk.use(script("(exec sleep 0.2) & exit 0")).edit_text("given") == (SAVED, "given")
        assert desk.one_kept().read_text() == "given"
        assert "--wait" in desk.said[0]

    def test_a_grandchild_that_keeps_the_terminal_is_not_waited_for(self, desk: Desk, script: Script) -> None:
        fifo = desk.drafts.with_name("stop")
        os.mkfifo(fifo)
        assert desk.use(script(f'echo x >"$1"; (read line <{fifo}) & exit 0')).edit_text("given") == (SAVED, "x")
        with open(fifo, "w") as file:
            file.write("\n")

    def test_files(self, desk: Desk, script: Script, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("one")
        request = EditRequest(("f",), str(tmp_path))
        assert desk.use("true").edit_file(request) is SAVED
        assert "--wait" in desk.said.pop()
        for body in ('echo one >"$1"', 'cp "$1" n; mv n "$1"', 'rm "$1"', 'echo again >"$1"'):
            assert desk.use(script(body)).edit_file(request) is SAVED
        assert desk.use("false").edit_file(request) is CANCELLED
        assert not desk.said


class TestFiles:
    @pytest.mark.req("088-34", "088-35", "088-47")
    def test_the_paths_in_order_and_the_directory(self, desk: Desk, script: Script, tmp_path: Path) -> None:
        paths = ("a b", "it's", "$HOME", 'qu"ote', "-n")
        where = tmp_path / "where"
        where.mkdir()
        editor = desk.use(script(f'{{ pwd; printf "<%s>" "$@"; }} >{tmp_path}/log'))
        assert editor.edit_file(EditRequest(paths, str(where))) is SAVED
        assert (tmp_path / "log").read_text() == f"{where}\n<a b><it's><$HOME><qu\"ote><./-n>"
        assert editor.edit_file(EditRequest(paths)) is SAVED
        assert (tmp_path / "log").read_text().startswith(f"{os.getcwd()}\n")

    def test_bytes_are_left_alone(self, desk: Desk, script: Script, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"")
        desk.use(script("printf '\\377\\000\\r\\n' >\"$1\"")).edit_file(EditRequest((str(tmp_path / "f"),)))
        assert (tmp_path / "f").read_bytes() == b"\xff\0\r\n"

    @pytest.mark.req("088-36")
    @pytest.mark.parametrize("words", [("true",), ("false",), ("sh", "-c", "kill -9 $$"), ("/nowhere",)])
    def test_both_edits_end_alike(self, desk: Desk, tmp_path: Path, words: tuple[str, ...]) -> None:
        editor = desk.use(*words)
        ends: list[object] = []
        for edit in (lambda: editor.edit_text("x")[0], lambda: editor.edit_file(EditRequest((str(tmp_path),)))):
            try:
                ends.append(edit())
            except EditorError as error:
                ends.append(error.message)
        assert ends[0] == ends[1]
