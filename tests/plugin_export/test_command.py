"""`jp export` as JP runs it: arguments, where it goes, what is asked, what is said."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jp.plugin.testing import CANCELLED, UNAVAILABLE, Conversation, FakeHost, Result
from jp_plugins.export.__main__ import plugin
from jp_plugins.export.arguments import HELP
from jp_plugins.version import VERSION
from tests.plugin_export import sample

FIRST = Conversation(title="Why <y> *fails*", events=sample.EVENTS, last_activated_at="2026-03-02T11:30:01Z")
SECOND = Conversation(title="Other", events=sample.EVENTS[-3:], last_activated_at="2026-02-01T00:00:00Z")
KNOWN = {"17000000001": FIRST, "17000000002": SECOND}


SEVERAL_HTML = "several HTML files can't go to standard output; name a directory: `-o exported/`"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the plugin runs."""
    path = tmp_path / "here"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


def export(*args: str, known: Any = KNOWN, answers: Any = ()) -> Result:
    return FakeHost(args=args, conversations=known, answers=answers).run(plugin)


def test_the_one_used_last_is_markdown_on_stdout() -> None:
    result = export()
    assert (result.code, result.reason) == (0, None)
    assert result.printed == {"content": sample.MARKDOWN}


def test_what_was_thought_and_done_is_there_on_demand() -> None:
    assert export("--reasoning", "--tools").printed["content"] == sample.MARKDOWN_WITH_ALL


def test_one_is_named_by_its_id_or_the_beginning_of_its_title() -> None:
    for word in ("17000000002", "oth"):
        assert export(word).printed["content"].startswith("# Other\n")


def test_several_follow_each_other() -> None:
    text = export("17000000002", "17000000001").printed["content"]
    assert text.startswith("# Other\n")
    assert text.endswith("\n\n" + sample.MARKDOWN)
    assert export("--all").printed["content"].startswith(sample.MARKDOWN + "\n# Other\n")


def test_several_as_json_are_a_stream_of_values() -> None:
    text = export("--all", "--to", "json").printed["content"]
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(text)
    second, _ = decoder.raw_decode(text[end:].lstrip())
    assert first == {"conversation": "17000000001", "title": "Why <y> *fails*", "data": sample.EVENTS}
    assert second["title"] == "Other"


def test_a_file(here: Path) -> None:
    result = export("-o", "out.md")
    assert (here / "out.md").read_text() == sample.MARKDOWN
    assert result.printed == {"chrome": "Wrote out.md\n"}


@pytest.mark.parametrize(("name", "start"), [("a.html", "<!doctype html>"), ("a.json", "{\n"), ("a.txt", "# Why")])
def test_the_name_of_a_file_says_what_is_in_it(here: Path, name: str, start: str) -> None:
    export("-o", name)
    assert (here / name).read_text().startswith(start)


def test_what_is_said_comes_before_what_the_name_says(here: Path) -> None:
    export("-o", "a.html", "--to", "json")
    assert json.loads((here / "a.html").read_text())["title"] == "Why <y> *fails*"


@pytest.mark.parametrize("there", [True, False])
def test_a_directory_gets_a_file_for_each(here: Path, there: bool) -> None:
    if there:
        (here / "out").mkdir()
    result = export("--all", "--to", "html", "-o", "out" if there else "out/")
    names = ["17000000001-why-y-fails.html", "17000000002-other.html"]
    assert sorted(each.name for each in (here / "out").iterdir()) == names
    assert result.printed["chrome"] == f"Wrote out/{names[0]}\nWrote out/{names[1]}\n"


def test_a_hostile_title_stays_in_the_directory(here: Path) -> None:
    known = {"17000000001": Conversation(title="../../../x\x1b]0;t\x07/\x00 -rf", events=sample.EVENTS)}
    export("-o", "out/", known=known)
    assert [each.name for each in (here / "out").iterdir()] == ["17000000001-x-rf.md"]
    assert [each.name for each in here.iterdir()] == ["out"]


def test_a_file_that_is_there_is_replaced_where_the_person_says_so(here: Path) -> None:
    (here / "out.md").write_text("old")
    result = export("-o", "out.md", answers=[True])
    assert (here / "out.md").read_text() == sample.MARKDOWN
    assert [(each.message, each.default) for each in result.prompts] == [("Replace out.md?", False)]


@pytest.mark.parametrize("answer", [False, CANCELLED, UNAVAILABLE])
def test_and_else_stays(here: Path, answer: Any) -> None:
    (here / "out.md").write_text("old")
    result = export("-o", "out.md", answers=[answer])
    assert (result.code, result.reason) == (1, "out.md is there already; `--force` replaces it")
    assert (here / "out.md").read_text() == "old"
    assert [each.name for each in here.iterdir()] == ["out.md"]


def test_force_replaces_and_does_not_ask(here: Path) -> None:
    (here / "out.md").write_text("old")
    assert export("-o", "out.md", "--force").code == 0
    assert (here / "out.md").read_text() == sample.MARKDOWN


def test_where_one_of_several_fails_the_others_are_written(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "17000000001-why-y-fails.md").write_text("old")
    result = export("--all", "-o", "out", answers=[False])
    assert (result.code, result.reason) == (1, "1 of 2 conversations were not exported")
    assert (here / "out" / "17000000002-other.md").exists()
    assert result.printed["error"] == (
        "17000000001: out/17000000001-why-y-fails.md is there already; `--force` replaces it\n"
    )


@pytest.mark.parametrize(
    ("args", "code", "reason"),
    [
        (["nope"], 1, 'no conversation has an id or a title that begins with "nope"; `jp conversation ls` lists them'),
        (["--all", "x"], 2, "--all is all of them: name conversations or give it, not both"),
        (["--all", "-o", "a.md"], 2, "several conversations need a directory to go to: `-o a.md/`"),
        (["--all", "--to", "html"], 2, SEVERAL_HTML),
        (["--nope"], 2, "unrecognized arguments: --nope; `jp export --help` says more"),
        (["-o"], 2, "argument -o/--output: expected one argument; `jp export --help` says more"),
        (["-o", ""], 2, "-o needs the name of a file or a directory, or `-`"),
        (["-o", "no/where.md"], 1, "can't write no/where.md: no such file or directory"),
    ],
)
def test_what_is_wrong_says_what_to_do(args: list[str], code: int, reason: str) -> None:
    result = export(*args)
    assert (result.code, result.reason) == (code, reason)
    assert not result.printed["content"]


def test_nothing_to_export_says_what_to_do() -> None:
    result = export(known={})
    assert (result.code, result.reason) == (
        1,
        "there is no conversation in this workspace yet; `jp query` starts one",
    )


def test_help_names_every_option() -> None:
    result = export("--help")
    assert (result.code, result.printed["content"]) == (0, HELP)
    for option in ("--all", "--to", "-o", "--output", "--reasoning", "--tools", "--force", "-h", "--help"):
        assert option in HELP


def test_a_huge_conversation_goes_out_in_messages_of_bounded_size() -> None:
    events = [{"type": "chat_response", "message": "é" * 500_000, "timestamp": ""} for _ in range(4)]
    result = export(known={"17000000001": Conversation(events=events)})
    assert result.printed["content"].count("é") == 2_000_000
    assert max(len(each.text) for each in result.messages if hasattr(each, "text")) <= 1 << 17


# --- the program


def program(folder: Path, code: str) -> Path:
    """An executable that runs Python code."""
    path = folder / "jp-export"
    path.write_text(f"#!{sys.executable}\n{code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


WITHOUT_EXTRA = """
import sys
sys.modules["markdown_it"] = None
from jp_plugins.export.__main__ import main
main()
"""


@pytest.mark.req("PROTO-25", "PROTO-26")
def test_it_describes_itself_also_without_the_extra(tmp_path: Path) -> None:
    said = FakeHost().describe(program(tmp_path, WITHOUT_EXTRA))
    assert (said.name, said.version, said.command) == ("export", VERSION, ["export"])
    assert said.help == HELP


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    path = program(tmp_path, WITHOUT_EXTRA)
    result = FakeHost(conversations=KNOWN).run(path)
    assert (result.code, result.reason) == (
        1,
        "the package markdown_it is not installed; install the extra: pip install 'jean-pierre[plugins]'",
    )
    assert FakeHost(args=["--to", "json"], conversations=KNOWN).run(path).code == 0


def test_the_program_exports(tmp_path: Path) -> None:
    result = FakeHost(conversations=KNOWN).run(program(tmp_path, "from jp_plugins.export.__main__ import main\nmain()"))
    assert (result.code, result.printed["content"], result.stderr) == (0, sample.MARKDOWN, "")


def test_describing_imports_no_more_than_it_needs() -> None:
    code = "import sys, jp_plugins.export.__main__; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert not {"markdown_it", "pygments", "http", "jp_plugins.export.command"} & set(loaded.stdout.split())
