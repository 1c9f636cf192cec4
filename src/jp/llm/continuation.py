"""Going on with an answer whose stream died: pure.

The provider is given the partial answer as an assistant message and asked to go on (`thread_for`). Models differ in how
they obey: some go on at the very character, some begin the sentence, the line or the paragraph again. `Overlap` removes
what is there already.

Rejected: prefilling (an assistant message last, which some servers continue). Servers differ in whether they continue
it, answer it or refuse it, and only some document it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.conversation.thread import Thread

INSTRUCTION = (
    "Your previous message was cut off by a network failure. Go on exactly where it ends: your next character follows "
    "its last character. Repeat nothing of it, do not apologise, do not comment on this."
)
WINDOW = 4096
MIN_OVERLAP = 4


def thread_for(thread: Thread, partial: str) -> Thread:
    """The thread that asks to go on after `partial` (the text of the message so far); `thread` is not changed."""
    import msgspec

    from jp.conversation.thread import Message, Text

    turns = [
        Message(role="assistant", parts=[Text(partial)]),
        Message(role="user", parts=[Text(INSTRUCTION)]),
    ]
    return msgspec.structs.replace(thread, messages=[*thread.messages, *turns])


class Overlap:
    """Feed the continuation, get what is new.

    The longest beginning of the continuation that is also an end of the partial text (at least `MIN_OVERLAP`
    characters: shorter is chance) is dropped. Text is held back only while it may still turn out to be that.
    """

    def __init__(self, partial: str) -> None:
        self._tail = partial[-WINDOW:]
        self._held = ""
        self._settled = not self._tail

    def feed(self, text: str) -> str:
        """The part of what has come that is surely new."""
        if self._settled:
            return text
        self._held += text
        if len(self._held) < len(self._tail) and self._held in self._tail:
            return ""  # may still become an overlap that reaches the end of the partial
        return self.end()

    def end(self) -> str:
        """Nothing more comes, or it is decided: what was held, without the overlap."""
        if self._settled:
            return ""
        self._settled = True
        held, self._held = self._held, ""
        return held[overlap(self._tail, held) :]


def overlap(before: str, after: str) -> int:
    """How many of the first characters of `after` are the last of `before`, at least `MIN_OVERLAP`, else 0.

    Three will do where they are all there is of a word that `after` begins again: "the wor" and "word and more".
    """
    for size in range(min(len(before), len(after)), MIN_OVERLAP - 1, -1):
        if before.endswith(after[:size]):
            return size
    end = before[-MIN_OVERLAP + 1 :]
    begun = len(end) == MIN_OVERLAP - 1 and end.isalpha() and not before[-MIN_OVERLAP : -MIN_OVERLAP + 1].strip()
    return len(end) if begun and after.startswith(end) and after[len(end) :][:1].isalpha() else 0
