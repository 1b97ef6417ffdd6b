"""Throughputs of published training suites on one GPU, brought together by what was measured alike."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import FLOAT16, FLOAT32, TF32
from gpuscope.advisor.validation.tables import Tables

LAMBDA_SOURCE = "lambdal/deeplearning-benchmark"
DLE_SOURCE = "NVIDIA/DeepLearningExamples"
LAMBDA_FAMILIES = {
    "resnet50": "resnet",
    "ssd": "ssd",
    "bert_base_squad": "bert",
    "bert_large_squad": "bert",
    "gnmt": "gnmt",
    "ncf": "ncf",
    "tacotron2": "tacotron2",
    "waveglow": "waveglow",
    "transformerxlbase": "transformer-xl",
    "transformerxllarge": "transformer-xl",
}
_DLE_PRECISIONS = {"amp": FLOAT16, "tf32": TF32, "fp32": FLOAT32}


class SuiteRun(NamedTuple):
    """A training task on one GPU."""

    precision: str
    """As it computes: what a suite calls fp32 is TF32 on GPUs that have it (its containers switch that on)."""
    batch: float
    """Units of work in a step; where the source does not say, what is done in a second."""
    per_second: float
    """Units of work: samples, tokens, or whatever the task counts."""


class SuiteTask(NamedTuple):
    """The same training task on several GPUs."""

    name: str
    family: str
    runs: dict[str, SuiteRun]
    """By catalogue id of the GPU."""


class _Row(NamedTuple):
    task: str
    family: str
    gpu: str
    run: SuiteRun


def lambda_at_equal_batch(tables: Tables) -> list[SuiteTask]:
    """Tasks of the Lambda suite on one GPU each, at one batch size in one precision: equal steps wherever they run."""
    groups: dict[tuple[str, str, float], list[_Row]] = defaultdict(list)
    for row in _lambda_rows(tables):
        groups[row.task, row.run.precision, row.run.batch].append(row)
    return [_task(rows) for _, rows in sorted(groups.items())]


def lambda_at_own_batch(tables: Tables) -> list[SuiteTask]:
    """Tasks of the Lambda suite, each GPU at the batch size that filled it, half and full precision apart."""
    groups: dict[tuple[str, bool], list[_Row]] = defaultdict(list)
    for row in _lambda_rows(tables):
        groups[row.task, row.run.precision == FLOAT16].append(row)
    return [_task(rows) for _, rows in sorted(groups.items())]


def dle_tasks(tables: Tables) -> list[SuiteTask]:
    """NVIDIA's examples trained on one V100 and one A100 at one batch size, half and full precision apart."""
    groups: dict[tuple[str, ...], list[_Row]] = defaultdict(list)
    for cells in tables.rows("nvidia_dle_train"):
        gpu, precision = tables.catalogue.gpu(cells["gpu_id"]), _DLE_PRECISIONS.get(cells["precision"])
        if gpu is None or precision is None or cells["total_gpus"] != "1" or float(cells["throughput"]) <= 0:
            continue
        # A column is named after its precision, and the full one differs between the generations.
        column = cells["column"].lower().replace("tf32", "fp32")
        key = (cells["model"], cells["variant"], cells["context"], cells["framework"])
        like = (cells["batch"], cells["seq_len"], column)
        per_second = float(cells["throughput"])
        run = SuiteRun(precision, per_second, per_second)
        groups[key + like].append(_Row(" ".join(filter(None, key)), cells["model"].split("/")[0], gpu.id, run))
    return [_task(rows) for _, rows in sorted(groups.items()) if {"v100", "a100"} <= _generations(rows)]


def _lambda_rows(tables: Tables) -> Iterator[_Row]:
    """Rows of one GPU; those flagged as outliers are left out, and the generations of the suite repeat each other's."""
    seen = set()
    for cells in tables.rows("lambda_train"):
        gpu = tables.catalogue.gpu(cells["gpu_id"])
        if gpu is None or cells["gpus"] != "1" or cells["suspect"] != "0" or not cells["batch_total"]:
            continue
        figure = (cells["config"], cells["precision"], cells["task"], cells["batch_total"], cells["throughput"])
        if figure not in seen:
            seen.add(figure)
            run = SuiteRun(
                suite_precision(cells["precision"], gpu), float(cells["batch_total"]), float(cells["throughput"])
            )
            yield _Row(cells["task"], LAMBDA_FAMILIES[cells["task"]], gpu.id, run)


def suite_precision(named: str, gpu: GpuSpec) -> str:
    """The precision in which a GPU computes what the Lambda suite calls fp16 or fp32."""
    if named == "fp16":
        return FLOAT16
    return TF32 if gpu.tf32_tensor_tflops else FLOAT32


def _task(rows: list[_Row]) -> SuiteTask:
    """The median of each GPU's rows at the largest batch size that it was run at."""
    by_gpu: dict[str, list[SuiteRun]] = defaultdict(list)
    for row in rows:
        by_gpu[row.gpu].append(row.run)
    runs = {}
    for gpu, found in sorted(by_gpu.items()):
        batch = max(run.batch for run in found)
        rates = [run.per_second for run in found if run.batch == batch]
        runs[gpu] = SuiteRun(found[0].precision, batch, statistics.median(rates))
    return SuiteTask(rows[0].task, rows[0].family, runs)


def _generations(rows: list[_Row]) -> set[str]:
    return {row.gpu.split("-")[0] for row in rows}
