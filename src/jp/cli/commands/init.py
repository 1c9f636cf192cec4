"""`jp init`: make a directory a workspace."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.storage.workspace import Workspace

CONFIG = """\
# What holds for everybody who works on this project; `jp config explain KEY` says which file set a key.
# Your own settings for all projects: ~/.config/jp/config.toml

[assistant.model]
{model}
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("directory", nargs="?", default=".", metavar="DIR", help="the root of the project (here)")
    parser.add_argument("-m", "--model", metavar="MODEL", help="the model to ask: provider/name")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.config.files import settings_file
    from jp.storage import files
    from jp.storage.workspace import Workspace

    root = os.path.join(ctx.cwd, args.directory)
    config_path = settings_file(os.path.join(root, ".jp"))
    if not _meant(root, ctx):
        ctx.printer.note("nothing was made")
        return 1
    model = _checked(args.model, ctx) if args.model else None
    if model is None and ctx.promptability and not os.path.lexists(config_path):
        model = _asked(ctx)
    settings = _settings(config_path, model)  # before anything is made: it can fail
    there = os.path.exists(os.path.join(root, ".jp"))
    workspace = Workspace.init(root, ctx.environ)
    if settings is not None:
        changed = os.path.lexists(config_path)
        files.write_atomic(config_path, settings, follow=True)
        if changed:
            ctx.printer.note(f"assistant.model.id is {model} now, in {config_path}")
    _say(ctx, workspace, model, there)
    return 0


def _meant(root: str, ctx: "Context") -> bool:
    """Whether a workspace is to be made there: inside another one, or in the home directory, it is asked."""
    if not ctx.promptability or os.path.exists(os.path.join(root, ".jp")):
        return True
    from jp.cli.pick import confirmed
    from jp.storage.errors import NoWorkspaceError
    from jp.storage.workspace import Workspace

    there = os.path.realpath(root)
    if there == os.path.realpath(ctx.environ.get("HOME") or "/"):
        return confirmed(ctx, "Make your home directory a workspace?")
    try:
        around = Workspace.find(there, ctx.environ)
    except NoWorkspaceError:
        return True
    return confirmed(ctx, f"{around.root} is a workspace already. Make another one inside it?")


def _asked(ctx: "Context") -> str | None:
    """The model to ask, as the person says; None decides later."""
    from jp.errors import JpError
    from jp.prompt.outcomes import Submitted
    from jp.prompt.questions import Edit

    question = Edit(
        "Model to ask:",
        multiline=False,
        cancel="interrupts",
        placeholder="provider/name, such as openai/gpt-5-mini; empty decides later",
    )
    while True:
        outcome = ctx.asker.ask(question, about="which model to ask", hints=["name it with `--model`"])
        if not isinstance(outcome, Submitted) or not outcome.value.strip():
            return None
        try:
            return _checked(outcome.value.strip(), ctx)
        except JpError as error:
            question = question._replace(seed=outcome.value, error=error.message)


def _settings(path: str, model: str | None) -> bytes | None:
    """What the settings at `path` become; None where they stay. Raises leaves of `ConfigError`."""
    if not os.path.lexists(path):
        line = f'id = "{model}"' if model else '# id = "provider/name"   # for example "openai/gpt-5-mini"'
        return CONFIG.format(model=line).encode()
    if model is None:
        return None
    from jp.config.edit import set_value
    from jp.config.read import read_text

    return set_value(path, read_text(path), "assistant.model.id", model).encode()


def _checked(model: str, ctx: "Context") -> str:
    """The model id as it will be stored; raises ModelIdError."""
    config = ctx.load_config(workspace=False)
    found = config.model_id(model)
    return str(found) if found is not None and model not in config.aliases else model


def _say(ctx: "Context", workspace: "Workspace", model: str | None, there: bool) -> None:
    root = workspace.root
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps({"root": root, "id": workspace.id, "model": model}))
    ctx.printer.note(f"{root} {'was a workspace already' if there else 'is a workspace now'}")
    if model is None:
        from jp.cli.model import NoModelError

        ctx.printer.note("ask a model by:")
        for hint in NoModelError().hints:
            ctx.printer.note(f"  - {hint}")
    else:
        ctx.printer.note('ask with: jp query "…"')
    if there:
        _say_waiting(ctx, workspace)


def _say_waiting(ctx: "Context", workspace: "Workspace") -> None:
    """One line where what was there already, somebody else's perhaps, waits for trust.

    What `init` makes says nothing that needs it; what it finds it makes nobody trust.
    """
    from jp.cli.context import user_config_dir
    from jp.cli.trusting import waiting_notice
    from jp.config.errors import ConfigError
    from jp.config.load import Paths
    from jp.config.waiting import survey

    try:
        paths = Paths(user_config_dir(ctx.environ), workspace.root, workspace.root, workspace.user_dir)
        waiting = survey(paths, ctx.environ).waiting
    except ConfigError:
        return  # whoever uses it is told
    if waiting:
        ctx.printer.note(waiting_notice(len(waiting)))
