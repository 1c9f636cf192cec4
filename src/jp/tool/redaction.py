"""Secret answers taken out of what a tool says: they are never stored, logged, or shown to a model."""

import json

import msgspec
from msgspec import UNSET

from jp.tool.outcome import Failure, NeedsInput, Success

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from jp.tool.definition import Invocation
    from jp.tool.outcome import Outcome

SHORTEST = 4  # characters; shorter ones would be found in the middle of ordinary words
REDACTED = "[redacted]"


def secrets_of(invocation: "Invocation") -> tuple[str, ...]:
    """The secret answers of an invocation, longest first, also as they are spelled within JSON."""
    found: set[str] = set()
    for name in invocation.secret:
        answer = invocation.answers.get(name)
        if isinstance(answer, str) and len(answer) >= SHORTEST:
            found |= {answer, json.dumps(answer)[1:-1], json.dumps(answer, ensure_ascii=False)[1:-1]}
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


def redacted(text: str, secrets: "Collection[str]") -> str:
    """`text` without the secrets that are in it."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, REDACTED)
    return text


def without_secrets(outcome: "Outcome", secrets: "Collection[str]") -> "Outcome":
    """`outcome` with all its texts redacted."""
    if not secrets:
        return outcome
    if isinstance(outcome, Success):
        return Success(redacted(outcome.content, secrets))
    if isinstance(outcome, Failure):
        trace = [redacted(cause, secrets) for cause in outcome.trace]
        return msgspec.structs.replace(outcome, message=redacted(outcome.message, secrets), trace=trace)
    question = outcome.question
    told = isinstance(question.default, str) and redacted(question.default, secrets) != question.default
    return NeedsInput(
        msgspec.structs.replace(
            question,
            text=redacted(question.text, secrets),
            pre_amble=redacted(question.pre_amble, secrets),
            default=UNSET if told else question.default,
        )
    )


class Redactor:
    """Redacts a stream of bytes: a secret that is split over two pieces is found, too."""

    def __init__(self, secrets: "Collection[str]") -> None:
        self._secrets = [secret.encode("utf-8", "replace") for secret in secrets]
        self._held = b""
        self._longest = max(map(len, self._secrets), default=1)

    def feed(self, data: bytes) -> bytes:
        """What of `data`, and of what was held back before, can be told already."""
        if not self._secrets:
            return data
        data = self._held + data
        told, at = self._redact(data, len(data) - self._longest + 1)
        self._held = data[at:]
        return told

    def end(self) -> bytes:
        """What is still held back."""
        told, _ = self._redact(self._held, len(self._held))
        self._held = b""
        return told

    def _redact(self, data: bytes, until: int) -> tuple[bytes, int]:
        """What is before `until`, and where that ends: behind it where a secret does."""
        at = 0
        told: list[bytes] = []
        while at < until:
            places = [(found, -len(each)) for each in self._secrets if (found := data.find(each, at)) >= 0]
            found, length = min(places, default=(until, 0))
            if found >= until:
                break
            told += [data[at:found], REDACTED.encode()]
            at = found - length
        end = max(at, until, 0)
        return b"".join([*told, data[at:end]]), end


def redacted_head(data: bytes, secrets: "Collection[str]") -> bytes:
    """The beginning of something longer, without the secrets in it and without half a one at its end."""
    return Redactor(secrets).feed(data)


def redacted_tail(data: bytes, secrets: "Collection[str]") -> bytes:
    """The end of something longer, without the secrets in it and without half a one at its beginning."""
    if not secrets:
        return data
    redactor = Redactor(secrets)
    half = max(len(secret.encode("utf-8", "replace")) for secret in secrets) - 1
    return (redactor.feed(data) + redactor.end())[half:]
