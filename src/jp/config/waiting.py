"""All that a workspace's own files say that needs trust: what is trusted and in effect, and what waits."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jp.config.containers import bare
from jp.config.errors import ConfigError
from jp.config.files import Paths, expand
from jp.config.fold import Fold
from jp.config.layers import Layer
from jp.config.named import MOST_DIRECTORIES
from jp.config.paths import expand_home, is_below
from jp.config.read import SUFFIXES
from jp.config.trust import TrustStore, Withheld
from jp.interrupt.checkpoint import checkpoint


class Survey(NamedTuple):
    """What waits for trust, what is in effect because it is trusted, each value once, and who says them, by digest."""

    waiting: list[Withheld]
    trusted: list[Withheld]
    origins: Mapping[str, Sequence[str]]


def survey(
    paths: Paths,
    environ: Mapping[str, str],
    *,
    cfg: Sequence[str] = (),
    conversations: Iterable[Sequence[Layer]] = (),
    trust: TrustStore | None = None,
) -> Survey:
    """What the workspace says that needs trust.

    Beside what every run reads, each file that `--cfg NAME` finds in the workspace counts, and each conversation (the
    layers of one, see `conversation_layers`), as if it were used alone. `cfg` are `--cfg` arguments. Raises leaves of
    `ConfigError` for what every run reads.
    """
    fold = Fold(paths, environ, trust)
    fold.add_chain()
    fold.add_environment()
    for argument in cfg:
        fold.add_argument(argument)
    fold = fold.settled()
    entries = bare(fold.state.get("config_load_paths", []))
    for path in _named(entries, paths.workspace_root):
        try:
            fold.aside(expand(path, "workspace", source="cfg"))
        except ConfigError:
            continue  # it can't be used, so nothing of it is in effect; who uses it is told
    for layers in conversations:
        checkpoint()
        fold.aside(layers)
    return Survey(fold.withheld, fold.let_through, {mark: tuple(names) for mark, names in fold.origins.items()})


def _named(entries: Iterable[str], root: str | None) -> Iterator[str]:
    """The files of the workspace that the entries of `config_load_paths` lead to."""
    if root is None:
        return
    top, seen = os.path.realpath(root), set()
    for entry in entries:
        directory = os.path.normpath(os.path.join(root, expand_home(entry)))
        if not is_below(os.path.realpath(directory), top):
            continue
        for count, (place, folders, files) in enumerate(os.walk(directory)):
            checkpoint()
            if count == MOST_DIRECTORIES:
                break
            folders.sort()
            for path in sorted(os.path.join(place, file) for file in files if file.endswith(SUFFIXES)):
                if path not in seen:
                    seen.add(path)
                    yield path
