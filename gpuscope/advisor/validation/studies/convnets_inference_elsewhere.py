"""Inference of convolutional networks on a T4, which its 70 W hold down, and a V100, by specifications alone."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.job.precision import FLOAT16, FLOAT32
from gpuscope.advisor.validation.float32_fit import float32_factors, with_factors
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._specified import without_chip
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import TimmRow, models_of, work_footprint
from gpuscope.domain.recommendation import Constraints

NAME = "convnets-inference-elsewhere"
DESCRIPTION = (
    "From the float32 operators of a model, as a dry run shows them, to inference on a T4 and a V100 in FP32 and mixed "
    "precision (channels last); nothing was fitted on a GPU with their chips, nor on the model's family."
)
CASE = "cpu-or-dry-run"
GOAL = None
TRIED = (
    "The tail is FP32 on the T4: 3×3 convolutions multiply less there than plain products (Winograd's transform), "
    "which spares power as well as time, by how much its specifications do not tell. Without the limit by power the T4 "
    "is 12% too fast in 16 bits and 9% in FP32, instead of 14 and 31% too slow: its watts hold convolutions down by "
    "less than the best published product says (24 TFLOP/s in 16 bits) and by more than nothing (51). With the higher "
    "one language models, which are mostly products, would be 1.4 to 1.8 times too fast there (neusight-models)."
)

TABLE = "nvidia_dle_inference"
_PRECISIONS = {"amp": FLOAT16, "fp32": FLOAT32}


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every published row, at batches that fill the GPU."""
    for row in tables.rows(TABLE):
        yield _outcome(row, tables)


def _outcome(row: Cells, tables: Tables) -> Outcome:
    precision, batch, img_size = _PRECISIONS[row["precision"]], float(row["batch"]), int(row["img_size"])
    published = TimmRow(
        device=row["gpu_id"],
        layout="nhwc" if precision == FLOAT16 else "nchw",
        torch="1",
        compiled=False,
        model=row["model"],
        img_size=img_size,
        batch=batch,
        step_s=batch / float(row["throughput"]),
        table=models_of(tables)[row["model"], img_size],
    )
    footprint = work_footprint(published, published.float32_ops(), FLOAT32, "inference")
    outcome = on_gpu(
        NAME, footprint, published, _specified(published, tables), tables,
        f"all GPUs like {row['gpu_id']}, family {published.family}", Constraints(precision=precision),
    )  # fmt: skip
    label = f"{row['model']} {img_size} px, batch {batch:g}, {precision}"
    return msgspec.structs.replace(outcome, label=label, precision=precision, source=row["source"])


def _specified(row: TimmRow, tables: Tables) -> Calibration:
    """Class constants without a part of the families, and nothing from the GPU's chip."""
    gpu = tables.catalogue.gpu(row.device)
    assert gpu is not None
    unseen = without_chip(tables, chip(gpu))
    classes = with_factors(without_fold(tables, row.fold), float32_factors(unseen))
    return msgspec.structs.replace(classes, rates=unseen.rates, shares=unseen.shares, bias={})
