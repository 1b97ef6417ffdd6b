"""Throughputs of published training suites on one GPU, brought together by what was measured alike."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import FLOAT16, FLOAT32, TF32
from gpuscope.advisor.validation.tables import Tables

LAMBDA_SOURCE = "lambdal/deeplearning-benchmark"
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


class SuiteJob(NamedTuple):
    """A training task at one batch size in one precision: equal work wherever it runs."""

    task: str
    family: str
    precision: str
    """As it computes: what the suite calls fp32 is TF32 on GPUs that have it (its containers switch that on)."""
    batch: float
    """Samples (or what else the task counts) in a step."""
    per_second: dict[str, float]
    """Median throughput by catalogue id of the GPU, in what the task counts."""


def lambda_jobs(tables: Tables) -> list[SuiteJob]:
    """Tasks of the Lambda suite on one GPU, by name, precision and batch size; rows flagged as outliers left out."""
    found: dict[tuple[str, str, float], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    seen = set()
    for row in tables.rows("lambda_train"):
        gpu = tables.catalogue.gpu(row["gpu_id"])
        if gpu is None or row["gpus"] != "1" or row["suspect"] != "0" or not row["batch_total"]:
            continue
        # The generations of the suite repeat each other's rows.
        figure = (row["config"], row["precision"], row["task"], row["batch_total"], row["throughput"])
        if figure not in seen:
            seen.add(figure)
            key = (row["task"], suite_precision(row["precision"], gpu), float(row["batch_total"]))
            found[key][gpu.id].append(float(row["throughput"]))
    return [
        SuiteJob(task, LAMBDA_FAMILIES[task], precision, batch, {gpu: statistics.median(f) for gpu, f in rates.items()})
        for (task, precision, batch), rates in sorted(found.items())
    ]


def suite_precision(named: str, gpu: GpuSpec) -> str:
    """The precision in which a GPU computes what the suite calls fp16 or fp32."""
    if named == "fp16":
        return FLOAT16
    return TF32 if gpu.tf32_tensor_tflops else FLOAT32
