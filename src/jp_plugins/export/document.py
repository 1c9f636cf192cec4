"""What is exported: one conversation, and what of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jp_plugins import moments
from jp_plugins.plain import one_line
from jp_plugins.turns import Turn, turns


@dataclass(frozen=True)
class Document:
    """One conversation; `last_used` is RFC 3339 or None, `reasoning` and `tools` say whether those are shown."""

    conversation: str
    title: str | None
    last_used: str | None
    events: list[dict[str, Any]]
    reasoning: bool = False
    tools: bool = False

    @cached_property
    def turns(self) -> list[Turn]:
        """Its turns."""
        return turns(self.events)

    @property
    def name(self) -> str:
        """Its title, or what stands for one; on one line."""
        return one_line(self.title or "") or "Untitled conversation"

    @property
    def about(self) -> str:
        """One line about it, in plain text."""
        count = sum(turn.number > 0 for turn in self.turns)
        used = moments.to_minute(moments.parsed(self.last_used))
        words = [f"Conversation {self.conversation}", f"{count} turn{'' if count == 1 else 's'}"]
        return " · ".join([*words, f"last used {used} UTC"] if used else words)
