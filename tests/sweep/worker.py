"""A process that does runs: with a model server of its own, and the signals as a person's shell has them."""

import shutil
import tempfile
from pathlib import Path

from tests.conftest import pytest_configure
from tests.sweep.cases import Case
from tests.sweep.place import server
from tests.sweep.run import Outcome, run
from tests.wire.model_server import ModelServer

_servers: list[ModelServer] = []


def begin() -> None:
    """Once in each worker."""
    pytest_configure()
    _servers.append(server().__enter__())


def one(case: Case | None, root: str) -> Outcome:
    """One run, in a folder below `root` that is removed again."""
    folder = Path(tempfile.mkdtemp(dir=root))
    try:
        return run(case, folder, _servers[0].base_url)
    except AssertionError as error:
        return Outcome(case or Case("TERM"), "never got there", "", [str(error)], "", 0.0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
