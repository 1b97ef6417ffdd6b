"""A footprint for a terminal."""

from __future__ import annotations

from gpuscope.cli.tables import UNKNOWN
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Footprint, Spread, TimePerStep
from gpuscope.domain.units import format_bytes, format_count, format_duration


def footprint_text(footprint: Footprint, evidence_sha256: str | None) -> str:
    """What the job used, a line each; unknown figures are a dash.

    Args:
        footprint: of the session.
        evidence_sha256: the session's fingerprint, as its report shows it; None while it is still being written.
    """
    rows = [*_rows(footprint), ("evidence SHA-256", evidence_sha256 or UNKNOWN)]
    lines = [f"{name:<22}{value}" for name, value in rows]
    lines += [f"{'finding':<22}{finding.sentence} {finding.remedy}".rstrip() for finding in footprint.findings]
    return "\n".join(lines)


def _rows(footprint: Footprint) -> list[tuple[str, str]]:
    workload, steps, memory = footprint.workload, footprint.steps, footprint.memory
    parts = memory.breakdown
    devices = ", ".join(device.name or UNKNOWN for device in footprint.devices) or "CPU only"
    throughput = f"{steps.throughput.value:.4g} {steps.throughput.unit}" if steps.throughput else UNKNOWN
    return [
        ("stage", workload.stage + _if_assumed(footprint, "/workload/stage")),
        (
            "framework",
            f"{workload.framework.name} {workload.framework.version or ''}" if workload.framework else UNKNOWN,
        ),
        ("device", devices),
        ("machine", f"{footprint.host.name or UNKNOWN}, {footprint.host.cores or UNKNOWN} cores"),
        ("parameters", UNKNOWN if workload.parameters is None else format_count(workload.parameters)),
        ("optimizer", workload.optimizer or UNKNOWN),
        ("precision", workload.precision.compute or UNKNOWN),
        ("steps", UNKNOWN if steps.count is None else f"{steps.count:,}"),
        ("step time (median)", UNKNOWN if steps.time_s.p50 is None else format_duration(steps.time_s.p50)),
        ("of it", _step_parts(footprint.time_per_step_s)),
        ("throughput", throughput),
        ("parameter memory", _bytes(parts.parameters_bytes)),
        ("gradient memory", _bytes(parts.gradients_bytes)),
        ("optimizer memory", _bytes(parts.optimizer_state_bytes)),
        ("peak allocated", _range(memory.peak_allocated_bytes)),
        ("peak reserved", _range(memory.peak_reserved_bytes)),
        ("peak on the device", _range(memory.peak_device_bytes)),
        ("peak of the host", _bytes(memory.host_rss_bytes)),
        ("GPU utilisation", _spread(footprint.utilization.gpu)),
        ("CPU utilisation", _spread(footprint.utilization.cpu)),
    ]


def _step_parts(parts: TimePerStep) -> str:
    named = [(name, getattr(parts, name)) for name in parts.__struct_fields__]
    return ", ".join(f"{name.replace('_', ' ')} {format_duration(s)}" for name, s in named if s is not None) or UNKNOWN


def _if_assumed(footprint: Footprint, pointer: str) -> str:
    how = footprint.provenance.get(pointer)
    return f" (assumed: {how.how})" if how is not None and how.kind == "assumed" else ""


def _bytes(value: int | None) -> str:
    return UNKNOWN if value is None else f"{format_bytes(value)} ({value:,} bytes)"


def _range(value: Range | None) -> str:
    if value is None:
        return UNKNOWN
    return (
        format_bytes(value.mid)
        if value.low == value.high
        else f"{format_bytes(value.low)} to {format_bytes(value.high)}"
    )


def _spread(value: Spread | None) -> str:
    return (
        UNKNOWN if value is None else f"{value.mean:.0f}% (median {value.p50:.0f}%, 95th percentile {value.p95:.0f}%)"
    )
