"""Faults of the operating system: the k-th call of a function fails, or the process seems to end there."""

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

import pytest

CALLS = ("open", "write", "fsync", "replace", "close", "chmod")
OTHERS = ("unlink", "rename", "ftruncate", "mkdir", "rmdir")


class Died(BaseException):
    """Stands for the end of the process: nothing after this happens, not even cleaning up."""


class Fault:
    """Whether the fault came about."""

    def __init__(self) -> None:
        self.fired = False


@contextlib.contextmanager
def fail_at(call: str, k: int, *, dies: bool = False, error: int = errno.EIO) -> Iterator[Fault]:
    """While this lasts, the `k`-th call of `os.<call>` raises; with `dies` every later call of any of them, too."""
    fault = Fault()
    count = 0
    real = {name: getattr(os, name) for name in (*CALLS, *OTHERS)}

    def wrap(name: str) -> Any:
        def wrapped(*args: Any, **more: Any) -> Any:
            nonlocal count
            if dies and fault.fired:
                raise Died
            if name == call:
                count += 1
                if count == k:
                    fault.fired = True
                    if dies:
                        raise Died
                    if name == "close":
                        real[name](*args)
                    raise OSError(error, os.strerror(error))
            return real[name](*args, **more)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        for name in real:
            patch.setattr(os, name, wrap(name))
        yield fault
