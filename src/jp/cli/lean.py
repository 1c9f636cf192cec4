"""Imports on the start-up path that cost more than they need to."""

import sys


def import_msgspec() -> None:
    """Import msgspec without `typing_extensions`, which it prefers where some other package has brought it along.

    From Python 3.11 on the standard library has all that it takes from there, and loading it costs as much as half of
    msgspec itself. Whoever imports it for their own use afterwards gets it.
    """
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # the documented way to make an import fail
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]
