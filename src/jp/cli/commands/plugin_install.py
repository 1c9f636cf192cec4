"""`jp plugin install`: copy a plugin into JP's own directory for them, and approve it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context

EPILOG = """\
The plugin is a copy: what is done to PATH later changes nothing until `jp plugin update`. Installing it approves it,
and it is run once, to be asked what it is.
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("path", metavar="PATH", help="a file: a script that begins with `#!`, or a compiled program")
    parser.add_argument("--name", metavar="NAME", help="the plugin's name (that of the file, without `jp-`)")
    parser.add_argument("-f", "--force", action="store_true", help="replace another plugin of this name")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    import os

    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    from jp.cli.plugin_dispatch import unreached
    from jp.cli.plugin_records import commands, emit
    from jp.cli.plugins import described_for
    from jp.cli.trusting import visible
    from jp.plugin.discovery import INSTALLED, Found, find
    from jp.plugin.installation import install
    from jp.terminal.sanitize import one_line

    source = os.path.join(ctx.cwd, os.path.expanduser(args.path))
    done = install(source, ctx.environ, name=args.name, force=args.force)
    (found,) = described_for(ctx, config, [Found(done.name, done.path, INSTALLED)], again=True)
    plugins = described_for(ctx, config, find(ctx.environ))
    lost = unreached(found, plugins)
    problem = lost or found.problem
    if ctx.printer.format.is_json:
        said = found.description
        record = {
            "name": done.name,
            "path": done.path,
            "sha256": done.sha256,
            "source": done.source,
            "before": done.before,
            "commands": commands(found, plugins),
            "version": said.version if said is not None else None,
            "description": said.description if said is not None else None,
            "problem": problem or None,
        }
        emit(ctx, record)
    ctx.printer.note(f"installed and approved: {visible(done.path)}")
    ctx.printer.note(f"sha256 {done.sha256}" + (f", in place of {done.before}" if done.before else ""))
    if found.problem:
        ctx.printer.note(one_line(("it is not described: " if found.description is None else "") + found.problem))
    if lost:
        ctx.printer.note(f"{lost}, so that nothing runs this plugin")
    elif not found.problem:
        ctx.printer.note(f"it answers to `jp {' '.join(commands(found, plugins)[0])}`")
    return 0
