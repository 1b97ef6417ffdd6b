"""Fields of events that cannot be what their names say are dropped; all that the probe writes stays."""

from __future__ import annotations

from typing import Any

import pytest

from gpuscope.domain.event_fields import MOST_STEPS, plausible


@pytest.mark.parametrize(
    "nonsense",
    [
        {"duration_s": "x"}, {"duration_s": float("nan")}, {"duration_s": -1}, {"duration_s": True}, {"steps": 0},
        {"steps": 2**62}, {"parameter_bytes": 1.5}, {"parameter_bytes": 2**70}, {"rank": "0"}, {"class_names": "Net"},
        {"parameter_dtypes": {"float32": "many"}}, {"rows": [1]}, {"rows": [{"cpu_time_s": "long"}]},
        {"optimizer": ["a"]}, {"skipped": 0},
    ],
)  # fmt: skip
def test_nonsense_is_dropped_and_the_rest_stays(nonsense: dict[str, Any]) -> None:
    assert plausible({**nonsense, "kind": "step", "samples": 4.0}) == {"kind": "step", "samples": 4.0}


def test_what_the_probe_writes_stays() -> None:
    fields = {
        "n": 7, "steps": MOST_STEPS, "duration_s": 0.01, "skipped": None, "profiled": False, "probe_s": 0.0,
        "samples": 32.0, "parameter_dtypes": {"float32": 400}, "class_names": ["Net"], "autocast": "bfloat16",
        "rows": [{"name": "aten::mm", "count": 1, "cpu_time_s": 0.1, "kernels": 0}], "devices": [{"name": "L4"}],
        "something_new": object,
    }  # fmt: skip
    assert plausible(fields) == fields
