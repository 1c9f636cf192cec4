"""The log channel: JSON lines in a file, never on the terminal unless asked for (contracts, section 2).

A leaf that every package may call. Until `open_log` is called a log line costs one comparison, so nothing of the
start-up path pays for it. Not the standard library's logging: importing it costs as much as the whole of `jp --help`.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ERROR, WARN, INFO, DEBUG, TRACE = range(5)
NAMES = ("ERROR", "WARN", "INFO", "DEBUG", "TRACE")

_level = -1
_write: "Callable[[bytes], object] | None" = None
_hide: "Callable[[str], str] | None" = None


def open_log(write: "Callable[[bytes], object]", level: int) -> None:
    """Send lines up to `level` (0 errors … 4 everything) to `write`, one call a line."""
    global _level, _write
    _write, _level = write, min(level, TRACE)


def append_to(path: str) -> "Callable[[bytes], object]":
    """A writer that appends to the file at `path`, readable by its owner alone; raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
    return lambda line: os.write(fd, line)


def hide(redacted: "Callable[[str], str]") -> None:
    """Have `redacted` take out of every text what must be in no line."""
    global _hide
    _hide = redacted


def _hidden(value: object, redacted: "Callable[[str], str]") -> object:
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {redacted(str(key)): _hidden(each, redacted) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(each, redacted) for each in value]
    return value if isinstance(value, int | float | None) else redacted(repr(value))


def enabled(level: int) -> bool:
    """Whether a line of this level would be written; ask before building costly fields."""
    return level <= _level


def log(level: int, target: str, message: str, **fields: object) -> None:
    """Write one line. Never raises: a full disk under the log must not end a turn."""
    if level > _level or _write is None:
        return
    import json
    import time

    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1e6):06}Z"
    record: object = {"timestamp": stamp, "level": NAMES[level], "target": target, "message": message, "fields": fields}
    try:
        if _hide is not None:
            record = _hidden(record, _hide)
        _write(json.dumps(record, default=repr).encode("utf-8", "replace") + b"\n")
    except (OSError, ValueError, RecursionError):
        pass
