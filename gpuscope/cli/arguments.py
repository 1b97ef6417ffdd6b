"""Values as people type them: counts with a unit, durations, shares, lists."""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Iterator

from gpuscope.domain.units import parse_count, parse_duration
from gpuscope.errors import UsageError


def names(text: str) -> tuple[str, ...]:
    """`a,b,c`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def gpu_counts(text: str) -> tuple[int, ...]:
    """`1,2,4`.

    Raises:
        argparse.ArgumentTypeError: a part is no whole number.
    """
    try:
        return tuple(int(part) for part in names(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are no numbers of GPUs: write them like 1,2,4") from None


def numbers(text: str) -> tuple[float, ...]:
    """`40,4` or `1,0.5`.

    Raises:
        argparse.ArgumentTypeError: a part is no number.
    """
    try:
        return tuple(float(part) for part in names(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} are no numbers: write them like 40,4 or 1,0.5") from None


def fraction(text: str) -> float:
    """`20%` or `0.2`.

    Raises:
        argparse.ArgumentTypeError: it is no finite number.
    """
    typed = text.strip().replace(",", "")
    with contextlib.suppress(ValueError):
        value = float(typed.removesuffix("%")) / (100 if typed.endswith("%") else 1)
        if math.isfinite(value):
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is no share: write it like 20% or 0.2")


def count(text: str) -> int:
    """`7B`, `350M` or `500000`.

    Raises:
        argparse.ArgumentTypeError: it is no count.
    """
    with _as_argument_error():
        return parse_count(text)


def rate(text: str) -> float:
    """`0.5`, `2000` or `404k`.

    Raises:
        argparse.ArgumentTypeError: it is no number.
    """
    try:
        return float(text)
    except ValueError:
        return float(count(text))


def duration(text: str) -> float:
    """`36h` or `3d`, in seconds.

    Raises:
        argparse.ArgumentTypeError: it is no duration.
    """
    with _as_argument_error():
        return parse_duration(text)


@contextlib.contextmanager
def _as_argument_error() -> Iterator[None]:
    """argparse names the option in front of the complaint."""
    try:
        yield
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from error
