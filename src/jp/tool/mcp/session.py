"""The SDK's session as JP uses it. Imports the SDK: on the servers' thread alone."""

import json
import logging
import os
from pathlib import Path

import mcp_types as types
from mcp.client._transport import ReadStream, WriteStream
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import FileUrl

from jp.log import DEBUG, INFO, TRACE, WARN, log
from jp.tool.mcp.server import Remote, Server
from jp.version import VERSION

PAGES = 100
TOOLS = 500
NAME = 128  # characters
LEVELS = {"debug": TRACE, "info": DEBUG, "notice": DEBUG, "warning": INFO}


class Session(ClientSession):
    """A session in which the workspace's root is known, and nothing that a server sends is run."""

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """Not done: it would run the server's own patterns over the server's own text, as long as they take.

        (`re` does not give the interpreter away meanwhile: no key would be heard.)
        """


def session(
    read: ReadStream[SessionMessage | Exception], write: WriteStream[SessionMessage], server: Server
) -> Session:
    """A session over these streams, to be entered; sampling and elicitation are not offered."""
    root = server.surroundings.root

    async def roots(context: ClientRequestContext) -> types.ListRootsResult:  # noqa: ARG001 (called by its name)
        name = os.fsencode(os.path.basename(root)).decode("utf-8", "replace")
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(Path(root).as_uri()), name=name)])

    async def logged(params: types.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else json.dumps(params.data)
        server.note(LEVELS.get(params.level, INFO), text, logger=params.logger)

    info = types.Implementation(name="jp", version=VERSION)
    return Session(read, write, list_roots_callback=roots, logging_callback=logged, client_info=info)


async def handshake(session: ClientSession, server: Server) -> tuple[Remote, ...]:
    """Get to know each other; the server's tools. Raises what the SDK does.

    The handshake of older versions is tried first: nearly all servers know it, and some do not answer to what they do
    not know. Those that have given it up say so.
    """
    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND, types.INVALID_REQUEST):
            raise
        try:
            await session.discover()
        except MCPError:
            raise error from None
    capabilities = session.server_capabilities
    if capabilities is None or capabilities.tools is None:
        return ()
    return await _tools(session, server)


async def _tools(session: ClientSession, server: Server) -> tuple[Remote, ...]:
    """The server's tools but for those that can't be meant: `left_out` says which and why."""
    found: list[Remote] = []
    odd = 0
    cursor: str | None = None
    for _ in range(PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        named = [each for each in page.tools if 0 < len(each.name) <= NAME and each.name.isprintable()]
        odd += len(page.tools) - len(named)
        found += [Remote(server.name, each.name, each.description or "", each.input_schema) for each in named]
        before, cursor = cursor, page.next_cursor
        if not cursor or cursor == before or len(found) > TOOLS:
            break
    left_out = []
    if len(found) > TOOLS:
        left_out.append(f"has more than {TOOLS} tools, of which the first {TOOLS} are taken")
    if odd:
        tools = "a tool" if odd == 1 else f"{odd} tools"
        left_out.append(
            f"has {tools} without a usable name: too long, empty, or with control characters in it; left out"
        )
    for reason in left_out:
        log(WARN, "mcp", reason, server=server.name)
    server.left_out = tuple(left_out)
    return tuple({tool.name: tool for tool in found[:TOOLS]}.values())


class ToLog(logging.Handler):
    """What the SDK and its libraries log goes to ours, and not to stderr as it would otherwise."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record, below what the servers themselves say."""
        try:
            text = record.getMessage()
            if record.exc_info and record.exc_info[1] is not None:
                text += f": {record.exc_info[1]!r}"
        except Exception as error:  # a wrong format in a library
            text = f"{record.msg!r} ({error!r})"
        log(INFO if record.levelno >= logging.ERROR else DEBUG, "mcp", text[:2000], logger=record.name)


def log_to_ours() -> None:
    """Have Python's logging write to our log."""
    root = logging.getLogger()
    if not any(isinstance(handler, ToLog) for handler in root.handlers):
        root.addHandler(ToLog(logging.WARNING))
