"""What the fast commands import: start-up is judged in its first 100 ms, so the sets are held here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.workspace import Ask
from tests.wire.model_server import ModelServer

# Each costs more than a fast command may.
HEAVY = {
    "asyncio", "concurrent", "dataclasses", "email", "http", "importlib.metadata", "inspect", "jinja2",
    "logging", "markdown_it", "multiprocessing", "prompt_toolkit", "pydantic", "pygments",
    "requests", "ssl", "subprocess", "tomlkit", "unittest", "urllib.request", "wcwidth", "xllamacpp", "yaml",
}  # fmt: skip


def loaded(*args: str, cwd: Path) -> set[str]:
    """The modules that a run of the program imports."""
    command = [sys.executable, "-X", "importtime", *program()[-1:], *args]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)
    return {name.strip() for name in re.findall(r"^import time:.*\|\s*(\S+)$", done.stderr, re.M)}


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] == "jp"}


def tops(modules: set[str]) -> set[str]:
    return {part for name in modules for part in (name, name.split(".")[0])}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return tmp_path


def test_the_version_takes_the_router_and_nothing_else(plain: Path):
    modules = loaded("--version", cwd=plain)
    assert ours(modules) <= {
        "jp", "jp.boot", "jp.errors", "jp.interrupt", "jp.interrupt.checkpoint", "jp.interrupt.end",
        "jp.interrupt.ladder", "jp.interrupt.router", "jp.interrupt.signals",
        "jp.interrupt.standing", "jp.interrupt.token",
        "jp.interrupt.watchdog", "jp.version",
    }  # fmt: skip
    assert not tops(modules) & (HEAVY | {"re", "enum", "typing", "argparse", "threading", "json", "msgspec"})


def test_help_takes_the_command_line_and_nothing_below_it(plain: Path):
    modules = loaded("--help", cwd=plain)
    assert {name for name in ours(modules) if name.count(".") and name.split(".")[1] not in ("interrupt",)} <= {
        "jp.boot", "jp.cli", "jp.cli.main", "jp.cli.parse", "jp.cli.tree", "jp.errors", "jp.version",
        "jp.cli.plugin_dispatch", "jp.places", "jp.plugin", "jp.plugin.discovery",  # for those that it lists
    }  # fmt: skip
    assert not tops(modules) & (HEAVY | {"msgspec", "tomllib", "socket"})


def test_a_listing_takes_no_configuration_events_or_providers(ask: Ask, workspace: Path):
    ask("q", "hi")
    modules = loaded("c", "ls", cwd=workspace)
    packages = {name.split(".")[1] for name in ours(modules) if "." in name}
    assert packages <= {
        "boot",
        "cli",
        "conversation",
        "errors",
        "interrupt",
        "log",
        "places",
        "render",
        "storage",
        "terminal",
        "version",
    }
    assert not tops(modules) & (HEAVY | {"msgspec", "tomllib", "socket", "shutil", "hashlib"})


def test_a_query_takes_what_it_needs(workspace: Path, server: ModelServer):
    modules = loaded("q", "hi", cwd=workspace)
    assert server.requests
    assert not tops(modules) & HEAVY
    assert not any(name.startswith(("jp.llm.embedded", "jp.render.markdown")) for name in modules)
