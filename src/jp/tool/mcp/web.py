"""The streams of a server that is reached by streamable HTTP. Imports the SDK: on the servers' thread alone."""

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from jp.tool.mcp.server import Server
from jp.version import VERSION

ANSWER_LIMIT = 1024 * 1024  # bytes of one message: the SDK parses it at once, and nothing else runs meanwhile
CONNECT_SECS = 30


@asynccontextmanager
async def web(server: Server) -> AsyncIterator[TransportStreams]:
    """The streams to the server's URL. What goes wrong is raised, often in an ExceptionGroup."""
    url = server.config.url or ""

    async def look(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            server.say(f"HTTP {response.status_code} {response.reason_phrase}".strip())
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("a compressed answer, though none was asked for", request=response.request)
        if isinstance(response.stream, httpx2.AsyncByteStream) and not _is_events(response):
            response.stream = _Bounded(response.stream)

    client = httpx2.AsyncClient(
        headers={"User-Agent": f"jp/{VERSION}", "Accept-Encoding": "identity", **headers(server)},
        timeout=httpx2.Timeout(CONNECT_SECS, read=None),  # how long an answer may take, the call says
        event_hooks={"response": [look]},
    )
    opened: AbstractAsyncContextManager[TransportStreams] = streamable_http_client(
        url, http_client=client, max_sse_event_size=ANSWER_LIMIT
    )
    async with client, opened as streams:
        yield streams


def headers(server: Server) -> dict[str, str]:
    """The configured headers. `${NAME}` is the variable of that name, where `variables` names it."""
    environ, known = server.surroundings.environ, server.config.variables

    def value(found: re.Match[str]) -> str:
        return environ.get(found[1], "") if found[1] in known else found[0]

    return {name: re.sub(r"\$\{(\w+)\}", value, text) for name, text in server.config.headers.items()}


def _is_events(response: httpx2.Response) -> bool:
    return bool(response.headers.get("content-type", "").lower().startswith("text/event-stream"))


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error where it grows too long."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        room = ANSWER_LIMIT
        async for chunk in self._stream:
            room -= len(chunk)
            if room < 0:
                raise httpx2.StreamError(f"more than {ANSWER_LIMIT >> 20} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
