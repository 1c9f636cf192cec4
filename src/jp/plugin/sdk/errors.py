"""What a plugin meets: errors that it may catch and go on, and what ends it."""

from typing import Final


class Error(Exception):
    """A request did not bring what it asked for; the plugin can go on."""


class Cancelled(Error):
    """The person dismissed the prompt (ESC)."""

    def __init__(self) -> None:
        super().__init__("cancelled")


class Unavailable(Error):
    """Nobody can be asked; `reason` says why.

    A plugin that can do without the answer goes on; another one says with which argument it needs none.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"nobody can be asked: {reason}")
        self.reason = reason


class RequestFailed(Error):
    """JP refused a request: `request` is its type, `message` says what was wrong."""

    def __init__(self, request: str, message: str) -> None:
        super().__init__(f"{request}: {message}")
        self.request = request
        self.message = message


class ShuttingDown(BaseException):
    """JP is ending, and nothing new is begun.

    Not an Exception, so that no `except Exception` on the way goes on as if nothing had happened.
    """


class HostGone(ShuttingDown):
    """JP is gone, or the plugin has said that it ends: nothing can be sent any more."""


class Exit(SystemExit):
    """Ends the plugin: see `Host.exit`."""

    def __init__(self, status: int, reason: str | None = None) -> None:
        if not 0 <= status <= 255:
            raise ValueError(f"an exit status is 0 to 255, not {status}")
        super().__init__(int(status))
        self.status = int(status)
        self.reason = reason


CANCELLED: Final = Cancelled()
"""An answer to script for tests: the prompt is dismissed."""

UNAVAILABLE: Final = Unavailable("no interactive terminal")
"""An answer to script for tests: nobody can be asked."""
