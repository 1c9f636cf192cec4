"""Which proxy an address is reached through: the environment's say, as curl, Python and Go read it; pure.

`HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY` in either case (lower case wins), `NO_PROXY` with host names, domain
suffixes, `host:port`, addresses, networks and `*`. Loopback is never proxied: the models of this machine are there.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from jp.llm.address import Address, parse
from jp.llm.errors import BadAddressError, BadResponse, LlmError, NetworkError, ProxyError, StreamCut

SOCKS_PORT = 1080


class Proxy(Struct, frozen=True):
    """A proxy: where it is, and the variable that names it. The scheme is http or socks5."""

    address: Address
    variable: str

    @property
    def socks(self) -> bool:
        """Whether it speaks SOCKS 5 rather than HTTP."""
        return self.address.scheme == "socks5"

    @property
    def shown(self) -> str:
        """The proxy for messages, without credentials."""
        return self.address.origin

    @property
    def hints(self) -> list[str]:
        """What to do about a proxy that fails."""
        return [f"Check the proxy in {self.variable}; hosts that NO_PROXY names are reached without one."]

    def blamed(self, error: NetworkError) -> NetworkError:
        """`error` happened on the way to the proxy: the same kind of error, which says so."""
        return type(error)(
            f"the proxy that {self.variable} names can't be used: {error.message}",
            address=self.shown,
            hints=self.hints,
        )

    def refused(self, where: str, why: str, hints: list[str] | None = None) -> ProxyError:
        """The proxy was reached and made no connection to `where`."""
        return ProxyError(
            f"the proxy {self.shown}, which {self.variable} names, did not connect to {where}: {why}",
            address=self.shown,
            hints=[*(hints or []), *self.hints],
        )

    def explain(self, error: LlmError) -> None:
        """Add to the hints of an error that may as well be the proxy's that there was one."""
        status = error.status_code or 0
        possible = isinstance(error, NetworkError | BadResponse | StreamCut) or status == 403 or status >= 500
        if possible and self.variable not in error.message:
            hint = f"The request went through the proxy {self.shown}, which {self.variable} names: it may be at fault."
            error.hints = (*error.hints, hint)


def proxy_for(target: Address, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy for `target`, or None. Raises BadAddressError, which names the variable."""
    for name in (f"{target.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            value = environ.get(variable, "").strip()
            if variable == "HTTP_PROXY" and "REQUEST_METHOD" in environ:
                continue  # under CGI this variable is a request header, that is, a stranger's
            if value:
                return None if _bypassed(target, environ) else _proxy(value, variable)
    return None


def _proxy(value: str, variable: str) -> Proxy:
    scheme, separator, rest = value.partition("://")
    if not separator:
        scheme, rest = "http", value
    scheme = scheme.lower()
    if scheme not in ("http", "socks5", "socks5h"):
        raise BadAddressError(
            f"the proxy in {variable} has the scheme {scheme}://, and JP speaks to http:// and socks5:// proxies only",
            hints=["Use another proxy, or name this host in NO_PROXY."],
        )
    address = parse(f"http://{rest}", name=f"the proxy in {variable}")
    if scheme == "http":
        return Proxy(address, variable)
    given = rest.rpartition("@")[2].rstrip("/")
    has_port = given.rpartition("]")[2].find(":") >= 0
    return Proxy(replace(address, scheme="socks5", port=address.port if has_port else SOCKS_PORT), variable)


def _bypassed(target: Address, environ: Mapping[str, str]) -> bool:
    if loopback(target.host):
        return True
    listed = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    return any(_matches(entry.strip().lower(), target) for entry in listed.split(","))


def loopback(host: str) -> bool:
    """Whether a host is this machine."""
    return host in ("localhost", "::1") or host.endswith(".localhost") or _dotted(host, "127.")


def _dotted(host: str, start: str) -> bool:
    return host.startswith(start) and host.replace(".", "").isdecimal()


def _matches(entry: str, target: Address) -> bool:
    if not entry:
        return False
    if entry == "*":
        return True
    if "/" in entry:
        return _in_network(target.host, entry)
    if entry.count(":") == 1:
        entry, _, port = entry.partition(":")
        if port != str(target.port):
            return False
    entry = entry.strip("[]").removeprefix("*").removeprefix(".")
    return target.host == entry or target.host.endswith("." + entry)


def _in_network(host: str, network: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
