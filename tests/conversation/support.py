"""What the tests of this package share: a configuration from a few keys."""

import tempfile
from typing import Any

from jp.config.schema import AppConfig


def config(values: dict[str, Any] | None = None) -> AppConfig:
    """The configuration that these values and the defaults give."""
    from jp.config.load import Paths, load

    with tempfile.TemporaryDirectory() as empty:
        paths = Paths(user_dir=empty, workspace_root=None, cwd=empty, user_workspace_dir=None)
        return load(paths, {}, flags=values or {}).root
