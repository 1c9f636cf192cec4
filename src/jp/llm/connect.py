"""A TCP connection that can be given up from another thread.

Waking a thread that waits in the kernel (all tried): `close()` from another thread does not wake a read at all and
frees the descriptor's number for somebody else; `shutdown()` on the socket object fails once TLS has wrapped it, since
its own descriptor is -1 then; so a `dup` taken before `connect`, kept in a `Lifeline`, and `shutdown` on that, which
wakes connect, handshake, send and receive alike. What can't be woken is `getaddrinfo`: a thread in there is left to
itself and finds the line cut when it comes back.
"""

from __future__ import annotations

import errno
import selectors
import socket
import threading

from jp.interrupt.standing import clock
from jp.llm.address import Address
from jp.llm.errors import (
    ConnectionRefused,
    LlmError,
    NameNotFound,
    NetworkError,
    ServerNotRunning,
    Stopped,
    Timeout,
)

STAGGER = 0.25
_UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class Lifeline:
    """What a stop pulls at. `cut` may be called by any thread and never blocks; the rest is the reader's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: dict[socket.socket, socket.socket] = {}
        self.was_cut = False

    def hold(self, sock: socket.socket) -> None:
        """Keep a second end of `sock`, before it connects. Raises Stopped when the line is cut."""
        with self._lock:
            if self.was_cut:
                raise Stopped("stopped")
            self._ends[sock] = sock.dup()

    def drop(self, sock: socket.socket) -> None:
        """Let go of `sock`, which has lost the race, and close it."""
        sock.close()
        with self._lock:
            end = self._ends.pop(sock, None)
            if end is not None:
                end.close()

    def cut(self) -> None:
        """Wake whoever waits on a socket of this line, now and in future."""
        with self._lock:
            self.was_cut = True
            for end in self._ends.values():
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # not connected yet on some systems; the race looks at `was_cut` four times a second

    def check(self) -> None:
        """Raises Stopped when the line is cut."""
        if self.was_cut:
            raise Stopped("stopped")

    def close(self) -> None:
        """The exchange is over: let go of the ends."""
        with self._lock:
            for end in self._ends.values():
                end.close()
            self._ends.clear()


def connect(address: Address, lifeline: Lifeline, *, timeout: float) -> socket.socket:
    """A connection to the first address of the host that answers, tried `STAGGER` seconds apart.

    `timeout` is for all of it, in seconds. Raises NameNotFound, ConnectionRefused (ServerNotRunning where all addresses
    are this machine's), Timeout, NetworkError, Stopped.
    """
    lifeline.check()
    candidates = _interleaved(_look_up(address))
    lifeline.check()
    here = all(_is_loopback(str(where[0])) for _, where in candidates)
    race = _Race(candidates, lifeline)
    try:
        won = race.run(timeout)
    finally:
        race.close()
    if won is None:
        lifeline.check()
        raise _lost(address, race.errors, timeout, here=here)
    won.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return won


Candidate = tuple[int, tuple[object, ...]]


class _Race:
    def __init__(self, candidates: list[Candidate], lifeline: Lifeline) -> None:
        self._waiting = candidates
        self._lifeline = lifeline
        self._selector = selectors.DefaultSelector()
        self._running: list[socket.socket] = []
        self.errors: list[OSError] = []

    def run(self, timeout: float) -> socket.socket | None:
        """The winner, connected and non-blocking, or None. A stop of the whole process does not count as waiting."""
        left = timeout or float("inf")
        next_start = 0.0
        while left > 0 and (self._waiting or self._running):
            self._lifeline.check()
            if self._waiting and (next_start <= 0 or not self._running):
                won = self._start(self._waiting.pop(0))
                if won is not None:
                    return won
                next_start = STAGGER
                continue
            begun = clock()
            ready = self._selector.select(min(left, next_start if self._waiting else STAGGER, STAGGER))
            waited = min(clock() - begun, 2 * STAGGER)
            left -= waited
            next_start -= waited
            for key, _ in ready:
                sock = key.fileobj
                assert isinstance(sock, socket.socket)
                if self._settled(sock):
                    return sock
                next_start = 0.0
        return None

    def _start(self, candidate: Candidate) -> socket.socket | None:
        family, where = candidate
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            self.errors.append(error)
            return None
        sock.setblocking(False)
        self._running.append(sock)
        self._lifeline.hold(sock)
        code = sock.connect_ex(where)
        if code in (0, errno.EISCONN):
            self._running.remove(sock)
            return sock
        if code in (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY, errno.EINTR):
            self._selector.register(sock, selectors.EVENT_WRITE)
            return None
        self._fail(sock, code)
        return None

    def _settled(self, sock: socket.socket) -> bool:
        self._selector.unregister(sock)
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if not code:
            try:
                sock.getpeername()  # a cut line makes the socket writable without an error
            except OSError as error:
                code = error.errno or errno.ENOTCONN
        if code:
            self._fail(sock, code)
            return False
        self._running.remove(sock)
        return True

    def _fail(self, sock: socket.socket, code: int) -> None:
        self._running.remove(sock)
        self._lifeline.drop(sock)
        self.errors.append(OSError(code, errno.errorcode.get(code, str(code))))

    def close(self) -> None:
        for sock in self._running:
            self._lifeline.drop(sock)
        self._selector.close()


def _look_up(address: Address) -> list[Candidate]:
    # As bytes: for a str the interpreter loads its IDNA codec, 10 ms, even for ASCII.
    try:
        found = socket.getaddrinfo(address.host.encode(), address.port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise NameNotFound(f"{address.host!r} is not a host name", address=address.origin) from None
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise NetworkError(
                f"the name {address.host} could not be looked up right now",
                address=address.origin,
                hints=["Check the network connection."],
            ) from error
        raise NameNotFound(
            f"no host has the name {address.host}",
            address=address.origin,
            hints=["Check the provider's `base_url` and the network connection."],
        ) from error
    return list(dict.fromkeys((family, where) for family, _, _, _, where in found))


def _interleaved(candidates: list[Candidate]) -> list[Candidate]:
    """Families in turn, the first one first, so that one dead family costs one stagger."""
    if not candidates:
        return []
    first = [c for c in candidates if c[0] == candidates[0][0]]
    other = [c for c in candidates if c[0] != candidates[0][0]]
    mixed: list[Candidate] = []
    while first or other:
        mixed += [queue.pop(0) for queue in (first, other) if queue]
    return mixed


def _is_loopback(ip: str) -> bool:
    return ip.removeprefix("::ffff:").startswith("127.") or ip == "::1"


def _lost(address: Address, errors: list[OSError], timeout: float, *, here: bool = False) -> LlmError:
    codes = [error.errno for error in errors]
    if errno.ECONNREFUSED in codes:
        return (ServerNotRunning if here else ConnectionRefused)(
            f"nothing listens at {address.origin}",
            address=address.origin,
            hints=["Is the server running? Check the provider's `base_url`."],
        )
    if codes and all(code in _UNREACHABLE for code in codes):
        return NetworkError(
            f"{address.origin} can't be reached from here",
            address=address.origin,
            hints=["Check the network connection."],
        )
    if codes and errno.ETIMEDOUT not in codes:
        return NetworkError(f"no connection to {address.origin}: {_words(errors[-1])}", address=address.origin)
    return Timeout(
        f"{address.origin} did not answer within {timeout:g} s",
        address=address.origin,
        hints=["Check the network connection."],
    )


def _words(error: OSError) -> str:
    import os

    return os.strerror(error.errno) if error.errno else str(error)
