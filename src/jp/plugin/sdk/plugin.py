"""A plugin: what it says about itself, its main function, and the run from the first line to `exit`."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from msgspec import UNSET

from jp.plugin import messages
from jp.plugin.sdk.channel import Channel
from jp.plugin.sdk.errors import Cancelled, Exit, RequestFailed, ShuttingDown, Unavailable
from jp.plugin.sdk.host import Host

Main = Callable[[Host], int | None]
M = TypeVar("M", bound=Main)

FAILED = 1
USAGE = 2


class Plugin:
    """A command plugin.

    `command` is what it answers to, word by word (without it: its file name, `jp-a-b` for `jp a b`); `help` is what
    `jp <command> --help` prints.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        description: str,
        help: str | None = None,  # noqa: A002
        command: Sequence[str] | None = None,
        author: str | None = None,
        repository: str | None = None,
    ) -> None:
        self.description = messages.Description(
            name=name,
            version=version,
            description=description,
            help=help or UNSET,
            command=list(command) if command else UNSET,
            author=author or UNSET,
            repository=repository or UNSET,
        )
        self._main: Main | None = None

    def main(self, fn: M) -> M:
        """Make `fn` what is run for the command: it is given the Host, and returns the exit status (None is 0)."""
        self._main = fn
        return fn

    def run(self) -> NoReturn:
        """Be a plugin: talk to the host on standard input and output until the end of the process.

        Standard output becomes stderr, so that no stray `print()` breaks the protocol, and standard input is empty.
        """
        try:
            if os.isatty(0):
                raise OSError("started by hand")
            source, sink = _take_streams()
        except OSError:
            self._explain()
            sys.exit(USAGE)
        try:
            code = self.serve(source, sink)
        except KeyboardInterrupt:
            _die_interrupted()
        sys.exit(code)

    def serve(self, source: int, sink: int) -> int:
        """What `run` does, on two descriptors: from the host and to it, both closed in the end. The exit status.

        A KeyboardInterrupt passes through, with `exit` not sent.
        """
        channel = Channel(source, sink)
        first = channel.first()
        if first is None:
            channel.close()
            self._explain()
            return USAGE
        if isinstance(first, messages.Describe):
            channel.describe(self.description)
            return 0
        channel.start()
        code, reason = self._call(first, channel)
        channel.finish(code, reason)
        return code

    def _call(self, init: messages.Init, channel: Channel) -> tuple[int, str | None]:
        """Run the main function: the exit status, and why it is not 0."""
        try:
            if init.version != messages.VERSION:
                raise Exit(FAILED, f"JP speaks version {init.version} of the plugin protocol, this plugin version 1")
            if self._main is None:
                raise RuntimeError("the plugin has no main function: decorate one with `@plugin.main`")
            channel.send(messages.Ready())
            end = _of_result(self._main(Host(init, channel)))
        except Exit as called:
            end = called
        except SystemExit as called:
            end = _of_system_exit(called)
        except KeyboardInterrupt:
            raise
        except (ShuttingDown, Cancelled, Unavailable) as error:
            end = Exit(FAILED, None if isinstance(error, ShuttingDown) else str(error))
        except BaseException as error:
            traceback.print_exc()
            end = Exit(FAILED, str(error) if isinstance(error, RequestFailed) else f"{type(error).__name__}: {error}")
        return end.status, end.reason

    def _explain(self) -> None:
        """Tell a person that has started it by hand what it is."""
        said = self.description
        command = " ".join(said.command) if said.command else said.name.removeprefix("jp-").replace("-", " ")
        about = said.help or f"{said.name} {said.version}: {said.description}"
        sys.stderr.write(f"{about.rstrip()}\n\nThis is a plugin of JP: run it as `jp {command}`.\n")


def _of_result(result: object) -> Exit:
    """What the main function has returned: whatever it says it does, it may be anything."""
    if result is None or isinstance(result, int):
        return Exit(result or 0)
    kind = type(result).__name__
    return Exit(FAILED, f"the plugin's main function returned a {kind}; it is to return an exit status or None")


def _of_system_exit(error: SystemExit) -> Exit:
    """What `sys.exit(…)` meant."""
    if error.code is None or isinstance(error.code, int):
        return Exit((error.code or 0) & 0xFF)
    return Exit(FAILED, str(error.code))


def _take_streams() -> tuple[int, int]:
    """Standard input and output for the protocol alone; raises OSError where they are closed."""
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


def _die_interrupted() -> NoReturn:
    sys.stderr.flush()
    if sys.platform != "win32":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(130)
