"""What the studies of image models share: a prediction through the product's own path, as an outcome."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.timing.time_model import StepTime, step_on_cpu, step_on_gpu
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import INFERENCE, SOURCE, TRAINING, TimmRow, run_footprint, timm_rows
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


def training_from_inference(
    study: str, tables: Tables, layout: str, grouped: tuple[bool, ...] = (False, True)
) -> Iterator[Outcome]:
    """Every training run with a run of inference on that GPU in one layout, of the nearest release of PyTorch; for
    models with attention, of one that computes it likewise. `grouped`: with or without grouped convolutions."""
    runs: dict[tuple[str, str, int], list[TimmRow]] = {}
    for row in timm_rows(tables, INFERENCE):
        alike = row.torch.startswith("1.") or not row.has_attention
        if row.layout == layout and not row.compiled and alike:
            runs.setdefault((row.device, row.model, row.img_size), []).append(row)
    for row in timm_rows(tables, TRAINING):
        sources = runs.get((row.device, row.model, row.img_size))
        if row.layout == layout and row.has_grouped in grouped and sources:
            source = min(sources, key=lambda each: each.torch)
            footprint = run_footprint(source, tables, batch=row.batch)
            calibration = without_fold(tables, row.fold)
            wanted = Constraints(stage="training")
            yield on_gpu(study, footprint, row, calibration, tables, f"family {row.family}", wanted)


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
