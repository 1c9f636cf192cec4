"""Moments as the protocol and the events have them, for people. All are in UTC."""

from datetime import UTC, datetime, tzinfo


def parsed(text: str | None) -> datetime | None:
    """The moment that `text` names: RFC 3339, or as events have it; None where it is neither."""
    try:
        moment = datetime.fromisoformat(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def to_minute(moment: datetime | None, zone: tzinfo | None = UTC) -> str:
    """`2025-03-01 14:05`, in `zone` (None is that of this machine); empty for no moment."""
    try:
        return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M") if moment else ""
    except (OverflowError, OSError, ValueError):
        return ""


def for_machines(moment: datetime) -> str:
    """`2025-03-01T14:05:09Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
