"""One configuration file from disk to a plain tree: TOML, JSON and YAML alike."""

import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

from jp.config.errors import SyntaxFault, UnreadableFileError
from jp.interrupt.checkpoint import checkpoint

SUFFIXES = (".toml", ".json", ".yaml", ".yml")
"""In the order in which one directory's files are looked for."""


MOST_BYTES = 4 * 2**20
PIECE = 2**16
MOST_VALUES = 200_000  # what YAML makes of its anchors grows exponentially with the text


def read_file(path: str) -> dict[str, Any]:
    """The tree in the file at `path`.

    Raises `UnreadableFileError` (also for a directory and for text that is not UTF-8) or `SyntaxFault`, both naming the
    file, the latter with the line.
    """
    return parse(path, read_text(path))


def read_text(path: str) -> str:
    """The text of a file; raises `UnreadableFileError`. A FIFO is opened like a file: its writer is waited for."""
    data = bytearray()
    try:
        with open(path, "rb", buffering=0) as file:
            while piece := file.read(PIECE):
                checkpoint()
                data += piece
                if len(data) > MOST_BYTES:
                    raise UnreadableFileError(
                        f"{path}: larger than {MOST_BYTES // 2**20} MiB, the limit for a configuration file",
                        metadata={"path": path, "limit": MOST_BYTES},
                    )
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFileError(
            f"{path}:{line}: not valid UTF-8", metadata={"path": path, "line": line}, hints=["save it as UTF-8"]
        ) from None


def _unreadable(path: str, error: OSError) -> UnreadableFileError:
    reason = error.strerror or str(error)
    if error.errno == errno.EISDIR or _is_directory(path):
        reason = "is a directory, not a configuration file"
    return UnreadableFileError(f"cannot read {path}: {reason}", metadata={"path": path, "reason": reason})


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        return False


def parse(path: str, text: str) -> dict[str, Any]:
    """The tree that `text` stands for; the suffix of `path` says in which language. Raises `SyntaxFault`."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".json":
        tree = _json(path, text)
    elif suffix in (".yaml", ".yml"):
        tree = _yaml(path, text)
    else:
        tree = _toml(path, text)
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise SyntaxFault(f"{path}: the top level is no table", metadata={"path": path})
    return tree


def _fault(path: str, line: int, message: str) -> SyntaxFault:
    return SyntaxFault(f"{path}:{line}: {message}", metadata={"path": path, "line": line})


def _toml(path: str, text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        import re

        message = str(error)
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        raise _fault(path, line, f"not valid TOML: {message[: place.start()] if place else message}") from None
    except RecursionError:
        raise _fault(path, 1, "nested too deeply") from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise _fault(path, 1, f"not valid TOML: {error}") from None


def _json(path: str, text: str) -> Any:
    import json

    if not text.strip():
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _fault(path, error.lineno, f"not valid JSON: {error.msg}") from None
    except RecursionError:
        raise _fault(path, 1, "nested too deeply") from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise _fault(path, 1, f"not valid JSON: {error}") from None


def _yaml(path: str, text: str) -> Any:
    import yaml

    try:
        tree = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _fault(path, line, f"not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise _fault(path, 1, f"not valid YAML: {error}") from None
    except (RecursionError, ValueError) as error:  # dates such as 2024-99-99 raise ValueError
        raise _fault(path, 1, f"not valid YAML: {error}") from None
    return _named(path, tree, set(), iter(range(MOST_VALUES)))


def _named(path: str, value: Any, above: set[int], left: Iterator[int]) -> Any:
    """YAML with its keys as texts, which those of `8080: x` and `on: x` are not.

    Refuses an anchor inside itself, and anchors that are more values than there are numbers in `left`.
    """
    if next(left, None) is None:
        raise _fault(path, 1, f"not valid YAML: its anchors are more than {MOST_VALUES:,} values")
    checkpoint()
    if not isinstance(value, dict | list):
        return value
    if id(value) in above:
        raise _fault(path, 1, "not valid YAML: an anchor that holds itself")
    inside = above | {id(value)}
    if isinstance(value, list):
        return [_named(path, item, inside, left) for item in value]
    return {_name(key): _named(path, item, inside, left) for key, item in value.items()}


def _name(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)
