"""A child process that does one thing for a tool: gets a request on its stdin, answers on its stdout, can be killed."""

import os
import selectors
import sys

from jp.errors import JpError
from jp.interrupt import children
from jp.interrupt.signals import KILL
from jp.interrupt.standing import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from jp.interrupt.children import Child
    from jp.tool.builtin.work import Work

_SLICE = 0.2
_REAP_SECS = 2.0
_PIECE = 64 * 1024


class TooSlow(JpError):
    """The helper did not answer in its time and was killed."""

    code = "too_slow"


class HelperFailed(JpError):
    """The helper could not be started, or ended with a failure."""

    code = "helper_failed"


def module(name: str) -> list[str]:
    """The command that runs one of our own modules."""
    return [sys.executable, "-P", "-m", name]


def answer(
    work: "Work", argv: "Sequence[str]", request: bytes = b"", *, secs: float, env: "Mapping[str, str] | None" = None
) -> "Generator[bytes, None, None]":
    """The pieces of what `argv` prints, as they come; to be closed. It is killed when the run is cancelled.

    It must read its request before it prints. Raises TooSlow after `secs` seconds and HelperFailed.
    """
    environ = work.place.visible if env is None else env
    try:
        child = children.spawn(
            argv,
            env=environ,
            cwd=work.root.path,
            stdin=children.PIPE if request else children.DEVNULL,
            stdout=children.PIPE,
            stderr=children.DEVNULL,
            session=True,
        )
    except OSError as error:
        raise HelperFailed(f"{argv[0]} could not be started: {error.strerror or error}") from error
    try:
        with work.stopping(lambda _: child.kill_group(KILL)):
            _send(child, request)
            yield from _received(work, child, secs)
        work.checkpoint()
        if not child.exited.wait(_REAP_SECS) or child.returncode:
            raise HelperFailed(f"a helper of JP, {os.path.basename(argv[0])}, failed with status {child.returncode}")
    finally:
        child.kill_group(KILL)
        for fd in (child.stdin, child.stdout):
            if fd is not None:
                os.close(fd)
        child.exited.wait(_REAP_SECS)


def _send(child: "Child", request: bytes) -> None:
    if child.stdin is None:
        return
    view = memoryview(request)
    try:
        while view:
            view = view[os.write(child.stdin, view) :]
    except BrokenPipeError:
        pass  # it has ended; its status says why
    finally:
        os.close(child.stdin)
        child.stdin = None


def _received(work: "Work", child: "Child", secs: float) -> "Iterator[bytes]":
    assert child.stdout is not None
    limit = clock() + secs
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            work.checkpoint()
            if selector.select(min(_SLICE, max(0.0, limit - clock()))):
                piece = os.read(child.stdout, _PIECE)
                if not piece:
                    return
                yield piece
            if clock() >= limit:
                raise TooSlow(f"it was given up after {secs:g} s")
