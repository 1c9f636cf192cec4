"""What a workspace says that waits for trust: shown whole, asked about, and remembered (decisions, "Trust").

What was shown is what is trusted: nothing is read again between the listing and the answer.
"""

import os

from jp.errors import JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from jp.cli.context import Context
    from jp.config.load import Config, Layer
    from jp.config.trust import TrustStore, Withheld
    from jp.config.waiting import Survey
    from jp.prompt.questions import Choice

WIDTH = 100  # characters of a value on one line
PRIVATE = "your own file for the workspace with this id; it has not been used in this place before"


class NoTrustStoreError(JpError):
    """Nothing can be trusted, for there is no place to remember it."""

    code = "no_trust_store"

    def __init__(self) -> None:
        super().__init__(
            "there is no place to remember what is trusted: neither XDG_DATA_HOME nor HOME is set",
            hints=["set HOME, or XDG_DATA_HOME to a directory that you can write to"],
        )


def counted(number: int) -> str:
    """`1 value waits`, `61 values wait`."""
    return "1 value of this workspace waits" if number == 1 else f"{number} values of this workspace wait"


def waiting_notice(number: int) -> str:
    """The one line for a person who does not know yet what waits."""
    return f"{counted(number)} for trust: `jp workspace trust` shows {'it' if number == 1 else 'them'}"


def surveyed(ctx: "Context", directory: str | None = None) -> "Survey":
    """What the workspace says that needs trust, as it is seen from `directory` (the current one).

    The store is made first where there is no workspace: the person may pick one. Raises leaves of ConfigError.
    """
    from jp.cli.context import user_config_dir
    from jp.cli.lean import import_msgspec

    import_msgspec()
    from jp.config.load import Paths
    from jp.config.waiting import survey

    conversations = _conversations(ctx)
    workspace = ctx.workspace
    cwd = os.path.abspath(directory) if directory else ctx.cwd
    paths = Paths(user_config_dir(ctx.environ), workspace.root, cwd, workspace.user_dir)
    with ctx.printer.status("Reading what the workspace says…", delay=1.0):
        return survey(paths, ctx.environ, cfg=ctx.args.cfg, conversations=conversations)


def _conversations(ctx: "Context") -> "Iterator[Sequence[Layer]]":
    """The configuration that each conversation has stored, by layers that name it; one that can't be read is said."""
    found = ctx.store.list()  # now: this finds, or asks for, the workspace
    return (layers for one in found if (layers := _layers(one.id, ctx)))


def _layers(conversation_id: str, ctx: "Context") -> "Sequence[Layer]":
    from jp.config.load import conversation_layers
    from jp.conversation import ids
    from jp.storage.errors import StorageError

    try:
        conversation = ctx.store.open(conversation_id)
        layers = conversation_layers(conversation.base_config, conversation.config_deltas(), conversation_id)
    except StorageError as error:
        ctx.printer.note(f"{error.message}; what its conversation says is not looked at")
        return ()
    for layer in layers:
        layer.name = f"{ids.display(conversation_id)}, {layer.name}"
    return layers


# --- showing


def listing(values: "Iterable[Withheld]", root: str) -> str:
    """Every value with its key, below the first source that says it; what can't be seen is escaped: nothing hides."""
    by_origin: dict[str, list[Withheld]] = {}
    for each in values:
        by_origin.setdefault(each.origin, []).append(each)
    lines: list[str] = []
    for origin, said in by_origin.items():
        lines += [*([""] if lines else []), visible(relative(origin, root))]
        lines += [f"({PRIVATE})"] if any(each.private for each in said) else []
        for each in sorted(said, key=lambda one: one.key):
            lines += ["  " + line for line in _entry(each)]
    return "".join(f"{line}\n" for line in lines)


def relative(name: str, root: str) -> str:
    """The name of a source, as a path in the workspace where it is one."""
    top = root.rstrip(os.sep) + os.sep
    return name.removeprefix(top)


def visible(text: str) -> str:
    """`text` with everything escaped that can't be seen, or is seen otherwise than it stands there."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _entry(each: "Withheld") -> list[str]:
    import json

    key = each.key if each.key.isascii() and each.key.isprintable() else json.dumps(each.key)
    if each.value is None:
        return [f"{key} = null (takes back what is said elsewhere)"]
    whole = json.dumps(each.value, default=str)
    if len(key) + len(whole) <= WIDTH:
        return [f"{key} = {whole}"]
    if isinstance(each.value, str):
        below = [json.dumps(piece) for piece in _pieces(each.value)]
    else:
        below = json.dumps(each.value, default=str, indent=2).split("\n")
    return [f"{key} =", *("  " + line for line in below)]


def _pieces(text: str) -> list[str]:
    """A long text by its lines, and those by what fits."""
    lines = text.splitlines(keepends=True)
    return [line[at : at + WIDTH] for line in lines for at in range(0, len(line), WIDTH)]


def record(each: "Withheld", origins: "Mapping[str, Sequence[str]]") -> "dict[str, object]":
    """A value as `--format json` prints it."""
    return {
        "key": each.key,
        "value": each.value,
        "origins": list(origins.get(each.digest, ())) or [each.origin],
        "digest": each.digest,
    }


# --- remembering


def store_of(ctx: "Context") -> "TrustStore":
    """The store of what is trusted; raises NoTrustStoreError where there can't be one."""
    from jp.config.trust import TrustStore

    store = TrustStore.of(ctx.environ)
    if not store.path:
        raise NoTrustStoreError
    return store


def remember(store: "TrustStore", change: "Callable[[], str | None]") -> None:
    """Write the store as `change` makes it from what it is then; nobody else changes it meanwhile.

    Raises WriteError, and LockedError where somebody else does not come to an end with it.
    """
    from jp.storage import shared

    shared.change(store.path, change, what="what is trusted", command="trust")


def remember_fork(ctx: "Context", conversation_id: str, fork_id: str) -> None:
    """Have what is trusted in a conversation trusted in its fork too. Raises as `remember`."""
    from jp.config.trust import TrustStore

    store, root = TrustStore.of(ctx.environ), ctx.workspace.root
    if store.path and store.recorded(root, conversation_id):
        remember(store, lambda: store.with_fork(root, conversation_id, fork_id))


def remember_recorded(ctx: "Context", config: "Config", conversation_id: str) -> None:
    """Keep the commands of the user's own configuration trusted where a conversation has recorded them.

    Raises as `remember`.
    """
    in_effect = config.commands()
    if not in_effect:
        return
    from jp.config.trust import TrustStore

    store, root = TrustStore.of(ctx.environ), ctx.workspace.root
    if store.path and store.with_recorded(root, in_effect, conversation_id) is not None:
        remember(store, lambda: store.with_recorded(root, in_effect, conversation_id))


# --- asking when a run needs it


def needed(config: "Config") -> "list[Withheld]":
    """What waits for trust of all that a query with this configuration would use."""
    from jp.config.schema import split_key

    return [each for each in config.withheld if _uses(config, split_key(each.key))]


def _uses(config: "Config", path: tuple[str, ...]) -> bool:
    match path:
        case ("conversation", "tools", name, *_):
            return name == "*" or name in _enabled(config)
        case ("conversation", "attachments" | "labels", *_) | ("editor", *_):
            return True
        case ("providers", "mcp", server, *_):
            return server in {_server(config, name) for name in _enabled(config)}
        case ("providers", "llm", provider, *_):
            model = config.root.assistant.model.id or ""
            return config.aliases.get(model, model).partition("/")[0] == provider
    return False


def _enabled(config: "Config") -> set[str]:
    tools = config.root.conversation.tools
    joined = {name: tools.get(name) for name in tools.named}
    return {name for name, tool in joined.items() if tool and tool.enable and tool.enable.state}


def _server(config: "Config", name: str) -> str:
    kind, _, rest = (config.root.conversation.tools[name].source or "").partition(".")
    return rest.partition(".")[0] if kind == "mcp" else ""


def offer_trust(ctx: "Context", config: "Config") -> bool:
    """Ask once about what waits for trust and this run would use; whether the configuration is to be loaded again.

    Where nobody can be asked, where there is no place for the answer, and where the person has said no to the same
    values before, one line says that they wait. Raises Shutdown.
    """
    from jp.config.trust import TrustStore
    from jp.prompt.outcomes import Submitted
    from jp.terminal.promptability import NotPromptable

    wanted = needed(config)
    if not wanted:
        return False
    store, root = TrustStore.of(ctx.environ), ctx.workspace.root
    answer = None
    if ctx.promptability and store.path and not {each.digest for each in wanted} <= store.declined(root):
        ctx.printer.terminal(listing(wanted, root))
        try:
            answer = ctx.asker.ask(_offer(len(wanted), root), about="whether to trust what the workspace says")
        except NotPromptable:
            pass
    if answer == Submitted("y"):
        own = confirmed_dir(ctx, wanted, config.withheld)
        return _kept(ctx, store, lambda: store.with_trusted(root, wanted, confirmed_dir=own))
    if answer == Submitted("n"):
        _kept(ctx, store, lambda: store.with_declined(root, wanted))
    if answer is None:
        ctx.printer.note(waiting_notice(len(config.withheld)))
    return False


def _offer(number: int, root: str) -> "Choice":
    from jp.prompt.questions import Choice, Option

    options = (
        Option("y", "trust them in this workspace, until they change"),
        Option("n", "not now: they are not in effect, and you are asked again when they change"),
    )
    these = "this value" if number == 1 else f"these {number} values"
    return Choice(f"Trust {these} of {root}?", options, default="n")


def confirmed_dir(ctx: "Context", shown: "Iterable[Withheld]", waiting: "Iterable[Withheld]") -> str | None:
    """The user's directory for the workspace where all was shown that its file says and that waits."""
    private = {each.digest for each in waiting if each.private}
    return ctx.workspace.user_dir if private and private <= {each.digest for each in shown} else None


def _kept(ctx: "Context", store: "TrustStore", change: "Callable[[], str | None]") -> bool:
    """Whether the answer could be remembered; why not is said."""
    from jp.storage.errors import StorageError

    try:
        remember(store, change)
    except StorageError as error:
        ctx.printer.note(f"{error.message}; nothing is trusted")
        return False
    return True


def hints_for(config: "Config", *above: str) -> list[str]:
    """What waits for trust at a key or below it, in sentences: hints for the error of whoever needs one of them."""
    from jp.config.schema import split_key
    from jp.config.trust import waits_for_trust

    return [waits_for_trust(each) for each in config.withheld if split_key(each.key)[: len(above)] == above]
