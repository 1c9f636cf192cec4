"""Who is let in: a browser that was given the address that JP printed, and nobody else on this machine or elsewhere.

The address holds a token that is exchanged for a cookie at once, so that no page, history entry or log line after that
shows it. `--open` gets a ticket instead, good for one use: other users of the machine can see a browser's arguments.

* Another site, by a name that it lets lead to 127.0.0.1 (DNS rebinding): the `Host` is not ours.
* Another site's page: the cookie is SameSite=Strict, and its `Sec-Fetch-Site` or `Origin` gives it away.
* A page of another server on 127.0.0.1: for cookies that is the same site, so `Sec-Fetch-Site` must be `same-origin`
  (or `none`: typed by a person). What can't be helped: browsers send the cookie to all ports of 127.0.0.1, so a hostile
  server there that the person visits gets to know it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

ADDRESS = "127.0.0.1"

_LOGIN = "Open the address that `jp serve web` printed, by typing or pasting it into the address bar.\n"


@dataclass(frozen=True)
class Asked:
    """A request: `headers` by lower-case name, each with all values that came."""

    method: str
    path: str
    query: str
    headers: Mapping[str, Sequence[str]]

    def header(self, name: str) -> str | None:
        """The value of a header; None where it is not there, an empty string where it is there twice."""
        values = self.headers.get(name, ())
        return None if not values else values[0] if len(values) == 1 else ""


def field(query: str, name: str) -> str:
    """The first value of a field of a query; empty where there is none."""
    try:
        return parse_qs(query, max_num_fields=20).get(name, [""])[0][:400]
    except ValueError:
        return ""


class Refused(Exception):
    """Not let in; the message is for the person in front of the browser."""


class Access:
    """Of a server on `port`."""

    def __init__(self, port: int) -> None:
        self._origin = f"http://{ADDRESS}:{port}"
        self._hosts = {f"{ADDRESS}:{port}"} | ({ADDRESS} if port == 80 else set())
        self._cookie = f"jp-{port}"  # cookies do not know ports
        self._token = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(24)
        self._tickets: set[str] = set()
        self._lock = threading.Lock()

    def address(self) -> str:
        """The address to print."""
        return f"{self._origin}/?token={self._token}"

    def address_for_once(self) -> str:
        """An address that lets in the first who uses it."""
        ticket = secrets.token_urlsafe(24)
        with self._lock:
            self._tickets.add(ticket)
        return f"{self._origin}/?token={ticket}"

    def cookie(self) -> str:
        """The value of `Set-Cookie` for who came with a token."""
        return f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"

    def by_token(self, asked: Asked) -> bool:
        """Whether the request may go on: True with a token, to be exchanged, False with the cookie. Raises Refused."""
        if asked.header("host") not in self._hosts:
            raise Refused(f"This server is {self._origin} and has no other name.\n")
        site, origin = asked.header("sec-fetch-site"), asked.header("origin")
        if site not in (None, "same-origin", "none") or origin not in (None, self._origin):
            raise Refused(f"Not from another page. {_LOGIN}")
        token = field(asked.query, "token")
        if token:
            if self._knows(token):
                return True
            raise Refused(f"This address is not valid (any more). {_LOGIN}")
        if not self._has_cookie(asked):
            raise Refused(_LOGIN)
        return False

    def _knows(self, token: str) -> bool:
        given = token.encode("utf-8", "replace")
        if compare_digest(given, self._token.encode()):
            return True
        with self._lock:
            used = {ticket for ticket in self._tickets if compare_digest(given, ticket.encode())}
            self._tickets -= used
        return bool(used)

    def _has_cookie(self, asked: Asked) -> bool:
        for header in asked.headers.get("cookie", ()):
            try:
                found = SimpleCookie(header).get(self._cookie)
            except CookieError:
                continue
            if found is not None and compare_digest(found.value.encode("utf-8", "replace"), self._session.encode()):
                return True
        return False
