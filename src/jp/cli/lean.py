"""Imports on the start-up path that cost more than they need to.

Each keeps out of a module, while it is imported, what it would bring along and JP does not need. Whoever imports that
for their own use afterwards gets it.
"""

import os
import sys
from types import ModuleType


def import_argparse() -> None:
    """Import argparse without `gettext`: nobody translates it, but at each of its words catalogues are looked for.

    That search imports `locale` and asks the file system, and `gettext` itself compiles patterns as it is imported.
    """
    if "argparse" in sys.modules or "gettext" in sys.modules:
        return
    words = ModuleType("gettext")
    words.gettext = lambda text: text  # type: ignore[attr-defined]
    words.ngettext = lambda one, many, count: one if count == 1 else many  # type: ignore[attr-defined]
    sys.modules["gettext"] = words
    try:
        import argparse  # noqa: F401
    finally:
        del sys.modules["gettext"]


def import_msgspec() -> None:
    """Import msgspec without `typing_extensions`, which it prefers where some other package has brought it along.

    From Python 3.11 on the standard library has all that it takes from there, and loading it costs as much as half of
    msgspec itself.
    """
    if "msgspec" in sys.modules:
        return
    _import_uuid()
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # the documented way to make an import fail
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def _import_uuid() -> None:
    """Import `uuid`, which msgspec wants, without `platform`, of which it wants the system's name alone."""
    if "uuid" in sys.modules or "platform" in sys.modules or sys.platform == "win32":
        return
    names = ModuleType("platform")
    names.system = lambda: os.uname().sysname  # type: ignore[attr-defined]
    sys.modules["platform"] = names
    try:
        import uuid  # noqa: F401
    finally:
        del sys.modules["platform"]
