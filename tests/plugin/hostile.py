"""Running plugins that can't end well."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from jp.plugin.errors import PluginError
from tests.plugin.hosting import Hosting
from tests.support.marked import still_marked
from tests.support.memory import MIB, Peak

SOON = 5.0  # seconds; on an idle machine a fifth of it


class Logged:
    """What is logged: each line as it would be written."""

    def __init__(self) -> None:
        self.raw: list[bytes] = []

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The records."""
        return [json.loads(line) for line in self.raw]

    def __contains__(self, text: bytes) -> bool:
        return any(text in line for line in self.raw)


def failure(
    hosting: Hosting, body: str | Path, outcomes: Iterable[Any] = (), *, within: float = SOON, memory: int = 64 * MIB
) -> PluginError:
    """Run what can't end well; its error, which came in time, in little memory, and left nobody behind."""
    began = time.monotonic()
    with Peak() as peak, pytest.raises(PluginError) as caught:
        hosting.host(body).run() if isinstance(body, Path) else hosting.run(body, outcomes)
    took = time.monotonic() - began
    error = caught.value
    assert took < within, f"{took:.1f} s: {error.message}"
    assert peak.grown < memory, f"{peak.grown / MIB:.0f} MiB: {error.message}"
    assert error.code == "plugin"
    assert error.metadata["plugin"] == "jp-it"
    assert error.message.startswith("jp-it ")
    assert error.status == 1
    assert still_marked(SOON) == {}
    return error


def when(noted: int, hosting: Hosting, do: Callable[[], object]) -> None:
    """Have something done once the plugin has noted so much."""
    threading.Thread(target=lambda: (hosting.noted(noted), do()), daemon=True).start()
