"""`jp config set KEY VALUE`: change a config file, keeping its comments."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.config.own import Edit


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("key", metavar="KEY", help="a dotted key such as `assistant.model.id`")
    parser.add_argument("value", metavar="VALUE", help="text, or JSON behind a colon (`:[1, 2]`)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="in your own file, for every workspace")
    where.add_argument("--local", action="store_true", help="in your own file for this workspace")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.context import user_config_dir
    from jp.config.edit import set_value, typed
    from jp.config.files import settings_file
    from jp.config.own import Edit
    from jp.config.read import read_text
    from jp.storage import files

    if args.user:
        folder = user_config_dir(ctx.environ)
    elif args.local:
        folder = ctx.workspace.ensure_user_dir()
    else:
        folder = ctx.workspace.jp_dir
    path = settings_file(folder)
    before = read_text(path) if os.path.lexists(path) else ""
    after = set_value(path, before, args.key, args.value)
    edit = Edit(path, before, after, args.key, typed(args.key, args.value))
    files.make_directory(folder)
    after = after if after.endswith("\n") else after + "\n"
    files.write_atomic(path, after.encode(), follow=True)
    ctx.printer.note(f"{args.key} set in {path}")
    for note in [] if args.user else _trust(edit, ctx, folder if args.local else None):
        ctx.printer.note(note)
    return 0


def _trust(edit: "Edit", ctx: "Context", private: str | None) -> list[str]:
    """Remember what the user has typed as trusted; returns what there is to say of it.

    `private` is his own directory for the workspace, where the file is that one: in a place where nothing that it says
    has to be trusted first, all of it is his from then on.
    """
    from jp.cli.context import user_config_dir
    from jp.cli.trusting import remember
    from jp.config.load import Paths
    from jp.config.own import around, trusted_by, waits
    from jp.config.trust import TrustStore, waits_for_trust

    store, workspace = TrustStore.of(ctx.environ), ctx.workspace
    root = workspace.root
    if private and store.path and store.confirmed(root, private):
        return []
    paths = Paths(user_config_dir(ctx.environ), root, root, workspace.user_dir)
    known = around(edit.path, paths, ctx.environ)
    trusted = store.trusted(root)
    if private and store.path and not waits(edit.path, edit.before, trusted, known):
        remember(store, lambda: store.with_trusted(root, (), confirmed_dir=private))
        return []
    own, waiting = trusted_by(edit, trusted, known)
    notes = []
    if own and not store.path:  # there is no home to remember it in
        waiting = [*own, *waiting]
    elif own:
        remember(store, lambda: store.with_trusted(root, own))
        notes.append("what you have set is trusted in this workspace, on this machine; for others it waits for trust")
    if private:
        notes = ["what else your own file for this workspace says is not used in this place until it is trusted"]
    return notes + [waits_for_trust(each) for each in waiting]
