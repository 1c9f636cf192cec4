"""`jp model ls|install|rm`: the embedded models on this machine."""

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.llm.embedded.catalogue import Model

EPILOG = """\
actions:
  ls                list the embedded models and which are installed
  install [MODEL]   fetch a model, or go on fetching it (default: the one marked as default)
  rm MODEL          delete a model's weights

An installed model is used by its id: jp query -m local/qwen2.5-coder-1.5b "…"
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    """The arguments of `jp model`."""
    parser.add_argument("action", nargs="?", default="ls", metavar="ls|install|rm", help="what to do (default: ls)")
    parser.add_argument("model", nargs="?", metavar="MODEL", help="a name that `jp model ls` shows, or an alias of it")
    parser.add_argument("--verify", action="store_true", help="install: check weights that are there, and mend them")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    """Do what was asked; raises the errors of jp.llm.embedded."""
    from jp.errors import UsageError, nearest
    from jp.llm.embedded.catalogue import DEFAULT, find

    match args.action:
        case "ls" | "list":
            return _list(ctx)
        case "install":
            return _install(find(args.model) if args.model else DEFAULT, args, ctx)
        case "rm" | "remove" if args.model:
            return _remove(find(args.model), ctx)
        case "rm" | "remove":
            raise UsageError("`jp model rm` wants the name of a model", hints=["`jp model ls` lists them"])
    close = nearest(args.action, ["ls", "install", "rm", "list", "remove"])
    hints = [f"did you mean `jp model {close}`?"] if close else []
    raise UsageError(
        f"unknown action `{args.action}` of `jp model`",
        hints=[*hints, "known are `ls`, `install` and `rm`"],
        metadata={"action": args.action, "nearest": close},
    )


def _list(ctx: "Context") -> int:
    from jp.llm.embedded import listing

    rows = listing.rows(ctx.environ)
    if ctx.printer.format.value.startswith("json"):
        ctx.printer.record(json.dumps([row.record() for row in rows], ensure_ascii=False))
    else:
        ctx.printer.out(listing.text(rows))
    return 0


def _install(model: "Model", args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.llm.embedded.install import install
    from jp.llm.embedded.progress import Progression, summary
    from jp.llm.embedded.runtime import missing_runtime

    with Progression(model, ctx.printer) as progression:
        done = install(model, ctx.environ, progression.report, verify=args.verify)
    ctx.printer.note(summary(model, done))
    missing = missing_runtime()
    if missing is not None:
        ctx.printer.note("\n".join([f"It can't be asked yet: {missing.message}.", *missing.hints]))
    return 0


def _remove(model: "Model", ctx: "Context") -> int:
    from jp.llm.embedded import slots
    from jp.llm.embedded.install import remove
    from jp.llm.embedded.shelf import human_size

    freed = remove(model, ctx.environ)
    slots.forget_model(ctx.environ, model.name)
    ctx.printer.note(f"Removed {model.name} ({human_size(freed)})." if freed else f"{model.name} was not installed.")
    return 0
