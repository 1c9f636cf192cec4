"""`jp plugin trust`: look at a plugin and approve it, or take an approval back."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.plugin.discovery import Found
    from jp.plugin.fingerprint import Fingerprint

EPILOG = """\
Approved is the file as it is now: when it has changed you are asked again. What `plugins.command.NAME.run` says in the
configuration holds all the same.
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("name", metavar="NAME", help="a name that `jp plugin ls` lists")
    parser.add_argument("-y", "--yes", action="store_true", help="approve what is shown without asking")
    parser.add_argument("--revoke", action="store_true", help="take the approval back")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    if args.revoke:
        return _revoke(args.name, ctx)
    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    from jp.cli.pick import confirmed
    from jp.cli.plugins import described_for, facts, judge, named
    from jp.plugin.admission import APPROVED, UNREADABLE, PluginRefusedError
    from jp.plugin.approvals import Approvals
    from jp.plugin.discovery import find

    found = named(args.name, find(ctx.environ))
    approvals = Approvals.of(ctx.environ)
    judged = judge(found, config, approvals.all())
    read = judged.fingerprint
    if read is None:
        raise PluginRefusedError(
            f"the plugin {found.name} can't be approved, for its file can't be read: {found.path}",
            metadata={"plugin": found.name, "path": found.path, "state": UNREADABLE},
        )
    if judged.state == APPROVED:
        (found,) = described_for(ctx, config, [found], again=True)
        _show(found, read, ctx)
        return _done(found, read, ctx, "it is approved already")
    if not _is_own(found, ctx):
        if args.yes or not ctx.promptability:
            _show(found, read, ctx)
        hints = ["look at what is shown, then `--yes` approves it without asking"]
        if not args.yes and not confirmed(
            ctx, f"Approve the plugin {found.name}?", body="\n".join(facts(found, read)), hints=hints
        ):
            ctx.printer.note("nothing was changed")
            return 1
        approvals.approve(found.name, found.path, read.sha256)
    (found,) = described_for(ctx, config, [found], again=True)
    return _done(found, read, ctx, _said(found, config))


def _is_own(found: "Found", ctx: "Context") -> bool:
    from jp.plugin.discovery import BUNDLED

    if found.origin == BUNDLED:
        ctx.printer.note(f"{found.name} is a part of JP, and needs no approval")
    return found.origin == BUNDLED


def _show(found: "Found", read: "Fingerprint", ctx: "Context") -> None:
    from jp.cli.plugins import facts

    if not ctx.printer.format.is_json:
        ctx.printer.out("".join(f"{line}\n" for line in facts(found, read)))


def _said(found: "Found", config: "Config") -> str:
    from jp.cli.plugins import settings_of
    from jp.plugin.admission import key

    settings = settings_of(config, found.name)
    run = settings.run if settings is not None else None
    return "it is approved" + (f"; {key(found.name, 'run')} is {run} all the same" if run in ("ask", "deny") else "")


def _done(found: "Found", read: "Fingerprint", ctx: "Context", said: str) -> int:
    from jp.terminal.sanitize import one_line

    _record(ctx, found.name, found.path, read.sha256, approved=True)
    ctx.printer.note(said)
    if found.description is not None:
        ctx.printer.note(f"it answers to `jp {' '.join(found.claims[0])}`")
    elif found.problem:
        ctx.printer.note(one_line(f"it is not described: {found.problem}"))
    return 0


def _revoke(name: str, ctx: "Context") -> int:
    from jp.cli.plugins import forget_description, named
    from jp.plugin.approvals import Approvals
    from jp.plugin.discovery import find

    name = name.removeprefix("jp-")
    was = Approvals.of(ctx.environ).forget(name)
    if was is None:
        found = named(name, find(ctx.environ))
        _record(ctx, name, found.path, None, approved=False)
        ctx.printer.note(f"{name} was not approved")
        return 0
    forget_description(ctx.environ, was.path)
    _record(ctx, name, was.path, was.sha256, approved=False)
    ctx.printer.note(f"{name} is not approved any more")
    return 0


def _record(ctx: "Context", name: str, path: str, sha256: "str | None", *, approved: bool) -> None:
    if ctx.printer.format.is_json:
        from jp.cli.plugin_records import emit

        record = {"name": name, "path": path, "sha256": sha256, "approved": approved}
        emit(ctx, record)
