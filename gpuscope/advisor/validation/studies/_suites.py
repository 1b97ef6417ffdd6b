"""What the studies of training suites share: fits without the reported part, and whole steps as outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import is_16_bit
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.held_out import without_family
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.runs import run_on_gpu
from gpuscope.advisor.validation.studies._specified import without_chip
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import UnitTime, pairs
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints


def family_held_out(
    study: str, tables: Tables, units: list[UnitTime], wanted: Callable[[UnitTime, UnitTime], bool]
) -> Iterator[Outcome]:
    """Pairs of runs, each predicted with constants that were fitted without the rows of its model family."""
    for held in sorted({unit.family for unit in units}):
        chosen = [
            (source, target)
            for source, target in pairs([unit for unit in units if unit.family == held])
            if wanted(source, target)
        ]
        if chosen:
            calibration = without_family(tables, held)
            for source, target in chosen:
                yield outcome(study, source, target, calibration, tables, f"family {held}")


def chip_held_out(
    study: str, tables: Tables, units: list[UnitTime], wanted: Callable[[UnitTime, UnitTime], bool]
) -> Iterator[Outcome]:
    """Pairs of runs, the target predicted from its specifications alone: no row of any GPU with its chip was seen."""
    for held in sorted({_chip(unit, tables) for unit in units}):
        chosen = [
            (source, target)
            for source, target in pairs(units)
            if _chip(target, tables) == held and _chip(source, tables) != held and wanted(source, target)
        ]
        if chosen:
            calibration = without_chip(tables, held)
            for source, target in chosen:
                yield outcome(study, source, target, calibration, tables, f"all GPUs like {target.gpu}")


def outcome(
    study: str, source: UnitTime, target: UnitTime, calibration: Calibration, tables: Tables, held_out: str
) -> Outcome:
    """The target's time for the work that takes the source a second, from the source's run alone."""
    source_gpu, target_gpu = tables.catalogue.gpu(source.gpu), tables.catalogue.gpu(target.gpu)
    assert source_gpu is not None
    assert target_gpu is not None
    job = prepare(
        _second_of(source, source_gpu), Constraints(precision=target.precision), tables.catalogue, calibration
    )
    predicted = step_on_gpu(job, target_gpu)
    change = "" if source.precision == target.precision else f" in {source.precision}"
    batch = f", batch {target.batch}" if target.batch else ""
    return Outcome(
        study=study,
        family=target.family,
        gpu=target.gpu,
        precision=target.precision,
        label=f"{target.task}{batch}, from {source_gpu.name}{change} to {target_gpu.name} in {target.precision}",
        predicted=predicted.seconds,
        measured=target.seconds / source.seconds,
        unit="s for what the source does in one",
        held_out=held_out,
        source=target.source,
        refusal="" if predicted.seconds is not None else predicted.how,
    )


def _second_of(unit: UnitTime, gpu: GpuSpec) -> Footprint:
    """The footprint of a run of which a step takes a second."""
    run = run_on_gpu(gpu, 1.0, unit.precision, model=unit.model, batch=1 / unit.seconds)
    if unit.parameters is None or unit.tokens is None:
        return run
    workload = msgspec.structs.replace(run.workload, parameters=unit.parameters, sequence_length=round(unit.tokens))
    return msgspec.structs.replace(run, workload=workload)


def same_precision(source: UnitTime, target: UnitTime) -> bool:
    """Another GPU, the same precision."""
    return source.gpu != target.gpu and source.precision == target.precision


def both_16_bit(source: UnitTime, target: UnitTime) -> bool:
    """Both in float16 or bfloat16."""
    return is_16_bit(source.precision) and is_16_bit(target.precision)


def _chip(unit: UnitTime, tables: Tables) -> str:
    gpu = tables.catalogue.gpu(unit.gpu)
    assert gpu is not None
    return chip(gpu)
