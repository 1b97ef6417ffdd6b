"""Jobs that others measured on several GPUs, as decisions between those GPUs."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping

from gpuscope.advisor.calibration.model import EMPTY
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import matrix_peak_tflops
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.decisions import Option, Situation
from gpuscope.advisor.validation.runs import run_on_gpu
from gpuscope.advisor.validation.suites import SuiteTask, dle_tasks, lambda_at_own_batch
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.recommendation import Constraints


def situations(tables: Tables) -> Iterator[Situation]:
    """Every job of the suites that was measured on two GPUs or more, seen from each of them.

    Among all GPUs of the Lambda suite one is by far the fastest and another by far the cheapest; which of two GPUs to
    take is the harder question, so it is asked for every pair as well.
    """
    for situation in _of_suite("Lambda suite, all GPUs", lambda_at_own_batch(tables), tables.catalogue):
        yield situation
        for pair in itertools.combinations(situation.options, 2):
            yield situation._replace(data="Lambda suite, every pair", options=pair)
    yield from _of_suite("NVIDIA examples, V100 or A100", dle_tasks(tables), tables.catalogue)


def _of_suite(data: str, tasks: list[SuiteTask], catalogue: Catalogue) -> Iterator[Situation]:
    rents = rents_by_gpu(catalogue)
    for task in tasks:
        gpus = [gpu for name in task.runs if (gpu := catalogue.gpu(name)) is not None]
        for source in gpus if len(gpus) > 1 else ():
            options = (_option(task, source, gpu, rents.get(gpu.id), catalogue) for gpu in gpus)
            known = tuple(option for option in options if option is not None)
            yield Situation(data, f"{task.name}, {task.runs[source.id].precision} on {source.id}", known)


def _option(
    task: SuiteTask, source: GpuSpec, target: GpuSpec, rent_usd_per_hour: float | None, catalogue: Catalogue
) -> Option | None:
    measured = task.runs[target.id]
    seconds = _predicted_s(task, source, target, catalogue)
    peak = matrix_peak_tflops(target, measured.precision)
    if seconds is None or peak is None:
        return None
    return Option(
        gpu=target.id,
        predicted_s=seconds,
        measured_s=1 / measured.per_second,
        peak_tflops=peak,
        rent_usd_per_hour=rent_usd_per_hour,
        purchase_usd=target.launch_price_usd,
    )


def _predicted_s(task: SuiteTask, source: GpuSpec, target: GpuSpec, catalogue: Catalogue) -> float | None:
    """Seconds for a unit of work on `target`, from the run on `source`; specifications alone."""
    run = task.runs[source.id]
    if source.id == target.id:
        return 1 / run.per_second
    footprint = run_on_gpu(source, run.batch / run.per_second, run.precision, model=task.name, batch=run.batch)
    wanted = Constraints(precision=task.runs[target.id].precision)
    predicted = step_on_gpu(prepare(footprint, wanted, catalogue, EMPTY), target)
    return None if predicted.seconds is None else predicted.seconds.mid / run.batch


def rents_by_gpu(catalogue: Catalogue) -> Mapping[str, float]:
    """The lowest on-demand price of one GPU for an hour, by catalogue id; slices of a GPU left out."""
    rents: dict[str, float] = defaultdict(lambda: float("inf"))
    for offer in catalogue.offers:
        if offer.gpu_id is not None and offer.gpu_count >= 1 and offer.on_demand_usd_per_hour is not None:
            rents[offer.gpu_id] = min(rents[offer.gpu_id], offer.on_demand_usd_per_hour / offer.gpu_count)
    return dict(rents)
