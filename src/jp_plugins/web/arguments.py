"""What `jp serve web` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jp_plugins.arguments import Parser, WrongArguments

HELP = """\
Show conversations in a browser, to browse and search, on this machine alone.

Usage: jp serve web [--port N] [--open]

  --port N      The port to listen on, at 127.0.0.1 alone; 0 or left out is a free one.
  --open        Open the browser.
  -h, --help    Show this.

The address that is printed lets in whoever has it, until the server ends (Ctrl-C). Pages show a running turn as it
goes on; nothing can be changed through them. For searching, at most 64 MB of text are kept in memory; conversations
beyond that are read again by each search. Of the result of a tool the first 65,536 characters are searched.
"""


@dataclass(frozen=True)
class Wanted:
    """The arguments."""

    port: int = 0
    open: bool = False
    help: bool = False


def parsed(arguments: Sequence[str]) -> Wanted:
    """Raises WrongArguments."""
    parser = Parser("jp serve web")
    parser.add_argument("--port", default="0")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    found = parser.parse_args(list(arguments))
    port = int(found.port) if found.port.isascii() and found.port.isdigit() and len(found.port) < 6 else -1
    if not 0 <= port <= 65535:
        raise WrongArguments(f'--port is a number from 0 to 65535, not "{found.port}"')
    return Wanted(port, found.open, found.help)
