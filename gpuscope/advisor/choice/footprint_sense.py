"""Whether a footprint says anything to choose by, and whether what it says can be true."""

from __future__ import annotations

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.job.architecture import architecture_of
from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.job.precision import INT8, precision_of
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.units import format_bytes
from gpuscope.errors import UsageError

_ABSURD_SECONDS = 1e7
_SHORTEST_STEP_S = 1e-9
"""Shorter than a clock cycle of any device, or nearly."""
_ABSURD_BYTES = 1e15
_ABSURD_FLOPS = 1e24
_MOST_TIMES_THE_MEMORY = 10
_OF_TOKENS = {"embedding", "attention"}
"""Classes of operators of which a model that reads tokens has at least one."""


def says_anything(footprint: Footprint) -> bool:
    """True when there is something to choose by: time, work or memory."""
    memory, time_s = footprint.memory, footprint.steps.time_s
    known = (
        time_s.p50,
        time_s.mid,
        memory.peak_allocated_bytes,
        memory.peak_reserved_bytes,
        memory.peak_device_bytes,
        footprint.workload.parameters,
    )
    return bool(footprint.ops) or any(value is not None for value in known)


def check_footprint(footprint: Footprint, catalogue: Catalogue) -> None:
    """Refuse amounts that no job can have.

    Args:
        footprint: of a job.
        catalogue: for the memory of the GPUs that it ran on.

    Raises:
        UsageError: names the figure.
    """
    _check_times(footprint)
    _check_memory(footprint)
    _check_devices(footprint, catalogue)
    for op in footprint.ops:
        figures = (op.flops, op.bytes_read, op.bytes_written, op.kernels, op.time_s)
        if any(value is not None and not 0 <= value < _ABSURD_FLOPS for value in figures):
            raise UsageError(f"The work of the footprint's operators of kind {op.kind!r} makes no sense: correct it.")
    _check_work(footprint)


def _check_work(footprint: Footprint) -> None:
    workload, batch = footprint.workload, footprint.workload.batch
    for size in (batch.per_device, batch.global_):
        if size is not None and not size > 0:
            raise UsageError(f"A batch size of {size:g} makes no sense: correct the footprint.")
    for words, number in (
        ("gradient accumulation", batch.gradient_accumulation),
        ("sequence length", workload.sequence_length),
    ):
        if number is not None and number < 1:
            raise UsageError(f"A {words} of {number} makes no sense: correct the footprint.")
    for call in footprint.communication:
        if not (0 <= call.bytes < _ABSURD_BYTES and 0 <= call.count < _ABSURD_BYTES):
            raise UsageError(f"The footprint's communication ({call.collective!r}) makes no sense: correct it.")


def _check_times(footprint: Footprint) -> None:
    time_s = footprint.steps.time_s
    for value in (time_s.mid, time_s.p50):
        if value is not None and not _SHORTEST_STEP_S <= value < _ABSURD_SECONDS:
            raise UsageError(f"A step time of {value:g} s makes no sense: correct the footprint.")
    wait = footprint.time_per_step_s.data_loader
    if wait is not None and not 0 <= wait < _ABSURD_SECONDS:
        raise UsageError(f"A wait of {wait:g} s for the data loader makes no sense: correct the footprint.")


def _check_memory(footprint: Footprint) -> None:
    for name in ("peak_allocated_bytes", "peak_reserved_bytes", "peak_device_bytes"):
        peak = getattr(footprint.memory, name)
        if peak is not None and not 0 <= peak.low <= peak.mid <= peak.high < _ABSURD_BYTES:
            raise UsageError(f"The footprint's peak memory ({name}) makes no sense: it must be a range below 1 PB.")
    for device in footprint.devices:
        if device.memory_bytes is not None and not 0 < device.memory_bytes < _ABSURD_BYTES:
            raise UsageError(f"A GPU with {device.memory_bytes} bytes of memory makes no sense: correct the footprint.")
    parts = footprint.memory.breakdown
    amounts: dict[str, float | None] = {name: getattr(parts, name) for name in parts.__struct_fields__}
    amounts |= {"host_rss_bytes": footprint.memory.host_rss_bytes, "parameters": footprint.workload.parameters}
    for name, amount in amounts.items():
        if amount is not None and not 0 <= amount < _ABSURD_BYTES:
            raise UsageError(f"The footprint's {name} of {amount} makes no sense: correct the footprint.")


def _check_devices(footprint: Footprint, catalogue: Catalogue) -> None:
    """A dry run may ask for any amount; a real one may spill into host memory, but not without end."""
    if footprint.source.kind == "dry_run" or not footprint.devices:
        return
    sizes = []
    for device in footprint.devices:
        gpu = catalogue.gpu_of(device)
        sizes.append(device.memory_bytes or (None if gpu is None else gpu.memory_bytes))
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return
    memory, parts = footprint.memory, footprint.memory.breakdown
    peaks = [memory.peak_allocated_bytes, memory.peak_reserved_bytes, memory.peak_device_bytes]
    amounts = [float(sum(getattr(parts, name) or 0 for name in parts.__struct_fields__))]
    largest = max(amounts + [peak.mid for peak in peaks if peak is not None])
    if largest > _MOST_TIMES_THE_MEMORY * sum(known):
        raise UsageError(
            f"The footprint's memory of {format_bytes(largest)} is many times that of the GPUs that it ran on "
            f"({format_bytes(sum(known))}): correct the footprint."
        )


def check_job(job: Job, constraints: Constraints, *, serves: bool) -> None:
    """Refuse what nobody can do with such a job.

    Raises:
        UsageError: the text says what to ask for instead.
    """
    integer = next((name for name in (job.precision, *constraints.precisions) if precision_of(name) == INT8), None)
    if job.stage == TRAINING and integer is not None:
        raise UsageError(
            f"Nothing is trained in {integer}: use float32, tf32, bfloat16, float16 or float8, or ask for inference."
        )
    if serves and constraints.deadline_s is not None:
        raise UsageError(
            "A service has no end, so it has no deadline: ask for requests a second instead (how many there are, "
            "divided by the time), or leave the deadline out."
        )


def check_service(footprint: Footprint, constraints: Constraints) -> None:
    """Refuse to serve tokens of a model that reads none, or of which nothing tells the size.

    Raises:
        UsageError: the text says what to give.
    """
    target = constraints.serving
    if target is None:
        return
    asked = (target.prompt_tokens, target.output_tokens, target.time_to_first_token_s, target.inter_token_latency_s)
    if all(value is None for value in asked):
        return
    if footprint.ops and not any(op.class_ in _OF_TOKENS for op in footprint.ops):
        raise UsageError(
            "The job's operators look up no tokens (there is no embedding and no attention), so it writes none: ask "
            "for a latency of whole requests instead."
        )
    if architecture_of(footprint, language_model=True) is None:
        raise UsageError(
            "How fast the model writes tokens follows from its size, which the footprint lacks: give its parameters or "
            "its architecture there (docs/json.md), or type it in with `gpuscope estimate`."
        )
