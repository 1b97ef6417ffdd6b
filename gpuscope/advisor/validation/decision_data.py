"""Jobs that others measured on several GPUs, as decisions between those GPUs."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import FLOAT16, is_16_bit, matrix_peak_tflops
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.decisions import Option, Situation
from gpuscope.advisor.validation.held_out import without_family
from gpuscope.advisor.validation.runs import run_on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import INFERENCE, run_footprint, timm_rows
from gpuscope.advisor.validation.unit_times import UnitTime, dle_units, lambda_units
from gpuscope.domain.recommendation import Constraints

# Whose rows, and which GPUs are to choose from.
LAMBDA_ALL, LAMBDA_PAIRS = "Lambda, all GPUs", "Lambda, every pair"
DLE = "NVIDIA, V100/A100"
TIMM = "timm, 3090/4090"
_TIMM_SOURCE = "rtx-3090"
_STEP_S = 1.0
"""Work that takes so long on the source: a step is long enough for its fixed times not to matter."""


def situations(tables: Tables) -> Iterator[Situation]:
    """Every task of the suites that was measured on two GPUs or more, seen from each of them.

    Each is predicted with constants that were fitted without any row of its family of models. Among all GPUs of the
    Lambda suite one is by far the fastest and another by far the cheapest; which of two GPUs to take is the harder
    question, so it is asked for every pair as well.
    """
    for situation in _of_suite(LAMBDA_ALL, lambda_units(tables), tables):
        yield situation
        for pair in itertools.combinations(situation.options, 2):
            yield situation._replace(data=LAMBDA_PAIRS, options=pair)
    for situation in _of_suite(DLE, dle_units(tables), tables):
        if {"v100", "a100"} <= {option.gpu.split("-")[0] for option in situation.options}:
            yield situation
    yield from _of_timm(tables)


def _of_suite(data: str, units: Iterable[UnitTime], tables: Tables) -> Iterator[Situation]:
    catalogue = tables.catalogue
    rents = rents_by_gpu(catalogue)
    for runs in _comparable(units):
        if len(runs) < 2:
            continue
        calibration = without_family(tables, runs[0].family)
        for source in runs:
            options = (_option(source, target, rents, catalogue, calibration) for target in runs)
            known = tuple(option for option in options if option is not None)
            yield Situation(data, f"{source.task}, {source.precision} on {source.gpu}", known)


def _of_timm(tables: Tables) -> Iterator[Situation]:
    """Each image model that ran eagerly on both cards, from its run on the older one.

    The newer card is known by its specifications alone, and no model of the family was seen.
    """
    rents = rents_by_gpu(tables.catalogue)
    rows = [row for row in timm_rows(tables, INFERENCE) if not row.compiled]
    sources = {(row.model, row.img_size, row.layout, row.torch): row for row in rows if row.device == _TIMM_SOURCE}
    for row in rows:
        source = sources.get((row.model, row.img_size, row.layout, row.torch))
        target_gpu, source_gpu = tables.catalogue.gpu(row.device), tables.catalogue.gpu(_TIMM_SOURCE)
        if source is None or row.device == _TIMM_SOURCE or target_gpu is None or source_gpu is None:
            continue
        job = prepare(
            run_footprint(source, tables, batch=row.batch),
            Constraints(),
            tables.catalogue,
            without_fold(tables, row.fold, (_TIMM_SOURCE,)),
        )
        predicted = step_on_gpu(job, target_gpu).seconds
        here_s, there_s = source.step_s / source.batch, row.step_s / row.batch
        found = (
            _priced(source_gpu, FLOAT16, here_s, here_s, rents),
            _priced(target_gpu, FLOAT16, predicted.mid / row.batch, there_s, rents) if predicted is not None else None,
        )
        yield Situation(TIMM, row.label, tuple(option for option in found if option is not None))


def _comparable(units: Iterable[UnitTime]) -> list[list[UnitTime]]:
    """Runs of one task, one for each GPU, half and full precision (FP32, or TF32 where a GPU has it) apart.

    Where a GPU ran it at several batch sizes, the fastest counts: a person would take that.
    """
    groups: dict[tuple[str, bool], dict[str, UnitTime]] = defaultdict(dict)
    for unit in units:
        best = groups[unit.task, is_16_bit(unit.precision)]
        if unit.gpu not in best or unit.seconds < best[unit.gpu].seconds:
            best[unit.gpu] = unit
    return [[best[gpu] for gpu in sorted(best)] for _, best in sorted(groups.items())]


def _option(
    source: UnitTime, target: UnitTime, rents: Mapping[str, float], catalogue: Catalogue, calibration: Calibration
) -> Option | None:
    source_gpu, target_gpu = catalogue.gpu(source.gpu), catalogue.gpu(target.gpu)
    if source_gpu is None or target_gpu is None:
        return None
    share = 1.0
    if source is not target:
        found = _times_longer(source, source_gpu, target.precision, target_gpu, catalogue, calibration)
        if found is None:
            return None
        share = found
    return _priced(target_gpu, target.precision, source.seconds * share, target.seconds, rents)


def _priced(
    gpu: GpuSpec, precision: str, predicted_s: float, measured_s: float, rents: Mapping[str, float]
) -> Option | None:
    peak = matrix_peak_tflops(gpu, precision)
    if peak is None:
        return None
    return Option(
        gpu=gpu.id,
        predicted_s=predicted_s,
        measured_s=measured_s,
        peak_tflops=peak,
        rent_usd_per_hour=rents.get(gpu.id),
        purchase_usd=gpu.launch_price_usd,
    )


def _times_longer(
    source: UnitTime,
    source_gpu: GpuSpec,
    precision: str,
    target_gpu: GpuSpec,
    catalogue: Catalogue,
    calibration: Calibration,
) -> float | None:
    """Predicted time on the target over that on the source."""
    run = run_on_gpu(source_gpu, _STEP_S, source.precision, model=source.model)
    predicted = step_on_gpu(prepare(run, Constraints(precision=precision), catalogue, calibration), target_gpu)
    return None if predicted.seconds is None else predicted.seconds.mid / _STEP_S


def rents_by_gpu(catalogue: Catalogue) -> Mapping[str, float]:
    """The lowest on-demand price of one GPU for an hour, by catalogue id; slices of a GPU left out."""
    rents: dict[str, float] = defaultdict(lambda: float("inf"))
    for offer in catalogue.offers:
        if offer.gpu_id is not None and offer.gpu_count >= 1 and offer.on_demand_usd_per_hour is not None:
            rents[offer.gpu_id] = min(rents[offer.gpu_id], offer.on_demand_usd_per_hour / offer.gpu_count)
    return dict(rents)
