"""The lock of one installation: who has it is named, and what is no holder is not taken for one."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from jp.llm.embedded.catalogue import find
from jp.llm.embedded.errors import BusyError, InstallError
from jp.llm.embedded.install import install
from jp.llm.embedded.lockfile import ModelLock

MODEL = find("tiny")


def free(path: Path) -> bool:
    """Whether somebody else could have the lock."""
    fd = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def test_held_and_released(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with ModelLock(str(path), MODEL):
        assert path.read_text() == f"{os.getpid()}\n"
        assert not free(path)
        with pytest.raises(BusyError, match=rf"\(process {os.getpid()}\)") as caught:
            ModelLock(str(path), MODEL).__enter__()
        assert caught.value.metadata["pid"] == os.getpid()
        assert not free(path), "who was refused has released it"
    assert free(path)


def test_a_holder_that_can_not_be_written_holds_all_the_same(tmp_path: Path) -> None:
    """On a full disk a model is removed to make room."""
    path = tmp_path / "fifo"
    os.mkfifo(path)  # it can be locked, and has no length to cut
    before = set(os.listdir("/dev/fd"))
    with ModelLock(str(path), MODEL):
        assert not free(path)
    assert free(path)
    assert set(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_a_disk_without_locks_is_not_taken_for_another_process(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    before = set(os.listdir("/dev/fd"))
    with pytest.raises(InstallError, match=os.strerror(number)):
        install(MODEL, os.environ, lambda event: None)
    assert set(os.listdir("/dev/fd")) == before, "a descriptor leaked"
