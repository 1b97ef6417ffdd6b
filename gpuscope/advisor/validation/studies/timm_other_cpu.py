"""Image-model inference on one CPU predicted from a run on another."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import on_cpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import ON_CPU, TimmRow, timm_rows, work_footprint
from gpuscope.domain.footprint import Footprint, FootprintHost, FootprintSource, Steps, StepTime

NAME = "timm-other-cpu"
DESCRIPTION = (
    "From a profiled run of one picture on a desktop CPU to a laptop's and the other way round, compiled; constants "
    "from other families of models."
)
CASE = "cpu-or-dry-run"
GOAL = None
TRIED = (
    "Shares by kind of operator and a clock under load. The two CPUs differ in vector width, kinds of cores and "
    "caches, of which the catalogue knows the first only."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every model that ran on both, in the nearest releases of PyTorch."""
    runs: dict[tuple[str, int], list[TimmRow]] = {}
    for row in timm_rows(tables, ON_CPU):
        runs.setdefault((row.model, row.img_size), []).append(row)
    for rows in runs.values():
        for row in rows:
            sources = [other for other in rows if other.device != row.device]
            if sources:
                source = max(sources, key=lambda each: (each.torch == row.torch, each.torch))
                calibration = without_fold(tables, row.fold)
                footprint = _run(source)
                yield on_cpu(NAME, footprint, row, calibration, tables, f"family {row.family}")


def _run(row: TimmRow) -> Footprint:
    work = work_footprint(row, row.float32_ops(), FLOAT32, "inference")
    seconds = row.step_s
    return msgspec.structs.replace(
        work,
        source=FootprintSource(kind="measured"),
        host=FootprintHost(cpu=row.device),
        steps=Steps(time_s=StepTime(p50=seconds, low=seconds, mid=seconds, high=seconds)),
    )
