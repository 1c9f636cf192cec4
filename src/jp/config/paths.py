"""Paths as configuration writes them."""

import os


def expand_home(path: str) -> str:
    """A path with `~` resolved; as it is where its user cannot even be looked up."""
    try:
        return os.path.expanduser(path)
    except ValueError:
        return path


def is_below(path: str, directory: str) -> bool:
    """Whether an absolute path is the directory or in it, by their text."""
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)
