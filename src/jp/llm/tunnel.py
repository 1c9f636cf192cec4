"""Through a proxy to the server: CONNECT for http:// proxies, SOCKS 5 (RFC 1928, 1929) for socks5:// ones.

Bytes are taken one by one or by count, never more: what follows the proxy's answer belongs to the tunnel. A SOCKS proxy
is given the name, not an address (what `socks5h` says): it may know names that this machine does not.
"""

from __future__ import annotations

from jp.llm.address import Address
from jp.llm.connect import Lifeline
from jp.llm.errors import BadResponse, NetworkError, ProxyError, Timeout
from jp.llm.http11 import USER_AGENT, ResponseDecoder, encode_head
from jp.llm.proxy import Proxy
from jp.llm.wire import Wire
from jp.terminal.sanitize import one_line

_SOCKS_ERRORS = {
    1: "it failed",
    2: "its rules forbid it",
    3: "the network can't be reached",
    4: "the host can't be reached",
    5: "nothing listens there",
    6: "it took too long",
    7: "it does not know the command",
    8: "it does not know this kind of address",
}


def through(proxy: Proxy, server: Address, lifeline: Lifeline, *, limit: float) -> Wire:
    """A connection to `server` through `proxy`; to the proxy itself for plain HTTP, which asks it for whole addresses.

    Until it is there, every failure is the proxy's and says so. Raises ProxyError, NetworkError, Stopped.
    """
    try:
        wire = Wire(proxy.address, lifeline, server=proxy.address, timeout=limit)
    except NetworkError as error:
        raise proxy.blamed(error) from error
    try:
        if proxy.socks:
            _Socks(wire, proxy, server, limit).open()
        elif server.scheme == "https":
            _connect(wire, proxy, server, limit)
    except BaseException as error:
        wire.close()
        if isinstance(error, Timeout):
            language = "SOCKS 5" if proxy.socks else "HTTP"
            reason = f"{proxy.shown} did not answer in {language} within {limit:g} s"
            raise proxy.blamed(Timeout(reason)) from error
        if isinstance(error, NetworkError) and not isinstance(error, ProxyError):
            raise proxy.blamed(error) from error
        raise
    wire.server = server
    return wire


def _connect(wire: Wire, proxy: Proxy, server: Address, limit: float) -> None:
    where = _host_and_port(server)
    headers = [("Host", where), ("User-Agent", USER_AGENT), *proxy.address.basic("Proxy-Authorization")]
    wire.send(encode_head("CONNECT", where, headers), limit=limit)
    answer = ResponseDecoder("HEAD")  # the body of a success is the tunnel
    while not answer.head_complete:
        data = wire.receive(limit=limit, size=1)
        if not data:
            raise proxy.refused(where, "it closed the connection")
        try:
            answer.feed(data)
        except BadResponse as error:
            raise proxy.refused(where, error.message) from error
    if answer.status // 100 != 2:
        hints = ["Put user and password into the proxy's URL."] if answer.status == 407 else []
        raise proxy.refused(where, one_line(f"{answer.status} {answer.reason}").rstrip(), hints)


class _Socks:
    def __init__(self, wire: Wire, proxy: Proxy, server: Address, limit: float) -> None:
        self._wire = wire
        self._proxy = proxy
        self._server = server
        self._limit = limit

    def open(self) -> None:
        user, password = self._proxy.address.credentials or (b"", b"")
        methods = b"\x00\x02" if user else b"\x00"
        self._send(bytes([5, len(methods)]) + methods)
        version, method = self._take(2)
        if version != 5:
            raise self._refused("it does not speak SOCKS 5")
        if method == 2:
            self._send(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
            if self._take(2)[1] != 0:
                raise self._refused("it did not accept user and password")
        elif method != 0:
            raise self._refused("it wants user and password", ["Put them into the proxy's URL."])
        host = self._server.host.encode()
        self._send(b"\x05\x01\x00\x03" + bytes([len(host)]) + host + self._server.port.to_bytes(2, "big"))
        _, status, _, kind = self._take(4)
        if status != 0:
            raise self._refused(_SOCKS_ERRORS.get(status, f"error {status}"))
        self._take({1: 4, 4: 16}.get(kind) or self._take(1)[0])
        self._take(2)

    def _refused(self, why: str, hints: list[str] | None = None) -> ProxyError:
        return self._proxy.refused(_host_and_port(self._server), why, hints)

    def _send(self, data: bytes) -> None:
        self._wire.send(data, limit=self._limit)

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._wire.receive(limit=self._limit, size=count - len(data))
            if not more:
                raise self._refused("it closed the connection")
            data += more
        return data


def _host_and_port(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"
