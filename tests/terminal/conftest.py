"""Fixtures, and a sample of the large tables: every second row of a cross product, but all of them in `make sweep`."""

import os
from collections import Counter

import pytest

from tests.support.plugins import plugin
from tests.support.tools import tool
from tests.support.workspace import ask, server, workspace

__all__ = ["ask", "plugin", "server", "tool", "workspace"]

SAMPLED = ("test_menus", "test_plugin_moments", "test_prompt_menu", "test_reply")
LARGE = 6  # rows of one test


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("JP_TEST_ALL_DELAYS"):
        return
    tests = [item.nodeid.partition("[")[0] if _sampled(item) else "" for item in items]
    rows, seen = Counter(tests), Counter[str]()
    kept, dropped = [], []
    for item, test in zip(items, tests, strict=True):
        seen[test] += 1
        (dropped if test and rows[test] >= LARGE and seen[test] % 2 == 0 else kept).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _sampled(item: pytest.Item) -> bool:
    return "[" in item.nodeid and item.path.parent.name == "terminal" and item.path.stem in SAMPLED
