"""Moments as people type them."""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.when import parse_moment
from gpuscope.errors import UsageError

ZONE = timezone(timedelta(hours=9))
NOW = datetime(2026, 11, 25, 10, 30, tzinfo=ZONE)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", "2026-11-25T10:30:00+09:00"),
        ("14:00", "2026-11-25T14:00:00+09:00"),
        ("today 9:05", "2026-11-25T09:05:00+09:00"),
        ("yesterday 14:00", "2026-11-24T14:00:00+09:00"),
        ("yesterday", "2026-11-24T00:00:00+09:00"),
        ("tuesday 14:00", "2026-11-24T14:00:00+09:00"),
        ("Last  Tuesday 14:00", "2026-11-24T14:00:00+09:00"),
        ("wednesday 09:00", "2026-11-25T09:00:00+09:00"),
        ("wednesday 11:00", "2026-11-18T11:00:00+09:00"),
        ("monday", "2026-11-23T00:00:00+09:00"),
        ("-2h", "2026-11-25T08:30:00+09:00"),
        ("now-30m", "2026-11-25T10:00:00+09:00"),
        ("3d ago", "2026-11-22T10:30:00+09:00"),
        ("2026-11-24 14:00", "2026-11-24T14:00:00+09:00"),
        ("2026-11-24", "2026-11-24T00:00:00+09:00"),
        ("2026-11-24T14:00:00Z", "2026-11-24T14:00:00+00:00"),
        ("2026-11-24 14:00+02:00", "2026-11-24T14:00:00+02:00"),
    ],
)
def test_what_people_type(text: str, expected: str) -> None:
    assert parse_moment(text, NOW).isoformat() == expected


@given(st.integers(min_value=100_000_000, max_value=4_000_000_000))
def test_unix_seconds(seconds: int) -> None:
    assert parse_moment(str(seconds), NOW).timestamp() == seconds


@pytest.mark.parametrize(
    "text", ["", "noon", "25:00", "tuesday 14:61", "-2 fortnights", "2026-13-01", "last year", "-9e9w"]
)
def test_what_is_no_moment_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match="give one like"):
        parse_moment(text, NOW)


@given(st.text(max_size=30))
def test_any_text_gives_a_moment_with_a_zone_or_the_sentence(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse_moment(text, NOW).tzinfo is not None
