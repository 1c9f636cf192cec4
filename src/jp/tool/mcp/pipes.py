"""The streams of a server that is spoken to over the pipes of its program, as the SDK's session takes them.

Imports the SDK: on the servers' thread alone.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from jp.interrupt.children import Child
from jp.log import INFO
from jp.tool.mcp.framing import Lines, Overlong, Refusal, mended, message, refused
from jp.tool.mcp.server import Server
from jp.tool.output import Errors

Inbox = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbox = MemoryObjectSendStream[SessionMessage]

CHUNK = 64 * 1024
UNANSWERED = 1000  # requests of a server that wait for being answered; more is no conversation
AFTER_EXIT_SECS = 0.5  # for what is still in the pipe when the program has ended


class GaveUpError(Exception):
    """The connection is of no use any more: the end of a sentence."""


class Pipes:
    """An async context manager; `ended` is set when nothing more can come, `why` says so where it is not its end."""

    def __init__(self, server: Server, child: Child) -> None:
        self._server = server
        self._child = child
        self._tasks: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._unanswered = 0
        self.exited = asyncio.Event()
        self.silent = asyncio.Event()  # stderr is at its end
        self.ended = asyncio.Event()
        self.why = ""

    async def __aenter__(self) -> tuple[Inbox, Outbox]:
        loop = asyncio.get_running_loop()
        self._server.on_exit = _from_elsewhere(loop, self.exited.set)
        if self._child.exited.is_set():
            self.exited.set()
        into_inbox, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outbox, from_outbox = anyio.create_memory_object_stream[SessionMessage](0)
        stdin, stdout, stderr = self._child.stdin, self._child.stdout, self._child.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        flow = _Flow()
        writer, _ = await loop.connect_write_pipe(lambda: flow, os.fdopen(stdin, "wb", 0))
        self._transports.append(writer)
        for work in (
            self._write(writer, flow, from_outbox, into_inbox),
            self._read(await self._reader(stdout), into_inbox),
            self._listen(await self._reader(stderr)),
            self._mind(into_inbox),
        ):
            self._tasks.append(loop.create_task(work))
        return inbox, outbox

    async def __aexit__(self, *_: object) -> None:
        """Close stdin, which tells the program to end, and stop reading."""
        for task in self._tasks:
            task.cancel()
        for transport in self._transports:
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()
            else:
                transport.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the transports close their descriptors in the loop's next round

    async def _reader(self, fd: int) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=CHUNK, loop=loop)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(fd, "rb", 0)
        )
        self._transports.append(transport)
        return reader

    async def _read(
        self, reader: asyncio.StreamReader, inbox: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        lines = Lines()
        try:
            while chunk := await reader.read(CHUNK):
                for line in lines.feed(chunk):
                    await self._take(line, inbox)
                await asyncio.sleep(0)  # a server that floods must not have the loop to itself
            if last := lines.end():
                await self._take(last, inbox)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            pass
        except GaveUpError as error:
            self.why = str(error)
        finally:
            inbox.close()
            self.ended.set()

    async def _take(self, line: bytes | Overlong, inbox: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        if not isinstance(line, Overlong) and not line.strip():
            return
        found = message(line)
        parsed = found if isinstance(found, Refusal) else _parsed(found)
        if isinstance(parsed, Refusal):
            shown = line.head if isinstance(line, Overlong) else line[:2000]
            self._server.note(INFO, f"{parsed.why} on stdout: {shown.decode('utf-8', 'replace')}")
            if parsed.id is None and isinstance(line, Overlong):
                raise GaveUpError(f"has sent {parsed.why}")
            if parsed.id is None:
                return
            text = f"the MCP server has answered with {parsed.why}"
            parsed = JSONRPCError(jsonrpc="2.0", id=parsed.id, error=ErrorData(code=INVALID_REQUEST, message=text))
        elif isinstance(parsed, JSONRPCRequest):
            self._unanswered += 1
            if self._unanswered > UNANSWERED:
                raise GaveUpError("asks more than it listens to")
        await inbox.send(SessionMessage(parsed))

    async def _write(
        self,
        writer: asyncio.WriteTransport,
        flow: "_Flow",
        outbox: MemoryObjectReceiveStream[SessionMessage],
        inbox: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        try:
            async for each in outbox:
                if isinstance(each.message, JSONRPCResponse | JSONRPCError):
                    self._unanswered -= 1
                writer.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await flow.room.wait()
                if flow.lost:
                    break
        finally:
            outbox.close()
        if flow.lost:
            await asyncio.sleep(AFTER_EXIT_SECS)  # its last words may be in the other pipe
            inbox.close()
            self.ended.set()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        errors = Errors(self._server.say)
        try:
            while chunk := await reader.read(CHUNK):
                errors.feed(chunk)
                await asyncio.sleep(0)
            errors.end()
        except OSError:
            pass
        finally:
            self.silent.set()

    async def _mind(self, inbox: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """The program's end is the connection's, also where another process has inherited its pipes."""
        await self.exited.wait()
        await asyncio.sleep(AFTER_EXIT_SECS)
        inbox.close()
        self.ended.set()


def _parsed(line: bytes) -> JSONRPCMessage | Refusal:
    for attempt in (line, mended(line)):
        try:
            if attempt is not None:
                return _validated(attempt)
        except ValueError:
            pass
    return refused(line)


def _validated(line: bytes) -> JSONRPCMessage:
    found: JSONRPCMessage = jsonrpc_message_adapter.validate_json(line, by_name=False)
    return found


def _from_elsewhere(loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> Callable[[], object]:
    def tell() -> None:
        try:
            loop.call_soon_threadsafe(call)
        except RuntimeError:
            pass  # the loop is closed: nobody wants to know any more

    return tell


class _Flow(asyncio.BaseProtocol):
    """Whether the pipe takes more, and whether anybody reads it."""

    def __init__(self) -> None:
        self.room = asyncio.Event()
        self.room.set()
        self.lost = False

    def pause_writing(self) -> None:
        self.room.clear()

    def resume_writing(self) -> None:
        self.room.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.lost = True
        self.room.set()
