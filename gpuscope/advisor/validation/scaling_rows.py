"""Training suites on one and on several GPUs of one machine, at the same batch size for each GPU."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.advisor.job.precision import FLOAT32, TF32, is_16_bit
from gpuscope.advisor.validation.suites import DLE_SOURCE, LAMBDA_FAMILIES, LAMBDA_SOURCE, suite_precision
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import DLE_PRECISIONS, dle_family, printed_batch

_MOST_GPUS = 8


class _Known(NamedTuple):
    """What has to be known of a task to tell what its GPUs exchange in a step."""

    parameters: float
    units: float = 1.0
    """That the throughput counts, in one element of the batch."""


# Parameters as the models' papers and the suites' READMEs give them; tokens of a sequence and samples of a segment from
# the suites' configurations. Tasks of which one of both is not stated are left out.
_LAMBDA = {
    "resnet50": _Known(25.6e6),
    "ssd": _Known(35e6),
    "bert_base_squad": _Known(110e6),
    "bert_large_squad": _Known(336e6),
    "waveglow": _Known(88e6, 8000.0),
    "transformerxlbase": _Known(192e6, 192.0),
    "transformerxllarge": _Known(257e6, 384.0),
    "ncf": _Known(32e6),
}
_DLE = (
    (r"se-resnext101", _Known(49e6)),
    (r"resnext101", _Known(44e6)),
    (r"resnet50|RN50", _Known(25.6e6)),
    (r"Detection/SSD", _Known(35e6)),
    (r"BERT/biobert", _Known(110e6)),
    (r"^PyTorch.*BERT Fine-tuning|^TensorFlow2.*BERT Fine-tuning|^Paddle.*BERT Fine-tuning", _Known(336e6)),
    (r"^PyTorch.*Transformer-XL Base", _Known(192e6, 192.0)),
    (r"^PyTorch.*Transformer-XL Large", _Known(257e6, 384.0)),
    (r"Translation/Transformer", _Known(210e6)),
    (r"MaskRCNN", _Known(44e6)),
    (r"nnUNet|UNet_Medical", _Known(31e6)),
    (r"Jasper", _Known(333e6)),
    (r"QuartzNet", _Known(19e6)),
)


class ScaledRun(NamedTuple):
    """One task on one GPU and on several."""

    task: str
    family: str
    gpu: str
    precision: str
    gpus: int
    batch: float
    """Of each GPU."""
    parameters: float
    single_step_s: float
    step_s: float
    """On all GPUs."""
    source: str


class _Row(NamedTuple):
    task: str
    family: str
    gpu: str
    precision: str
    batch: float
    gpus: int
    step_s: float
    known: _Known
    source: str


def scaled_runs(tables: Tables) -> Iterator[ScaledRun]:
    """Both suites; medians over machines and releases."""
    steps: dict[tuple[str, str, str, float], dict[int, list[_Row]]] = defaultdict(lambda: defaultdict(list))
    for row in [*_lambda_rows(tables), *_dle_rows(tables)]:
        steps[row.task, row.gpu, row.precision, row.batch][row.gpus].append(row)
    for _, by_count in sorted(steps.items()):
        if 1 not in by_count:
            continue
        single = statistics.median(row.step_s for row in by_count[1])
        for count, rows in sorted(by_count.items()):
            if 1 < count <= _MOST_GPUS:
                row, step_s = rows[0], statistics.median(row.step_s for row in rows)
                yield ScaledRun(
                    row.task, row.family, row.gpu, row.precision, count, row.batch, row.known.parameters, single,
                    step_s, row.source,
                )  # fmt: skip


def _lambda_rows(tables: Tables) -> Iterator[_Row]:
    for cells in tables.rows("lambda_train"):
        gpu, known = tables.catalogue.gpu(cells["gpu_id"]), _LAMBDA.get(cells["task"])
        if gpu is None or known is None or cells["suspect"] != "0" or not cells["batch_total"]:
            continue
        count, batch = int(cells["gpus"]), float(cells["batch_total"])
        yield _Row(
            f"lambda {cells['task']}", LAMBDA_FAMILIES[cells["task"]], gpu.id,
            suite_precision(cells["precision"], gpu), batch / count, count,
            batch * known.units / float(cells["throughput"]), known, LAMBDA_SOURCE,
        )  # fmt: skip


def _dle_rows(tables: Tables) -> Iterator[_Row]:
    for cells in tables.rows("nvidia_dle_train"):
        gpu, precision = tables.catalogue.gpu(cells["gpu_id"]), DLE_PRECISIONS.get(cells["precision"])
        if gpu is None or precision is None or cells["scaling"] != "weak" or not cells["total_gpus"]:
            continue
        if precision == FLOAT32 and gpu.tf32_tensor_tflops:
            precision = TF32
        task = " ".join(filter(None, (cells["framework"], cells["model"], cells["variant"], cells["context"])))
        known = next((known for words, known in _DLE if re.search(words, task)), None)
        batch = printed_batch(cells["batch"], half=is_16_bit(precision))
        if known is None or batch is None or float(cells["throughput"]) <= 0:
            continue
        count = int(cells["total_gpus"])
        step_s = batch * known.units * count / float(cells["throughput"])
        family = dle_family(cells["model"])
        yield _Row(task, family, gpu.id, precision, batch, count, step_s, known, DLE_SOURCE)
