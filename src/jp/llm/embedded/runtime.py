"""The embedded model as a running server: started, waited for, saved and stopped.

The model is a child like any other (decisions, "Sources, model, store"): in a process group of its own, killed with
all others when JP ends, and gone by itself when JP is killed, because its stdin ends. It speaks the wire of
`llamacpp`, so what asks it is that provider, pointed at `base_url` with `api_key`.
"""

import importlib.util
import os
import signal
import sys
import threading
from queue import SimpleQueue
from typing import NamedTuple

from jp.errors import JpError
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.children import PIPE, spawn
from jp.interrupt.mailbox import EmptyError, Mailbox
from jp.llm.embedded import cores, profile, shelf, slots
from jp.llm.embedded.errors import LoadError, OutOfMemoryError, RuntimeMissingError
from jp.llm.embedded.work import on_shutdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from jp.interrupt.children import Child
    from jp.llm.embedded.catalogue import Model

TAIL = 8192
SAVE_TIMEOUT = 5.0


class Options(NamedTuple):
    """How to run it. None is the model's own default.

    `threads` counts for generating and reading alike, `context` is tokens, `conversation` the id whose slot is restored
    and saved (None: neither), `slots_limit` the bytes of all slots together.
    """

    threads: int | None = None
    context: int | None = None
    conversation: str | None = None
    slots_limit: int = slots.LIMIT


class Ready(NamedTuple):
    """Posted once the model can be asked."""

    running: "Running"


class Failed(NamedTuple):
    """Posted instead of Ready when it can't."""

    error: LoadError | RuntimeMissingError


class Running:
    """A model's process. `base_url` is empty until it is ready.

    `restored` is the number of tokens that it remembers of the conversation, `seconds` how long loading took.
    """

    def __init__(self, model: "Model", child: "Child", stdin: int, api_key: str, context: int) -> None:
        self.model = model
        self.context = context
        self.base_url = ""
        self.api_key = api_key
        self.restored = 0
        self.seconds = 0.0
        self._child = child
        self._stdin = stdin
        self._lock = threading.Lock()
        self._stopped = False
        self._tail = b""
        self._said: dict[str, Any] = {}
        self._saved: Mailbox[int] = Mailbox()

    @property
    def pid(self) -> int:
        """The process id of the model's process."""
        return self._child.pid

    def failure(self) -> LoadError | RuntimeMissingError | None:
        """Why the process ended, None while it lives or when it was stopped: what a lost connection really means."""
        if self._stopped or not self._child.exited.wait(0):
            return None
        return self._explain()

    def explain(self, error: JpError) -> JpError:
        """What an error of the request really means: the process has died, or the prompt is too long; else `error`."""
        from jp.llm.errors import NetworkError, StreamCut

        if isinstance(error, NetworkError | StreamCut):
            self._child.exited.wait(1)  # the connection is lost a moment before the death is known
            return self.failure() or error
        return profile.explain(error, self.model, self.context)

    def save(self, timeout: float = SAVE_TIMEOUT) -> int:
        """Write the conversation's slot for a follow-up; returns the tokens saved, 0 when not done within `timeout`.

        For the end of a turn, when the model is idle. A shutdown ends the wait at once, with 0.
        """
        saved: Mailbox[int] = Mailbox()  # a new one: an earlier save that was given up may still answer
        self._saved = saved
        unsubscribe = on_shutdown(lambda: saved.post(0))
        try:
            return saved.get(timeout) if self._tell(b'{"do": "save"}\n') else 0
        except EmptyError:
            return 0
        finally:
            unsubscribe()

    def stop(self) -> None:
        """End the process now; any thread, blocks nowhere, more than once is once."""
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            os.close(self._stdin)
        self._child.kill_group(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _tell(self, line: bytes) -> bool:
        with self._lock:
            if self._stopped:
                return False
            try:
                os.write(self._stdin, line)  # far less than a pipe holds: never blocks
            except OSError:
                return False
            return True

    def _listen(self, reports: int, post: "Callable[[Ready | Failed], None]") -> None:
        """The reports of the child, on a thread of its own; posts exactly once."""
        try:
            with os.fdopen(reports, "rb") as lines:
                for line in lines:
                    if self._take(line):
                        post(Ready(self))
        except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
            self._said = {"message": f"its process says what nobody understands ({type(error).__name__}: {error})"}
            self._child.kill_group(signal.SIGTERM)
        finally:  # whoever waits for a word gets one, whatever was said
            self._saved.post(0)
            if not self.base_url:
                self._child.exited.wait(10)
                post(Failed(self._explain()))

    def _take(self, line: bytes) -> bool:
        """One report; whether it is the first to say that the model is ready. Raises on what is no report."""
        import json

        record = json.loads(line)
        if not isinstance(record, dict):
            raise TypeError("no object")
        if "saved" in record:
            self._saved.post(int(record["saved"]))
        elif "ready" not in record:
            self._said = record
        elif not self.base_url:
            ready = record["ready"]
            self.restored, self.seconds = int(ready["restored"]), float(ready["seconds"])
            self.base_url = f"http://127.0.0.1:{int(ready['port'])}/v1"
            return True
        return False

    def _drain(self, stderr: int) -> None:
        """Keep the end of what the runtime logs, for the message when it fails."""
        with os.fdopen(stderr, "rb", buffering=0) as log:
            while block := log.read(4096):
                self._tail = (self._tail + block)[-TAIL:]

    def _explain(self) -> LoadError | RuntimeMissingError:
        said = str(self._said.get("message", ""))
        if self._said.get("failed") == "missing":
            return _missing(said)
        return failure(self.model, self._child.returncode, said, self._tail.decode("utf-8", "replace"))


def failure(model: "Model", status: int | None, said: str, log: str) -> LoadError:
    """The error for a process that ended with `status` (negative: the signal), having said and logged this; pure."""
    text = f"{said}\n{log}".lower()
    starved = any(word in text for word in ("alloc", "out of memory", "resource temporarily unavailable"))
    metadata = {"model": model.id, "status": status, "memory": model.memory}
    if status == -9 or starved:
        return OutOfMemoryError(
            f"{model.name} wants about {shelf.human_size(model.memory)} of memory, more than the machine has free",
            hints=["close something, take a smaller model (`jp model ls`), or give it a smaller context"],
            metadata=metadata,
        )
    if status == -getattr(signal, "SIGILL", 0) and status:
        return LoadError(
            f"{model.name} could not be run: the runtime wants instructions that this processor has not (AVX2)",
            hints=["`pip install --no-binary xllamacpp xllamacpp` builds one for this processor"],
            metadata=metadata,
        )
    lines = [line for line in log.splitlines() if " E " in line] or log.splitlines()
    reason = said or (lines[-1].strip() if lines else "") or _ending(status)
    return LoadError(
        f"{model.name} could not be run: {reason}",
        hints=[f"`jp model install --verify {model.name}` checks the weights and mends them"],
        metadata=metadata,
    )


def _ending(status: int | None) -> str:
    if status is not None and status < 0:
        return f"its process was ended by {signal.Signals(-status).name}"
    return f"its process ended with status {status}"


def missing_runtime() -> RuntimeMissingError | None:
    """The error that starting a model would raise because its runtime is not installed; None when it is."""
    return _missing() if importlib.util.find_spec("xllamacpp") is None else None


def _missing(detail: str = "") -> RuntimeMissingError:
    return RuntimeMissingError(
        "the runtime of the embedded model can't be loaded"
        + (f": {detail}" if detail else ": xllamacpp is not installed"),
        hints=["install it: `pip install 'jean-pierre[local]'` (in the environment that runs `jp`)"],
        metadata={"package": "xllamacpp"},
    )


def _not_begun(model: "Model", reason: str) -> LoadError:
    return LoadError(
        f"the process of {model.name} could not be started: {reason}",
        hints=["the system is short of something: processes, threads, open files or memory (`ulimit -a`)"],
        metadata={"model": model.id},
    )


def begin(
    model: "Model", environ: "Mapping[str, str]", options: Options, post: "Callable[[Ready | Failed], None]"
) -> Running:
    """Start the model's process; returns at once, and posts Ready or Failed, exactly one, from another thread.

    Raises NotInstalledError and RuntimeMissingError, which say what to install, before anything is started, and
    LoadError where the system starts no process or thread.
    """
    path = shelf.require(model, environ)
    missing = missing_runtime()
    if missing is not None:
        raise missing
    context = options.context or model.context
    api_key = os.urandom(24).hex()
    settings = _settings(model, environ, options, path=path, api_key=api_key, context=context)
    try:
        child = spawn(
            [sys.executable, "-P", "-m", "jp.llm.embedded.child"],
            env=environ,
            cwd=os.path.dirname(path),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
    except OSError as error:
        raise _not_begun(model, error.strerror or str(error)) from error
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    running = Running(model, child, child.stdin, api_key, context)
    try:
        threading.Thread(target=running._drain, args=(child.stderr,), name="model-log", daemon=True).start()
        threading.Thread(target=running._listen, args=(child.stdout, post), name="model-reports", daemon=True).start()
    except RuntimeError as error:
        running.stop()
        raise _not_begun(model, str(error)) from error
    running._tell(settings)
    return running


def start(model: "Model", environ: "Mapping[str, str]", options: Options | None = None) -> Running:
    """Start the model and wait until it can be asked, where a shutdown wakes the wait.

    Raises what `begin` does, LoadError, OutOfMemoryError, and Shutdown at the caller's checkpoint.
    """
    inbox: SimpleQueue[Ready | Failed | None] = SimpleQueue()
    running = begin(model, environ, options or Options(), inbox.put)
    unsubscribe = on_shutdown(lambda: inbox.put(None))
    try:
        while True:
            checkpoint()
            event = inbox.get()
            if isinstance(event, Ready):
                return event.running
            if isinstance(event, Failed):
                raise event.error
    except BaseException:
        running.stop()
        raise
    finally:
        unsubscribe()


def _settings(
    model: "Model", environ: "Mapping[str, str]", options: Options, *, path: str, api_key: str, context: int
) -> bytes:
    """The first line of the child's stdin."""
    import json

    count = cores.threads(cores.available(), cores.load(), options.threads)
    slot = slots.file_name(options.conversation) if options.conversation else None
    return (
        json.dumps(
            {
                "path": path,
                "api_key": api_key,
                "context": context,
                "answer": model.answer,
                "threads": count.generate,
                "read_threads": count.read,
                "slots": os.path.join(slots.root(environ), model.name) if slot else "",
                "slot": slot,
                "slots_limit": options.slots_limit,
            }
        ).encode()
        + b"\n"
    )
