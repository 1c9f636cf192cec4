"""Small files of the user's own that several processes change: each reads, changes and writes while no other does."""

import time

from jp.interrupt.checkpoint import checkpoint
from jp.storage import files, lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_SECS = 5.0  # that another process may take to write it, which is a matter of milliseconds


def change(path: str, make: "Callable[[], str | None]", *, what: str, command: str) -> None:
    """Write the text that `make` makes of what the file holds now; None leaves it as it is.

    `what` names the file's content and `command` what changes it, for the error of who finds it locked. Raises
    WriteError, LockedError where somebody else does not come to an end with it, and what `make` raises.
    """
    end = time.monotonic() + LOCK_SECS
    holder = lock.Holder.this_process(command)
    while (held := lock.try_acquire(f"{path}.lock", holder)) is None:
        checkpoint()
        if time.monotonic() > end:
            raise lock.locked_error(lock.read_holder(f"{path}.lock"), what)
        time.sleep(0.01)
    with held:
        text = make()
        if text is not None:
            files.write_atomic(path, text.encode(), follow=True)
