"""Everything predicted for a job, kept: memory, times and layouts do not change with budgets, places or deadlines."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.choice.money import Owned
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.job.precision import precision_of
from gpuscope.advisor.memory.memory_model import JobMemory, job_memory
from gpuscope.advisor.parallel.search import Plan, plan
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.serving.cpu import serve_cpu
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.serve import serve
from gpuscope.advisor.timing.time_model import CALIBRATED, MEASURED, StepTime, at_hand, step_on_cpu, step_on_gpu
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget


class VariantKey(NamedTuple):
    """What of the constraints predictions depend on."""

    stage: str | None
    precision: str | None
    compiled: bool | None
    keep_global_batch: bool


class Variant(NamedTuple):
    """The job in one stage and precision, compiled or not."""

    key: VariantKey
    job: Job
    memory: JobMemory


class Predictions:
    """Predictions for one footprint, each made once.

    Args:
        footprint: what the job uses.
        catalogue: what there is.
        calibration: sustained rates, fitted constants and interval widths.
        mended: its wait for data was taken away, so that nothing was measured like this.
    """

    def __init__(
        self, footprint: Footprint, catalogue: Catalogue, calibration: Calibration = EMPTY, *, mended: bool = False
    ) -> None:
        self._mended = mended
        self._footprint = footprint
        self._catalogue = catalogue
        self._calibration = calibration
        self.owned: dict[object, Owned] = {}
        """What owning costs, kept by whoever computes it."""
        self._variants: dict[VariantKey, Variant] = {}
        self._steps: dict[tuple[VariantKey, str], StepTime] = {}
        self._cpu_steps: dict[tuple[VariantKey, str | None, float | None], StepTime] = {}
        self._services: dict[object, ServingPlan] = {}
        self._plans: dict[tuple[VariantKey, Topology], Plan] = {}

    def variants(self, constraints: Constraints) -> tuple[Variant, ...]:
        """The wanted one first, then one for each other precision that the person allows.

        Raises:
            UsageError: stage or precision is not known.
        """
        first = self._variant(constraints, constraints.precision)
        names = dict.fromkeys(precision_of(name) for name in constraints.precisions)
        others = [self._variant(constraints, name) for name in names if name != first.job.precision]
        return (first, *others)

    def step(self, variant: Variant, gpu: GpuSpec) -> StepTime:
        """A step on one GPU."""
        key = (variant.key, gpu.id)
        if key not in self._steps:
            self._steps[key] = self._as_assumed(step_on_gpu(variant.job, gpu))
        return self._steps[key]

    def cpu_step(self, variant: Variant, cpu: CpuSpec | None, cores: float | None) -> StepTime:
        """A step on a machine without GPU."""
        key = (variant.key, None if cpu is None else cpu.id, cores)
        if key not in self._cpu_steps:
            self._cpu_steps[key] = step_on_cpu(variant.job, cpu, cores)
        return self._cpu_steps[key]

    def at_hand(self, variant: Variant) -> StepTime:
        """A step on the machine of the run."""
        return self._as_assumed(at_hand(variant.job))

    def plan(self, variant: Variant, gpu: GpuSpec, topology: Topology) -> Plan:
        """The fastest layout that fits on these GPUs."""
        key = (variant.key, topology)
        if key not in self._plans:
            single = self.step(variant, gpu)
            self._plans[key] = plan(
                variant.job, variant.memory, gpu, topology, single, keep_global_batch=variant.key.keep_global_batch
            )
        return self._plans[key]

    def service(
        self, variant: Variant, gpu: GpuSpec, topology: Topology, target: ServingTarget, share: float
    ) -> ServingPlan:
        """How the job is served on these GPUs, or on a share of one."""
        key = (variant.key, topology, target, share)
        if key not in self._services:
            self._services[key] = serve(variant.job, variant.memory, gpu, topology, target, share=share)
        return self._services[key]

    def cpu_service(
        self,
        variant: Variant,
        cpu: CpuSpec | None,
        cores: float | None,
        memory_bytes: int | None,
        target: ServingTarget,
    ) -> ServingPlan:
        """How the job is served on a machine without GPU."""
        key = (variant.key, None if cpu is None else cpu.id, cores, memory_bytes, target)
        if key not in self._services:
            self._services[key] = serve_cpu(variant.job, cpu, cores, memory_bytes, target)
        return self._services[key]

    def _as_assumed(self, step: StepTime) -> StepTime:
        """A measurement less a wait for data is none."""
        if not self._mended or step.confidence != MEASURED:
            return step
        return step._replace(confidence=CALIBRATED, how=f"{step.how}, less its wait for data")

    def _variant(self, constraints: Constraints, precision: str | None) -> Variant:
        key = VariantKey(constraints.stage, precision, constraints.compiled, constraints.keep_global_batch)
        if key not in self._variants:
            wanted = msgspec.structs.replace(constraints, precision=precision)
            job = prepare(self._footprint, wanted, self._catalogue, self._calibration)
            self._variants[key] = Variant(key, job, job_memory(job))
        return self._variants[key]
