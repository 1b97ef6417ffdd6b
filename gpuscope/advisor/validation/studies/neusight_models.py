"""Language models on GPUs that nothing was measured on: from the model's dimensions and specifications alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.job.transformer_ops import transformer_ops
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._specified import without_chip
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Batch, Footprint, FootprintSource, Precision, Workload
from gpuscope.domain.recommendation import Constraints

NAME = "neusight-models"
DESCRIPTION = (
    "Language models in FP32 (inference; training without the optimizer) from their dimensions alone, on GPUs of which "
    "only specifications are known: no published row of the GPU's chip was seen."
)
CASE = "no-run"
GOAL = None
TRIED = (
    "The median is within the goal, and so are NVIDIA cards that power does not hold down. The tail is cards on the "
    "slot's 75 W (L4, T4, P4): of a chip that nothing was measured on, specifications do not tell what a TFLOPS takes, "
    "so they are predicted too fast. AMD's matrix units in FP32, which the catalogue's peaks leave out, are counted."
)


def _gpt(layers: int, hidden: int, heads: int, vocabulary: int | None) -> Architecture:
    return Architecture(
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        feed_forward_size=4 * hidden,
        vocabulary_size=vocabulary,
    )


# Dimensions as in the models' configuration files and papers. Rows of models of which the source does not say how wide
# they are (gpt3_xl, which GPT-3's paper gives heads that do not add up to its width, and the mixtures) are left out.
_MODELS = {
    "bert_large": _gpt(24, 1024, 16, None),
    "gpt2_large": _gpt(36, 1280, 20, 50257),
    "gpt3_27": _gpt(32, 2560, 32, 50257),
    "opt_13": _gpt(24, 2048, 32, 50272),
}


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every model on one GPU, without the source's fused variants."""
    for row in tables.rows("neusight_models"):
        gpu = tables.catalogue.gpu(row["gpu_id"])
        if gpu is not None and row["model"] in _MODELS and not row["option"]:
            yield _outcome(row, gpu, tables)


def _outcome(row: Cells, gpu: GpuSpec, tables: Tables) -> Outcome:
    job = prepare(_footprint(row), Constraints(), tables.catalogue, without_chip(tables, chip(gpu)))
    predicted = step_on_gpu(job, gpu)
    return Outcome(
        study=NAME,
        family=row["model"].split("_")[0],
        gpu=gpu.id,
        precision=FLOAT32,
        label=f"{row['model']} {row['mode']}, {row['batch']} × {row['seq_len']} tokens",
        predicted=predicted.seconds,
        measured=float(row["e2e_ms"]) / 1e3,
        held_out=f"all GPUs like {gpu.name}",
        source="sitar-lab/NeuSight",
        refusal="" if predicted.seconds is not None else predicted.how,
    )


def _footprint(row: Cells) -> Footprint:
    architecture, training = _MODELS[row["model"]], row["mode"] == "train"
    batch, tokens = float(row["batch"]), int(row["seq_len"])
    return Footprint(
        source=FootprintSource(kind="estimated"),
        workload=Workload(
            stage="training" if training else "inference",
            model=row["model"],
            architecture=architecture,
            precision=Precision(compute=FLOAT32, parameters=FLOAT32),
            batch=Batch(per_device=batch, global_=batch, unit="samples"),
            sequence_length=tokens,
            compiled=False,
        ),
        ops=transformer_ops(architecture, batch, tokens, training=training),
    )
