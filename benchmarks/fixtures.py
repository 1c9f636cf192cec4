"""What the benchmarks run against: a home of their own, servers in processes of their own, workspaces that ask them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]

CONFIG = """\
[assistant.model]
id = "llamacpp/test"

[providers.llm.llamacpp]
base_url = "{url}"

[conversation.title.generate]
auto = false
"""


def environment(home: Path) -> dict[str, str]:
    """The hermetic environment: byte code is cached, output buffered, no key, no proxy."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
    return {**kept, "HOME": str(home)}


@contextmanager
def instant(log: Path, *options: str) -> Iterator[str]:
    """The server of `benchmarks.instant` with these options; yields its base URL."""
    with _served(["benchmarks.instant", "--log", str(log), *options]) as url:
        yield url


@contextmanager
def _served(module: Sequence[str]) -> Iterator[str]:
    command = [sys.executable, "-m", *module]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def workspace(root: Path, url: str) -> Path:
    """A workspace whose model is the server at `url`."""
    (root / ".jp").mkdir(parents=True, exist_ok=True)
    if not (root / ".jp" / ".id").exists():
        (root / ".jp" / ".id").write_text("bench\n")
    (root / ".jp" / "config.toml").write_text(CONFIG.format(url=url))
    return root


def data() -> Path | None:
    """The real workspace, where it is."""
    path = Path(os.environ.get("JP_TEST_DATA") or REPOSITORY.parent / "shared" / "data") / "workspace"
    return path if path.is_dir() else None
