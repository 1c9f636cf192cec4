"""Keeping a draft while its text changes: a thread writes the newest text, and whoever types never waits for a disk."""

import _thread
import threading

from jp import log
from jp.interrupt.mailbox import EmptyError, Mailbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.ask.drafts import Drafts

QUIET_SECS = 0.3
CLOSE_SECS = 1.0


class DraftWriter:
    """The draft of one composition. `changed` and `close` are for one thread, the one that has the text."""

    def __init__(self, drafts: "Drafts", key: str) -> None:
        self._drafts = drafts
        self._key = key
        self._mail: Mailbox[None] = Mailbox()
        self._newest: str | None = None  # None: there is to be no draft
        self._closing = False
        self._stored = False
        self._done = _thread.allocate_lock()
        self._thread: threading.Thread | None = None

    def changed(self, text: str) -> None:
        """The text is this now. Returns at once; it is on disk within milliseconds. An emptied text has no draft."""
        self._newest = text or None
        if self._thread is None:
            self._start()
        self._mail.post(None)

    def close(self, keep: str | None) -> str | None:
        """End with `keep` as the draft, synced, or with none; waits at most a second for the disk.

        Returns the path of the draft; None when there is none, also because it could not be written (`rescue`) or
        the disk did not answer in time.
        """
        self._newest = keep or None
        self._closing = True
        if self._thread is None:
            self._start()
        self._mail.post(None)
        if not self._done.acquire(timeout=CLOSE_SECS):
            return None
        self._done.release()
        return self._drafts.path(self._key) if keep and self._stored else None

    def _start(self) -> None:
        self._done.acquire()
        self._thread = threading.Thread(target=self._run, name="draft", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._closing:
                self._step()
            self._store(durable=True)
        except Exception as error:  # nobody waits for this thread but `close`, which says that nothing was stored
            self._stored = False
            log.log(log.ERROR, "draft", "the writer failed", error=repr(error))
        finally:
            self._done.release()

    def _step(self) -> None:
        """Wait for news and write it; once it is quiet, sync it."""
        self._mail.get()
        while True:
            self._drain()
            if self._closing:
                return
            self._store(durable=False)
            try:
                self._mail.get(QUIET_SECS)
            except EmptyError:
                break
        self._store(durable=True)

    def _drain(self) -> None:
        try:
            while True:
                self._mail.get(0)
        except EmptyError:
            pass

    def _store(self, *, durable: bool) -> None:
        text = self._newest
        if text is None:
            self._drafts.drop(self._key)
        elif durable:
            self._drafts.settle(self._key, text)
        else:
            self._drafts.keep(self._key, text)
        self._stored = text is not None and self._drafts.failed is None
