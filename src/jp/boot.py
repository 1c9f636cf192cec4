"""Process entry: the signal router first, everything else after.

Until the router is armed a press ends the process by its default action, with nothing touched; so this module and what
it imports up to there are the cheap parts of the standard library alone, and a test holds the list.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from typing import NoReturn

    from jp.interrupt.router import Router
else:
    import _signal


def main() -> "NoReturn":
    """The console script `jp`; does not return."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        # Until the router is armed: die of a press at once and silently, not of a KeyboardInterrupt with its traceback.
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    _open_standard_descriptors()
    from jp.interrupt.router import Router

    router = Router()
    router.promptable = None  # until the channels are known: a first press waits for that
    router.arm()
    _limit_core()
    # A busy thread otherwise keeps the interpreter for 5 ms at each hand-over.
    sys.setswitchinterval(0.0005)
    from jp.interrupt.end import finish

    status = _run(sys.argv[1:], router)
    if router.pending:
        router.promptable = False  # the run was over before anybody could be asked
    finish(status)


def _run(argv: "list[str]", router: "Router") -> int:
    from jp.interrupt.end import Cause, finish
    from jp.interrupt.token import Shutdown

    try:
        if argv in (["--version"], ["-V"]):
            return _print_version()
        # First on the main thread: threading takes the thread that imports it for the main one.
        import threading  # noqa: F401

        from jp.cli.main import run

        return run(argv, router)
    except Shutdown as shutdown:
        finish(shutdown.cause)
    except SystemExit as request:
        return _status(request)
    except KeyboardInterrupt:  # raised by hand; the router never does
        finish(Cause.PRESS)
    except BaseException as error:
        return _report(error, argv)


def _print_version() -> int:
    from jp.version import VERSION

    data = f"jp {VERSION}\n".encode()
    try:
        while data:
            data = data[os.write(1, data) :]
    except BrokenPipeError:
        from jp.interrupt.end import Cause, finish

        finish(Cause.PIPE)
    except OSError as error:
        _say(f"jp: cannot write to stdout: {error.strerror}")
        return 1
    return 0


def _status(request: SystemExit) -> int:
    if request.code is None:
        return 0
    if isinstance(request.code, int):
        return request.code & 0xFF
    _say(str(request.code))
    return 1


def _open_standard_descriptors() -> None:
    """Fill descriptors 0 to 2 where they are closed, or the next file opened would become one of them.

    stdin reads as empty, stderr swallows; stdout refuses, so that lost output is said and not silently dropped.
    """
    for fd, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, mode)  # the lowest free number, which is this one
            os.set_inheritable(fd, True)
            name = ("stdin", "stdout", "stderr")[fd]
            if getattr(sys, name) is None:
                stream = open(fd, "r" if fd == 0 else "w", encoding="utf-8", errors="replace")  # noqa: SIM115
                setattr(sys, name, stream)


def _limit_core() -> None:
    """No core files: they would hold keys and conversations."""
    if sys.platform != "win32":
        import resource

        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        except (OSError, ValueError):
            pass


def _report(error: BaseException, argv: "list[str]") -> int:
    """Say a fault of JP's own; the traceback goes to stderr with JP_DEBUG, else to a file that is named."""
    try:
        import traceback

        from jp import log

        text = "".join(traceback.format_exception(error))
        log.log(log.ERROR, "jp.boot", "internal error", traceback=text)
    except Exception:  # no descriptor or memory is left even for that
        text = f"{type(error).__name__}: {error}\n"
    path = None if os.environ.get("JP_DEBUG") else _keep(text)
    said = f"internal error: {type(error).__name__}: {error}"
    if _wants_json(argv):
        import json

        metadata = {"traceback": text if path is None else path}
        _say(json.dumps({"message": said, "metadata": metadata, "code": "internal"}))
    else:
        _say(f"jp: {said}")
        _say(text.rstrip() if path is None else f"jp: the traceback is in {path}")
    return 1


def _wants_json(argv: "list[str]") -> bool:
    """Whether the command line asks for JSON, as far as can be told when anything may be broken."""
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        if word in ("-F", "--format"):
            return following.startswith("json")
        if word.startswith(("-Fjson", "--format=json")):
            return True
    return False


def _keep(text: str) -> str | None:
    """Write the traceback to a file and return its path; None where that fails."""
    from jp.places import state_home

    directory = state_home(os.environ)
    if directory is None:
        return None
    path = os.path.join(directory, f"crash-{os.getpid()}.log")
    try:
        os.makedirs(directory, exist_ok=True)
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        return None
    return path


def _say(text: str) -> None:
    try:
        os.write(2, (text + "\n").encode("utf-8", "replace"))
    except OSError:
        pass


if __name__ == "__main__":
    main()
