"""Which fields of samples are figures, and which figures are whole."""

from __future__ import annotations

import pytest

from gpuscope.domain.sample_fields import GPU_FIGURES, HOST_FIGURES, is_whole


@pytest.mark.parametrize("name", ["memory_used_bytes", "clock_event_reasons", "huge_pages_total"])
def test_bytes_masks_and_counts_are_whole(name: str) -> None:
    assert is_whole(name)


@pytest.mark.parametrize("name", ["power_w", "cpu_percent", "no_such_figure"])
def test_others_have_fractions(name: str) -> None:
    assert not is_whole(name)


def test_names_times_of_reading_and_lists_are_no_figures() -> None:
    assert not {"uuid", "read_start_s", "read_end_s", "processes", "fan_percents", "unavailable"} & GPU_FIGURES.keys()
    assert not {"disks", "networks", "processes", "unavailable"} & HOST_FIGURES.keys()
