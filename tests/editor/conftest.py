"""Editors that are scripts."""

from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Makes an executable `sh` script and returns its path; `first` is its first line."""

    def make(body: str, *, name: str = "ed", first: str = "#!/bin/sh", mode: int = 0o755) -> str:
        path = tmp_path / name
        path.write_text(f"{first}\n{body}\n" if first else body)
        path.chmod(mode)
        return str(path)

    return make
