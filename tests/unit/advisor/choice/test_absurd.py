"""Footprints that cannot be true, work that nobody does, and a catalogue with nothing in it."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Breakdown, Footprint, FootprintSource
from gpuscope.domain.recommendation import Verdict
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import advise, cpu_footprint, gpu_footprint, shipped

TERABYTE = 10**12


def with_peak(footprint: Footprint, peak_bytes: float) -> Footprint:
    memory = msgspec.structs.replace(footprint.memory, peak_reserved_bytes=Range.exact(peak_bytes))
    return msgspec.structs.replace(footprint, memory=memory)


@pytest.mark.parametrize("count", [1, 8])
def test_more_memory_than_its_gpus_have_many_times_over(count: int) -> None:
    job = gpu_footprint(count=count)
    have = count * 24 * 1024**3
    with pytest.raises(UsageError, match="many times that of the GPUs that it ran on"):
        advise(with_peak(job, 11 * have))
    advise(with_peak(job, 2 * have))  # drivers let a process spill into the host's memory


def test_parts_of_memory_count_like_a_peak() -> None:
    job = gpu_footprint()
    memory = msgspec.structs.replace(job.memory, breakdown=Breakdown(parameters_bytes=500 * TERABYTE))
    with pytest.raises(UsageError, match="many times"):
        advise(msgspec.structs.replace(job, memory=memory))


def test_a_dry_run_may_need_more_than_its_virtual_gpu_has() -> None:
    job = with_peak(gpu_footprint(), TERABYTE)
    assert advise(msgspec.structs.replace(job, source=FootprintSource(kind="dry_run"))).candidates


def test_nothing_is_trained_in_integers() -> None:
    for limits in ({"precision": "int8"}, {"precisions": ("bfloat16", "int8")}):
        with pytest.raises(UsageError, match="Nothing is trained in int8"):
            advise(cpu_footprint(), **limits)
    assert advise(cpu_footprint(), precision="int8", stage="inference").candidates


def test_an_empty_catalogue_is_said_also_where_what_is_at_hand_is_kept() -> None:
    empty = Catalogue(())
    assert "catalogue is empty" in advise(gpu_footprint("unknown-gpu"), empty, gpus=()).sentence
    kept = advise(cpu_footprint(), Catalogue((), shipped().cpus), total_steps=1e9)
    assert kept.verdict is Verdict.KEEP
    assert "The catalogue is empty: put its files back." in kept.sentence
    rented = advise(cpu_footprint(), empty, acquisition="rent")
    assert rented.verdict is Verdict.IMPOSSIBLE
    assert "The catalogue is empty: put its files back." in rented.sentence
