"""Timestamps: written as the original writes them, read in every form there ever was."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation.timestamps import format_timestamp, parse_timestamp


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 5, 29, 19, 42, 36, 467320, UTC), "2026-05-29 19:42:36.46732"),
        (datetime(2026, 3, 5, 22, 7, 43, 300000, UTC), "2026-03-05 22:07:43.3"),
        (datetime(2026, 3, 5, 22, 7, 43, 0, UTC), "2026-03-05 22:07:43.0"),
        (datetime(2026, 3, 5, 22, 7, 43, 1, UTC), "2026-03-05 22:07:43.000001"),
        (datetime(2026, 3, 5, 1, 7, 43, 5, timezone(timedelta(hours=2))), "2026-03-04 23:07:43.000005"),
    ],
)
def test_written_as_the_original_does(moment: datetime, text: str) -> None:
    assert format_timestamp(moment) == text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-29 19:42:36.46732", datetime(2026, 5, 29, 19, 42, 36, 467320, UTC)),
        ("2026-03-05 22:07:43.3", datetime(2026, 3, 5, 22, 7, 43, 300000, UTC)),
        ("2026-03-05 22:07:43", datetime(2026, 3, 5, 22, 7, 43, 0, UTC)),
        ("2026-03-05T22:07:43.123456789Z", datetime(2026, 3, 5, 22, 7, 43, 123456, UTC)),
        ("2026-03-05T22:07:43+02:00", datetime(2026, 3, 5, 20, 7, 43, 0, UTC)),
        ("yesterday", None),
        ("0001-01-01 00:00:00+02:00", None),
        ("9999-12-31 23:59:59-02:00", None),
        ("", None),
        (None, None),
        (17, None),
    ],
)
def test_read_in_every_form(text: object, moment: datetime | None) -> None:
    assert parse_timestamp(text) == moment


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))
def test_what_is_written_is_read_back(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    assert parse_timestamp(format_timestamp(aware)) == aware
