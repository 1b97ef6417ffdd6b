"""Language models on GPUs that nothing was measured on: from the model's dimensions and specifications alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.language_rows import language_footprint, language_rows, language_seconds
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._specified import without_chip
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.domain.recommendation import Constraints

NAME = "neusight-models"
DESCRIPTION = (
    "Language models in FP32 (inference; training without the optimizer) from their dimensions alone, on GPUs of which "
    "only specifications are known: no published row of the GPU's chip was seen."
)
CASE = "no-run"
GOAL = None
TRIED = (
    "The tail is cards on the slot's 75 W (L4, T4, P4): of a chip that nothing was measured on, what a TFLOPS takes "
    "follows from the board power of its generation's GeForce cards; without that they were predicted 1.4 to 2.1 times "
    "too fast. What a model's products sustain of the best FP32 product is one constant of the other chips' rows. "
    "AMD's matrix units in FP32, which the catalogue's peaks leave out, are counted."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every model on one GPU, without the source's fused variants."""
    for row in language_rows(tables):
        gpu = tables.catalogue.gpu(row["gpu_id"])
        assert gpu is not None
        yield _outcome(row, gpu, tables)


def _outcome(row: Cells, gpu: GpuSpec, tables: Tables) -> Outcome:
    job = prepare(language_footprint(row), Constraints(), tables.catalogue, without_chip(tables, chip(gpu)))
    predicted = step_on_gpu(job, gpu)
    return Outcome(
        study=NAME,
        family=row["model"].split("_")[0],
        gpu=gpu.id,
        precision=FLOAT32,
        label=f"{row['model']} {row['mode']}, {row['batch']} × {row['seq_len']} tokens",
        predicted=predicted.seconds,
        measured=language_seconds(row),
        held_out=f"all GPUs like {gpu.name}",
        source="sitar-lab/NeuSight",
        refusal="" if predicted.seconds is not None else predicted.how,
    )
