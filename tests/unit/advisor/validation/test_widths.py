"""How wide a range has to be, from what other doubts leave open of the errors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.advisor.validation.widths import Need, conformal_quantile, left_open, width_of_all, width_of_devices

errors = st.lists(st.floats(0, 2, allow_nan=False), min_size=1, max_size=80)


def needs(widths: list[float], family: str = "f", gpu: str = "g", stratum: str = "s") -> list[Need]:
    return [Need(stratum, gpu, family, width) for width in widths]


def test_other_doubts_are_taken_off_in_squares() -> None:
    assert left_open(0.5, 0.3**2) == pytest.approx(0.4)
    assert left_open(-0.2, 0.3**2) == 0.0
    assert left_open(0.2, -0.1) == pytest.approx(0.2), "less than nothing allows for nothing"


@given(errors)
def test_nine_in_ten_are_held(widths: list[float]) -> None:
    for rule in (width_of_all, width_of_devices):
        found = rule(needs(widths))
        assert sum(width <= found for width in widths) >= math.floor(0.9 * len(widths))


def test_large_parts_are_held_on_their_own() -> None:
    common = needs([0.1] * 1000)
    large, small = needs([1.0] * 30, "odd"), needs([1.0] * 29, "odd")
    assert width_of_all([*common, *large]) == 1.0
    assert width_of_all([*common, *small]) == 0.1
    assert width_of_devices([*common, *large]) == 1.0
    assert width_of_devices([*common, *needs([1.0] * 5, gpu="other card")]) == 1.0, "each device of its own"


@pytest.mark.parametrize("rule", [width_of_all, width_of_devices, lambda rows: conformal_quantile(rows)])
def test_without_rows_there_is_no_width(rule: object) -> None:
    assert callable(rule)
    with pytest.raises(ValueError, match="needs errors"):
        rule([])
