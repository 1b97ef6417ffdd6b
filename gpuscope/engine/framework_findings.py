"""What a person should know about an import of a framework's files, and what to record the next time."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.domain.footprint import DEVICE_UNKNOWN, Finding, Footprint
from gpuscope.domain.imported import NSIGHT, ImportedDetails
from gpuscope.engine.findings import FEW_STEPS

CARD_NOT_NAMED = "card_not_named"


def framework_findings(footprint: Footprint, details: ImportedDetails) -> Iterator[Finding]:
    """Findings on a footprint of traces, snapshots and statistics.

    Args:
        footprint: as far as it is known.
        details: what the files told beyond samples.
    """
    if not details.traces:
        yield _MEMORY_ALONE
        return
    nsight = all(trace.source == NSIGHT for trace in details.traces)
    if not footprint.devices and any(trace.vendor for trace in details.traces):
        yield _NO_GPU_WORK
    yield from _card(footprint)
    yield from _steps(footprint, nsight=nsight)
    if not any(op.flops for op in footprint.ops):
        yield _NO_SHAPES_NSIGHT if nsight else _NO_SHAPES
    if any(trace.cut or trace.lost_events for trace in details.traces):
        yield Finding(
            code="trace_incomplete",
            sentence="Part of the trace is lost: times and counts are lower bounds.",
            evidence=f"{sum(trace.lost_events for trace in details.traces)} events could not be read.",
            remedy="Copy or record the trace again.",
        )


def _card(footprint: Footprint) -> Iterator[Finding]:
    """Times of an unknown card say nothing about others."""
    unknown = [device for device in footprint.devices if device.gpu is None]
    if unknown:
        name = unknown[0].name
        said = (
            "does not name the GPU that"
            if name is None
            else f"names a GPU that the catalogue does not know ({name}) and that"
        )
        yield Finding(
            code=CARD_NOT_NAMED,
            sentence=f"The file {said} did the work: its times cannot be carried over to other GPUs.",
            evidence=f"{len(unknown)} of {len(footprint.devices)} GPUs.",
            remedy="Say which it was: `gpuscope advise SESSION --ran-on GPU`, such as --ran-on a100-sxm4-80gb.",
        )


def _steps(footprint: Footprint, *, nsight: bool) -> Iterator[Finding]:
    if footprint.steps.count is None:
        yield _NO_STEPS_NSIGHT if nsight else _NO_STEPS
    elif (footprint.steps.steady_count or 0) < FEW_STEPS:
        steps = "1 step" if footprint.steps.count == 1 else f"{footprint.steps.count} steps"
        yield Finding(
            code="few_steps",
            sentence=f"The trace has {steps}, slowed by the profiler: step time is less sure.",
            evidence=f"{footprint.steps.steady_count} of them count",
            remedy="Run the job under `gpuscope run`, which measures steps without a profiler.",
        )


_MEMORY_ALONE = Finding(
    code="job_not_seen",
    sentence="The file shows the memory, not the work: operators, step time and batch size are not in it.",
    evidence="It is a snapshot, a timeline or a summary of PyTorch's memory.",
    remedy="Import a profiler trace of the same job with it, or run the job under `gpuscope run` once.",
)
_NO_GPU_WORK = Finding(
    code=DEVICE_UNKNOWN,
    sentence="The job called a GPU's driver, but the trace shows nothing of what the GPU did.",
    evidence="It has launches and no kernels.",
    remedy="Profile with ProfilerActivity.CUDA among the activities; with Nsight Systems, with --trace=cuda,nvtx.",
)
_NO_STEPS = Finding(
    code="steps_not_marked",
    sentence="The trace does not mark steps: everything in it counts as one step, and step time is unknown.",
    evidence="It has neither ProfilerStep nor three calls of an optimizer.",
    remedy="Call profiler.step() at the end of each step while profiling.",
)
_NO_STEPS_NSIGHT = Finding(
    code="steps_not_marked",
    sentence="The export does not mark steps: everything in it counts as one step, and step time is unknown.",
    evidence="No NVTX range whose name speaks of steps comes twice.",
    remedy='Wrap each step: `with torch.cuda.nvtx.range(f"step {n}"):`, and record with --trace=cuda,nvtx.',
)
_NO_SHAPES = Finding(
    code="no_shapes",
    sentence="The trace has no shapes of operators: FLOPs and bytes are unknown.",
    evidence="Its operators have no Input Dims.",
    remedy="Record it with torch.profiler.profile(record_shapes=True).",
)
_NO_SHAPES_NSIGHT = Finding(
    code="no_shapes",
    sentence="The export has no shapes of operators: FLOPs and bytes are unknown, kernels are told by their names.",
    evidence="No range is named as torch.autograd.profiler.emit_nvtx(record_shapes=True) names them.",
    remedy="Profile the same job with torch.profiler.profile(record_shapes=True) and import both.",
)
