"""`jp export`: reads conversations through the plugin protocol and writes them as documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from jp.plugin import sdk
from jp_plugins import extra
from jp_plugins.arguments import WrongArguments
from jp_plugins.export import as_json, choose, files, names
from jp_plugins.export.arguments import HELP, Wanted, parsed
from jp_plugins.export.document import Document

FAILED, USAGE = 1, 2
_AT_ONCE = 1 << 16  # characters of a `print`

Pieces = Callable[[Document], Iterator[str]]


def run(host: sdk.Host) -> int:
    """Do what the arguments ask for; the exit status. Ends with `exit` where it can't."""
    try:
        wanted = parsed(host.args)
    except WrongArguments as error:
        host.exit(USAGE, str(error))
    if wanted.help:
        host.print(HELP)
        return 0
    if wanted.to != "json" and (reason := extra.missing()):
        host.exit(FAILED, reason)
    try:
        conversations = choose.chosen(host.conversations(), wanted.conversations, every=wanted.every)
    except choose.NotFound as error:
        host.exit(FAILED, str(error))
    return _Export(host, wanted).all(conversations)


class _Export:
    def __init__(self, host: sdk.Host, wanted: Wanted) -> None:
        self._host = host
        self._wanted = wanted
        self._pieces = _writer(wanted.to)
        self._printed = False

    def all(self, conversations: list[sdk.ConversationSummary]) -> int:
        """One after the other; where one fails the others are still done."""
        failures = []
        for each in conversations:
            try:
                self._one(each)
            except (sdk.RequestFailed, files.NotWritten) as error:
                failures.append(error.message if isinstance(error, sdk.RequestFailed) else str(error))
                if len(conversations) > 1:
                    self._host.print(f"{each.id}: {failures[-1]}\n", channel="error")
        if not failures:
            return 0
        if len(conversations) == 1:
            self._host.exit(FAILED, failures[0])
        return self._host.exit(FAILED, f"{len(failures)} of {len(conversations)} conversations were not exported")

    def _one(self, summary: sdk.ConversationSummary) -> None:
        path = self._path(summary)
        replace = path is not None and self._may_replace(path)
        events = self._host.events(summary)
        document = Document(
            conversation=events.conversation,
            title=events.title if isinstance(events.title, str) else summary.title,
            last_used=summary.last_activated_at,
            events=events.data,
            reasoning=self._wanted.reasoning,
            tools=self._wanted.tools,
        )
        if path is None:
            self._print(self._pieces(document))
            return
        files.write(path, self._pieces(document), replace=replace)
        self._host.print(f"Wrote {path}\n", channel="chrome")

    def _path(self, summary: sdk.ConversationSummary) -> str | None:
        output = self._wanted.output
        if output is None or not output.endswith(os.sep):
            return output
        try:
            os.makedirs(output, exist_ok=True)
        except OSError as error:
            raise files.NotWritten(f"can't make {output}: {(error.strerror or str(error)).lower()}") from error
        return os.path.join(output, names.file_name(summary.id, summary.title, names.SUFFIXES[self._wanted.to]))

    def _may_replace(self, path: str) -> bool:
        """Whether what is there may go; asks. Raises Exists where it may not."""
        if self._wanted.force or not os.path.isfile(path):
            return self._wanted.force
        try:
            if self._host.confirm(f"Replace {path}?", default=False):
                return True
        except (sdk.Unavailable, sdk.Cancelled):
            pass
        raise files.Exists(f"{path} is there already; `--force` replaces it")

    def _print(self, pieces: Iterable[str]) -> None:
        if self._printed and self._wanted.to == "markdown":
            self._host.print("\n")
        self._printed = True
        for text in _in_batches(pieces):
            self._host.print(text)


def _in_batches(pieces: Iterable[str]) -> Iterator[str]:
    """`pieces` joined or cut to what goes in one message."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        for start in range(0, len(piece), _AT_ONCE):
            part = piece[start : start + _AT_ONCE]
            held.append(part)
            size += len(part)
            if size >= _AT_ONCE:
                yield "".join(held)
                held, size = [], 0
    if held:
        yield "".join(held)


def _writer(to: str) -> Pieces:
    if to == "json":
        return as_json.pieces
    if to == "html":
        from jp_plugins.export import as_html

        return as_html.pieces
    from jp_plugins.export import as_markdown

    return as_markdown.pieces
