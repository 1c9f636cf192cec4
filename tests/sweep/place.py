"""Where a run takes place: a home, a workspace, and a scripted model."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conftest import KEPT, program
from tests.support.status import of_returncode
from tests.support.workspace import CONFIG
from tests.wire.model_server import Exchange, ModelServer, text

WORDS = 40
ANSWER = " ".join(f"w{number}" for number in range(1, WORDS + 1))


def answer(exchange: Exchange) -> None:
    """The model: a title in one piece, when it is asked for one, or an answer that takes half a second."""
    if "response_format" in exchange.json or "json_schema" in exchange.json:
        exchange.connection.pause(0.75)
        text(json.dumps({"titles": ["A title"]}))(exchange)
    else:
        text(ANSWER, chunk=6, delay_ms=20)(exchange)


def server() -> ModelServer:
    """The scripted model of any number of runs."""
    return ModelServer(answer)


class Place:
    """A home and a workspace of one run."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.home, self.workspace, self.temporary = folder / "home", folder / "project", folder / "temporary"
        self.reached = folder / "reached"
        for each in (self.home, self.workspace / ".jp", self.temporary):
            each.mkdir(parents=True)
        (self.workspace / ".jp" / ".id").write_text("# sweep\nabcde\n")
        config = CONFIG.replace("auto = false", "auto = true").format(url=base_url)
        (self.workspace / ".jp" / "config.toml").write_text(config)
        self.env: dict[str, str | None] = {name: None for name in os.environ if name not in KEPT}
        self.env |= {
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "XDG_RUNTIME_DIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm-256color",
            "JP_SESSION": "sweep",
            "PYTHONFAULTHANDLER": "1",  # a run that hangs tells where
        }

    def jp(self, *args: str) -> tuple[str, str]:
        """Run the program without a terminal; how it ended, and all that it wrote."""
        env = {name: value for name, value in self.env.items() if value is not None}
        env |= {name: os.environ[name] for name in KEPT if name in os.environ}
        done = subprocess.run(
            [*program(), *args],
            cwd=self.workspace,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=60,
            check=False,
        )
        return of_returncode(done.returncode), (done.stdout + done.stderr).decode(errors="replace")

    def files(self) -> Iterator[Path]:
        """Everything that a run can have left."""
        for root in (self.home, self.workspace, self.temporary):
            yield from root.rglob("*")

    def events(self) -> list[dict[str, Any]]:
        """All stored events, those of both copies. Raises ValueError for what is no JSON."""
        found: list[dict[str, Any]] = []
        for path in self.files():
            if path.name == "events.json":
                found += json.loads(path.read_bytes())
        return found
