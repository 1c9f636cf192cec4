"""Where the user's directories are: one rule for all of them, and relative values do not count."""

import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

from jp import places

Place = Callable[[Mapping[str, str]], str | None]

ALL: list[tuple[Place, str, str]] = [
    (places.config_home, "XDG_CONFIG_HOME", "/h/.config/jp"),
    (places.data_home, "XDG_DATA_HOME", "/h/.local/share/jp"),
    (places.state_home, "XDG_STATE_HOME", "/h/.local/state/jp"),
    (places.cache_home, "XDG_CACHE_HOME", "/h/.cache/jp"),
]


@pytest.mark.parametrize(("place", "variable", "default"), ALL)
def test_where_it_is(place: Place, variable: str, default: str) -> None:
    assert place({"HOME": "/h"}) == default
    assert place({"USERPROFILE": "/h"}) == default
    assert place({"HOME": "/h", "USERPROFILE": "/u"}) == default
    assert place({variable: "/x"}) == "/x/jp"
    assert place({"HOME": "/h", variable: "/x"}) == "/x/jp"


@pytest.mark.parametrize(("place", "variable", "default"), ALL)
@pytest.mark.parametrize("value", ["", ".", "relative", "../up", "~/x"])
def test_a_relative_value_does_not_count(place: Place, variable: str, default: str, value: str) -> None:
    assert place({"HOME": "/h", variable: value}) == default
    assert place({variable: value}) is None


@pytest.mark.parametrize(("place", "variable", "default"), ALL)
@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": "."}])
def test_nowhere(place: Place, variable: str, default: str, environ: dict[str, str]) -> None:
    assert place(environ) is None


def test_it_costs_the_start_nothing() -> None:
    code = "import sys; bare = set(sys.modules); import jp.places; print(*sorted(set(sys.modules) - bare))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["jp", "jp.places"]
