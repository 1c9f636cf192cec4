"""The model's memory of a conversation (its KV slot) on disk, so that a follow-up need not read everything again.

`$XDG_CACHE_HOME/jp/local/<model>/<conversation>.slot`, private to the user, because it can be turned back into the
text. It is a cache: bounded in total, oldest dropped, and a slot that the runtime refuses is deleted and forgotten.
The runtime itself compares the slot with the prompt, so a stale one is slow, never wrong.
"""

import os

from jp.llm.embedded.shelf import cache_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIX = ".slot"
LIMIT = 512 << 20


def root(environ: "Mapping[str, str]") -> str:
    """The directory of all slots; raises InstallError where there is no home."""
    return os.path.join(cache_dir(environ), "local")


def file_name(conversation: str) -> str | None:
    """The name of a conversation's slot file; None when the id is not one that can name a file."""
    if not conversation or len(conversation) > 64 or not conversation.isascii() or not conversation.isalnum():
        return None
    return conversation + SUFFIX


def prune(directory: str, limit: int) -> None:
    """Delete the oldest slots below `directory` until all together have at most `limit` bytes."""
    found: list[tuple[float, int, str]] = []
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            try:
                stat = os.stat(path)
            except OSError:
                continue
            found.append((stat.st_mtime, stat.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= limit:
            return
        _unlink(path)
        total -= size


def forget(environ: "Mapping[str, str]", conversation: str) -> None:
    """Delete every model's slot of a conversation that was removed, and what a killed child has left unfinished."""
    name = file_name(conversation)
    if name is None:
        return
    top = root(environ)
    try:
        models = os.listdir(top)
    except OSError:
        return
    for model in models:
        try:
            found = os.listdir(os.path.join(top, model))
        except OSError:
            continue
        for each in found:
            if each == name or each.startswith(name + "."):  # `<name>.<pid>` is one that is being written
                _unlink(os.path.join(top, model, each))


def forget_model(environ: "Mapping[str, str]", model: str) -> None:
    """Delete every slot of a model that was removed."""
    import shutil

    shutil.rmtree(os.path.join(root(environ), model), ignore_errors=True)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
