"""Timestamps as they stand on disk: UTC, `YYYY-MM-DD HH:MM:SS.ffffff`, trailing zeros dropped."""

from datetime import UTC, datetime


def format_timestamp(moment: datetime) -> str:
    """`moment` (aware, any zone) as it is written: `2026-05-29 19:42:36.46732`, at least one decimal."""
    utc = moment.astimezone(UTC)
    whole = utc.strftime("%Y-%m-%d %H:%M:%S") if utc.year >= 1000 else utc.isoformat(" ", "seconds")[:19]
    return f"{whole}.{f'{utc.microsecond:06}'.rstrip('0') or '0'}"


def parse_timestamp(text: object) -> datetime | None:
    """The moment `text` names, or None.

    Reads what was ever written: with and without decimals, with a space or a `T`, with or without a zone.
    """
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # the second: in UTC it would be before the year 1, or after 9999
        return None
