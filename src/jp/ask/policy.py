"""Where a text is written, and what cancelling or leaving it empty means: pure functions (RFD 088, "Configuration
changes", with decisions, "Asking").

`compose_in_editor` is a setting of four values; a context is where the text is wanted. The widget never decides what an
empty text means: these tables do.
"""

from enum import Enum


class Surface(Enum):
    """Where the text is written."""

    INLINE = "inline"
    EDITOR = "editor"
    NONE = "none"  # nobody can be asked: the setting has no effect


class Context(Enum):
    """Who wants the text: a composed query, or a reply from a menu or from a fixed action without one."""

    QUERY = "query"
    STREAMING_MENU = "streaming r"
    STREAMING_ACTION = "streaming action=reply"
    TURN_MENU = "turn r"
    TURN_ACTION = "turn action=reply"
    TOOL_MENU = "tool r"
    TOOL_ACTION = "tool action=respond"
    SKIP_REASON = "permission r"
    ARGUMENTS = "permission e"
    RESULT = "result e"
    ANSWER = "a tool's question"
    PLUGIN = "a plugin's prompt"


class Next(Enum):
    """What follows when there is no text."""

    MENU = "back to the menu, or to the question that it was opened from"
    RESUME = "the response goes on"
    CANNED = "the canned message; of a skipped tool: no reason; of a question: the empty text"
    NOTHING = "ends with a notice, the draft kept"
    ABORT = "aborted, the draft kept"
    INLINE = "the inline editor"


def first(compose: bool | str, *, promptable: bool) -> Surface:
    """The surface that a text is begun on."""
    if not promptable:
        return Surface.NONE
    return Surface.EDITOR if compose in (True, "always") else Surface.INLINE


def escape(compose: bool | str, *, editor: bool) -> bool:
    """Whether Ctrl-X leads from the inline editor to the external one, and is named in the help line."""
    return editor and compose != "never"


def empty(context: Context) -> Next:
    """An empty or blank text was sent from the inline editor."""
    return _EMPTY[context]


def cancelled(context: Context) -> Next:
    """ESC in the inline editor."""
    return _CANCELLED[context]


def interrupted(context: Context) -> Next:
    """Ctrl-C in the inline editor: as ESC, but that a query is aborted."""
    return Next.ABORT if context is Context.QUERY else _CANCELLED[context]


def editor_left(context: Context, compose: bool | str) -> Next:
    """The editor, opened first, was cancelled or has saved nothing."""
    if context is Context.QUERY:
        return Next.NOTHING if compose == "always" else Next.INLINE
    return _CANCELLED[context] if context in _MENULESS else Next.MENU


def editor_failed(context: Context, compose: bool | str) -> Next:
    """The editor, opened first, could not run or is not configured; a notice says why."""
    if compose != "always":
        return Next.INLINE
    if context is Context.QUERY:
        return Next.NOTHING
    return _CANCELLED[context] if context in _MENULESS else Next.MENU


_MENULESS = (Context.STREAMING_ACTION, Context.TURN_ACTION, Context.TOOL_ACTION)

CONSENTS = (Context.ARGUMENTS, Context.RESULT, Context.ANSWER)
"""Where sending lets something happen that the person has not written: only Enter does."""

BLANK_COUNTS = (Context.PLUGIN,)
"""Where a text without a word in it is sent as it is."""

_EMPTY = {
    Context.QUERY: Next.NOTHING,
    Context.STREAMING_MENU: Next.MENU,
    Context.STREAMING_ACTION: Next.RESUME,
    Context.TURN_MENU: Next.MENU,
    Context.TURN_ACTION: Next.RESUME,
    Context.TOOL_MENU: Next.CANNED,
    Context.TOOL_ACTION: Next.CANNED,
    Context.SKIP_REASON: Next.CANNED,
    Context.ARGUMENTS: Next.MENU,
    Context.RESULT: Next.MENU,
    Context.ANSWER: Next.CANNED,
    Context.PLUGIN: Next.CANNED,
}
_CANCELLED = {
    Context.QUERY: Next.NOTHING,
    Context.STREAMING_MENU: Next.MENU,
    Context.STREAMING_ACTION: Next.RESUME,
    Context.TURN_MENU: Next.MENU,
    Context.TURN_ACTION: Next.RESUME,
    Context.TOOL_MENU: Next.MENU,
    Context.TOOL_ACTION: Next.CANNED,
    Context.SKIP_REASON: Next.MENU,
    Context.ARGUMENTS: Next.MENU,
    Context.RESULT: Next.MENU,
    Context.ANSWER: Next.MENU,
    Context.PLUGIN: Next.MENU,
}
