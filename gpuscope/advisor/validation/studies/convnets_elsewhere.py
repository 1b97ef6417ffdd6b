"""Training of convolutional networks on GPUs that no constant of the time model was fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.job.precision import FLOAT16, FLOAT32, TF32
from gpuscope.advisor.validation.float32_fit import float32_factors, with_factors
from gpuscope.advisor.validation.op_tables import TRAINING_MODE
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._specified import without_chip
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import TimmRow, models_of, work_footprint
from gpuscope.domain.recommendation import Constraints

NAME = "convnets-elsewhere"
DESCRIPTION = (
    "From the float32 operators of a training step, as a dry run shows them, to a V100 and an A100 in FP32, TF32 and "
    "mixed precision (channels last); class constants from an RTX 3090 and 4090 and other families of models."
)
CASE = "cpu-or-dry-run"
GOAL = None
TRIED = (
    "All constants come from two GeForce cards and image models in mixed precision; nothing was fitted to these rows "
    "but a gain of 1.3 of plain FP32 in 3×3 convolutions. Backward passes of grouped convolutions are faster here than "
    "in the older library that their factor comes from. EfficientNet-B4 was published at less than half the speed on "
    "the V100 with more memory than on the one with less, which nothing explains."
)

_SOURCE = "NVIDIA/DeepLearningExamples READMEs"


class _Model(NamedTuple):
    """How a published network is traced, and at what batch it is taken to have trained (the README does not say)."""

    name: str
    img_size: int
    batch: float


_MODELS = {
    "resnet50v1.5": _Model("resnet50", 224, 256),
    "resnext101-32x4d": _Model("resnext101_32x4d", 224, 128),
    "se-resnext101-32x4d": _Model("seresnext101_32x4d", 224, 128),
    "efficientnet-b0": _Model("efficientnet_b0", 224, 256),
    "efficientnet-b4": _Model("efficientnet_b4", 380, 64),
}
_PRECISIONS = {"amp": FLOAT16, "tf32": TF32, "fp32": FLOAT32}


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every row of PyTorch on one GPU; rows that several tables of the READMEs repeat once."""
    seen = set()
    for row in tables.rows("nvidia_dle_train"):
        name = row.get("variant") or row["model"].rpartition("/")[2]
        gpu = tables.catalogue.gpu(row["gpu_id"])
        key = (name, row["gpu_id"], row["precision"], row["throughput"])
        if row["framework"] == "PyTorch" and name in _MODELS and row["gpus"] == "1" and gpu and key not in seen:
            seen.add(key)
            yield _outcome(row, _MODELS[name], tables)


def _outcome(row: Cells, model: _Model, tables: Tables) -> Outcome:
    precision = _PRECISIONS[row["precision"]]
    published = TimmRow(
        device=row["gpu_id"],
        layout="nhwc" if precision == FLOAT16 else "nchw",
        torch="1",
        compiled=False,
        model=model.name,
        img_size=model.img_size,
        batch=model.batch,
        step_s=model.batch / float(row["throughput"]),
        table=models_of(tables)[model.name, model.img_size],
    )
    ops = published.table.ops(TRAINING_MODE, model.batch, published.layout)
    footprint = work_footprint(published, ops, FLOAT32, "training")
    outcome = on_gpu(
        NAME, footprint, published, _unseen(published, tables), tables,
        f"{row['gpu_id']}, family {published.family}", Constraints(precision=precision),
    )  # fmt: skip
    label = f"{model.name} {model.img_size} px, batch {model.batch:g} (assumed), {precision}"
    return msgspec.structs.replace(outcome, label=label, source=_SOURCE)


def _unseen(row: TimmRow, tables: Tables) -> Calibration:
    """Class constants without a part of the families, and those of FP32 without the GPU's chip."""
    gpu = tables.catalogue.gpu(row.device)
    assert gpu is not None
    return with_factors(without_fold(tables, row.fold), float32_factors(without_chip(tables, chip(gpu))))
