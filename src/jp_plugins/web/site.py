"""What the server answers: who is let in, and which page an address is."""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus

from jp.plugin import sdk
from jp_plugins.assets import text
from jp_plugins.web import conversation_page, live, pages
from jp_plugins.web.access import Access, Asked, Refused, field
from jp_plugins.web.answer import Answer, as_json, elsewhere, page, plain
from jp_plugins.web.library import Library
from jp_plugins.web.search import search

_CONVERSATION = re.compile(r"/c/([0-9]{1,20})(/new)?")
_ASSETS = {
    "/style.css": ("text/css; charset=utf-8", ("document.css", "web.css")),
    "/page.js": ("text/javascript; charset=utf-8", ("page.js",)),
    "/icon.svg": ("image/svg+xml", ("icon.svg",)),
}


class Site:
    """Thread-safe. `where` names the workspace."""

    def __init__(self, library: Library, access: Access, where: str) -> None:
        self._library = library
        self._access = access
        self._where = where

    def answer(self, asked: Asked) -> Answer:
        """The answer to a request, whatever it is."""
        try:
            by_token = self._access.by_token(asked)
        except Refused as refused:
            return plain(str(refused), HTTPStatus.FORBIDDEN)
        if asked.method not in ("GET", "HEAD"):
            return plain("Only GET and HEAD.\n", HTTPStatus.METHOD_NOT_ALLOWED, Allow="GET, HEAD")
        conversation = _CONVERSATION.fullmatch(asked.path)
        if by_token:
            return elsewhere(asked.path if conversation else "/", self._access.cookie())
        try:
            if conversation is not None:
                return self._conversation(asked, conversation[1], new=bool(conversation[2]))
            return self._other(asked)
        except sdk.RequestFailed as error:
            return self._wrong("JP could not read that", error.message, HTTPStatus.BAD_GATEWAY)

    def _other(self, asked: Asked) -> Answer:
        if asked.path in _ASSETS:
            type_, names = _ASSETS[asked.path]
            return Answer("".join(map(text, names)).encode(), type_)
        query = field(asked.query, "q").strip()
        if asked.path == "/search":
            return page(self._list(asked, query))
        if asked.path == "/":
            body = pages.body_of_list(self._list(asked, query))
            title = f"{query} · Search" if query else "Conversations"
            return page(pages.frame(title, self._where, body, query=query, keys=pages.LIST_KEYS))
        return self._wrong("There is no such page", "The list of conversations is one link away.", HTTPStatus.NOT_FOUND)

    def _list(self, asked: Asked, query: str) -> str:
        if query:
            return pages.results(search(self._library, query))
        return pages.listing(self._library.conversations(), _number(field(asked.query, "page")) or 1)

    def _conversation(self, asked: Asked, id_: str, *, new: bool) -> Answer:
        try:
            events = self._library.events(id_)
        except sdk.RequestFailed as error:
            return self._wrong("There is no such conversation", error.message, HTTPStatus.NOT_FOUND)
        if new:
            found = live.news(events, field(asked.query, "after"), conversation_page.LOOK)
            return Answer(b"", status=HTTPStatus.NO_CONTENT) if found is None else as_json(found)
        body, about = conversation_page.body(events, _number(field(asked.query, "turn")))
        title = conversation_page.title_of(events)
        return page(pages.frame(title, self._where, body, about=about, keys=conversation_page.KEYS))

    def _wrong(self, what: str, why: str, status: HTTPStatus) -> Answer:
        body = f'<h1>{escape(what)}</h1>\n<p>{escape(why)}</p>\n<p><a href="/">All conversations</a></p>\n'
        return page(pages.frame(what, self._where, body), status)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
