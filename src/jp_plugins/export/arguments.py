"""What `jp export` is asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from jp_plugins.arguments import Parser, WrongArguments
from jp_plugins.export.names import FORMATS

HELP = """\
Write conversations as documents.

Usage: jp export [ID | TITLE]... [--all] [--to FORMAT] [-o FILE | DIR | -]

  ID | TITLE          Conversations: ids, or how their titles begin; by default the one used last.
  --all               All conversations of the workspace.
  --to FORMAT         markdown (default), html (one file, without scripts) or json (the events).
                      Without it the end of FILE decides: .md, .html, .json.
  -o, --output PATH   Write a file, or into a directory (one that is there, or PATH ends with /) a file for each
                      conversation, named by id and title. `-` is standard output, which is the default.
  --reasoning         What the model thought, folded.
  --tools             Tool calls and their results, folded.
  --force             Replace files that are there. Without it you are asked.
  -h, --help          Show this.

Markdown and HTML leave out control characters; JSON has the events as they are, reasoning and tools included.
"""


@dataclass(frozen=True)
class Wanted:
    """The arguments. `output` is None for standard output, and ends with a slash for a directory."""

    conversations: tuple[str, ...] = ()
    every: bool = False
    to: str = "markdown"
    output: str | None = None
    reasoning: bool = False
    tools: bool = False
    force: bool = False
    help: bool = False


def parsed(arguments: Sequence[str]) -> Wanted:
    """Raises WrongArguments."""
    parser = Parser("jp export")
    parser.add_argument("conversations", nargs="*")
    parser.add_argument("--all", action="store_true", dest="every")
    parser.add_argument("--to", choices=("markdown", "html", "json"))
    parser.add_argument("-o", "--output")
    for name in ("reasoning", "tools", "force"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    found = parser.parse_intermixed_args(list(arguments))
    output = _output(found.output)
    to = found.to or FORMATS.get(os.path.splitext(output or "")[1].lower(), "markdown")
    several = found.every or len(found.conversations) > 1
    if found.every and found.conversations:
        raise WrongArguments("--all is all of them: name conversations or give it, not both")
    if several and output is not None and not output.endswith(os.sep):
        raise WrongArguments(f"several conversations need a directory to go to: `-o {output}{os.sep}`")
    if several and output is None and to == "html":
        raise WrongArguments("several HTML files can't go to standard output; name a directory: `-o exported/`")
    rest = {name: getattr(found, name) for name in ("every", "reasoning", "tools", "force", "help")}
    return Wanted(conversations=tuple(found.conversations), to=to, output=output, **rest)


def _output(given: str | None) -> str | None:
    if given is None or given == "-":
        return None
    if not given:
        raise WrongArguments("-o needs the name of a file or a directory, or `-`")
    return os.path.join(given, "") if os.path.isdir(given) else given
