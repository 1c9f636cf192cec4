"""`python -m jp.llm.embedded.child`: the process in which the model runs.

A process of its own, because the runtime holds the interpreter while it loads (seconds in which Ctrl-C would be
dead), and because what the kernel kills for want of memory should not be JP.

It is told its settings on the first line of stdin (the API key is in them: never in argv or the environment, which
others can read), reports on stdout, one JSON object a line, and lives as long as stdin is open. So it ends when its
parent does, whatever ended that; while the runtime loads, it ends when that is done.

    stdin   {"path", "api_key", "context", "answer", "threads", "read_threads", "slots", "slot", "slots_limit"}
            {"do": "save"}
    stdout  {"ready": {"port", "restored", "seconds"}} | {"failed": "missing" | "load", "message"}
            {"saved": tokens, "bytes"}

"""

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn


def main() -> "NoReturn":
    """Serve until stdin ends; never returns."""
    os.umask(0o077)
    reports = os.dup(1)
    os.dup2(2, 1)  # whatever the runtime prints is log
    settings = json.loads(sys.stdin.buffer.readline() or b"null")
    if not settings:
        os._exit(2)
    started = time.monotonic()
    try:
        server = _load(settings)
    except ImportError as error:
        _report(reports, {"failed": "missing", "message": str(error)})
        os._exit(1)
    except Exception as error:  # the runtime's own classes and the standard ones: all of them are said to the parent
        _report(reports, {"failed": "load", "message": str(error) or type(error).__name__})
        os._exit(1)
    port = int(server.listening_address.rsplit(":", 1)[1])
    slot = _Slot(port, settings)
    restored = slot.restore()
    _report(reports, {"ready": {"port": port, "restored": restored, "seconds": time.monotonic() - started}})
    for line in sys.stdin.buffer:
        if json.loads(line).get("do") == "save":
            _report(reports, slot.save())
    os._exit(0)  # the runtime's threads have nothing to put in order


def _load(settings: "dict[str, Any]") -> "Any":
    """The runtime's server, listening; raises ImportError, or whatever the runtime does."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {os.path.basename(settings["path"]).removesuffix(".gguf")}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["api_key"]]
    params.cors_origins = "http://127.0.0.1"
    params.ui = False
    params.offline = True
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    params.n_predict = settings["answer"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["read_threads"]
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.warmup = False
    params.fit_params = False
    params.cache_ram_mib = 0  # other conversations' prompts are kept on disk, not in memory
    params.cache_idle_slots = False
    params.enable_reasoning = 0
    params.sampling.temp = 0.3
    params.endpoint_slots = True
    params.verbosity = 1
    if settings["slots"]:
        os.makedirs(settings["slots"], exist_ok=True)
        params.slot_save_path = os.path.join(settings["slots"], "")
    return xllamacpp.Server(params)


class _Slot:
    """Saves and restores the conversation's slot through the server's own endpoint."""

    def __init__(self, port: int, settings: "dict[str, Any]") -> None:
        self._port = port
        self._key = settings["api_key"]
        self._directory = settings["slots"]
        self._name = settings["slot"]
        self._limit = settings["slots_limit"]

    def restore(self) -> int:
        """Tokens restored; 0 when there is no slot, or none that fits (which is deleted)."""
        if not self._name or not os.path.exists(self._path(self._name)):
            return 0
        answer = self._post("restore", self._name)
        if answer is None:
            os.unlink(self._path(self._name))
            return 0
        return int(answer.get("n_restored", 0))

    def save(self) -> "dict[str, int]":
        """Write the slot under another name first: a half-written one must not be found."""
        if not self._name:
            return {"saved": 0, "bytes": 0}
        from jp.llm.embedded import slots

        unfinished = f"{self._name}.{os.getpid()}"
        answer = self._post("save", unfinished)
        tokens = int(answer.get("n_saved", 0)) if answer else 0
        size = 0
        try:
            if tokens:
                size = os.stat(self._path(unfinished)).st_size
                os.replace(self._path(unfinished), self._path(self._name))
                slots.prune(os.path.dirname(self._directory), self._limit)
            else:
                os.unlink(self._path(unfinished))
        except OSError:
            pass
        return {"saved": tokens, "bytes": size}

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, name)

    def _post(self, action: str, name: str) -> "dict[str, Any] | None":
        import http.client

        try:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
            headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
            connection.request("POST", f"/slots/0?action={action}", json.dumps({"filename": name}), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, ValueError, http.client.HTTPException):
            return None
        return answer if response.status == 200 and isinstance(answer, dict) else None


def _report(fd: int, record: "Mapping[str, object]") -> None:
    try:
        os.write(fd, json.dumps(record).encode() + b"\n")
    except OSError:
        os._exit(0)  # nobody is left to hear it


if __name__ == "__main__":
    main()
