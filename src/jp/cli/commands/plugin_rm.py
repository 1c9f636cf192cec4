"""`jp plugin rm`: delete a plugin from JP's own directory for them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("name", metavar="NAME", help="a name that `jp plugin ls` lists as installed")
    parser.add_argument("-y", "--yes", action="store_true", help="delete without asking")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.pick import confirmed
    from jp.cli.plugins import forget_description, named
    from jp.cli.trusting import visible
    from jp.plugin.discovery import INSTALLED, find
    from jp.plugin.installation import InstallError, remove

    found = named(args.name, find(ctx.environ))
    if found.origin != INSTALLED:
        raise InstallError(
            f"the plugin {found.name} was not installed by JP: {found.path}",
            hints=[f"`jp plugin trust --revoke {found.name}` takes its approval back"],
            metadata={"plugin": found.name, "path": found.path},
        )
    if not args.yes and ctx.promptability:
        hints = ["`--yes` deletes without asking"]
        if not confirmed(ctx, f"Delete the plugin {found.name}?", body=visible(found.path), hints=hints):
            ctx.printer.note("nothing was deleted")
            return 1
    path = remove(found.name, ctx.environ)
    forget_description(ctx.environ, path)
    if ctx.printer.format.is_json:
        from jp.cli.plugin_records import emit

        emit(ctx, {"name": found.name, "path": path})
    ctx.printer.note(f"deleted {visible(path)}")
    return 0
