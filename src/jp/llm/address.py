"""Addresses of servers: the little of URLs that a client of a few APIs needs.

`urllib.parse` would cost a tenth of a start-up for these lines.
"""

from msgspec import Struct

from jp.llm.errors import BadAddressError

DEFAULT_PORTS = {"http": 80, "https": 443}


class Address(Struct, frozen=True):
    """`scheme://host:port/path?query`; `path` begins with a slash, `userinfo` is `user:password` as written."""

    scheme: str
    host: str
    port: int
    path: str = "/"
    userinfo: str | None = None

    @property
    def origin(self) -> str:
        """`scheme://host[:port]`, never with credentials."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """The value of a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{host}:{self.port}"

    @property
    def credentials(self) -> tuple[bytes, bytes] | None:
        """User and password, decoded."""
        if not self.userinfo:
            return None
        user, _, password = self.userinfo.partition(":")
        return _unquoted(user), _unquoted(password)

    def basic(self, header: str) -> list[tuple[str, str]]:
        """A header with user and password for basic authentication; none where the address has none."""
        if self.credentials is None:
            return []
        import binascii  # rare

        both = b":".join(self.credentials)
        return [(header, "Basic " + binascii.b2a_base64(both, newline=False).decode())]

    @property
    def shown(self) -> str:
        """The address for messages: without credentials and query."""
        return self.origin + self.path.partition("?")[0]


def parse(url: str, *, name: str = "the address") -> Address:
    """Read a URL with scheme http or https. Raises BadAddressError, which says `name` and what is wrong."""
    scheme, separator, rest = url.strip().partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in DEFAULT_PORTS:
        raise _bad(url, name, "it must begin with http:// or https://")
    cut = min((i for i in (rest.find("/"), rest.find("?"), rest.find("#")) if i >= 0), default=len(rest))
    authority, path = rest[:cut], rest[cut:].partition("#")[0]
    userinfo, at, hostport = authority.rpartition("@")
    if hostport.startswith("["):
        host, bracket, port = hostport[1:].partition("]")
        if not bracket:
            raise _bad(url, name, "a bracket is not closed")
    else:
        host, colon, port = hostport.partition(":")
        port = colon + port
    if not host or any(c <= " " or c == "\x7f" for c in url.strip()):
        raise _bad(url, name, "it has no host" if not host else "it contains a space or a control character")
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise _bad(url, name, "its host is not a possible name") from None
    number = DEFAULT_PORTS[scheme]
    if port not in ("", ":"):
        digits = port.removeprefix(":")
        if not (port.startswith(":") and digits.isdecimal() and digits.isascii() and 0 < int(digits) < 65536):
            raise _bad(url, name, f"its port is not a number from 1 to 65535: {digits}")
        number = int(digits)
    if not path.startswith("/"):
        path = "/" + path
    return Address(scheme, host.lower(), number, path, userinfo if at else None)


def join(base: str, path: str) -> str:
    """A path below a base URL, however the base ends."""
    return base.rstrip("/") + path


def resolve(base: Address, location: str) -> Address:
    """Where a Location header points to, seen from `base`."""
    if "://" in location:
        return parse(location, name="the redirect")
    if location.startswith("//"):
        return parse(f"{base.scheme}:{location}", name="the redirect")
    if not location.startswith("/"):
        location = base.path.partition("?")[0].rpartition("/")[0] + "/" + location
    return Address(base.scheme, base.host, base.port, location.partition("#")[0])


def _unquoted(text: str) -> bytes:
    """Percent-decoding."""
    first, *rest = text.encode().split(b"%")
    out = [first]
    for part in rest:
        try:
            out.append(bytes([int(part[:2], 16)]) + part[2:])
        except ValueError:
            out.append(b"%" + part)
    return b"".join(out)


def _bad(url: str, name: str, why: str) -> BadAddressError:
    shown = url.rpartition("@")[2] if "@" in url else url
    return BadAddressError(f"{name} is not a usable URL: {shown!r}: {why}")
