"""The one place where the platform is chosen; everything above it has no platform branch (RFD 104, Windows)."""

import sys

if sys.platform == "win32":
    from jp.terminal.windows import (
        POLLABLE,
        TERM_EXPECTED,
        TERMINAL,
        Waiter,
        controls,
        foreground,
        identity,
        is_terminal,
        open_device,
        open_terminal,
        prepare,
        private_writer,
        size,
        writable,
    )
else:
    from jp.terminal.posix import (
        POLLABLE,
        TERM_EXPECTED,
        TERMINAL,
        Waiter,
        controls,
        foreground,
        identity,
        is_terminal,
        open_device,
        open_terminal,
        prepare,
        private_writer,
        size,
        writable,
    )

__all__ = [
    "POLLABLE",
    "TERMINAL",
    "TERM_EXPECTED",
    "Waiter",
    "controls",
    "foreground",
    "identity",
    "is_terminal",
    "open_device",
    "open_terminal",
    "prepare",
    "private_writer",
    "size",
    "writable",
]
