"""`plugins`, `template`, `user`, and the keys that steer loading."""

from typing import Any

import msgspec

from jp.config.containers import REPLACE, Items, Word
from jp.config.kinds import MISSING, Choice, Flag, Json, Whole, ours
from jp.config.sections.providers import Checksum, checksum
from jp.config.tables import OneOf, Table


class CommandPlugin(msgspec.Struct, frozen=True):
    """What is agreed about one command plugin."""

    options: dict[str, Any]
    install: bool | None = None
    run: str | None = None
    checksum: Checksum | None = None


class Plugins(msgspec.Struct, frozen=True):
    """The plugins section as resolved from all sources."""

    auto_install: bool
    shutdown_timeout_secs: int
    command: dict[str, CommandPlugin] = {}


class Template(msgspec.Struct, frozen=True):
    """Values for templates in queries."""

    values: dict[str, Any]


class User(msgspec.Struct, frozen=True):
    """Who asks."""

    name: str | None = None


def plugins() -> Table:
    """The keys of `plugins`."""
    command = Table(
        {
            "install": Flag(MISSING, "Whether it may be installed when it is missing."),
            "run": Choice(
                ("ask", "unattended", "deny"), MISSING, "Whether it may run.", synonyms={"allow": "unattended"}
            ),
            "checksum": checksum("The hash that the plugin must have."),
            "options": Table({}, "Options that are handed to it.", rest=Json()),
        },
        "A command plugin.",
    )
    return Table(
        {
            "auto_install": Flag(True, "Install official plugins when they are first used."),
            "shutdown_timeout_secs": Whole(5, "Seconds a plugin has to end after it was told to."),
            "command": Table({}, "Command plugins by name.", rest=command, optional=True),
        },
        "Command plugins.",
    )


def template() -> Table:
    """The keys of `template`."""
    return ours(Table({"values": Table({}, "Values by name.", rest=Json())}, "Values for templates in queries."))


def user() -> Table:
    """The keys of `user`."""
    return ours(Table({"name": Word(MISSING, "The name messages are signed with.")}, "Who asks."))


def loading() -> dict[str, Any]:
    """The keys that steer how files are loaded; they are the first of the schema."""
    strategy = Choice(("before", "after"), "before", "Merged before the file that names it, or after.")
    path = Table({"path": Word(MISSING, "A path or glob."), "strategy": strategy}, required=("path",))
    return {
        "inherit": Flag(True, "Whether files of wider scope count beside this one."),
        "config_load_paths": Items(Word(), [], "Directories in which --cfg NAME looks."),
        "extends": Items(
            OneOf((Word(), path)),
            ["config.d/**/*"],
            "Files merged with this one: globs relative to it, or { path, strategy }.",
            joining=REPLACE,
        ),
    }
