"""What the documentation says, where a promise depends on its saying it."""

import re
import signal
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tests.conftest import Jp

if TYPE_CHECKING:
    from jp.prompt.inline import InlineEditor

ROOT = Path(__file__).parents[1]


def read(name: str) -> str:
    """A document as one line of text."""
    return " ".join((ROOT / name).read_text().split())


@pytest.mark.req("104-13")
def test_the_guide_says_how_auto_is_decided():
    assert "`auto` is decided for stdout and for stderr each by itself" in read("docs/guide.md")
    assert "Every other value holds for both channels" in read("docs/guide.md")


@pytest.mark.req("104-107")
def test_the_guide_says_where_asking_has_been_run_and_where_only_checked():
    guide = read("docs/guide.md")
    assert "This has been run on Linux" in guide
    assert "On macOS" in guide
    assert "type-checked, not run" in guide
    assert "On Windows (`CONIN$`, `CONOUT$`) it is type-checked only" in guide


@pytest.mark.req("092-166")
def test_every_exit_status_is_documented_per_platform():
    text = read("docs/reference/exit-status.md")
    assert "exit-status.md" in read("docs/guide.md")
    for number in range(5):
        assert f"| {number} |" in text
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
        assert f"death by {each.name} (" in text
        assert str(128 + each) in text
    assert "On Windows" in text


@pytest.mark.req("104-20")
def test_no_flag_or_key_is_about_addressability(jp: Jp):
    helps = jp("query", "--help").stdout + jp("--help").stdout
    reference = read("docs/reference/configuration.md")
    for word in ("addressable", "repaint", "cursor addressing"):
        assert word not in helps
        assert word not in reference


def table(name: str, heading: str) -> list[str]:
    """The first cells of the table under a heading, or with it as the head of its first column."""
    text = (ROOT / name).read_text()
    start = text.find(f"\n| {heading} |")
    if start < 0:
        start = text.index(f"\n{heading}\n")
    start = text.index("| ---", start)
    rows = text[start : text.index("\n\n", start)].splitlines()[1:]
    return [row.split("|")[1].strip() for row in rows]


def test_the_keys_in_the_guide_are_bound():
    from jp.prompt.bindings import bindings
    from jp.prompt.questions import Edit

    names = {
        "Enter": ("enter",), "Alt+Enter": ("escape", "enter"), "Ctrl+J": ("c-j",), "Ctrl+X": ("c-x",), "Up": ("up",),
        "Down": ("down",), "Ctrl+R": ("c-r",), "PageUp": ("pageup",), "PageDown": ("pagedown",), "Tab": ("tab",),
        "Ctrl+D": ("c-d",), "Shift+Enter": ("escape", "enter"),
    }  # fmt: skip
    own = {"ESC", "Ctrl+C"}  # taken before the bindings: a press, and a key that needs time to be known
    bound = {
        tuple(getattr(key, "value", key) for key in each.keys)
        for each in bindings(Edit("Query:"), cast("InlineEditor", None)).bindings
    }
    spelled = {"enter": "c-m", "tab": "c-i"}
    documented = [key for cell in table("docs/guide.md", "key") for key in cell.split(", ")]
    assert {"Enter", "Ctrl+X", "Ctrl+R", "ESC"} <= set(documented)
    for key in documented:
        assert key in own or tuple(spelled.get(part, part) for part in names[key]) in bound, key


def test_the_guide_tells_what_each_value_of_compose_in_editor_does():
    from jp.config.sections.interaction import COMPOSE

    told = {
        tomllib.loads(f"x = {cell.strip('`')}")["x"] for cell in table("docs/guide.md", "`query.compose_in_editor`")
    }
    assert told == set(COMPOSE)


def test_the_pickers_in_the_guide_are_targets():
    from jp.conversation.targets import Kind, Target, parse

    found = [parse(cell.strip("`")) for cell in table("docs/guide.md", "target")]
    assert found == [
        Target(Kind.PICKER),
        Target(Kind.PICKER, within=Kind.PINNED),
        Target(Kind.PICKER, within=Kind.SESSION),
        Target(Kind.PICKER, within=Kind.ARCHIVED),
        Target(Kind.PICKER, "borrow fails"),
    ]


def test_the_questions_in_the_guide_look_as_they_do():
    from jp.ask.menus import FALLBACK, STREAMING, TURN
    from jp.prompt.choice import asking
    from jp.prompt.questions import confirm

    guide = (ROOT / "docs/guide.md").read_text()
    assert f"\n{asking(FALLBACK.question(over_prompt=True)).strip()}\n" in guide
    for menu in (STREAMING, TURN, FALLBACK):
        assert f"| `{asking(menu.question()).strip()}` |" in guide
        row = guide.partition(f"| `{asking(menu.question()).strip()}` |")[2].partition("\n")[0]
        assert re.findall("`(.)`", row) == [entry.key for entry in menu.entries]
    assert f"\n{asking(confirm('Delete this conversation for good?', default='n')).strip()}\n" in guide


@pytest.mark.req("092-165", "088-145")
def test_the_guide_tells_the_ladder_and_how_a_reply_is_written():
    from jp.config.sections.interaction import STREAMING_ACTIONS, TURN_ACTIONS

    guide = (ROOT / "docs/guide.md").read_text()
    interrupt = guide.partition("## Interrupt\n")[2].partition("\n## ")[0]
    rungs = re.findall(r"^\| (first|second|third) press \| ([^|]*)", interrupt, re.M)
    assert [rung for rung, _ in rungs] == ["first", "second", "third"]
    assert "gracefully shutting down…" in rungs[1][1]
    assert "terminating program…" in rungs[2][1]
    assert "Without a terminal" in interrupt
    assert "ESC and Ctrl-C" in interrupt
    assert {word for word in (*STREAMING_ACTIONS, *TURN_ACTIONS) if f"`{word}`" not in interrupt} == set()
    assert "replace the first rung of their scope, and nothing" in interrupt
    reply = re.findall(r"^\| (?:from|by) .*\|$", interrupt, re.M)
    assert len(reply) == 5
    assert all(row.count("the answer goes on") == 3 for row in reply if "without a menu" in row)
    menus = [row for row in reply if "from the" in row]
    assert [row.count("the menu again") for row in menus] == [3, 3, 2]
    assert "the tools end" in menus[-1]
    assert "the tools end" in reply[-1]
    for key in ("Enter sends", "Alt+Enter", "Ctrl+X"):
        assert key in interrupt


def test_the_query_document_in_the_guide_is_one():
    from jp.editor.document import compose

    shown = re.search(r"^````markdown\n(.*?)^````$", (ROOT / "docs/guide.md").read_text(), re.M | re.S)
    assert shown
    settings = '[assistant.model]\nid = "openai/gpt-5-mini"\n'
    assert shown[1] == compose("why does this borrow fail?", settings, "")


def test_the_configuration_in_the_guide_can_be_read():
    from jp.config.layers import Layer

    examples = re.findall(r"^```toml\n(.*?)^```$", (ROOT / "docs/guide.md").read_text(), re.M | re.S)
    assert len(examples) >= 2
    for example in examples:
        Layer("file", "guide.md", tomllib.loads(example)).read()


def test_the_codes_of_errors_that_are_documented_are_those_that_there_are():
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    known = set(re.findall(r'^    code = "(\w+)"$', sources, re.M))
    listed = table("docs/reference/records.md", "code")
    assert {cell.strip("`") for cell in listed} <= known
    assert {code for code in known if code.startswith("editor_")} <= {cell.strip("`") for cell in listed}


@pytest.mark.req("088-144")
def test_the_glossary_defines_editor_backend_and_inline_editor():
    glossary = (ROOT / "docs/glossary.md").read_text()
    assert re.search(r"^\| editor backend \| .*opens an external editor.*`EditorBackend`", glossary, re.M)
    assert re.search(r"^\| inline editor \| .*at the prompt.*InlineReply", glossary, re.M)
    assert "docs/glossary.md" in (ROOT / "README.md").read_text()
    words = [match for match in re.findall(r"^\| ([^|]+) \|", glossary, re.M) if match not in ("word", "---")]
    assert len(words) == len(set(words))


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_commands_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^\$ make (\w+)", (ROOT / "README.md").read_text(), re.M):
        assert re.search(rf"^{target}:", makefile, re.M)


def test_every_documented_flag_exists(jp: Jp):
    helped = jp("query", "--help").stdout
    flags = re.findall(r"^\| (`-[^|]*) \|", (ROOT / "docs" / "guide.md").read_text(), re.M)
    assert flags
    helped += jp("tool", "run", "--help").stdout
    for flag in re.findall(r"(--?[\w!][\w-]*)", " ".join(flags)):
        assert re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", helped), flag
