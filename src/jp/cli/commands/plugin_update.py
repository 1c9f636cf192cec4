"""`jp plugin update`: install plugins again from where they came from."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.plugin.installation import Installed


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="plugins (all that were installed)")
    parser.add_argument("-f", "--force", action="store_true", help="replace copies that were changed by hand, too")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    from jp.errors import DONE, FAILED, JpError
    from jp.interrupt.checkpoint import checkpoint
    from jp.plugin.installation import updatable, update

    names = [name.removeprefix("jp-") for name in args.names] or updatable(ctx.environ)
    records, failed = [], False
    for name in dict.fromkeys(names):
        checkpoint()
        version = _version(name, ctx, config)
        try:
            done = update(name, ctx.environ, force=args.force)
        except JpError as error:
            if len(names) == 1:
                raise
            failed = True
            ctx.printer.note(f"{name} was not updated: {error.message}")
            records.append({**_NOTHING, "name": name, "problem": error.message})
            continue
        records.append(_say(done, version, ctx, config))
    if ctx.printer.format.is_json:
        from jp.cli.plugin_records import emit

        emit(ctx, records)
    if not names:
        ctx.printer.note("no plugin was installed from a file")
    return FAILED if failed else DONE


_NOTHING: "dict[str, object]" = {
    "name": None,
    "path": None,
    "source": None,
    "changed": False,
    "sha256": None,
    "before": None,
    "version": None,
    "version_before": None,
    "problem": None,
}


def _version(name: str, ctx: "Context", config: "Config") -> "str | None":
    """The version that the plugin says it is, as it is now."""
    from jp.cli.plugins import described_for
    from jp.plugin.discovery import find

    found = described_for(ctx, config, [each for each in find(ctx.environ) if each.name == name])
    return found[0].description.version if found and found[0].description is not None else None


def _say(done: "Installed", before: "str | None", ctx: "Context", config: "Config") -> "dict[str, object]":
    """Tell what has changed; the record of it."""
    from jp.terminal.sanitize import one_line

    after = _version(done.name, ctx, config) if done.before else before
    if done.before:
        versions = f"{before or '?'} → {after or '?'}" if before != after else f"still version {after or '?'}"
        ctx.printer.note(one_line(f"{done.name} is updated ({versions}) from {done.source}"))
        ctx.printer.note(f"sha256 {done.before} → {done.sha256}")
    else:
        ctx.printer.note(one_line(f"{done.name} is what {done.source} is"))
    return {
        **_NOTHING,
        "name": done.name,
        "path": done.path,
        "source": done.source,
        "changed": bool(done.before),
        "sha256": done.sha256,
        "before": done.before,
        "version": after,
        "version_before": before,
    }
