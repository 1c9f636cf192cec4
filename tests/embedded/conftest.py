"""The real weights, fetched once and kept outside of the repository: `$JP_TEST_CACHE`, else `~/.cache/jp-tests`."""

import fcntl
import importlib.util
import os
from pathlib import Path

import pytest

from jp.errors import JpError
from jp.llm.embedded.catalogue import Model, find
from jp.llm.embedded.install import install

# As the tests were started, proxies and pip's settings included: each test has an environment of its own.
OUTSIDE = dict(os.environ)


@pytest.fixture(scope="session")
def kept_weights() -> Path:
    """The data directory that has the smallest model installed; skips where the index can't be reached."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed (`pip install 'jean-pierre[local]'`): the real runtime was not tried")
    cache = Path(OUTSIDE.get("JP_TEST_CACHE") or Path(OUTSIDE.get("HOME", "/tmp"), ".cache", "jp-tests"))
    cache.mkdir(parents=True, exist_ok=True)
    model = find("smollm2-135m")
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes, one download
        try:
            install(model, {**OUTSIDE, "XDG_DATA_HOME": str(cache)}, lambda event: None, verify=True)
        except JpError as error:
            pytest.skip(f"the weights can't be fetched: the real runtime was not tried ({error.message})")
    return cache


@pytest.fixture
def smallest(kept_weights: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    """The smallest real model, installed in this test's environment."""
    monkeypatch.setenv("XDG_DATA_HOME", str(kept_weights))
    return find("smollm2-135m")
