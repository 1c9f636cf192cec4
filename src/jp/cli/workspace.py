"""Whether there is a workspace here, for commands that work without one too."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.cli.context import Context


def has_workspace(ctx: "Context") -> bool:
    """Whether the current directory is in a workspace."""
    from jp.storage.errors import NoWorkspaceError

    try:
        return bool(ctx.workspace)
    except NoWorkspaceError:
        return False
