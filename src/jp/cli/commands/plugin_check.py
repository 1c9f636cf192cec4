"""`jp plugin check`: whether a plugin keeps to the protocol."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.plugin.check import Finding

EPILOG = """\
The plugin is run some twenty times, against a workspace that is made up: it sees no conversation of yours. What it does
beside the protocol it does for real. Naming it is consent: nothing else is asked.

examples:
  jp plugin check ./jp-titles
  jp plugin check ./jp-prune -- --days 30
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("path", metavar="PATH", help="the plugin's file")
    parser.add_argument(
        "arguments", nargs="*", metavar="ARGUMENT", help="what its command is given, behind `--` (default: nothing)"
    )
    parser.add_argument(
        "--timeout", type=_seconds, default=10.0, metavar="SECONDS", help="how long a run may take (default: 10)"
    )


def _seconds(text: str) -> float:
    import argparse

    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of seconds up to 3600")
    return seconds


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.lean import import_msgspec

    import_msgspec()
    from jp.errors import DONE, FAILED
    from jp.plugin.check import check
    from jp.plugin.errors import PluginError

    if not os.path.isfile(args.path):
        is_directory = os.path.isdir(args.path)
        raise PluginError(
            f"{args.path} is a directory" if is_directory else f"there is no file {args.path}",
            hints=["`jp plugin check` takes the path of a plugin's file, not its name"],
            metadata={"path": args.path},
        )
    with ctx.printer.status(f"Checking {os.path.basename(args.path)}…", delay=0.5) as status:
        findings = check(
            args.path,
            args=args.arguments,
            environ=ctx.environ,
            cwd=ctx.cwd,
            seconds=args.timeout,
            progress=status.detail,
        )
    if ctx.printer.format.is_json:
        import msgspec

        ctx.printer.record(msgspec.json.encode(findings))
    else:
        ctx.printer.out(_text(findings))
    return FAILED if any(each.ok is False for each in findings) else DONE


def _text(findings: "list[Finding]") -> str:
    from jp.plugin.check import Finding

    told = findings
    if findings[0].check == "starts" and findings[0].ok is False:  # nothing else could be tried: that is said once
        told = [findings[0], Finding("all others", None, findings[1].message)]
    width = max(len(each.check) for each in told)
    words = {True: "ok", False: "FAILS", None: "-"}
    lines = []
    for each in told:
        lines.append(f"{words[each.ok]:<5}  {each.check:<{width}}  {each.message}")
        if each.hint:
            lines.append(f"{'':<{5 + 2 + width + 2}}→ {each.hint}")
    failed = sum(each.ok is False for each in findings)
    skipped = sum(each.ok is None for each in findings)
    lines.append("")
    lines.append(f"{sum(each.ok is True for each in findings)} ok, {failed} failed, {skipped} skipped")
    return "\n".join(lines) + "\n"
