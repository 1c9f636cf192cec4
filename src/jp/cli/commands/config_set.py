"""`jp config set KEY VALUE`: change a config file, keeping its comments."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("key", metavar="KEY", help="a dotted key such as `assistant.model.id`")
    parser.add_argument("value", metavar="VALUE", help="text, or JSON behind a colon (`:[1, 2]`)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="in your own file, for every workspace")
    where.add_argument("--local", action="store_true", help="in your own file for this workspace")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.context import user_config_dir
    from jp.config.edit import set_value
    from jp.storage import files

    if args.user:
        folder = user_config_dir(ctx.environ)
    elif args.local:
        folder = ctx.workspace.ensure_user_dir()
    else:
        folder = ctx.workspace.jp_dir
    path = os.path.join(folder, "config.toml")
    try:
        before = files.read(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        before = ""
    after = set_value(path, before, args.key, args.value)
    files.make_directory(folder)
    after = after if after.endswith("\n") else after + "\n"
    files.write_atomic(path, after.encode("utf-8", "surrogateescape"))
    ctx.printer.note(f"{args.key} set in {path}")
    return 0
