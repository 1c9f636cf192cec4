"""One file, pipe or terminal that is printed to: its queue, in order, and what of it has been written.

Two channels on the same terminal share one device, so that chrome and reply appear in the order they were written.
Nothing here blocks, and nothing here is called by two threads.
"""

from codecs import utf_8_decode
from collections import deque

from jp.terminal.line import Line
from jp.terminal.pace import Pace
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.terminal.escapes import Strip
    from jp.terminal.sink import FdSink, MemorySink

PIECE = 65536  # characters: nothing bigger is filtered, encoded or joined in one call
ROUND = 262144  # bytes written before other devices and messages get their turn
RETRY_SECS = 0.005  # a terminal may poll as writable and still refuse
BACKLOG = 256  # entries: from here on small neighbours are joined, or a pipe nobody reads costs far more than its text
SMALL = 1024
FINISHED = 1024  # bytes of an escape sequence that are written for the sake of its end when a lend begins
CANCEL = "\x18"  # ends an escape sequence without effect
END_LINK = "\x1b]8;;\x1b\\"
_LINE_FEED = 10


class Entry:
    """A piece of text for one target. `fresh`: on a line of its own. `delay`: seconds a character, typewriter."""

    __slots__ = ("delay", "fresh", "target", "text")

    def __init__(self, target: "Target", text: str, fresh: bool = False, delay: float = 0.0) -> None:
        self.target = target
        self.text = text
        self.fresh = fresh
        self.delay = delay


class Device:
    """The queue of one device. `filters` take from a target's text what its channel cannot carry.

    `line` follows what has been written, to the byte; what a prompt draws, the status line and what a lend itself
    needs are no part of it.
    """

    __slots__ = (
        "_inflight",
        "_offset",
        "_pace",
        "_pace_target",
        "_parked",
        "_part",
        "_pending",
        "_traces",
        "_typed",
        "_width",
        "accepted",
        "blocked",
        "dead",
        "done",
        "filters",
        "held",
        "line",
        "queue",
        "ready",
        "retry_at",
        "shared",
        "sink",
        "targets",
        "typed_by",
        "urgent",
    )

    def __init__(
        self, sink: "FdSink | MemorySink", targets: "tuple[Target, ...]", filters: "dict[Target, Strip]"
    ) -> None:
        self.sink = sink
        self.targets = targets
        self.filters = filters
        self.line = Line(sink.terminal, sink.columns)
        self.queue: deque[Entry] = deque()
        self.urgent: deque[Entry] = deque()  # the prompt's own drawing while the terminal is lent
        self.accepted = 0  # entries taken
        self.done = 0  # entries written or given up
        self.held = 0  # lends outstanding
        self.shared = False  # another program of our pipeline may have left the cursor in the middle of a line
        self.dead = False
        self.blocked = False  # the last write found no room
        self.ready = False  # poll has said so since
        self.retry_at = 0.0
        self.typed_by: float | None = None  # when all paced text is to be out, clock seconds
        # Bytes, and their text: "" where the line follows the bytes, None where it follows nothing.
        self._pending: deque[tuple[Target, memoryview, str | None]] = deque()
        self._offset = 0
        self._part = b""  # of a character that is half written
        self._parked: list[tuple[Target, memoryview, str | None]] = []  # what a lend found half way out
        self._traces = False  # whether something stays on the screen when the lend ends
        self._width: int | None = None  # the terminal's when the lend began
        self._inflight = 0  # entries that are pending
        self._pace = Pace()
        self._pace_target: Target = targets[0]
        self._typed = 0  # characters of paced entries in the queue

    def push(self, entry: Entry, *, urgent: bool = False) -> None:
        """Queue an entry, in pieces when it is long."""
        if self.dead:
            return
        queue = self.urgent if urgent else self.queue
        before = len(queue)
        if before > BACKLOG and _joins(queue[-1], entry):
            queue[-1].text += entry.text
        elif len(entry.text) <= PIECE:
            queue.append(entry)
        else:
            for start in range(0, len(entry.text), PIECE):
                piece = entry.text[start : start + PIECE]
                queue.append(Entry(entry.target, piece, entry.fresh and not start, entry.delay))
        if not urgent:
            self.accepted += len(queue) - before
            self._typed += len(entry.text) if entry.delay > 0 else 0

    def push_raw(self, target: "Target", data: bytes) -> None:
        """Append bytes to what is being written, unfiltered and uncounted: the status line, what a lend needs."""
        if data and not self.dead:
            self._pending.append((target, memoryview(data), None))

    def hasten(self) -> None:
        """Typewriter text that has been taken is no longer paced."""
        if self._typed:
            for entry in self.queue:
                entry.delay = 0.0
            self._typed = 0
        self._pace.hasten()

    def hold(self) -> None:
        """Write nothing but the prompt's own drawing until as many releases; what is half way out waits too.

        The prompt's drawing will begin at column 0, in no style.
        """
        self.held += 1
        if self.held > 1:
            self._traces = True
            return
        self._traces = Target.TTY in self.filters  # no escapes: there is no way back up
        self._width = self.sink.columns()
        self._park()
        line = self.line
        lead = CANCEL if line.unfinished else ""
        lead += ("\x1b[0m" if line.style else "") + (END_LINK if line.link else "") + ("\n" if line.is_open else "")
        if self.shared and not self._traces and not line.is_open:
            # A row of blanks: from column 0 it stays in its row, from anywhere else it ends in the next one.
            lead += " " * ((self._width or 1) - 1) + "\r"
        self.push_raw(self.targets[0], lead.encode())
        if not self._pending:
            self.blocked = False

    def leave_trace(self) -> None:
        """Something was written during the lend that stays on the screen. Any thread."""
        self._traces = True

    def release(self, clean: bool = False) -> None:
        """End one hold. After the last one the output goes on where it stopped, if the prompt's drawing is `clean`ly
        gone and nothing else was written; otherwise an unfinished line is written again.
        """
        if self.held > 1:
            self.held -= 1
            return
        while self.urgent:
            self._gather(self.urgent)  # before the hold ends: it is the prompt's, not part of our line
        self.held = 0
        self.push_raw(self.targets[0], self._way_back(clean and not self._traces).encode("utf-8", "replace"))
        self._pending.extend(self._parked)
        self._parked = []

    def _park(self) -> None:
        """Put aside what is pending of the output, but for the rest of a character or escape sequence."""
        pending, self._pending = self._pending, deque()
        while pending and pending[0][2] is None:
            self._pending.append(pending.popleft())  # the status line, the way back from another lend
        if pending and self._offset and not self._pending:
            target, data, _ = pending.popleft()
            data, self._offset = data[self._offset :], 0
            end = 0
            while end < min(len(data), FINISHED) and (self._part or self.line.unfinished):
                end += 1
                self._follow(data[end - 1 : end])
            if end:
                self._pending.append((target, data[:end], None))
            if end < len(data):
                pending.appendleft((target, data[end:], ""))
        self._parked = list(pending)

    def _way_back(self, clean: bool) -> str:
        """From column 0 of where the prompt began to where the output stopped."""
        line = self.line
        if not line.is_open:
            return line.style + line.link + line.unfinished
        row = line.last_row(self.sink.columns(), self._width) if clean else None
        return line.again() if row is None else f"\r\x1b[A{row}"

    @property
    def drained(self) -> bool:
        """Whether nothing is left to write, held back or not."""
        return self.dead or not (self._pending or self._parked or self.urgent or self.queue or self._pace)

    @property
    def drawn(self) -> bool:
        """Whether all that a prompt has drawn is out, or will never be."""
        return self.dead or not (self._pending or self.urgent)

    def wrote(self, mark: int) -> bool:
        """Whether what had been accepted when `accepted` was `mark` is out, or will never be."""
        return self.dead or (self.done >= mark and not self.half_out and not self.urgent)

    @property
    def half_out(self) -> bool:
        """Whether bytes are on their way, or were when a lend began."""
        return bool(self._pending or self._parked)

    def starts_now(self, now: float) -> bool:
        """Whether `advance` would put new text on the device now."""
        if self.dead or (self.blocked and not self.ready):
            return False
        if self._pending:
            return True
        if self.held:
            return bool(self.urgent)
        return self._pace.due <= now if self._pace else bool(self.queue)

    def next_due(self, now: float) -> float | None:
        """When there is something to do here though nobody posts and nothing polls as ready, in clock seconds."""
        if self.dead:
            return None
        if self._pending or (self.held and self.urgent):
            return self.retry_at if self.blocked else now
        if self.held or not (self.queue or self._pace):
            return None
        return self._pace.due if self._pace else now

    def advance(self, now: float) -> bool:
        """Write what can be written now, at most a round; whether there is more to do at once. Raises OSError."""
        written = 0
        while written < ROUND:
            if not self._pending and not self._fill(now):
                return False
            target, data, text = self._pending[0]
            taken = self.sink.write(target, data[self._offset :])
            if not taken:
                self.retry_at = now + RETRY_SECS if self.blocked else now
                self.blocked = True
                return False
            self.blocked = False
            if text is not None:
                if text and taken == len(data):
                    self.line.feed(text)
                else:
                    self._follow(data[self._offset : self._offset + taken])
            written += taken
            self._offset += taken
            if self._offset >= len(data):
                self._pending.popleft()
                self._offset = 0
                if not self._pending:
                    self._settle()
        return True

    def kill(self) -> None:
        """Nobody reads this any more: forget what is queued and what comes."""
        self.dead = True
        self.blocked = False
        self.queue.clear()
        self.urgent.clear()
        self._pending.clear()
        self._parked.clear()
        self._pace.clear()
        self._offset = self._inflight = self._typed = 0
        self.done = self.accepted

    def _follow(self, data: memoryview) -> None:
        """Note that the bytes were written."""
        if not self.sink.terminal:
            self.line.is_open = data[-1] != _LINE_FEED
            return
        whole = self._part + data if self._part else data
        text, length = utf_8_decode(whole, "replace", False)
        self._part = bytes(whole[length:])
        self.line.feed(text)

    def _settle(self) -> None:
        self.done += self._inflight
        self._inflight = 0

    def _fill(self, now: float) -> bool:
        """Turn queued entries into pending bytes; whether there are any now."""
        while not self._pending:
            if self.held:
                if not self.urgent:
                    return False
                self._gather(self.urgent)
            elif self._pace:
                if self._pace.due > now:
                    return False
                self._type(now)
            elif not self.queue:
                return False
            elif self.queue[0].delay > 0:
                entry = self.queue.popleft()
                self._typed -= len(entry.text)
                self._pace_target = entry.target
                self._pace.start(entry.text, entry.delay, now)
            else:
                self._gather(self.queue)
            if not self._pending and not self._pace:
                self._settle()  # all of it was escapes that the channel cannot carry
        return True

    def _type(self, now: float) -> None:
        self._encode(self._pace_target, self._pace.take(now, self._typed, self.typed_by), fresh=False)
        if not self._pace:
            self._inflight += 1

    def _gather(self, queue: "deque[Entry]") -> None:
        """Join neighbours of one target into one piece."""
        parts: list[str] = []
        size = 0
        target, fresh = queue[0].target, queue[0].fresh
        while queue and size < PIECE:
            entry = queue[0]
            if entry.delay > 0 or entry.target is not target or (parts and entry.fresh):
                break
            queue.popleft()
            self._inflight += queue is self.queue
            size += len(entry.text)
            parts.append(entry.text)
        self._encode(target, "".join(parts), fresh=fresh)

    def _encode(self, target: "Target", text: str, *, fresh: bool) -> None:
        strip = self.filters.get(target)
        if strip is not None:
            text = strip.feed(text)
        if not text:
            return
        if fresh and self.line.is_open and not self.held:
            text = "\n" + text
        # Not followed: what a prompt draws is gone when it ends.
        data = memoryview(encode(text, self.sink.terminal))
        self._pending.append((target, data, None if self.held else text if text.isascii() else ""))


def _joins(last: Entry, entry: Entry) -> bool:
    return (
        last.target is entry.target
        and not entry.fresh
        and last.delay == entry.delay == 0.0
        and len(last.text) < SMALL
        and len(entry.text) < SMALL
    )


def encode(text: str, terminal: bool) -> bytes:
    """UTF-8. What came in as undecodable bytes goes out as it came, except to a terminal."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    if not terminal:
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            pass
    return text.encode("utf-8", "replace")
