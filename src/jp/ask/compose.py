"""Composing a text: the inline editor, Ctrl-X to the external editor and back, drafts (RFD 088; contracts, section 8).

One loop for queries and replies; what differs between them is in `jp.ask.policy`, and how the external editor is given
the text (`Surface`). It runs in a dialogue, on the prompt thread. The text is on disk from the first key on, under one
key a composition, until whoever asked for it says that it was sent; emptied on purpose it is gone.
"""

from typing import NamedTuple, Protocol

from jp.ask import policy
from jp.ask.draft_writer import DraftWriter
from jp.ask.policy import Context, Next, Surface
from jp.editor.backend import EditOutcome
from jp.errors import JpError
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, OpenEditor, ShowWhole, Submitted
from jp.prompt.questions import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jp.ask.dialogue import Dialogue
    from jp.ask.drafts import Drafts
    from jp.editor.backend import EditorBackend
    from jp.editor.errors import EditorMissingError


class Composed(NamedTuple):
    """What came of it: the text to send; without one (None) what follows. `left` is what is kept as the draft.

    `pressed`: it was left by Ctrl-C.
    """

    text: str | None
    next: Next | None = None
    left: str = ""
    pressed: bool = False


class Editing(Protocol):
    """How the external editor gets a text and gives it back."""

    first: bool  # something that only the editor can show is waiting: begin there

    def edit(self, text: str) -> str | None:
        """The text as saved, None when the user cancelled. Raises JpError leaves; the text is the caller's still."""
        ...


class TextEditing:
    """A text of its own, as replies are."""

    first = False

    def __init__(self, editor: "EditorBackend") -> None:
        self._editor = editor

    def edit(self, text: str) -> str | None:
        """Have it edited in a temporary file."""
        outcome, saved = self._editor.edit_text(text)
        return saved if outcome is EditOutcome.SAVED else None


class Composition:
    """One text being written.

    `compose` is the setting, `mode` the keys of the inline editor; `editing` None: no editor is configured, and
    `missing` is the error that says so. `swaps`: Ctrl-C opens the menu of what the text is for, in place of leaving it.
    `say` prints a notice; `rescue` is given a text that can't be kept as a draft. `reveal` prints all of what is asked
    about, for a question with `more`.
    """

    def __init__(  # noqa: PLR0913
        self,
        context: Context,
        *,
        message: str,
        cancel: str,
        compose: bool | str,
        mode: str,
        editing: Editing | None,
        missing: "EditorMissingError",
        drafts: "Drafts",
        key: str,
        say: "Callable[[str], object]",
        rescue: "Callable[[str], object]",
        history: "Callable[[], Iterable[str]] | None" = None,
        swaps: bool = False,
        placeholder: str = "",
        body: str = "",
        more: str = "",
        reveal: "Callable[[], object]" = lambda: None,
    ) -> None:
        self._context = context
        self._compose = compose
        self._editing = editing
        self._missing = missing
        self._drafts = drafts
        self._key = key
        self._say = say
        self._rescue = rescue
        self._question = Edit(
            message,
            mode=mode,
            escape=policy.escape(compose, editor=editing is not None),
            cancel=cancel,
            history=history,
            placeholder=placeholder,
            body=body,
            more=more,
        )
        self._reveal = reveal
        self._swaps = swaps
        self._text = ""
        self._cursor: int | None = None
        self.rescued = False  # the draft could not be kept in its place

    def run(self, dialogue: "Dialogue", seed: str = "", *, left: str = "") -> Composed:
        """Have it written, beginning with `seed` and the draft that an earlier composition has left.

        `left` is a newer form of that draft, which takes its place.
        """
        self._key = self._drafts.claim(self._key)
        return self._run(dialogue, _joined(seed, left or self._drafts.load(self._key)))

    def edit(self, dialogue: "Dialogue", text: str, error: str = "", *, guarded: bool = False) -> Composed:
        """Have `text` edited, or the draft of it that was left; `error` is why it was refused as it is.

        `guarded`: nobody has asked for the editing, so what is typed at this moment was meant for something else.
        """
        self._key = self._drafts.claim(self._key)
        self._question = self._question._replace(error=error, guarded=guarded)
        return self._run(dialogue, text if error else self._drafts.load(self._key) or text)

    def _run(self, dialogue: "Dialogue", text: str) -> Composed:
        self._text = text
        for notice in self._drafts.notices:
            self._say(notice)
        self._writer = DraftWriter(self._drafts, self._key)
        self._question = self._question._replace(changed=self._writer.changed)
        if self._text:
            self._writer.changed(self._text)
        try:
            return self._write(dialogue)._replace(left=self._text if self._text.strip() else "")
        finally:
            self._keep(self._text if self._text.strip() else "")

    def sent(self) -> None:
        """The text has been sent and stored: its draft may go."""
        self._drafts.done(self._key)

    def moved(self, key: str) -> None:
        """The text was not answered, and is what the composition `key` begins with from now on."""
        if key != self._key and self._text.strip():
            self._drafts.settle(key, self._text)
            if self._drafts.failed is None:
                self._drafts.drop(self._key)

    def _write(self, dialogue: "Dialogue") -> Composed:
        surface = policy.first(self._compose, promptable=True)
        if self._question.error and surface is Surface.EDITOR:
            if self._compose == "always":
                self._say(self._question.error)
            else:
                surface = Surface.INLINE  # where the error is seen with the text
        if surface is Surface.EDITOR or (self._editing is not None and self._editing.first):
            done = self._editor_first()
            if done is not None:
                return done
        while True:
            question = self._question._replace(seed=self._text, cursor=self._cursor)
            outcome = dialogue.ask(question, swaps=self._swaps)
            match outcome:
                case Submitted(text):
                    self._text = text
                    if text.strip() or self._context in policy.BLANK_COUNTS:
                        return Composed(text)
                    return Composed(None, policy.empty(self._context))
                case OpenEditor(text, cursor):
                    self._text, self._cursor = text, cursor
                    self._escape()
                case ShowWhole(text, cursor):
                    self._text, self._cursor = text, cursor
                    self._reveal()
                case Cancelled(text):
                    self._text = text
                    return Composed(None, policy.cancelled(self._context))
                case Interrupted(text):
                    self._text = text
                    return Composed(None, policy.interrupted(self._context), pressed=True)
                case Broken(text):  # the run is ending, or the prompt failed: never sent
                    self._text = text or self._text
                    return Composed(None, policy.cancelled(self._context))

    def _editor_first(self) -> Composed | None:
        """Begin in the editor; None: go on in the inline editor."""
        saved: str | None = None
        if self._editing is None:
            self._say(_said(self._missing))
            following = policy.editor_failed(self._context, self._compose)
        else:
            try:
                saved = self._editing.edit(self._text)
                following = policy.editor_left(self._context, self._compose)
            except JpError as error:
                self._say(_said(error))
                following = policy.editor_failed(self._context, self._compose)
        if saved is not None and saved.strip():
            self._take(saved)
            # An editor that comes back at once must not consent to anything: sent is what is sent from here.
            return None if self._context in policy.CONSENTS else Composed(saved)
        if saved is not None and self._text.strip():
            self._say("the document was empty; the text is as it was")
        return None if following is Next.INLINE else Composed(None, following)

    def _escape(self) -> None:
        """Ctrl-X: what is saved is the buffer then; cancelled, or saved empty in a query, the buffer stays."""
        if self._editing is None:
            return
        try:
            saved = self._editing.edit(self._text)
        except JpError as error:
            self._say(_said(error))
            return
        if saved is not None and (saved.strip() or self._context is not Context.QUERY):
            self._take(saved)
        elif saved is not None and self._text.strip():
            self._say("the document was empty; the text is as it was")

    def _take(self, text: str) -> None:
        if text != self._text:
            self._text, self._cursor = text, None
            self._writer.changed(text)

    def _keep(self, text: str) -> None:
        """The draft as it is left; where the disk takes no more, anywhere; in the end before the person's eyes."""
        if self._writer.close(text) is None and text:
            self.rescued = True
            self._rescue(text)


def _joined(seed: str, draft: str | None) -> str:
    if not draft or not seed or draft.startswith(seed.rstrip()):
        return draft or seed
    return f"{seed.rstrip()}\n\n{draft}"


def _said(error: JpError) -> str:
    return error.message + "".join(f"\n    → {hint}" for hint in error.hints)
