"""A server made with the official SDK: `python_server.py` on its pipes, `python_server.py http` on a free port of
loopback, which it prints. It has what a client meets: text, data, pictures, errors, logging, roots, slow tools.
"""

import asyncio
import base64
import os
import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent, TextResourceContents

server = MCPServer("python", version="1")
HERE = os.environ.get("NOTES", "")


def note(text: str) -> None:
    """Leave a line for the test in the file that it names."""
    if HERE:
        with open(HERE, "a") as notes:
            notes.write(text + "\n")


@server.tool()
def add(a: int, b: int = 1) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool(structured_output=False)
def mixed() -> list[object]:
    """Answer with a block of every type."""
    data = base64.b64encode(b"x" * 1234).decode()
    return [
        TextContent(type="text", text="a picture:"),
        ImageContent(type="image", mime_type="image/png", data=data),
        AudioContent(type="audio", mime_type="audio/wav", data=data),
        ResourceLink(type="resource_link", uri="file:///notes.txt", name="notes", mime_type="text/plain"),
        EmbeddedResource(
            type="resource", resource=TextResourceContents(uri="file:///a.txt", mime_type="text/plain", text="its text")
        ),
    ]


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.tool(structured_output=False)
def long(size: int, char: str = "x") -> str:
    """Answer at length."""
    return "begin" + char * size + "end"


@server.tool()
async def sleep(seconds: float) -> str:
    """Take a while; notes when it is cancelled."""
    note("asleep")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note("cancelled")
        raise
    note("slept")
    return "slept"


@server.tool()
async def roots(context: Context) -> str:
    """Ask the client for its roots."""
    found = await context.session.list_roots()
    return " ".join(f"{root.uri} {root.name}" for root in found.roots)


@server.tool()
async def ask(context: Context) -> str:
    """Try what the client has not offered."""
    capabilities = context.session.client_params.capabilities
    return f"sampling {capabilities.sampling} elicitation {capabilities.elicitation}"


@server.tool()
async def log(text: str, context: Context) -> str:
    """Log by the protocol and on stderr."""
    print(f"stderr: {text}", file=sys.stderr, flush=True)
    await context.session.send_log_message(level="warning", data=f"protocol: {text}", logger="python")
    return "logged"


@server.tool()
def environment() -> str:
    """The names of its variables."""
    return " ".join(sorted(os.environ))


@server.tool()
def die(status: int) -> str:
    """End the process."""
    os._exit(status)


def serve_http() -> None:
    """Serve on a free port of loopback; prints the URL."""
    import socket

    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)

    app = server.streamable_http_app()
    token = os.environ.get("TOKEN")

    async def guarded(scope, receive, send):  # type: ignore[no-untyped-def]
        if scope["type"] == "http" and token and dict(scope["headers"]).get(b"authorization") != token.encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    uvicorn.Server(uvicorn.Config(guarded, log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        serve_http()
    else:
        server.run("stdio")
