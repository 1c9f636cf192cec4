"""Plugins that JP has put in its own directory: installed from a file, updated from it again, removed.

A plugin is a copy of a file, whole or not at all; what was copied is approved by the hash of what was written.
"""

import errno
import os
import stat
from typing import NamedTuple

from jp.interrupt.checkpoint import checkpoint
from jp.plugin.approvals import Approval, Approvals, NoApprovalsError
from jp.plugin.discovery import PREFIX, install_directory, is_word
from jp.plugin.errors import PluginError
from jp.plugin.fingerprint import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MAGIC = (
    b"#!",
    b"\x7fELF",
    b"MZ",
    *(bytes.fromhex(each) for each in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe")),  # Mach-O
)
_CHUNK = 1 << 20


class InstallError(PluginError):
    """A plugin can't be installed, updated or removed; what was there is as it was."""

    code = "plugin_install"


class Installed(NamedTuple):
    """A plugin that was installed. `before` is the hash of the file that was in its place, if there was another one."""

    name: str
    path: str
    sha256: str
    source: str
    before: str | None


def name_for(source: str) -> str:
    """The name of a plugin by the name of its file: without `jp-`, and without what tells the language (`.sh`)."""
    name = os.path.basename(source).removeprefix(PREFIX)
    stem, ending = os.path.splitext(name)
    return stem if ending[1:].isalpha() else name


def install(source: str, environ: "Mapping[str, str]", *, name: str | None = None, force: bool = False) -> Installed:
    """Install the file at `source` and approve it. Whether it may be executed there does not matter: the copy may.

    Without `force` no file of other content is replaced. Raises InstallError, NoApprovalsError, and of the store
    WriteError, LockedError and UnreadableFileError.
    """
    source = os.path.abspath(source)
    called = name_for(source) if name is None else name.removeprefix(PREFIX)
    if not is_word(called) or os.sep in called:
        raise InstallError(
            f"`{called}` can't be the name of a plugin: it is a word of a command, without spaces and slashes",
            hints=["`--name NAME` gives it another one"],
        )
    approvals, directory = Approvals.of(environ), install_directory(environ)
    if directory is None or not approvals.path:
        raise NoApprovalsError
    path = os.path.join(directory, PREFIX + called)
    if _is_same(source, path):
        raise InstallError(
            f"{source} is the installed plugin itself",
            hints=[f"`jp plugin trust {called}` approves it as it is"],
            metadata={"plugin": called, "path": path},
        )
    before = _hash(path)
    data, sha256 = _content(source)
    if before not in (None, sha256) and not force:
        raise InstallError(
            f"there is another plugin {called}: {path}",
            hints=["`--force` replaces it, `--name NAME` gives the new one another name"],
            metadata={"plugin": called, "path": path},
        )
    if before is None and os.path.lexists(path) and not (force and _replaceable(path)):
        raise InstallError(f"{path} is there, and is no plugin", hints=["move it away"], metadata={"path": path})
    if before != sha256 or not os.access(path, os.X_OK):
        _write(path, data)
    approvals.approve(called, path, sha256, source=source)
    return Installed(called, path, sha256, source, before if before != sha256 else None)


def update(name: str, environ: "Mapping[str, str]", *, force: bool = False) -> Installed:
    """Install a plugin again from where it came from; `before` is None where nothing has changed there.

    Without `force` a copy that was changed by hand is not replaced. Raises as `install`.
    """
    approval = _installed(name, environ)
    if not approval.source:
        raise InstallError(
            f"it is not known where the plugin {name} was installed from",
            hints=[f"`jp plugin install --force PATH --name {name}` installs it anew"],
            metadata={"plugin": name},
        )
    _, sha256 = _content(approval.source)
    here = _hash(approval.path)
    if sha256 == approval.sha256 == here:
        return Installed(name, approval.path, sha256, approval.source, None)
    if here not in (None, approval.sha256, sha256) and not force:
        raise InstallError(
            f"the plugin {name} was changed after it was installed: {approval.path}",
            hints=[f"`jp plugin update --force {name}` replaces it by {approval.source}"],
            metadata={"plugin": name, "path": approval.path},
        )
    done = install(approval.source, environ, name=name, force=True)
    return done._replace(before=approval.sha256 if done.sha256 != approval.sha256 else here)


def updatable(environ: "Mapping[str, str]") -> list[str]:
    """The names of the plugins of which it is known where they were installed from."""
    known = Approvals.of(environ).all()
    return sorted(name for name, approval in known.items() if approval.installed and approval.source)


def remove(name: str, environ: "Mapping[str, str]") -> str:
    """Delete a plugin from the directory for plugins, and what was approved of it; returns its path.

    Raises InstallError where it is not there, and as `install`.
    """
    directory = install_directory(environ)
    path = os.path.join(directory or "", PREFIX + name)
    if directory is None or os.sep in name or not os.path.lexists(path):
        raise _missing(name)
    approvals = Approvals.of(environ)
    approval = approvals.get(name)
    approved = approval is not None and approval.is_for(path)
    try:
        os.unlink(path)
    except OSError as error:
        raise InstallError(f"can't delete {path}: {error.strerror}", metadata={"plugin": name, "path": path}) from error
    if approved:
        approvals.forget(name)
    return path


def _installed(name: str, environ: "Mapping[str, str]") -> Approval:
    approval = Approvals.of(environ).get(name)
    path = os.path.join(install_directory(environ) or "", PREFIX + name)
    if approval is None or not approval.installed or not approval.is_for(path):
        raise _missing(name)
    return approval


def _missing(name: str) -> InstallError:
    return InstallError(
        f"no plugin {name} is installed", hints=["`jp plugin ls` lists all plugins"], metadata={"plugin": name}
    )


def _content(source: str) -> tuple[bytes, str]:
    """A file that can be run, and its hash. Raises InstallError and Shutdown."""
    import hashlib

    try:
        fd = os.open(source, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file", source)
            pieces = []
            while piece := os.read(fd, _CHUNK):
                pieces.append(piece)
                checkpoint()
        finally:
            os.close(fd)
    except OSError as error:
        raise InstallError(f"can't read {source}: {error.strerror}", metadata={"source": source}) from error
    data = b"".join(pieces)
    if not data.startswith(_MAGIC):
        raise InstallError(
            f"{source} is no program: it neither begins with `#!` nor is it a compiled one",
            hints=["begin a script with the line `#!/bin/sh`"],
            metadata={"source": source},
        )
    return data, hashlib.sha256(data).hexdigest()


def _hash(path: str) -> str | None:
    """The hash of the file at `path`; None where there is none that can be read."""
    try:
        return fingerprint(path).sha256
    except OSError:
        return None


def _is_same(source: str, path: str) -> bool:
    try:
        return os.path.samefile(source, path) and not os.path.islink(path)
    except OSError:
        return False


def _replaceable(path: str) -> bool:
    return os.path.islink(path) or os.path.isfile(path)


def _write(path: str, data: bytes) -> None:
    """Put `data` at `path` as an executable: all of it, or nothing. Raises WriteError."""
    from jp.storage import files
    from jp.storage.errors import WriteError, reason_of

    folder, name = os.path.split(path)
    files.make_directory(folder, 0o700)
    temp = os.path.join(folder, files.temp_name(name))
    try:
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.BINARY, 0o700)
        try:
            try:
                files.write_all(fd, [data])
                files.sync(fd)
            finally:
                os.close(fd)
            os.chmod(temp, 0o755)
            os.replace(temp, path)
        except BaseException:
            files.discard(temp)
            raise
        files.sync_directory(folder)
    except OSError as error:
        raise WriteError(path, reason_of(error)) from error
