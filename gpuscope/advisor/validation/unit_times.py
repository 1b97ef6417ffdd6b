"""Published training suites as the time of one unit of work on one GPU, so that batch sizes may differ."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.advisor.job.precision import BFLOAT16, FLOAT16, FLOAT32, TF32, is_16_bit
from gpuscope.advisor.timing.model_kind import kind_of_name
from gpuscope.advisor.validation.suites import DLE_SOURCE, LAMBDA_FAMILIES, LAMBDA_SOURCE, suite_precision
from gpuscope.advisor.validation.tables import Cells, Tables

DLE_PRECISIONS = {"amp": FLOAT16, "bf16": BFLOAT16, "tf32": TF32, "fp32": FLOAT32}

# The suite's mixed-precision switch changes nothing in these two: published rates are the same with and without.
WITHOUT_MIXED_PRECISION = frozenset({"tacotron2", "waveglow"})


# Parameters and tokens of a unit, where the work is that of a known transformer: BERT base and large (sequences of 384
# tokens in SQuAD), Transformer-XL base and large, as the READMEs of NVIDIA's examples give them.
_BERT_LARGE, _SQUAD_TOKENS = 336_000_000, 384.0
_WORK = {
    "lambda bert_base_squad": (110_000_000, _SQUAD_TOKENS),
    "lambda bert_large_squad": (_BERT_LARGE, _SQUAD_TOKENS),
    "lambda transformerxlbase": (192_000_000, 1.0),
    "lambda transformerxllarge": (257_000_000, 1.0),
}


_ABOUT_THE_SAME = 2.0
"""Batch sizes that differ by no more than this: 16 bits make room for twice as much."""


class UnitTime(NamedTuple):
    """One unit of work (a sample, a token, ...) of a training task on one GPU."""

    task: str
    """Equal tasks do equal work for a unit."""
    family: str
    model: str
    """What a person would call it; tells the kind of model."""
    gpu: str
    precision: str
    """As it computes."""
    batch: str
    """As printed; empty: not said."""
    seconds: float
    source: str
    parameters: int | None = None
    tokens: float | None = None
    """Of a unit of work, for a transformer."""

    @property
    def kind(self) -> str:
        """Of model, as `timing.model_kind` names it."""
        return kind_of_name(self.model)


def lambda_units(tables: Tables) -> list[UnitTime]:
    """The Lambda suite on one GPU, each GPU at the batch size that filled it; medians over machines."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    batches: dict[tuple[str, str, str], str] = {}
    for cells in tables.rows("lambda_train"):
        gpu = tables.catalogue.gpu(cells["gpu_id"])
        if gpu is None or cells["gpus"] != "1" or cells["suspect"] != "0":
            continue
        if cells["precision"] == "fp16" and cells["task"] in WITHOUT_MIXED_PRECISION:
            continue
        key = (cells["task"], gpu.id, suite_precision(cells["precision"], gpu))
        found[key].append(float(cells["throughput"]))
        batches.setdefault(key, cells["batch_total"])
    return [
        UnitTime(
            f"lambda {task}", LAMBDA_FAMILIES[task], task, gpu, precision, batches[task, gpu, precision],
            1 / statistics.median(rates), LAMBDA_SOURCE, *_WORK.get(f"lambda {task}", (None, None)),
        )
        for (task, gpu, precision), rates in sorted(found.items())
    ]  # fmt: skip


def dle_units(tables: Tables) -> list[UnitTime]:
    """NVIDIA's examples on one GPU, medians over releases of what is named alike."""
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for cells in tables.rows("nvidia_dle_train"):
        if cells["total_gpus"] == "1" and _usable(cells):
            found[_dle_key(cells, tables)].append(float(cells["throughput"]))
    return [
        UnitTime(
            key[0], dle_family(key[1]), key[1], key[2], key[3], key[4], 1 / statistics.median(rates), DLE_SOURCE,
            *_dle_work(key[0]),
        )
        for key, rates in sorted(found.items())
    ]  # fmt: skip


def pairs(units: list[UnitTime]) -> Iterator[tuple[UnitTime, UnitTime]]:
    """Ordered pairs of runs of the same task at about the same batch size, which is what a prediction is for.

    A batch size that is not said is taken to be the same; of several runs on one side, those that say the same count.
    """
    by_task: dict[str, list[UnitTime]] = defaultdict(list)
    for unit in units:
        by_task[unit.task].append(unit)
    for _, same in sorted(by_task.items()):
        for source in same:
            for target in same:
                if source is not target and _comparable(source, target, same):
                    yield source, target


def printed_batch(text: str, *, half: bool) -> float | None:
    """Batch of a GPU as printed; of one for each precision the larger is that of 16 bits. None: not said."""
    plain = re.sub(r"\((?:FP32|TF32|TF|AMP)\)", "", text.replace("1,048,576", "1048576").replace("131,072", "131072"))
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", plain)]
    if not numbers or len(numbers) > 2 or "k" in plain:
        return None
    return max(numbers) if half else min(numbers)


def dle_family(model: str) -> str:
    """Family of a model by its path in the examples: all ResNets are one, all BERTs too."""
    name = model.rsplit("/", 1)[-1].lower()
    if re.search(r"resn|rn50", name):
        return "resnet"
    return "bert" if "bert" in name else name.split("_")[0]


def _usable(cells: Cells) -> bool:
    pruned = "ASP" in cells["column"]
    return (
        cells["precision"] in DLE_PRECISIONS and float(cells["throughput"]) > 0 and bool(cells["gpu_id"]) and not pruned
    )


def _dle_key(cells: Cells, tables: Tables) -> tuple[str, ...]:
    gpu = tables.catalogue.gpu(cells["gpu_id"])
    assert gpu is not None
    precision = DLE_PRECISIONS[cells["precision"]]
    if precision == FLOAT32 and gpu.tf32_tensor_tflops:
        precision = TF32  # What the containers do without being asked.
    name = (cells["framework"], cells["model"], cells["variant"], cells["context"], cells["seq_len"], cells["unit"])
    return " ".join(filter(None, name)), cells["model"], gpu.id, precision, cells["batch"]


def _dle_work(task: str) -> tuple[int, float] | tuple[None, None]:
    """Parameters and tokens of a unit of BERT large and Transformer-XL."""
    if re.search(r"LanguageModeling/BERT (Pre-|Fine-)", task):
        pretraining = re.search(r"Pre-.* (128|512)\b", task)
        return _BERT_LARGE, float(pretraining[1]) if pretraining else _SQUAD_TOKENS
    if task.startswith("PyTorch LanguageModeling/Transformer-XL"):
        return _WORK["lambda transformerxllarge" if "Large" in task else "lambda transformerxlbase"]
    return None, None


def _comparable(source: UnitTime, target: UnitTime, same: list[UnitTime]) -> bool:
    if source.batch == target.batch:
        return True
    of_target = {unit.batch for unit in same if (unit.gpu, unit.precision) == (target.gpu, target.precision)}
    of_source = {unit.batch for unit in same if (unit.gpu, unit.precision) == (source.gpu, source.precision)}
    if of_source & of_target:
        return False
    sizes = [printed_batch(unit.batch, half=is_16_bit(unit.precision)) for unit in (source, target)]
    if sizes[0] is None or sizes[1] is None:
        return True
    return max(sizes[0], sizes[1]) <= _ABOUT_THE_SAME * min(sizes[0], sizes[1])
