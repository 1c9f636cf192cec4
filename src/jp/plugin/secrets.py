"""The secrets that a person has told a plugin: kept to be taken out of the log and of errors, and shown by nothing."""

from jp import log
from jp.tool.redaction import REDACTED, SHORTEST, redacted


class Secrets:
    """The secret answers of one run. No representation of it tells them."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: list[str] = []

    def add(self, secret: str) -> None:
        """One more, from now on in no line of the log; too short a one would be found in ordinary words."""
        if len(secret) >= SHORTEST:
            import json

            forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
            self._known += forms
            self._known.sort(key=len, reverse=True)
            log.hide(self.redacted)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._known)

    def redacted(self, text: str) -> str:
        """`text` without them."""
        text = redacted(text, self._known)
        return self._uncut(text) if "…" in text else text

    def _uncut(self, text: str) -> str:
        """`text` without the beginning of one where a longer text was cut."""
        head, *more = text.split("…")
        for each in more:
            cut = max((_begun(head, secret) for secret in self._known), default=0)
            if cut:
                head = head[:-cut] + REDACTED
            head += "…" + each
        return head


def _begun(text: str, secret: str) -> int:
    """How many characters of the secret's beginning stand at the end of `text`."""
    return next((n for n in range(min(len(secret), len(text)), SHORTEST - 1, -1) if text.endswith(secret[:n])), 0)
