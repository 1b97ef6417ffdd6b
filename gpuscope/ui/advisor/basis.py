"""In a few words, what an answer rests on."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from gpuscope.domain.footprint import Footprint

translate = QCoreApplication.translate


def basis_of(footprint: Footprint, *, running: bool) -> str:
    """`measured over 1,240 steps on an H100`, `estimated from formulas`, ..."""
    kind = {
        "measured": translate("Advisor", "measured"),
        "dry_run": translate("Advisor", "from a dry run"),
        "imported": translate("Advisor", "imported"),
        "estimated": translate("Advisor", "estimated from formulas, nothing was measured"),
    }.get(footprint.source.kind, footprint.source.kind)
    parts = [kind]
    if footprint.steps.count is not None:
        parts.append(translate("Advisor", "over {count} steps").format(count=f"{footprint.steps.count:,}"))
    where = _where(footprint)
    if where and footprint.source.kind == "measured":
        parts.append(translate("Advisor", "on {where}").format(where=where))
    sentence = " ".join(parts)
    return sentence + translate("Advisor", ", the run is still going on") if running else sentence


def says_enough(footprint: Footprint) -> bool:
    """Whether anything is known of the job: its steps, its memory or its size."""
    memory = footprint.memory
    peaks = (memory.peak_allocated_bytes, memory.peak_reserved_bytes, memory.peak_device_bytes)
    known_memory = any(peak is not None for peak in peaks) or memory.breakdown.parameters_bytes is not None
    return bool(footprint.steps.count) or known_memory or footprint.workload.parameters is not None


def _where(footprint: Footprint) -> str:
    names = [device.name for device in footprint.devices if device.name]
    if names:
        return f"{len(names)} × {names[0]}" if len(names) > 1 else names[0]
    return footprint.host.name or ""
