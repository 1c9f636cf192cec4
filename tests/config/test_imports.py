"""Loading stays cheap: what the start path does not need is not imported."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from jp.config.load import Paths, load
before = set(sys.modules)
load(Paths(None, {root!r}, {root!r}, None), {{"JP_USER_NAME": "me"}}, cfg=["assistant.name=x"])
print(json.dumps([sorted(before), sorted(sys.modules)]))
"""

HEAVY = {
    "yaml",
    "tomlkit",
    "logging",
    "asyncio",
    "dataclasses",
    "pathlib",
    "subprocess",
    "urllib.parse",
    "hashlib",
    "difflib",
}
HEAVY |= {
    "argparse",
    "socket",
    "glob",
    "http",
    "importlib.metadata",
    "fnmatch",
    "jp.config.globs",
    "jp.config.edit",
    "jp.config.reference",
}


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    root = tmp_path_factory.mktemp("ws")
    (root / ".jp").mkdir()
    (root / ".jp/config.toml").write_text(
        'assistant.model.id = "llamacpp/x"\nproviders.llm.llamacpp.base_url = "http://localhost:1"'
    )
    out = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(root=str(root))], check=True, capture_output=True, text=True
    )
    return [set(each) for each in json.loads(out.stdout)]


def test_neither_importing_nor_loading_brings_in_what_is_heavy(modules: list[set[str]]) -> None:
    assert not modules[1] & HEAVY


def test_importing_brings_in_no_more_of_ours_than_configuration(modules: list[set[str]]) -> None:
    ours = {name for name in modules[1] if name.startswith("jp.") and not name.startswith("jp.config")}
    assert ours <= {"jp.errors", "jp.places", "jp.interrupt", "jp.interrupt.checkpoint", "jp.interrupt.token"}
