"""Published steps of image models (timm results) with the work of each, as footprints and as samples for the fit."""

from __future__ import annotations

import functools
import hashlib
import re
from typing import NamedTuple

import msgspec

from gpuscope.advisor.job.precision import FLOAT16, FLOAT32
from gpuscope.advisor.validation.op_tables import (
    FLOAT32_MODE,
    MIXED_MODE,
    TRAINING_MODE,
    UNFUSED_MODE,
    ModelTable,
    load_op_tables,
)
from gpuscope.advisor.validation.runs import run_on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.footprint import Breakdown, Footprint, FootprintSource, Op, Precision, Workload

SOURCE = "huggingface/pytorch-image-models, results/"
INFERENCE, TRAINING, ON_CPU = "timm_inference", "timm_training", "timm_cpu"
"""Names of the published tables."""
FOLDS = 4
"""Families of models are held out in so many parts."""

# Prefixes that say where weights come from, not what the model is.
_ORIGINS = re.compile(r"^(tf|gc|ssl|swsl|legacy|ese|eca|cs|dm|gluon|test)_")
_USUAL_FAMILY = "other"


class TimmRow(NamedTuple):
    """One published step."""

    device: str
    """Catalogue id of the GPU or CPU."""
    layout: str
    torch: str
    compiled: bool
    model: str
    img_size: int
    batch: float
    step_s: float
    table: ModelTable

    @property
    def family(self) -> str:
        """Models of one architecture: the letters that its name begins with."""
        name = _ORIGINS.sub("", self.model)
        found = re.match(r"[a-z]+", name)
        return found.group(0) if found else _USUAL_FAMILY

    @property
    def fold(self) -> int:
        """Which part of the families it is in; the same for all of a family."""
        return int(hashlib.sha256(self.family.encode()).hexdigest(), 16) % FOLDS

    @property
    def label(self) -> str:
        """For a person."""
        compiled = ", compiled" if self.compiled else ""
        return f"{self.model} {self.img_size} px, batch {self.batch:g}, {self.layout}, torch {self.torch}{compiled}"

    @property
    def mixed_mode(self) -> str:
        """Mode of the table that this release of PyTorch computes in under autocast."""
        return UNFUSED_MODE if self.torch.startswith("1.") else MIXED_MODE

    def mixed_ops(self, batch: float | None = None) -> tuple[Op, ...]:
        """Inference under autocast, at the row's batch or another."""
        return self.table.ops(self.mixed_mode, batch or self.batch, self.layout)

    @property
    def has_attention(self) -> bool:
        """Whether releases of PyTorch differ in the operators that the model needs."""
        return UNFUSED_MODE in self.table.modes

    @property
    def has_grouped(self) -> bool:
        """Whether it has grouped convolutions that are not depthwise."""
        return any(row[0] == "grouped" for row in self.table.modes[MIXED_MODE])

    def float32_ops(self) -> tuple[Op, ...]:
        """Inference in float32, as a dry run or a run on a CPU shows it."""
        return self.table.ops(FLOAT32_MODE, self.batch, self.layout)

    def training_ops(self) -> tuple[Op, ...]:
        """Forward and backward pass in float32, as a dry run shows it; empty when it was not traced."""
        return self.table.ops(TRAINING_MODE, self.batch, self.layout)


@functools.cache
def timm_rows(tables: Tables, name: str) -> tuple[TimmRow, ...]:
    """The rows of a published table whose models were traced."""
    models = models_of(tables)
    return tuple(
        TimmRow(
            device=row["gpu_id"] or row["cpu_id"],
            layout=row["layout"],
            torch=row["torch"],
            compiled=row["compiled"] == "1",
            model=row["model"],
            img_size=int(row["img_size"]),
            batch=float(row["batch"]),
            step_s=float(row["step_ms"]) / 1e3,
            table=models[row["model"], int(row["img_size"])],
        )
        for row in tables.rows(name)
        if (row["model"], int(row["img_size"])) in models
    )


@functools.cache
def models_of(tables: Tables) -> dict[tuple[str, int], ModelTable]:
    """The traced models by name and image size."""
    return load_op_tables(tables.folder)


def run_footprint(row: TimmRow, tables: Tables, *, batch: float | None = None) -> Footprint:
    """The footprint of a published inference run on a GPU.

    Args:
        row: the run.
        tables: for the catalogue.
        batch: of the footprint: throughput is taken to be the same at a batch near the run's.
    """
    batch = batch or row.batch
    gpu = tables.catalogue.gpu(row.device)
    assert gpu is not None
    footprint = run_on_gpu(
        gpu, row.step_s * batch / row.batch, FLOAT16, model=row.model, stage="inference", ops=row.mixed_ops(batch),
        batch=batch, compiled=row.compiled,
    )  # fmt: skip
    return _with_parameters(footprint, row)


def work_footprint(row: TimmRow, ops: tuple[Op, ...], precision: str, stage: str) -> Footprint:
    """The footprint of a dry run: the work alone, nothing measured."""
    footprint = Footprint(
        source=FootprintSource(kind="dry_run"),
        workload=Workload(
            stage=stage,
            model=row.model,
            compiled=row.compiled,
            precision=Precision(compute=precision, parameters=FLOAT32),
        ),
        ops=ops,
    )
    return _with_parameters(footprint, row)


def _with_parameters(footprint: Footprint, row: TimmRow) -> Footprint:
    """The model's parameters, and the optimizer of timm's training benchmark (SGD with momentum)."""
    count = row.table.parameters
    workload = msgspec.structs.replace(
        footprint.workload, parameters=count, trainable_parameters=count, optimizer="SGD"
    )
    memory = msgspec.structs.replace(footprint.memory, breakdown=Breakdown(optimizer_state_bytes=4 * count))
    return msgspec.structs.replace(footprint, workload=workload, memory=memory)
