"""Values in records and listings: moments as RFC 3339, ages as people say them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


def moment(when: "datetime | None") -> str | None:
    """RFC 3339 in UTC, or None."""
    return when.isoformat().replace("+00:00", "Z") if when is not None else None


_STEPS = ((60, "s"), (60, "m"), (24, "h"), (7, "d"), (52, "w"))


def ago(when: "datetime | None", now: "datetime") -> str:
    """`5m ago`, `3d ago`, `2y ago`; `never` for None."""
    if when is None:
        return "never"
    left = max(0.0, (now - when).total_seconds())
    for size, unit in _STEPS:
        if left < size:
            return f"{int(left)}{unit} ago"
        left /= size
    return f"{int(left)}y ago"
