"""Jobs for the tests of the time model, with the calibration that ships."""

from __future__ import annotations

from functools import cache

import msgspec

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.loading import Catalogue, load_catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.validation.op_tables import ModelTable, load_op_tables
from gpuscope.domain.footprint import Footprint, FootprintSource, Op, Precision, Workload
from gpuscope.domain.recommendation import Constraints


@cache
def shipped_catalogue() -> Catalogue:
    return load_catalogue(paths.resources_dir() / "catalogue")


@cache
def shipped_calibration() -> Calibration:
    return load_calibration(paths.resources_dir() / "calibration")


@cache
def op_tables() -> dict[tuple[str, int], ModelTable]:
    return load_op_tables(paths.resources_dir() / "calibration")


def gpu(gpu_id: str) -> GpuSpec:
    found = shipped_catalogue().gpu(gpu_id)
    assert found is not None
    return found


def dry_run(ops: tuple[Op, ...], parameters: int, *, stage: str = "inference", precision: str = "float32") -> Footprint:
    """The work of a model alone."""
    return Footprint(
        source=FootprintSource(kind="dry_run"),
        workload=Workload(
            stage=stage,
            parameters=parameters,
            trainable_parameters=parameters,
            optimizer="Adam",
            precision=Precision(compute=precision, parameters="float32"),
        ),
        ops=ops,
    )


def job_of(footprint: Footprint, **limits: object) -> Job:
    constraints = msgspec.convert(limits, Constraints)
    return prepare(footprint, constraints, shipped_catalogue(), shipped_calibration())
