"""The secrets that a person has told a plugin: kept to be taken out of what it logs, and shown by nothing."""

from jp.tool.redaction import SHORTEST, redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.plugin.messages import JSON


class Secrets:
    """The secret answers of one run. No representation of it tells them."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: list[str] = []

    def add(self, secret: str) -> None:
        """One more; too short a one would be found in ordinary words."""
        if len(secret) >= SHORTEST:
            import json

            self._known += {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
            self._known.sort(key=len, reverse=True)

    def redacted(self, text: str) -> str:
        """`text` without them."""
        return redacted(text, self._known)

    def redacted_fields(self, fields: "JSON") -> "JSON":
        """A JSON object without them in its strings."""
        if not self._known:
            return fields
        from jp.conversation.events import each_string

        found: JSON = each_string(fields, self.redacted)
        return found
