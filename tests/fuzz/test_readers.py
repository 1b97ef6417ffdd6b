"""A short run of `make fuzz`: no reader fails on damaged files other than with a sentence."""

from __future__ import annotations

import time

import pytest

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import Target, outcome, targets

INPUTS = 60
MOST_S = 2.0
"""Twice what `make fuzz` allows: other tests run beside this one."""


@pytest.mark.parametrize("target", targets(), ids=lambda target: target.name)
def test_damaged_files_are_read_or_refused(target: Target) -> None:
    for number in range(INPUTS):
        data = mutated(target.seeds, number)
        began_s = time.process_time()
        error = outcome(target, data)
        assert error is None, f"file {number}: {error!r}"
        assert time.process_time() - began_s < MOST_S, f"file {number}"


def test_a_number_always_makes_the_same_file() -> None:
    seeds = (b"a, b\n1, 2\n", b"c")
    assert [mutated(seeds, number) for number in range(50)] == [mutated(seeds, number) for number in range(50)]


def test_an_error_that_is_no_sentence_is_found() -> None:
    target = Target("broken", lambda data: data[5], (b"",))
    assert isinstance(outcome(target, b""), IndexError)
