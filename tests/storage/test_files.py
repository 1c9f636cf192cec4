"""Whole files, old or new: kills, errors at every call, full disks, readers in between."""

import contextlib
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jp.storage import files
from jp.storage.errors import UnreadableFileError, WriteError
from tests.storage.faults import CALLS, Died, fail_at

OLD = json.dumps({"old": "x" * 3000}).encode()
NEW = json.dumps({"new": "y" * 5000}).encode()


def test_makes_and_replaces(folder: Path) -> None:
    path = folder / "a.json"
    files.write_atomic(str(path), OLD)
    assert path.read_bytes() == OLD
    files.write_atomic(str(path), [NEW[:10], memoryview(NEW)[10:]])
    assert path.read_bytes() == NEW
    assert os.listdir(folder) == ["a.json"]
    assert files.read(str(path)) == NEW
    assert b"".join(files.chunks(str(path), 100)) == NEW


def test_a_large_file_is_written_whole(folder: Path) -> None:
    content = os.urandom(1 << 20) * 20
    files.write_atomic(str(folder / "a"), content)
    assert (folder / "a").read_bytes() == content


def test_what_a_link_leads_to_is_neither_read_nor_written(folder: Path) -> None:
    """A cloned project may hold one that leads to a file of the user's."""
    real = folder / "victim"
    real.write_bytes(OLD)
    link = folder / "link.json"
    link.symlink_to(real)
    with pytest.raises(UnreadableFileError, match="a symbolic link"):
        files.read(str(link))
    with pytest.raises(UnreadableFileError, match="a symbolic link"):
        list(files.chunks(str(link)))
    files.write_atomic(str(link), NEW)
    assert real.read_bytes() == OLD
    assert link.read_bytes() == NEW
    assert not link.is_symlink()


def test_keeps_the_mode_and_the_link(folder: Path) -> None:
    real = folder / "real" / "a.json"
    real.parent.mkdir()
    real.write_bytes(OLD)
    real.chmod(0o440)
    link = folder / "link.json"
    link.symlink_to(real)
    files.write_atomic(str(link), NEW, follow=True)
    assert link.is_symlink()
    assert real.read_bytes() == NEW
    assert real.stat().st_mode & 0o777 == 0o440
    assert sorted(os.listdir(folder)) == ["link.json", "real"]


def test_every_temp_has_a_name_of_its_own(folder: Path) -> None:
    names = {files.temp_name("a.json") for _ in range(100)}
    assert len(names) == 100
    assert all(files.is_temp(name) for name in names)
    assert not any(
        files.is_temp(name) for name in ("a.json", ".a.tmp", "a.1-2-abcdef.tmp", ".a.x-2-abcdef.tmp", ".git")
    )


def test_a_missing_parent_is_an_error(folder: Path) -> None:
    with pytest.raises(WriteError, match="No such file"):
        files.write_atomic(str(folder / "none" / "a"), NEW)


@pytest.mark.parametrize("kind", ["directory", "fifo", "loop"])
def test_what_is_no_file_is_not_read(folder: Path, kind: str) -> None:
    path = folder / "x"
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(path)
    with pytest.raises(UnreadableFileError, match=str(path)):
        files.read(str(path))
    with pytest.raises(FileNotFoundError):
        files.read(str(folder / "none"))


@pytest.mark.parametrize("dies", [False, True], ids=["error", "dies"])
@pytest.mark.parametrize("call", CALLS)
def test_an_error_at_any_call_leaves_old_or_new(folder: Path, call: str, dies: bool) -> None:
    path = folder / "a.json"
    reached = 0
    for k in range(1, 20):
        path.write_bytes(OLD)
        with fail_at(call, k, dies=dies) as fault:
            try:
                files.write_atomic(str(path), [NEW[:100], NEW[100:]])
            except (WriteError, Died):
                pass
        if not fault.fired:
            break
        reached += 1
        after = path.read_bytes()
        assert after in (OLD, NEW)
        # Only what comes after the rename may leave the new one.
        if call in ("open", "write", "replace", "chmod", "close") and k == 1:
            assert after == OLD
        files.sweep(str(folder))
        assert os.listdir(folder) == ["a.json"]
    assert reached, f"{call} is never called"


def test_an_error_leaves_no_temp(folder: Path) -> None:
    path = folder / "a.json"
    path.write_bytes(OLD)
    for call in ("write", "fsync", "replace"):
        with fail_at(call, 1), pytest.raises(WriteError) as error:
            files.write_atomic(str(path), NEW)
        assert str(path) in error.value.message
        assert "unchanged" in error.value.hints[0]
        assert os.listdir(folder) == ["a.json"]


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_where_there_was_no_file_none_is_called_unchanged(folder: Path, call: str) -> None:
    with fail_at(call, 1), pytest.raises(WriteError) as error:
        files.write_atomic(str(folder / "a.json"), NEW)
    assert error.value.hints == ()
    assert os.listdir(folder) == []


def test_a_file_that_was_replaced_is_not_called_unchanged(folder: Path) -> None:
    path = folder / "a.json"
    path.write_bytes(OLD)
    with fail_at("fsync", 2), pytest.raises(WriteError) as error:
        files.write_atomic(str(path), NEW)
    assert path.read_bytes() == NEW
    assert error.value.hints == ()


KILLED = """
import sys
sys.path[:0] = sys.argv[2:]
from jp.storage import files
n = 0
print("ready", flush=True)
while True:
    n += 1
    files.write_atomic(sys.argv[1], [b'{"n": %d, "x": "' % n, b"z" * 200_000, b'"}'])
"""


@pytest.mark.slow
def test_killed_at_any_moment_the_file_is_whole(folder: Path) -> None:
    path = folder / "a.json"
    for i in range(25):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path), *sys.path], stdout=subprocess.PIPE, cwd=folder
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        # The moment differs from run to run; no exact one is needed.
        threading.Event().wait(0.002 * i)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        if path.exists():
            assert len(json.loads(path.read_bytes())["x"]) == 200_000
    files.sweep(str(folder))
    assert os.listdir(folder) == ["a.json"]


def test_readers_see_whole_files_while_others_write(folder: Path) -> None:
    path = str(folder / "a.json")
    files.write_atomic(path, b'{"n": 0}')
    stop = threading.Event()
    failures: list[BaseException] = []

    def write(n: int) -> None:
        try:
            while not stop.is_set():
                files.write_atomic(path, json.dumps({"n": n, "x": "z" * 20_000 * n}).encode())
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(n,)) for n in (1, 2, 3)]
    for one in writers:
        one.start()
    for _ in range(300):
        found = json.loads(files.read(path))
        assert len(found.get("x", "")) == 20_000 * found["n"]
    stop.set()
    for one in writers:
        one.join()
    assert failures == []


@contextlib.contextmanager
def small_disk(at: Path) -> Iterator[Path]:
    at.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(at)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_keeps_the_old_file(folder: Path) -> None:
    with small_disk(folder / "disk") as disk:
        path = disk / "a.json"
        files.write_atomic(str(path), OLD)
        with pytest.raises(WriteError, match="No space left") as error:
            files.write_atomic(str(path), b"x" * 200_000)
        assert path.read_bytes() == OLD
        assert os.listdir(disk) == ["a.json"]
        assert error.value.metadata["reason"] == os.strerror(errno.ENOSPC)


def test_a_limit_on_sizes_keeps_the_old_file(folder: Path) -> None:
    path = folder / "a.json"
    path.write_bytes(OLD)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(WriteError, match="File too large"):
            files.write_atomic(str(path), b"x" * 200_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == OLD
    assert os.listdir(folder) == ["a.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_an_error(folder: Path) -> None:
    folder.chmod(0o500)
    with pytest.raises(WriteError, match="Permission denied"):
        files.write_atomic(str(folder / "a"), NEW)
    folder.chmod(0o700)


def test_set_aside_never_replaces(folder: Path) -> None:
    path = folder / "a.json"
    names = []
    for n in range(3):
        path.write_text(str(n))
        names.append(files.set_aside(str(path)))
    assert not path.exists()
    assert [Path(name).read_text() for name in names] == ["0", "1", "2"]


def test_old_temps_are_swept_young_ones_may_be_in_use(folder: Path) -> None:
    old, young = folder / files.temp_name("a"), folder / files.temp_name("a")
    for one in (old, young):
        one.mkdir()
        (one / "x").touch()
    os.utime(old, (1, 1))
    files.sweep(str(folder), older_than=3600)
    assert not old.exists()
    assert young.exists()
    files.sweep(str(folder))
    assert not young.exists()


def test_directories_are_made_whole(folder: Path) -> None:
    files.make_directory(str(folder / "a" / "b" / "c"))
    files.make_directory(str(folder / "a" / "b" / "c"))
    assert (folder / "a" / "b" / "c").is_dir()
    (folder / "file").touch()
    with pytest.raises(WriteError, match="Not a directory"):
        files.make_directory(str(folder / "file" / "x"))
    with pytest.raises(WriteError):
        files.make_directory(str(folder / "file"))
