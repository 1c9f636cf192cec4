"""The line to the host: many threads ask at once, each gets its own answer, and every line is written whole.

One thread reads and hands each response to whoever waits for its id. One thread writes, and who sends waits for it: a
KeyboardInterrupt can reach only the one that waits, never the middle of a line.
"""

import itertools
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar, get_args

import msgspec

from jp.plugin import messages, wire
from jp.plugin.messages import Message, Request, Response, type_of
from jp.plugin.sdk.errors import HostGone, RequestFailed, ShuttingDown

R = TypeVar("R", bound=Response)

_READ = 1 << 20
_FINISHING = (messages.PushEvents, messages.Unlock)  # what goes through while JP is ending


class Unreadable(ValueError):
    """A line that the host should not have sent; `id` is the one it answers."""

    def __init__(self, message: str, ident: object = None) -> None:
        super().__init__(message)
        self.id = ident


class _Head(msgspec.Struct):
    type: Any = None
    id: Any = None


_decode_head = msgspec.json.Decoder(_Head).decode
_decoders: dict[object, msgspec.json.Decoder[Any]] = {
    type_of(each): msgspec.json.Decoder(each) for each in get_args(messages.HostMessage)
}


def decode(line: bytes) -> Message:
    """The message of the host on a line; raises Unreadable."""
    head = _Head()
    try:
        head = _decode_head(line)
        decoder = _decoders.get(head.type)
        if decoder is None:
            raise Unreadable(f"a message of unknown type {head.type!r}", head.id)
        message: Message = decoder.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Unreadable(f"a message that can't be read: {error}", head.id) from None
    return message


class _Waiting:
    """Who waits for a response."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answer: SimpleQueue[Message | BaseException] = SimpleQueue()


class Channel:
    """`source` and `sink` are the descriptors that the host's messages come from and the plugin's go to.

    It closes them: the one when the host has closed its end, the other behind `exit`.
    """

    def __init__(self, source: int, sink: int) -> None:
        self.shutting_down = threading.Event()
        self._source = source
        self._sink = sink
        self._lines = wire.Lines(sys.maxsize)
        self._came = self._messages()
        self._outbox: SimpleQueue[tuple[bytes, SimpleQueue[bool], bool]] = SimpleQueue()
        self._calling = threading.Lock()  # held while the functions given to on_shutdown run
        self._lock = threading.Lock()  # over what follows
        self._ids = itertools.count(1)
        self._pending: dict[int, _Waiting] = {}
        self._callbacks: list[Callable[[], object]] = []
        self._lost = False  # nothing comes any more
        self._closed = False  # nothing goes any more
        self._reader = 0

    # --- before and after the threads run

    def first(self) -> messages.Init | messages.Describe | None:
        """What the plugin was started for; None where nobody says so."""
        for message in self._came:
            if isinstance(message, messages.Init | messages.Describe):
                return message
        return None

    def describe(self, description: messages.Description) -> None:
        """Write the one line of a plugin that was asked to describe itself."""
        self._write(wire.encode(description))
        self.close()

    def close(self) -> None:
        """Close both ends where the threads were never started."""
        os.close(self._source)
        os.close(self._sink)

    def start(self) -> None:
        """Read and write from now on."""
        for task in (self._read_on, self._write_on):
            threading.Thread(target=task, name=f"jp{task.__name__}", daemon=True).start()

    def finish(self, code: int, reason: str | None) -> None:
        """Say `exit`; nothing is sent after it. What runs because JP is ending comes to its end first."""
        with self._calling:
            pass
        try:
            self._put(wire.encode(messages.Exit(code=code, reason=reason or msgspec.UNSET)), last=True)
        except HostGone:
            pass
        self._wake(HostGone, everybody=True)

    # --- for every thread

    def send(self, message: Message) -> None:
        """Send a message, and return when it is written; raises HostGone, and ValueError for one that is too long."""
        line = wire.encode(message)
        if len(line) > wire.MAX_LINE:
            raise ValueError(f"a message of {len(line):,} bytes: at most {wire.MAX_LINE:,} can be sent at once")
        if not self._put(line):
            raise HostGone("JP does not listen any more")

    def ask(self, request: Request, wanted: type[R]) -> R:
        """The response to a request; raises RequestFailed, ShuttingDown and HostGone."""
        if threading.get_ident() == self._reader:
            raise RuntimeError("a function given to on_shutdown can't ask: it runs where responses are read")
        waiting = _Waiting(request)
        with self._lock:
            if self._lost or self._closed:
                raise HostGone("JP is gone")
            if self.shutting_down.is_set() and not isinstance(request, _FINISHING):
                raise ShuttingDown("JP is ending")
            request.id = ident = next(self._ids)
            self._pending[ident] = waiting
        try:
            self.send(request)
            answer = waiting.answer.get()
        finally:
            self._pending.pop(ident, None)
        if isinstance(answer, messages.Error):
            raise RequestFailed(answer.request or type_of(request), answer.message)
        if isinstance(answer, BaseException):
            raise answer
        if not isinstance(answer, wanted):
            raise RequestFailed(type_of(request), f"JP answered with `{type_of(answer)}`")
        return answer

    def on_shutdown(self, fn: Callable[[], object]) -> None:
        """Have `fn` called when JP ends; at once when it is ending."""
        with self._lock:
            late = self.shutting_down.is_set()
            if not late:
                self._callbacks.append(fn)
        if late:
            _call(fn)

    # --- reading

    def _messages(self) -> Iterator[Message]:
        while True:
            try:
                data = os.read(self._source, _READ)
            except OSError:
                return
            if not data:
                return
            for line in self._lines.feed(data):
                if not line.strip():
                    continue
                try:
                    yield decode(line)
                except Unreadable as error:
                    if isinstance(error.id, int):
                        yield messages.Error(id=error.id, request="", message=f"JP answered with {error}")
                    else:
                        _say(f"JP sent {error}")

    def _read_on(self) -> None:
        self._reader = threading.get_ident()
        for message in self._came:
            if isinstance(message, messages.Shutdown):
                self._shut_down()
            elif isinstance(message, Response):
                waiting = self._pending.pop(message.id, None) if isinstance(message.id, int) else None
                if waiting is not None:
                    waiting.answer.put(message)
                elif isinstance(message, messages.Error) and message.id is msgspec.UNSET:
                    _say(f"JP refused `{message.request}`: {message.message}")  # of what gets no response
        self._lost = True
        self._wake(HostGone, everybody=True)
        self._shut_down()
        os.close(self._source)
        self._reader = 0

    def _shut_down(self) -> None:
        with self._calling:
            with self._lock:
                if self.shutting_down.is_set():
                    return
                self.shutting_down.set()
                callbacks = self._callbacks[:]
            self._wake(ShuttingDown, everybody=False)  # first: they may wait for threads that wait
            for fn in callbacks:
                _call(fn)

    def _wake(self, error: type[ShuttingDown], *, everybody: bool) -> None:
        """Tell those that wait that nothing will come for them."""
        with self._lock:
            woken = {
                ident: waiting
                for ident, waiting in list(self._pending.items())
                if everybody or not isinstance(waiting.request, _FINISHING)
            }
            for ident in woken:
                self._pending.pop(ident, None)
        for waiting in woken.values():
            waiting.answer.put(error("JP is ending"))

    # --- writing

    def _put(self, line: bytes, *, last: bool = False) -> bool:
        """Whether the line was written."""
        written: SimpleQueue[bool] = SimpleQueue()
        with self._lock:
            if self._closed:
                raise HostGone("the plugin has said that it ends")
            self._closed = last
            self._outbox.put((line, written, last))
        return written.get()

    def _write_on(self) -> None:
        heard, last = True, False
        while not last:
            line, written, last = self._outbox.get()
            heard = heard and self._write(line)
            if last:
                os.close(self._sink)
            written.put(heard)

    def _write(self, line: bytes) -> bool:
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._sink, view) :]
        except OSError:
            return False
        return True


def _call(fn: Callable[[], object]) -> None:
    try:
        fn()
    except ShuttingDown:
        pass  # it was too late for what it wanted
    except BaseException:
        traceback.print_exc()  # the thread has to go on


def _say(text: str) -> None:
    """A line for JP's log."""
    sys.stderr.write(text + "\n")
