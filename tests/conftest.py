"""What every test gets: a home of its own, no way out to the developer's settings, and the program as a black box."""

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.marked import MARK, still_marked
from tests.support.status import of_returncode

REPOSITORY = Path(__file__).parents[1]

# Whatever else the environment holds could change what the program does.
KEPT = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "JP_TEST_DATA", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "SYSTEMROOT")


def pytest_configure() -> None:
    """Take back what `nohup` or `&` in a script ignores: the programs under test would inherit it."""
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def hermetic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home under `tmp_path` and an environment of known names alone; an unexpected editor fails at once.

    Returns the home. TEST_MARK names the processes of this test.
    """
    for name in list(os.environ):
        if name not in KEPT and not name.startswith("COV_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for name, value in {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_RUNTIME_DIR": temporary,
        "TMPDIR": temporary,
        "EDITOR": "false",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        MARK: uuid.uuid4().hex,
    }.items():
        monkeypatch.setenv(name, str(value))
    return home


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real workspace and the recorded provider exchanges; skips where they are not."""
    path = Path(os.environ.get("JP_TEST_DATA") or REPOSITORY.parent / "shared" / "data")
    if not path.is_dir():
        pytest.skip(f"no test data at {path} (set JP_TEST_DATA)")
    return path


class Result(NamedTuple):
    """What a run left: both streams decoded, how it ended in words, and the bytes as they were."""

    stdout: str
    stderr: str
    status: str
    stdout_bytes: bytes
    stderr_bytes: bytes

    def __str__(self) -> str:
        """The normal form: a missing last newline and a wrong status are visible in it."""
        err = f"------- stderr -------\n{self.stderr}" if self.stderr else ""
        return f"{self.stdout}{err}[EOF]\n" + ("" if self.status == "exited 0" else f"[{self.status}]\n")


def program() -> list[str]:
    """The command that starts the program of this environment."""
    script = Path(sys.executable).with_name("jp")
    return [str(script)] if script.exists() else [sys.executable, "-m", "jp"]


Jp = Callable[..., Result]


@pytest.fixture
def jp(tmp_path: Path) -> Jp:
    """Run the program to its end without a terminal: `jp("c", "ls", stdin=b"…", env={…}, cwd=…)` gives a Result.

    `env` adds to the hermetic environment; None takes a name away. The working directory is `tmp_path / "cwd"`.
    """

    def run(
        *args: str | os.PathLike[str],
        stdin: bytes | int = b"",
        env: Mapping[str, str | None] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        timeout: float = 60,
        **options: Any,
    ) -> Result:
        environment = dict(os.environ)
        for name, value in (env or {}).items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        if cwd is None:
            cwd = tmp_path / "cwd"
            Path(cwd).mkdir(exist_ok=True)
        feed: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        options.setdefault("start_new_session", True)
        done = subprocess.run(
            [*program(), *map(str, args)],
            capture_output=True,
            env=environment,
            cwd=cwd,
            timeout=timeout,
            check=False,
            **feed,
            **options,
        )
        return Result(
            done.stdout.decode("utf-8", "backslashreplace"),
            done.stderr.decode("utf-8", "backslashreplace"),
            of_returncode(done.returncode),
            done.stdout,
            done.stderr,
        )

    return run


@pytest.fixture
def no_leftovers() -> Iterator[None]:
    """Fails the test that leaves a process behind."""
    yield
    left = still_marked(within=10)
    assert not left, f"still running: {left}"


@pytest.fixture(scope="session")
def shells() -> list[str]:
    """The shells to try job control in."""
    return [name for name in ("bash", "dash") if shutil.which(name)]
