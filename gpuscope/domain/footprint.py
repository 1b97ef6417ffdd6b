"""What a job uses: the first of the two documents that everything exchanges (docs/json.md)."""

from __future__ import annotations

from typing import Any

from gpuscope.domain.architecture import Architecture
from gpuscope.domain.base import Range, Value

SCHEMA = "gpuscope.footprint/1"
DEVICE_UNKNOWN = "device_unknown"
"""Code of the finding of a run of which nobody saw whether it used a GPU: no devices then does not mean the CPU."""


class FootprintSource(Value, frozen=True, kw_only=True):
    """Where a footprint comes from."""

    kind: str
    """measured, dry_run, imported or estimated"""
    session: str | None = None
    files: tuple[str, ...] = ()
    when: str | None = None
    """ISO 8601 with zone."""


class Framework(Value, frozen=True, kw_only=True):
    """The framework that the job uses."""

    name: str
    version: str | None = None


class Precision(Value, frozen=True, kw_only=True):
    """dtype names as the framework prints them without its prefix: float32, bfloat16, ...; compute may be tf32."""

    compute: str | None = None
    parameters: str | None = None


class Batch(Value, frozen=True, kw_only=True, rename={"global_": "global"}):
    """How much one step works through."""

    per_device: float | None = None
    gradient_accumulation: int | None = None
    global_: float | None = None
    unit: str | None = None
    """samples or tokens"""


class Workload(Value, frozen=True, kw_only=True):
    """What kind of job it is."""

    stage: str = "training"
    framework: Framework | None = None
    model: str | None = None
    architecture: Architecture | None = None
    """Of a transformer, where it is known."""
    parameters: int | None = None
    trainable_parameters: int | None = None
    precision: Precision = Precision()
    optimizer: str | None = None
    compiled: bool | None = None
    activation_checkpointing: bool | None = None
    batch: Batch = Batch()
    sequence_length: int | None = None


class FootprintDevice(Value, frozen=True, kw_only=True):
    """A GPU that the job used; none means it ran on the CPU."""

    gpu: str | None = None
    """Catalogue id, or null when the catalogue does not know it."""
    name: str | None = None
    uuid: str | None = None
    memory_bytes: int | None = None


class FootprintHost(Value, frozen=True, kw_only=True):
    """The machine that the job ran on."""

    cpu: str | None = None
    name: str | None = None
    cores: int | None = None
    memory_bytes: int | None = None


class StepTime(Value, frozen=True, kw_only=True):
    """Seconds a step in steady state. low, mid, high: 90% interval of the median."""

    p50: float | None = None
    p95: float | None = None
    low: float | None = None
    mid: float | None = None
    high: float | None = None


class Throughput(Value, frozen=True, kw_only=True):
    """Work a second in steady state."""

    value: float
    unit: str
    """steps/s, samples/s or tokens/s"""


class Steps(Value, frozen=True, kw_only=True):
    """How many steps, how fast."""

    count: int | None = None
    """Iterations that ended in an optimizer step, skipped ones included."""
    skipped_updates: int | None = None
    """Of those, updates that a gradient scaler withheld; null when that could not be known."""
    steady_count: int | None = None
    time_s: StepTime = StepTime()
    throughput: Throughput | None = None


class TimePerStep(Value, frozen=True, kw_only=True):
    """Where a step's time goes, seconds."""

    data_loader: float | None = None
    host_to_device: float | None = None
    forward: float | None = None
    backward: float | None = None
    optimizer: float | None = None
    communication: float | None = None
    idle: float | None = None


class Breakdown(Value, frozen=True, kw_only=True):
    """Bytes at the peak, by what they are for."""

    parameters_bytes: int | None = None
    gradients_bytes: int | None = None
    optimizer_state_bytes: int | None = None
    activations_bytes: int | None = None
    temporaries_bytes: int | None = None
    workspace_bytes: int | None = None
    kv_cache_bytes: int | None = None
    fragmentation_bytes: int | None = None
    context_bytes: int | None = None
    other_bytes: int | None = None


class PeakAt(Value, frozen=True, kw_only=True):
    """What made the peak."""

    op: str | None = None
    file: str | None = None
    line: int | None = None


class Memory(Value, frozen=True, kw_only=True):
    """Memory of one device at its peak."""

    peak_allocated_bytes: Range | None = None
    peak_reserved_bytes: Range | None = None
    peak_device_bytes: Range | None = None
    """What NVML shows above an idle card."""
    breakdown: Breakdown = Breakdown()
    peak_at: PeakAt | None = None
    host_rss_bytes: int | None = None
    """Resident memory of the workload's process tree at its peak."""


class Op(Value, frozen=True, kw_only=True, rename={"class_": "class"}):
    """One class of operators in one step."""

    kind: str
    class_: str
    dtype: str | None = None
    flops: float | None = None
    bytes_read: float | None = None
    bytes_written: float | None = None
    kernels: float | None = None
    time_s: float | None = None
    tensor_core: bool | None = None
    layout: str | None = None
    n: int | None = None
    k: int | None = None


class Communication(Value, frozen=True, kw_only=True):
    """One kind of collective in one step."""

    collective: str
    bytes: float
    count: float
    time_s: float | None = None
    group_size: int | None = None


class Spread(Value, frozen=True, kw_only=True):
    """A utilisation over the steady part of a run, percent."""

    mean: float
    p50: float
    p95: float


class Utilization(Value, frozen=True, kw_only=True):
    """Percent; cpu is of all hardware threads of the machine."""

    gpu: Spread | None = None
    sm: Spread | None = None
    tensor: Spread | None = None
    dram: Spread | None = None
    cpu: Spread | None = None


class Energy(Value, frozen=True, kw_only=True):
    """Of the GPUs in use."""

    per_step_j: float | None = None
    mean_power_w: float | None = None


class InputOutput(Value, frozen=True, kw_only=True):
    """Traffic besides device memory."""

    host_to_device_bytes_per_step: float | None = None
    disk_read_bytes_per_s: float | None = None
    network_bytes_per_s: float | None = None


class RankFootprint(Value, frozen=True, kw_only=True):
    """One rank's own part."""

    rank: int
    steps: Steps = Steps()
    time_per_step_s: TimePerStep = TimePerStep()
    memory: Memory = Memory()


class Finding(Value, frozen=True, kw_only=True):
    """Something a person should know, with what to do about it."""

    code: str
    sentence: str
    evidence: str = ""
    remedy: str = ""


class Provenance(Value, frozen=True, kw_only=True):
    """How one figure was come by."""

    kind: str
    """measured, derived or assumed"""
    how: str
    source: str = ""


class Footprint(Value, frozen=True, kw_only=True):
    """The document `gpuscope.footprint/1`; null is unknown."""

    schema: str = SCHEMA
    source: FootprintSource = FootprintSource(kind="imported")
    workload: Workload = Workload()
    devices: tuple[FootprintDevice, ...] = ()
    host: FootprintHost = FootprintHost()
    steps: Steps = Steps()
    time_per_step_s: TimePerStep = TimePerStep()
    memory: Memory = Memory()
    ops: tuple[Op, ...] = ()
    communication: tuple[Communication, ...] = ()
    utilization: Utilization = Utilization()
    energy: Energy = Energy()
    io: InputOutput = InputOutput()
    ranks: tuple[RankFootprint, ...] = ()
    findings: tuple[Finding, ...] = ()
    provenance: dict[str, Provenance] = {}
    """By JSON pointer, such as `/memory/peak_allocated_bytes`."""
    extra: dict[str, Any] = {}
    """Figures outside the schema that a producer wants to keep."""

    @property
    def device_unknown(self) -> bool:
        """True when an empty `devices` means that nobody knows, not that the job ran on the CPU."""
        return not self.devices and any(finding.code == DEVICE_UNKNOWN for finding in self.findings)
