"""`jp config show`: the configuration in effect."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("key", nargs="?", metavar="KEY", help="only this key and what is below it")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--defaults", action="store_true", help="the built-in defaults")
    what.add_argument("--envs", action="store_true", help="the environment variable of every key")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    if args.envs:
        return _envs(ctx)
    values = _defaults() if args.defaults else _resolved(ctx)
    value = _at(values, args.key) if args.key else values
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, dict):
        from jp.config.dump import to_toml

        ctx.printer.out(to_toml(value))
    elif value is not None:
        ctx.printer.out((value if isinstance(value, str) else _json(value)) + "\n")
    return 0


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _resolved(ctx: "Context") -> "dict[str, object]":
    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    for notice in config.notices:
        ctx.printer.note(notice)
    if config.withheld:
        from jp.cli.trusting import waiting_notice

        ctx.printer.note(waiting_notice(len(config.withheld)))
    return config.shown()


def _defaults() -> "dict[str, object]":
    from jp.config.kinds import MISSING
    from jp.config.load import Config
    from jp.config.schema import root

    return Config(root().final(MISSING), []).shown()


def _at(values: "dict[str, object]", key: str) -> object:
    from jp.config.schema import find

    path, _ = find(key, "jp config show")
    value: object = values
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _envs(ctx: "Context") -> int:
    from jp.config.assignment import variables

    found = {key: name for name, key, _ in variables()}
    if ctx.printer.format.is_json:
        ctx.printer.record(_json(found))
    else:
        ctx.printer.out("".join(f"{name}\n" for name in found.values()))
    return 0
