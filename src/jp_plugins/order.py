"""The order in which conversations are shown."""

from collections.abc import Iterable

from jp.plugin.messages import ConversationSummary


def by_use(known: Iterable[ConversationSummary]) -> list[ConversationSummary]:
    """The one used last first."""
    return sorted(known, key=lambda each: (each.last_activated_at or "", each.id), reverse=True)
