"""For tests of a plugin: a host that is scripted, on real pipes, in the real wire format.

    from jp.plugin.testing import CANCELLED, Conversation, FakeHost

    def test_it_asks_before_it_deletes():
        old = Conversation(title="Old", last_activated_at="2020-01-01T00:00:00Z")
        host = FakeHost(args=["--days", "30"], conversations={"15778368000": old}, answers=[True])
        result = host.run(plugin)
        assert result.code == 0
        assert result.prompts[0].message == "Print the commands that remove 1 conversation?"
        assert "jp-c15778368000" in result.printed["content"]

`run` takes an `sdk.Plugin`, which is run in this process, or the path of a program in any language. What is wrong with
what the plugin writes is an AssertionError; a request that is refused is in `result.refused`, as JP would refuse it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from jp.plugin import messages as protocol
from jp.plugin import wire
from jp.plugin.exchange import Exchange
from jp.plugin.fake import Conversation, Workspace, answered
from jp.plugin.messages import JSON, Message
from jp.plugin.sdk import CANCELLED, UNAVAILABLE, Cancelled, Plugin, Unavailable

__all__ = ("CANCELLED", "SHUTDOWN", "UNAVAILABLE", "Answer", "Conversation", "FakeHost", "Result")


class Shutdown:
    """An answer to script: the person presses Ctrl-C at the prompt, and JP ends."""


SHUTDOWN: Final = Shutdown()
Answer = bool | str | Cancelled | Unavailable | Shutdown
Started = Plugin | str | os.PathLike[str]

_STEP_SECS = 0.05
_ENDS_SECS = 2.0  # that a plugin may take to end after `exit`


@dataclass
class Result:
    """What came of a run."""

    code: int = 1
    reason: str | None = None
    messages: list[Message] = field(default_factory=list)
    refused: list[protocol.Error] = field(default_factory=list)
    pushed: dict[str, list[JSON]] = field(default_factory=dict)  # what was stored, by conversation
    stderr: str = ""  # of a program

    @property
    def printed(self) -> dict[str, str]:
        """What was printed, by channel; empty for one that nothing was printed on."""
        texts: dict[str, str] = defaultdict(str)
        for each in self.messages:
            if isinstance(each, protocol.Print):
                texts[each.channel] += each.text
        return texts

    @property
    def prompts(self) -> list[protocol.Prompt]:
        """The prompts in the order of asking."""
        return [each for each in self.messages if isinstance(each, protocol.Prompt)]

    @property
    def logs(self) -> list[protocol.Log]:
        """What was logged."""
        return [each for each in self.messages if isinstance(each, protocol.Log)]


class FakeHost:
    """A host for one or more runs, which see each other's changes.

    `conversations` maps ids to conversations, or to their events alone. `answers` are what the person does at each
    prompt: a value, CANCELLED, UNAVAILABLE (or an Unavailable of your own), or SHUTDOWN.
    """

    def __init__(
        self,
        *,
        args: Iterable[str] = (),
        conversations: Mapping[str, Conversation | list[JSON]] | None = None,
        config: JSON | None = None,
        options: JSON | None = None,
        answers: Iterable[Answer] = (),
        output_format: str = "text",
    ) -> None:
        made = {
            key: each if isinstance(each, Conversation) else Conversation(events=each)
            for key, each in (conversations or {}).items()
        }
        self.workspace = Workspace(made, config or {}, self._ask)
        self.answers = list(answers)  # those that are left
        self.init = self.workspace.init(list(args), options=options, output_format=output_format)
        self._shutdown = False

    def run(self, plugin: Started, *, timeout: float = 10.0) -> Result:
        """Run a plugin to its end. Raises AssertionError where it breaks the protocol or takes too many seconds."""
        result = Result()
        before = {key: len(each) for key, each in self.workspace.pushed.items()}
        self._shutdown = False
        with _Running(plugin, timeout) as running:
            running.send(self.init)
            for message in running.messages():
                result.messages.append(message)
                if isinstance(message, protocol.Exit):
                    result.code, result.reason = message.code, message.reason or None
                    running.expect_end()
                self._answer(message, running, result)
        if not any(isinstance(each, protocol.Exit) for each in result.messages):
            result.reason = "it ended without `exit`"
        self.workspace.held.clear()
        for key, each in self.workspace.pushed.items():
            result.pushed[key] = each[before.get(key, 0) :]
        result.stderr = running.stderr
        return result

    def describe(self, plugin: Started, *, timeout: float = 10.0) -> protocol.Description:
        """What a plugin says about itself. Raises AssertionError for anything but one right line."""
        with _Running(plugin, timeout) as running:
            running.send(protocol.Describe())
            running.hang_up()
            said = list(running.messages())
        assert len(said) == 1 and isinstance(said[0], protocol.Description), f"it described itself by {said}"  # noqa: PT018
        return said[0]

    def _answer(self, message: Message, running: "_Running", result: Result) -> None:
        response = self.workspace.respond(message)
        if isinstance(response, protocol.Error):
            result.refused.append(response)
        if response is not None:
            running.send(response)
        elif self._shutdown:
            running.send(protocol.Shutdown())
            self._shutdown = False

    def _ask(self, prompt: protocol.Prompt) -> protocol.PromptResponse | None:
        assert self.answers, f"no answer is left for the prompt {prompt.message!r}"
        answer = self.answers.pop(0)
        if isinstance(answer, Cancelled):
            return protocol.PromptResponse(outcome="cancelled")
        if isinstance(answer, Unavailable):
            return protocol.PromptResponse(outcome="unavailable", reason=answer.reason)
        if isinstance(answer, Shutdown):
            self._shutdown = True
            return None
        try:
            return answered(prompt, answer)
        except ValueError as error:
            raise AssertionError(str(error)) from None


class _Running:
    """A plugin that runs, in this process or in one of its own, until the end of the `with` block."""

    def __init__(self, plugin: Started, timeout: float) -> None:
        self._until = time.monotonic() + timeout
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        if isinstance(plugin, Plugin):
            theirs_in, ours_out = os.pipe()
            ours_in, theirs_out = os.pipe()
            self._thread = threading.Thread(target=plugin.serve, args=(theirs_in, theirs_out), daemon=True)
            self._thread.start()
            self._exchange = Exchange(ours_out, ours_in)
        else:
            self._process = _start(os.fspath(plugin))
            stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
            assert stdin is not None
            assert stdout is not None
            assert stderr is not None
            self._exchange = Exchange(*(os.dup(each.fileno()) for each in (stdin, stdout, stderr)))
            for each in (stdin, stdout, stderr):
                each.close()

    @property
    def stderr(self) -> str:
        return self._exchange.errors.decode("utf-8", "replace")

    def send(self, message: Message) -> None:
        self._exchange.send(wire.encode(message))

    def hang_up(self) -> None:
        self._exchange.hang_up()

    def expect_end(self) -> None:
        """It has said `exit`."""
        self._until = min(self._until, time.monotonic() + _ENDS_SECS)

    def messages(self) -> Iterable[Message]:
        """What it writes, until it has closed its standard output."""
        said: Message | None = None
        while not self._exchange.over:
            assert time.monotonic() < self._until, f"it has not ended; the last that it wrote is {said}"
            for line in self._lines():
                assert not isinstance(said, protocol.Exit), f"it wrote {line!r} after `exit`"
                came = _decoded(line)
                if came is not None:
                    said = came
                    yield came
        assert not self._exchange.unfinished, f"its last line has no end: {self._exchange.unfinished!r}"

    def _lines(self) -> list[bytes]:
        try:
            return self._exchange.step(min(_STEP_SECS, self._until - time.monotonic()))
        except wire.MalformedError as error:
            raise AssertionError(f"it {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._process is not None:
            self._end(self._process, failed=kind is not None)
        self._exchange.close()
        if self._thread is not None and kind is None:
            self._thread.join(max(0.0, self._until - time.monotonic()))

    def _end(self, process: subprocess.Popen[bytes], *, failed: bool) -> None:
        """Wait for the process, unless the test has failed already, and kill what is left of its group."""
        in_time = not failed
        while in_time and process.poll() is None:
            self._exchange.step(_STEP_SECS)
            in_time = time.monotonic() < self._until
        if sys.platform != "win32":
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        process.kill()
        process.wait()
        assert in_time or failed, "it has said `exit` and runs on"


def _decoded(line: bytes) -> Message | None:
    try:
        message = wire.decode(line)
    except wire.MalformedError as error:
        raise AssertionError(f"it {error}") from None
    assert not isinstance(message, wire.Faulty), f"{message.message}: {line!r}"
    return message


def _start(path: str) -> "subprocess.Popen[bytes]":
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    argv: Sequence[str] = [os.path.abspath(path)]
    return subprocess.Popen(argv, start_new_session=True, **pipes)
