"""A server's life on the event loop, and the calls of its tools. Imports the SDK: on the servers' thread alone."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any, TypeVar

import mcp_types as types
from mcp.shared.exceptions import MCPError

from jp.log import DEBUG, log
from jp.tool.mcp.content import of_result
from jp.tool.mcp.pipes import Pipes
from jp.tool.mcp.server import GONE, READY, Server
from jp.tool.mcp.session import Session, handshake, session
from jp.tool.mcp.waiting import within
from jp.tool.mcp.web import web
from jp.tool.outcome import Failure, Success

T = TypeVar("T")

LAST_WORDS_SECS = 0.3
GRACE_SECS = 1.0  # for ending once its stdin is closed
SAID_LIMIT = 300
CLOSED = (types.CONNECTION_CLOSED, "Connection closed")


async def serve(server: Server, closing: asyncio.Event) -> None:
    """Be connected to a server that has been launched: READY, until it ends or `closing` is set; FAILED else."""
    pipes = None if server.child is None else Pipes(server, server.child)
    reason = hint = ""
    try:
        async with web(server) if pipes is None else pipes as streams, session(*streams, server) as spoken:
            reason, hint = await _spoken(server, spoken, pipes, closing)
    except (asyncio.CancelledError, Exception) as error:  # the connection's own: of HTTP, or what is left at its end
        reason = reason or _said(error)
    server.session = None
    if server.state == READY:
        server.over = reason
        log(DEBUG, "mcp", "gone", server=server.name, reason=reason)
        server.become(GONE)
    else:
        server.fail(reason, hint)
    if pipes is not None:
        if closing.is_set() and not pipes.exited.is_set():
            await _happens(pipes.exited.wait(), GRACE_SECS)
        server.kill()


async def _spoken(server: Server, spoken: Session, pipes: Pipes | None, closing: asyncio.Event) -> tuple[str, str]:
    """Get it ready and let it be used; why that has ended, and what to do."""
    ended = pipes.ended if pipes else asyncio.Event()
    try:
        server.tools = await _unless(closing, within(server.start_secs, handshake(spoken, server)))
        server.session = spoken
        server.become(READY)
        await _unless(closing, ended.wait())
    except TimeoutError:
        hint = f"providers.mcp.{server.name}.startup_timeout_secs is how long it may take"
        return f"has not answered within {server.start_secs} seconds", hint
    except _ClosingError:
        return "was told to end", ""
    except Exception as error:  # the SDK's, pydantic's, of whatever a server makes up
        if not ended.is_set():
            return _said(error), ""
    assert pipes is not None
    return await _end(server, pipes), ""


class _ClosingError(Exception):
    """JP is ending."""


async def _unless(event: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives; raises _ClosingError, and cancels it, when the event comes first."""
    task, coming = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, coming}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise _ClosingError
        return task.result()
    finally:
        task.cancel()
        coming.cancel()


async def _end(server: Server, pipes: Pipes) -> str:
    """Why it has ended, when its program has had time to end and to be heard."""
    if pipes.why:
        return pipes.why
    for event in (pipes.exited, pipes.silent):
        await _happens(event.wait(), LAST_WORDS_SECS)
    return server.ended_how


async def call(server: Server, tool: str, arguments: dict[str, Any], seconds: float) -> Success | Failure:
    """Call a tool. Whatever goes wrong is a Failure; cancelled, the server is told so."""
    spoken = server.session
    if spoken is None:
        return Failure(_over(server))
    try:
        result = await within(seconds, spoken.call_tool(tool, _clean(arguments)))
    except TimeoutError:
        return Failure(f'the MCP server "{server.name}" has not answered within {seconds:g} seconds')
    except MCPError as error:
        if (error.code, error.message) != CLOSED:  # the HTTP client uses the code for single requests, too
            return Failure(error.message or "the MCP server has reported an error without a message")
        await _happens(_gone(server), 2 * LAST_WORDS_SECS + 1)
        return Failure(_over(server))
    except Exception as error:  # the SDK's and pydantic's, of whatever a server makes up
        return Failure(f'the answer of the MCP server "{server.name}" makes no sense', [_plain(error)])
    text, is_error = of_result(result)
    if is_error:
        return Failure(text or "the tool has failed and does not say why")
    return Success(text)


async def _happens(what: Coroutine[Any, Any, object], seconds: float) -> None:
    """Wait for something that may not happen."""
    try:
        await asyncio.wait_for(what, seconds)
    except TimeoutError:
        pass


async def _gone(server: Server) -> None:
    while server.state == READY:
        await asyncio.sleep(0.01)


def _over(server: Server) -> str:
    return f'the MCP server "{server.name}" {server.over or "is not there"}'


def _said(error: BaseException) -> str:
    """What an error says of a server, out of the groups that the SDK's task groups make."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return f"has refused: {error.message}"
    return f"can't be spoken to: {_plain(error)}"


def _plain(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    text = ", ".join(line for line in lines if line and not line.startswith("For further information"))
    return text[:SAID_LIMIT] or type(error).__name__


def _clean(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as JSON that is Unicode: a half of a surrogate pair can't be sent."""
    cleaned: dict[str, Any] = json.loads(json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace"))
    return cleaned
