"""Earlier texts, to be looked through in the inline editor: fetched on a thread of their own, as disks may be slow."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterable

from prompt_toolkit.history import History


class Earlier(History):
    """Earlier texts, newest first, fetched on a thread of their own; nothing is added to them here.

    `arrived` is called when all of them are there.
    """

    def __init__(self, fetch: Callable[[], Iterable[str]], arrived: Callable[[], object]) -> None:
        super().__init__()
        self._fetch = fetch
        self._arrived = arrived

    async def load(self) -> AsyncGenerator[str, None]:
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[str]] = loop.create_future()

        def fetch() -> None:
            try:
                texts = list(self._fetch())
            except Exception:  # an amenity: without it there is nothing to look up
                texts = []
            try:
                loop.call_soon_threadsafe(lambda: None if found.done() else found.set_result(texts))
            except RuntimeError:
                pass  # the prompt is over

        threading.Thread(target=fetch, name="history", daemon=True).start()
        self._loaded_strings = await found
        for text in self._loaded_strings:
            yield text
        self._arrived()

    def load_history_strings(self) -> Iterable[str]:
        return ()

    def store_string(self, string: str) -> None: ...
