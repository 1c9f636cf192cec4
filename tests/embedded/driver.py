"""The installer and the runtime in a process of their own, for tests that kill it: `python -m tests.embedded.driver`.

install MODEL.json    installs the model described there; prints each event and the outcome
save                  waits for a process that has been asked to save and does not answer
run NAME [ID]         starts the embedded model NAME; prints its pid, base URL and key, then waits for a signal
"""

import json
import os
import sys
import threading
from pathlib import Path

from jp.errors import JpError
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.end import end_now
from jp.interrupt.router import Router
from jp.interrupt.token import Shutdown
from jp.llm.embedded.catalogue import Hub, Model, Packages, find
from jp.llm.embedded.pieces import Piece


def dump(model: Model, path: Path) -> Path:
    """Write `model` for `install`."""
    record = model._asdict()
    record["sources"] = [source.url if isinstance(source, Hub) else None for source in model.sources]
    path.write_text(json.dumps(record))
    return path


def load(path: str) -> Model:
    record = json.loads(Path(path).read_text())
    record["pieces"] = tuple(Piece(*row) for row in record["pieces"])
    record["sources"] = tuple(Hub(url) if url else Packages() for url in record["sources"])
    return Model(**{**record, "aliases": tuple(record["aliases"])})


def say(*words: object) -> None:
    print(*words, flush=True)


def install(path: str) -> int:
    from jp.llm.embedded.install import install as install_model

    done = install_model(load(path), os.environ, say)
    say("installed", done.fetched, done.resumed)
    return 0


def fill(path: str) -> int:
    """Leave no room on the disk of the models once a line comes on stdin."""
    from jp.llm.embedded import install as installing
    from jp.llm.embedded import shelf

    installing.MARGIN = 0
    model = load(path)

    def take_it_all() -> None:
        sys.stdin.readline()
        with open(Path(shelf.places(model, os.environ).directory, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                say("filled")

    threading.Thread(target=take_it_all, daemon=True).start()
    installing.install(model, os.environ, lambda event: None)
    return 0


def run(name: str, conversation: str | None = None) -> int:
    from jp.llm.embedded.runtime import Options, start

    running = start(find(name), os.environ, Options(threads=1, context=512, conversation=conversation))
    say("running", running.pid, running.base_url, running.api_key)
    while True:
        checkpoint()
        import signal

        signal.pause()


def save() -> int:
    """Ask a process that never answers to save its slot."""
    from jp.interrupt.children import PIPE, spawn
    from jp.llm.embedded.runtime import Running

    child = spawn([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=PIPE)
    assert child.stdin is not None
    running = Running(find("tiny"), child, child.stdin, "key", 512)
    say("saving")
    say("saved", running.save(timeout=60))
    checkpoint()
    return 0


def main() -> None:
    router = Router()
    router.promptable = False
    router.arm()
    try:
        status = {"install": install, "fill": fill, "run": run, "save": save}[sys.argv[1]](*sys.argv[2:])
    except JpError as error:
        say("error", error.code, error.message)
        status = error.status
    except Shutdown as shutdown:
        say("shutdown", shutdown.cause.name)
        end_now(shutdown.cause)
    end_now(status)


if __name__ == "__main__":
    main()
