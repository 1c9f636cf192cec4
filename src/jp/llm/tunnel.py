"""Through a proxy to the server: CONNECT for http:// proxies, SOCKS 5 (RFC 1928, 1929) for socks5:// ones.

Bytes are taken one by one or by count, never more: what follows the proxy's answer belongs to the tunnel. A SOCKS proxy
is given the name, not an address (what `socks5h` says): it may know names that this machine does not.
"""

from __future__ import annotations

from jp.llm.address import Address
from jp.llm.errors import ProxyError
from jp.llm.http11 import USER_AGENT, ResponseDecoder, encode_head
from jp.llm.proxy import Proxy
from jp.llm.wire import Wire

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


def open_tunnel(wire: Wire, proxy: Proxy, *, limit: float) -> None:
    """Make `wire`, connected to `proxy`, a connection to its server. Raises ProxyError, NetworkError, Stopped."""
    if proxy.socks:
        _Socks(wire, proxy, limit).open()
    else:
        _connect(wire, proxy, limit)


def _connect(wire: Wire, proxy: Proxy, limit: float) -> None:
    where = _host_and_port(wire.server)
    headers = [("Host", where), ("User-Agent", USER_AGENT), *proxy.address.basic("Proxy-Authorization")]
    wire.send(encode_head("CONNECT", where, headers), limit=limit)
    answer = ResponseDecoder("HEAD")  # the body of a success is the tunnel
    while not answer.head_complete:
        data = wire.receive(limit=limit, size=1)
        if not data:
            raise _refused(proxy, where, "it closed the connection")
        answer.feed(data)
    if answer.status // 100 != 2:
        hints = ["Put user and password into the proxy's URL."] if answer.status == 407 else []
        raise _refused(proxy, where, f"{answer.status} {answer.reason}".rstrip(), hints)


class _Socks:
    def __init__(self, wire: Wire, proxy: Proxy, limit: float) -> None:
        self._wire = wire
        self._proxy = proxy
        self._limit = limit
        self._where = _host_and_port(wire.server)

    def open(self) -> None:
        user, password = self._proxy.address.credentials or (b"", b"")
        methods = b"\x00\x02" if user else b"\x00"
        self._send(bytes([5, len(methods)]) + methods)
        version, method = self._take(2)
        if version != 5:
            raise _refused(self._proxy, self._where, "it does not speak SOCKS 5")
        if method == 2:
            self._send(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
            if self._take(2)[1] != 0:
                raise _refused(self._proxy, self._where, "it did not accept user and password")
        elif method != 0:
            raise _refused(self._proxy, self._where, "it wants user and password", ["Put them into the proxy's URL."])
        host = self._wire.server.host.encode()
        self._send(b"\x05\x01\x00\x03" + bytes([len(host)]) + host + self._wire.server.port.to_bytes(2, "big"))
        _, status, _, kind = self._take(4)
        if status != 0:
            raise _refused(self._proxy, self._where, _SOCKS_ERRORS.get(status, f"error {status}"))
        self._take({1: 4, 4: 16}.get(kind) or self._take(1)[0])
        self._take(2)

    def _send(self, data: bytes) -> None:
        self._wire.send(data, limit=self._limit)

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._wire.receive(limit=self._limit, size=count - len(data))
            if not more:
                raise _refused(self._proxy, self._where, "it closed the connection")
            data += more
        return data


def _host_and_port(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"


def _refused(proxy: Proxy, where: str, why: str, hints: list[str] | None = None) -> ProxyError:
    return ProxyError(
        f"the proxy {proxy.shown} did not connect to {where}: {why}", address=proxy.shown, hints=hints or []
    )
