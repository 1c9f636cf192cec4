"""The nearest model of a provider that has said it does not know the one asked for."""

import threading

from jp.errors import JpError, nearest
from jp.interrupt.checkpoint import checkpoint
from jp.turn.inbox import Inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.interrupt.token import ShutdownToken
    from jp.llm.provider import Provider

PATIENCE_SECS = 3.0


def nearest_model(provider: "Provider", name: str, environ: "Mapping[str, str]", token: "ShutdownToken") -> str | None:
    """The provider's model that `name` was most likely meant to be; None where it does not say in time."""
    from jp.llm.connect import Lifeline
    from jp.llm.exchange import Limits
    from jp.llm.models import list_models

    inbox, lifeline = Inbox(), Lifeline()
    limits = Limits(connect_secs=PATIENCE_SECS, idle_secs=PATIENCE_SECS)

    def ask() -> None:
        names: list[str] = []
        try:
            models = list_models(provider, lifeline=lifeline, limits=limits, environ=environ)
            names = [model.name for model in models]
        except JpError:
            pass
        finally:
            inbox.post(names)

    threading.Thread(target=ask, name="models", daemon=True).start()
    unsubscribe = token.subscribe(lambda: inbox.post(None))
    inbox.after(PATIENCE_SECS, [])
    try:
        while True:
            found = inbox.get()
            checkpoint()
            if isinstance(found, list):
                return nearest(name, found)
    finally:
        unsubscribe()
        lifeline.cut()
