"""What the documentation says, where a promise depends on its saying it."""

import re
import signal
from pathlib import Path

import pytest

from tests.conftest import Jp

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
    for flag in re.findall(r"(--?[\w!][\w-]*)", " ".join(flags)):
        assert re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", helped), flag
