"""`jp serve web`: serves until Ctrl-C or until JP ends."""

from __future__ import annotations

import threading

from jp.plugin import sdk
from jp_plugins import extra
from jp_plugins.arguments import WrongArguments
from jp_plugins.web.arguments import HELP, parsed

FAILED, USAGE = 1, 2


def run(host: sdk.Host) -> int:
    """Do what the arguments ask for; the exit status. Ends with `exit` where it can't."""
    try:
        wanted = parsed(host.args)
    except WrongArguments as error:
        host.exit(USAGE, str(error))
    if wanted.help:
        host.print(HELP)
        return 0
    if reason := extra.missing():
        host.exit(FAILED, reason)
    return _serve(host, wanted.port, open_browser=wanted.open)


def _serve(host: sdk.Host, port: int, *, open_browser: bool) -> int:
    from jp_plugins.web.access import Access
    from jp_plugins.web.library import Library
    from jp_plugins.web.server import Server
    from jp_plugins.web.site import Site

    def log(level: str, line: str) -> None:
        host.log("warn" if level == "warn" else "debug", line)

    try:
        server = Server(port, log)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        host.exit(FAILED, f"can't listen on port {port}: {reason}; `--port 0` takes a free one")
    access = Access(server.port)
    server.answers = Site(Library(host), access, _name(host.workspace.root)).answer
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, name="server", daemon=True).start()
    try:
        host.print(access.address() + "\n")
        if open_browser:
            # On a thread: a browser may be one that is waited for.
            threading.Thread(target=_open, args=(host, access.address_for_once()), daemon=True).start()
        host.shutting_down.wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()
        server.server_close()
    return 0


def _open(host: sdk.Host, address: str) -> None:
    import webbrowser

    try:
        opened = webbrowser.open(address)
    except (OSError, webbrowser.Error):
        opened = False
    if not opened:
        host.print("No browser could be opened; open the address yourself.\n", channel="chrome")


def _name(root: str) -> str:
    """How the workspace is called in the bar."""
    return root.rstrip("/").rpartition("/")[2] or root
