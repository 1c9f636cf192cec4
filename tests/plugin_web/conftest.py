"""A browser, and servers for it."""

from collections.abc import Iterator

import pytest

from tests.plugin_web.made_up import conversations, everything
from tests.plugin_web.served import Served
from tests.support.browser import Browser, Page
from tests.support.workspace import ask, server, workspace

__all__ = ("ask", "server", "workspace")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture(scope="module")
def still() -> Iterator[Served]:
    """For tests that change nothing."""
    with Served({**conversations(), "17": everything()}) as running:
        yield running


@pytest.fixture
def served() -> Iterator[Served]:
    """For tests that do."""
    with Served({**conversations(), "17": everything()}) as running:
        yield running


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A tab that was let in."""
    found: Served = request.getfixturevalue("served" if "served" in request.fixturenames else "still")
    tab = browser.open(found.url)
    yield tab
    tab.close()
