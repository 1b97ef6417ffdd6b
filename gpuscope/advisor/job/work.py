"""How much there is to do, in batches of one device: the unit in which configurations can be compared."""

from __future__ import annotations

from gpuscope.advisor.job.job import Job
from gpuscope.domain.base import Range, Value
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.units import format_count
from gpuscope.errors import UsageError

COMPARED_STEPS = 1000
"""Where the total is not known, costs are compared for this many of the run's steps."""
_SHOWN_STEPS = 1_000_000
"""Where the total is not known, costs are shown for this many steps, so that they differ in more than a last cent."""


def compared_cost(usd: float, economics: Economics) -> str:
    """What steps cost, in words: `$0.38 for 1M steps`; for more steps only where that would be less than a cent.

    Args:
        usd: of `COMPARED_STEPS` steps.
        economics: for the currency.
    """
    usd, steps = usd * (_SHOWN_STEPS / COMPARED_STEPS), _SHOWN_STEPS
    while 0 < usd < 0.01 and steps < 10**9:
        usd, steps = usd * 10, steps * 10
    return f"{format_amount(usd, economics)} for {format_count(steps)} steps"


class Work(Value, frozen=True, kw_only=True):
    """The whole work."""

    batches: float | None
    """Of one device, in all; None: not given."""
    per_batch: float | None
    """Samples (or tokens) that one device works through in a step, in all its passes; None: that is not known."""
    unit: str
    """samples, tokens or steps: what throughput counts."""
    batches_per_step: float
    """Batches of one device in one step of the run: its number of replicas."""
    sentence: str
    """What was understood."""

    def seconds(self, step: Range, batches_in_step: float) -> Range | None:
        """Time for the whole work; None when the total is not known."""
        return None if self.batches is None else step.scaled(self.batches / batches_in_step)

    def compared_seconds(self, step: Range, batches_in_step: float) -> float:
        """Time for the whole work, or for `COMPARED_STEPS` of the run's steps when the total is not known."""
        batches = self.batches if self.batches is not None else COMPARED_STEPS * self.batches_per_step
        return step.mid * batches / batches_in_step

    def throughput(self, step: Range, batches_in_step: float) -> Range:
        """Work a second, in `unit`."""
        each = self.per_batch if self.per_batch is not None else 1 / self.batches_per_step
        done = batches_in_step * each
        return Range(low=done / step.high, mid=done / step.mid, high=done / step.low)


def work_of(job: Job, constraints: Constraints) -> Work:
    """The work that the constraints ask for.

    Raises:
        UsageError: samples or epochs are given and the batch size is not known.
    """
    batch = job.footprint.workload.batch
    replicas = _replicas(job)
    per_batch = batch.global_ / replicas if batch.global_ else None
    if batch.per_device:
        per_batch = batch.per_device * (batch.gradient_accumulation or 1)
    unit = (batch.unit or "samples") if per_batch is not None else "steps"
    total, sentence = _total(constraints, per_batch, replicas)
    return Work(batches=total, per_batch=per_batch, unit=unit, batches_per_step=replicas, sentence=sentence)


def _replicas(job: Job) -> float:
    batch = job.footprint.workload.batch
    if batch.per_device and batch.global_:
        return max(1.0, batch.global_ / (batch.per_device * (batch.gradient_accumulation or 1)))
    return float(max(1, job.source_count))


def _total(constraints: Constraints, per_batch: float | None, replicas: float) -> tuple[float | None, str]:
    if constraints.total_steps is not None:
        return (
            constraints.total_steps * replicas,
            f"{format_count(constraints.total_steps)} steps of the run's batch size.",
        )
    samples = constraints.total_samples
    if constraints.total_epochs is not None and constraints.samples_per_epoch is not None:
        samples = constraints.total_epochs * constraints.samples_per_epoch
    if samples is None:
        return None, (
            "The total amount of work was not given: running costs are compared for the same number of steps. Give "
            "total samples, steps or epochs for the time and cost of the whole."
        )
    if per_batch is None:
        raise UsageError("The run's batch size is not known, so samples cannot be counted: give the total in steps.")
    return samples / per_batch, f"{format_count(samples)} samples in all."
