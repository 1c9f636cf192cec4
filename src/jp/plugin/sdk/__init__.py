"""For authors of plugins in Python: a plugin is a `Plugin`, and what its main function is given is a `Host`.

    from jp.plugin import sdk

    plugin = sdk.Plugin("titles", version="0.1.0", description="List conversation titles", command=["titles"])

    @plugin.main
    def main(host: sdk.Host) -> int | None:
        for each in host.conversations():
            host.print((each.title or "Untitled") + "\\n")

    if __name__ == "__main__":
        plugin.run()

How a run ends:

* `main` returns: with the exit status that it returns, None is 0; `host.exit(code, reason)` ends it from anywhere in
  `main`. What `main` raises goes to stderr, which is JP's log, and the person is told its type and message.
* The person presses Ctrl-C: `main` gets a KeyboardInterrupt; where nobody catches it the process dies by SIGINT, so
  that JP sees what it died of.
* JP ends (`shutdown`), and the plugin has a few seconds left: `host.shutting_down` is set, and the functions given to
  `host.on_shutdown` are called. What begins something raises `ShuttingDown`, whether it waits for its response or is
  called later: prompts, reading, `lock`, `create`. What finishes something goes on as before: `push`, `unlock`,
  `print`, `log`. A plugin that does not look at any of this ends at its next request.
* JP is gone: the same, and everything that is sent raises `HostGone`, which is a `ShuttingDown`.

`print()` and whatever else writes to standard output goes to stderr: the protocol has a descriptor of its own.
Tests of a plugin are in `jp.plugin.testing`; `jp plugin check` tries one in any language.
"""

from jp.plugin.messages import ConversationSummary, Events, Init, Workspace
from jp.plugin.sdk.errors import (
    CANCELLED,
    UNAVAILABLE,
    Cancelled,
    Error,
    Exit,
    HostGone,
    RequestFailed,
    ShuttingDown,
    Unavailable,
)
from jp.plugin.sdk.host import Host
from jp.plugin.sdk.plugin import Plugin

__all__ = (
    "CANCELLED",
    "UNAVAILABLE",
    "Cancelled",
    "ConversationSummary",
    "Error",
    "Events",
    "Exit",
    "Host",
    "HostGone",
    "Init",
    "Plugin",
    "RequestFailed",
    "ShuttingDown",
    "Unavailable",
    "Workspace",
)
