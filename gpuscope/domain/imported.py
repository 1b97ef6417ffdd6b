"""What files of the framework tell beyond samples: the work in a trace, the state and history of an allocator."""

from __future__ import annotations

from gpuscope.domain.base import Value
from gpuscope.domain.footprint import Communication, PeakAt, Spread

KINETO, NSIGHT = "kineto", "nsight"
"""Whose recording a trace is: PyTorch's profiler's, or Nsight Systems'."""


class TracedDevice(Value, frozen=True, kw_only=True):
    """What one GPU did in a trace. Times are of moments at which it was so: overlapping work counts once."""

    index: int
    name: str | None = None
    memory_bytes: int | None = None
    kernels: int = 0
    kernel_time_s: float = 0.0
    copies: int = 0
    copy_time_s: float = 0.0
    sets: int = 0
    set_time_s: float = 0.0
    busy_s: float = 0.0
    """Kernels, copies and sets together."""
    work_sum_s: float = 0.0
    """The same added up: more than `busy_s` where streams overlap. Annotated ranges are in neither."""
    communication_time_s: float = 0.0
    """Kernels of NCCL and RCCL."""
    span_s: float = 0.0
    """From the beginning of its first work to the end of its last."""
    longest_gap_s: float = 0.0
    annotations: int = 0
    """Ranges of `record_function` as seen on the GPU: they cover kernels and are no work of their own."""
    ranges: int = 0
    """Of the profiler before Kineto: times between two CUDA events, not kernels."""
    range_time_s: float = 0.0


class TracedName(Value, frozen=True, kw_only=True):
    """Everything in a trace that has one name."""

    name: str
    count: int
    time_s: float
    launched_by: str | None = None
    """For kernels: the call of the driver that started it."""
    launch_delay_s: float | None = None
    """For kernels: from the call to the beginning, mean."""


class TracedStep(Value, frozen=True, kw_only=True):
    """One step that the trace marks."""

    name: str
    start_s: float
    """Since the trace's first event."""
    duration_s: float
    busy_s: float = 0.0
    """Of the GPU, with the work that was launched in this step."""
    complete: bool = True
    """False for a stub: the last step of a profile, that was begun and never done."""


class TracedMemory(Value, frozen=True, kw_only=True):
    """The allocator of one device as the events of a trace with `profile_memory=True` show it."""

    device: str
    """`GPU 0`, or `CPU`."""
    events: int
    peak_allocated_bytes: int | None = None
    reserved_at_peak_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    last_allocated_bytes: int | None = None
    net_bytes: int = 0
    peak_at: PeakAt | None = None
    relative: bool = False
    """The events have no totals (torch before 1.11): figures count from the beginning of the trace."""


class TracedMetric(Value, frozen=True, kw_only=True):
    """One of the GPU's counters, sampled over the whole of a recording."""

    device: int
    name: str
    """graphics_engine, sm, tensor or dram"""
    percent: Spread


class TraceDetails(Value, frozen=True, kw_only=True):
    """One profiler trace."""

    source: str = KINETO
    events: int
    lost_events: int = 0
    cut: bool = False
    rank: int | None = None
    world_size: int | None = None
    vendor: str | None = None
    runtime_version: str | None = None
    devices_listed: int = 0
    span_s: float = 0.0
    operators: int = 0
    python_functions: int = 0
    has_shapes: bool = False
    devices: tuple[TracedDevice, ...] = ()
    """Those that did something."""
    steps: tuple[TracedStep, ...] = ()
    steps_marked_by: str | None = None
    """ProfilerStep, the optimizer's calls, NVTX ranges, or null: the trace does not mark steps."""
    optimizer: str | None = None
    """Class of the one whose calls the trace marks."""
    data_loader_s: float | None = None
    """Waiting for a DataLoader, of a mean step; null without steps or without a DataLoader."""
    kernels: tuple[TracedName, ...] = ()
    """Those that took longest."""
    functions: tuple[TracedName, ...] = ()
    """Python functions that took longest, with what they called."""
    memory: tuple[TracedMemory, ...] = ()
    communication: tuple[Communication, ...] = ()
    """Of one step."""
    metrics: tuple[TracedMetric, ...] = ()
    host_to_device_bytes: float | None = None
    """Copied to the GPUs in one step; null where nothing tells."""


class Holder(Value, frozen=True, kw_only=True):
    """Memory by the line of the program that asked for it."""

    place: PeakAt
    bytes: int
    blocks: int


class OutOfMemoryMoment(Value, frozen=True, kw_only=True):
    """A request that could not be met, as the allocator noted it."""

    requested_bytes: int
    device_free_bytes: int | None = None
    time_s: float | None = None
    place: PeakAt | None = None


class AllocatorDetails(Value, frozen=True, kw_only=True):
    """PyTorch's caching allocator on one device: a snapshot, or its printed statistics."""

    device: int
    backend: str = "CUDA"
    allocated_bytes: int | None = None
    peak_allocated_bytes: int | None = None
    active_bytes: int | None = None
    requested_bytes: int | None = None
    reserved_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    inactive_split_bytes: int | None = None
    """Free parts of segments that are in use: they cannot be given back to the driver."""
    awaiting_free_bytes: int | None = None
    """Freed by the program, still in use by another stream."""
    rounding_bytes: int | None = None
    """Allocated beyond what was asked for."""
    largest_free_block_bytes: int | None = None
    """Private pools left out: nobody else can use them."""
    private_pool_bytes: int | None = None
    private_pool_inactive_bytes: int | None = None
    segments: int | None = None
    expandable_segments: int | None = None
    blocks_active: int | None = None
    blocks_inactive: int | None = None
    retries: int | None = None
    """Allocations for which the cache had to be emptied first."""
    out_of_memory_count: int | None = None
    holders: tuple[Holder, ...] = ()
    """At the moment of the snapshot, most bytes first."""
    holders_at_peak: tuple[Holder, ...] = ()
    trace_events: int = 0
    actions: dict[str, int] = {}
    trace_peak_bytes: int | None = None
    """Highest sum of what the recorded history allocated and had not freed: without what was there before it."""
    trace_net_bytes: int | None = None
    has_times: bool = False
    moments: tuple[OutOfMemoryMoment, ...] = ()
    categories_at_peak: dict[str, int] = {}
    """Of a memory timeline: bytes by what they are for (parameters, optimizer_state, inputs, temporaries, activations,
    gradients, autograd, unknown)."""
    settings: dict[str, str] = {}
    totals: dict[str, dict[str, int]] = {}
    """Of printed statistics: every line's current, peak, allocated and freed."""


class ImportedDetails(Value, frozen=True, kw_only=True):
    """What the files of a session told beyond samples."""

    traces: tuple[TraceDetails, ...] = ()
    allocators: tuple[AllocatorDetails, ...] = ()
