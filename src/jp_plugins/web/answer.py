"""What is sent back, with the headers that keep a page from doing or telling anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """A response; HEADERS are sent with each."""

    body: bytes
    type: str = HTML
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


def page(html: str, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """A page, or a part of one."""
    return Answer(html.encode("utf-8", "replace"), HTML, status)


def plain(text: str, status: HTTPStatus, **headers: str) -> Answer:
    """A line of text."""
    return Answer(text.encode(), "text/plain; charset=utf-8", status, headers)


def as_json(value: Any) -> Answer:
    """A value for the script."""
    return Answer(json.dumps(value).encode(), "application/json")


def elsewhere(path: str, cookie: str) -> Answer:
    """Send the browser to `path` of this server, with a cookie."""
    return Answer(b"", HTML, HTTPStatus.SEE_OTHER, {"Location": path, "Set-Cookie": cookie})
