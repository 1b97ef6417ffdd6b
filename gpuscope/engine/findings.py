"""What a person should know about a run before anything is bought."""

from __future__ import annotations

from gpuscope.domain.footprint import DEVICE_UNKNOWN, Finding, Footprint

INPUT_BOUND_SHARE = 0.2
"""From a fifth of each step spent waiting for data, the input pipeline is worth mending first."""
FEW_STEPS = 20


def findings_of(footprint: Footprint, *, has_probe: bool, device_known: bool) -> tuple[Finding, ...]:
    """The findings of a measured footprint, most important first.

    Args:
        footprint: without findings.
        has_probe: a process of the job loaded the probe.
        device_known: somebody saw whether the job used a GPU.
    """
    found = [
        _no_probe(has_probe),
        _device_unknown(device_known),
        _no_steps(footprint),
        _input_bound(footprint),
        _few_steps(footprint),
    ]
    return tuple(finding for finding in found if finding is not None)


def _device_unknown(device_known: bool) -> Finding | None:
    if device_known:
        return None
    return Finding(
        code=DEVICE_UNKNOWN,
        sentence="Nobody saw whether the job used a GPU of this machine.",
        evidence="The probe saw no training step, and the driver named no process of the job.",
        remedy="Run a training script with `gpuscope run`; in a container the driver counts processes differently.",
    )


def _no_probe(has_probe: bool) -> Finding | None:
    if has_probe:
        return None
    return Finding(
        code="no_probe",
        sentence="The job's own view is missing: steps, parameters and allocator counters are unknown.",
        evidence="No process of the job imported PyTorch under gpuscope's probe.",
        remedy="Run a PyTorch script with `gpuscope run`; a Python started with -I, -E or -S keeps the probe out.",
    )


def _no_steps(footprint: Footprint) -> Finding | None:
    if footprint.steps.count != 0:
        return None
    return Finding(
        code="no_steps",
        sentence="No training step was seen, so the time of a step and the memory by part are unknown.",
        evidence="No PyTorch optimizer stepped.",
        remedy="Let the job run until it trains. Inference loops are not recognised yet.",
    )


def _input_bound(footprint: Footprint) -> Finding | None:
    wait, step = footprint.time_per_step_s.data_loader, footprint.steps.time_s.p50
    if not wait or not step or wait / step < INPUT_BOUND_SHARE:
        return None
    return Finding(
        code="input_pipeline",
        sentence=f"The job waits {min(wait / step, 1):.0%} of each step for its DataLoader.",
        evidence=f"{wait * 1e3:.1f} ms of {step * 1e3:.1f} ms a step",
        remedy="Try more DataLoader workers before buying anything.",
    )


def _few_steps(footprint: Footprint) -> Finding | None:
    steady = footprint.steps.steady_count
    if footprint.steps.count is None or steady is None or steady >= FEW_STEPS or footprint.steps.count == 0:
        return None
    return Finding(
        code="few_steps",
        sentence=f"Only {steady} steady steps were seen: step time and ranges are less sure.",
        evidence=f"{footprint.steps.count} steps in all",
        remedy=f"Run at least {FEW_STEPS * 3} steps.",
    )
