"""Figures of real out-of-memory messages of PyTorch 0.3 to 2.8."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuscope.runner.out_of_memory import parse_out_of_memory

CASES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "out_of_memory" / "torch.json").read_text(encoding="utf-8")
)
"""`source`: where the message was posted. `figures`: what it says, value × 1024^n."""


@pytest.mark.parametrize("name", CASES)
def test_every_figure_that_is_in_the_text(name: str) -> None:
    found = parse_out_of_memory(CASES[name]["text"])
    expected = CASES[name]["figures"]
    derivable = {"reserved", "reserved_unallocated"}
    assert found.keys() - derivable == expected.keys() - derivable
    for figure, size_bytes in found.items():
        if figure in expected:
            assert size_bytes == pytest.approx(expected[figure], rel=0.005)


def test_reserved_is_worked_out_from_its_parts() -> None:
    found = parse_out_of_memory(CASES["torch-2.1"]["text"])
    assert found["reserved"] == found["allocated"] + found["reserved_unallocated"]


def test_the_last_message_counts() -> None:
    text = CASES["torch-2.5"]["text"] + "\nretrying\n" + CASES["torch-1.8"]["text"]
    assert parse_out_of_memory(text) == parse_out_of_memory(CASES["torch-1.8"]["text"])


def test_other_text_gives_nothing() -> None:
    assert parse_out_of_memory("RuntimeError: mat1 and mat2 shapes cannot be multiplied (3 GiB free)") == {}
