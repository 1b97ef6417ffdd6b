"""What the studies of image models share: a prediction through the product's own path, as an outcome."""

from __future__ import annotations

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.timing.time_model import StepTime, step_on_cpu, step_on_gpu
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_rows import SOURCE, TimmRow
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints


def on_gpu(
    study: str, footprint: Footprint, row: TimmRow, calibration: Calibration, tables: Tables, held_out: str,
    wanted: Constraints,
) -> Outcome:  # fmt: skip
    """The published step `row` as predicted from a footprint."""
    gpu = tables.catalogue.gpu(row.device)
    assert gpu is not None
    step = step_on_gpu(prepare(footprint, wanted, tables.catalogue, calibration), gpu)
    return _outcome(study, row, step, wanted.precision or "float16", held_out)


def on_cpu(
    study: str, footprint: Footprint, row: TimmRow, calibration: Calibration, tables: Tables, held_out: str
) -> Outcome:
    """The published step `row` on a CPU as predicted from a footprint."""
    job = prepare(footprint, Constraints(), tables.catalogue, calibration)
    return _outcome(study, row, step_on_cpu(job, tables.catalogue.cpu(row.device), None), "float32", held_out)


def _outcome(study: str, row: TimmRow, step: StepTime, precision: str, held_out: str) -> Outcome:
    return Outcome(
        study=study,
        family=row.family,
        gpu=row.device,
        precision=precision,
        label=row.label,
        predicted=step.seconds,
        measured=row.step_s,
        held_out=held_out,
        source=SOURCE,
        refusal="" if step.seconds is not None else step.how,
    )
