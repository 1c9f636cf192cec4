"""Places for configuration: a user directory, a workspace two levels deep, the user's directory for the workspace."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jp.config.load import Paths

Write = Callable[[str, str], Path]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    for name in ("user", "ws/.jp", "ws/a/b", "own", "data"):
        (tmp_path / name).mkdir(parents=True)
    return Paths(str(tmp_path / "user"), str(tmp_path / "ws"), str(tmp_path / "ws/a/b"), str(tmp_path / "own"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the temporary directory."""

    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return put
