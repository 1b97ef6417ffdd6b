"""The evidence of a report: what was run, on what, what it used, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpuscope.domain.base import Range
from gpuscope.domain.device import Device
from gpuscope.domain.events import Event
from gpuscope.domain.footprint import Footprint, Provenance, StepTime
from gpuscope.domain.run import LIVE_VIEW, Manifest, RunOutcome
from gpuscope.report.figures import FigureMaker, figure
from gpuscope.report.model import Evidence, Figure, Group, Outcome, Phase, Plot
from gpuscope.report.text import Texts

_TIME_PARTS = {
    "data_loader": "data_loader",
    "host_to_device": "host_to_device",
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer_time",
    "communication": "communication",
    "idle": "idle",
}
"""Field of `time_per_step_s` → figure key."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a session holds, read once."""

    manifest: Manifest
    devices: list[Device]
    events: list[Event]
    footprint: Footprint
    outcome: RunOutcome | None


def evidence(
    facts: Facts, pictures: tuple[tuple[Plot, ...], tuple[Phase, ...]], texts: Texts, *, show_output: bool
) -> Evidence:
    """Put the evidence together; the workload's last output is only kept with `show_output`."""
    footprint = facts.footprint
    make = FigureMaker(footprint, texts("missing.figure"))
    kind = footprint.source.kind
    source = "recorded" if facts.manifest.kind in {"record", LIVE_VIEW} else kind
    return Evidence(
        source_kind=kind,
        source_sentence=texts.or_else(f"source.{source}", kind),
        groups=(
            _machine(facts, make, texts),
            _software(facts, make, texts),
            _workload(footprint, make),
            _steps(footprint, make),
            _time_per_step(footprint, make),
            _memory(footprint, make, texts),
            _utilization(footprint, make, texts),
            _energy(footprint, make, texts),
        ),
        breakdown=_breakdown(footprint, make),
        findings=footprint.findings,
        outcome=None if facts.outcome is None else _outcome(facts.outcome, show_output=show_output),
        phases=pictures[1],
        plots=pictures[0],
    )


def gpu_groups(devices: list[Device], texts: Texts) -> list[Group]:
    """The facts of the GPUs seen, for the appendix; equal ones together."""
    alike: dict[tuple[Figure, ...], list[int]] = {}
    for device in devices:
        alike.setdefault(_gpu_facts(device, texts), []).append(device.index)
    return [Group(key=f"group.gpu:{_numbers(indexes)}", figures=facts) for facts, indexes in alike.items()]


def _gpu_facts(device: Device, texts: Texts) -> tuple[Figure, ...]:
    origin = Provenance(kind="measured", how=texts("origin.driver"))
    return tuple(
        figure(f"figure.{key}", value, unit, missing=texts("missing.figure"), origin=origin)
        for key, value, unit in (
            ("gpu", device.name, "text"),
            ("gpu_memory", device.memory_total_bytes, "bytes"),
            ("driver", device.driver_version, "text"),
            ("cuda", device.cuda_version, "text"),
            ("compute_capability", device.compute_capability, "text"),
            ("power_limit", device.power_limit_w, "w"),
        )
    )


def _numbers(indexes: list[int]) -> str:
    """`0–7`, or `0, 2, 3` when they do not follow each other."""
    first, last = indexes[0], indexes[-1]
    if last > first and indexes == list(range(first, last + 1)):
        return f"{first}–{last}"
    return ", ".join(map(str, indexes))


def _machine(facts: Facts, make: FigureMaker, texts: Texts) -> Group:
    devices, footprint = facts.devices, facts.footprint
    no_gpu = texts("missing.no_gpu")
    used = footprint.devices
    names = _counted([device.name or device.gpu or "?" for device in used])
    there = _counted([device.name for device in devices])
    sizes = [device.memory_bytes for device in used] + [device.memory_total_bytes for device in devices]
    memory = next((size for size in sizes if size), None)
    driver = next((device.driver_version for device in devices if device.driver_version), None)
    host = facts.manifest.host
    system = texts("origin.system")
    return Group(
        key="group.machine",
        figures=(
            make("figure.gpus", names, pointer="/devices", missing=texts("missing.cpu_job") if devices else no_gpu),
            make("figure.gpus_seen", there, missing=no_gpu, seen=texts("origin.driver")),
            make("figure.gpu_memory", memory, "bytes", pointer="/devices", missing=no_gpu),
            make("figure.driver", driver, missing=no_gpu, seen=texts("origin.driver")),
            make("figure.cpu", footprint.host.name or host.cpu_name, pointer="/host/name", seen=system),
            make("figure.cores", footprint.host.cores or host.cores, "count", pointer="/host/cores", seen=system),
            make("figure.host_memory", footprint.host.memory_bytes or host.memory_total_bytes, "bytes", seen=system),
            make("figure.os", host.os, seen=system),
        ),
    )


def _counted(names: list[str]) -> str | None:
    """`2 × NVIDIA L40S, NVIDIA T4`; None for an empty list."""
    parts = [name if names.count(name) == 1 else f"{names.count(name)} × {name}" for name in dict.fromkeys(names)]
    return ", ".join(parts) or None


def _software(facts: Facts, make: FigureMaker, texts: Texts) -> Group:
    python = _first(facts.events, "process_start", "python")
    cuda = _first(facts.events, "framework", "cuda_version")
    framework = facts.footprint.workload.framework
    name = None if framework is None else f"{framework.name} {framework.version or ''}".strip()
    return Group(
        key="group.software",
        figures=(
            make("figure.framework", name, pointer="/workload/framework", seen=texts("origin.probe")),
            make("figure.framework_cuda", cuda, seen=texts("origin.probe")),
            make("figure.interpreter", python, seen=texts("origin.probe")),
            make("figure.recorded_by", facts.manifest.gpuscope_version),
        ),
    )


def _first(events: list[Event], kind: str, field: str) -> str | None:
    found: Any = next((event.data[field] for event in events if event.kind == kind and event.data.get(field)), None)
    return None if found is None else str(found)


def _workload(footprint: Footprint, make: FigureMaker) -> Group:
    workload = footprint.workload
    batch = workload.batch
    return Group(
        key="group.workload",
        figures=(
            make("figure.stage", workload.stage, pointer="/workload/stage"),
            make("figure.model", workload.model, pointer="/workload/model"),
            make("figure.parameters", workload.parameters, "count", pointer="/workload/parameters"),
            make("figure.trainable_parameters", workload.trainable_parameters, "count", pointer="/workload"),
            make("figure.precision", workload.precision.compute, pointer="/workload/precision"),
            make("figure.parameter_precision", workload.precision.parameters, pointer="/workload/precision"),
            make("figure.optimizer", workload.optimizer, pointer="/workload/optimizer"),
            make("figure.batch", batch.global_, batch.unit or "count", pointer="/workload/batch/global"),
            make("figure.sequence_length", workload.sequence_length, "count", pointer="/workload/sequence_length"),
        ),
    )


def step_range(time_s: StepTime) -> float | Range | None:
    """The median step time with its interval where there is one, seconds."""
    if time_s.low is not None and time_s.mid is not None and time_s.high is not None:
        return Range(low=time_s.low, mid=time_s.mid, high=time_s.high)
    return time_s.p50


def _steps(footprint: Footprint, make: FigureMaker) -> Group:
    steps = footprint.steps
    throughput = steps.throughput
    return Group(
        key="group.steps",
        figures=(
            make("figure.steps", steps.count, "count", pointer="/steps/count"),
            make("figure.steady_steps", steps.steady_count, "count", pointer="/steps/steady_count"),
            make("figure.skipped_updates", steps.skipped_updates, "count", pointer="/steps/skipped_updates"),
            make("figure.step_time", step_range(steps.time_s), "s_per_step", pointer="/steps/time_s"),
            make("figure.step_time_p95", steps.time_s.p95, "s_per_step", pointer="/steps/time_s/p95"),
            make(
                "figure.throughput",
                throughput.value if throughput else None,
                throughput.unit if throughput else "steps/s",
                pointer="/steps/throughput",
            ),
        ),
    )


def _time_per_step(footprint: Footprint, make: FigureMaker) -> Group:
    parts = footprint.time_per_step_s
    return Group(
        key="group.time_per_step",
        figures=tuple(
            make(f"figure.{key}", getattr(parts, field), "s_per_step", pointer=f"/time_per_step_s/{field}")
            for field, key in _TIME_PARTS.items()
        ),
    )


def _memory(footprint: Footprint, make: FigureMaker, texts: Texts) -> Group:
    memory = footprint.memory
    no_gpu = "" if footprint.devices else texts("missing.cpu_job")
    at = memory.peak_at
    place = None if at is None or at.file is None else f"{at.file}:{at.line}" if at.line else at.file
    made_by = None if at is None else " ".join(part for part in (at.op, place) if part)
    return Group(
        key="group.memory",
        figures=(
            *(
                make(f"figure.{name}", getattr(memory, f"{name}_bytes"), "bytes", pointer=f"/memory/{name}_bytes",
                     missing=no_gpu)
                for name in ("peak_allocated", "peak_reserved", "peak_device")
            ),
            make("figure.peak_at", made_by, pointer="/memory/peak_at"),
            make("figure.host_rss", memory.host_rss_bytes, "bytes", pointer="/memory/host_rss_bytes"),
        ),
    )  # fmt: skip


def _breakdown(footprint: Footprint, make: FigureMaker) -> tuple[Figure, ...]:
    parts = footprint.memory.breakdown
    return tuple(
        make(f"part.{name.removesuffix('_bytes')}", getattr(parts, name), "bytes", pointer=f"/memory/breakdown/{name}")
        for name in parts.__struct_fields__
        if getattr(parts, name) is not None
    )


def _utilization(footprint: Footprint, make: FigureMaker, texts: Texts) -> Group:
    no_gpu = "" if footprint.devices else texts("missing.cpu_job")
    figures = []
    for name in ("gpu", "sm", "tensor", "dram", "cpu"):
        spread = getattr(footprint.utilization, name)
        mean = None if spread is None else spread.mean
        missing = "" if name == "cpu" else no_gpu
        pointer = f"/utilization/{name}"
        figures.append(make(f"figure.utilization_{name}", mean, "percent", pointer=pointer, missing=missing))
    return Group(key="group.utilization", figures=tuple(figures))


def _energy(footprint: Footprint, make: FigureMaker, texts: Texts) -> Group:
    no_gpu = "" if footprint.devices else texts("missing.cpu_job")
    energy, traffic = footprint.energy, footprint.io
    return Group(
        key="group.energy",
        figures=(
            make("figure.mean_power", energy.mean_power_w, "w", pointer="/energy/mean_power_w", missing=no_gpu),
            make("figure.energy_per_step", energy.per_step_j, "j", pointer="/energy/per_step_j", missing=no_gpu),
            make("figure.host_to_device_bytes", traffic.host_to_device_bytes_per_step, "bytes", pointer="/io",
                 missing=no_gpu),
            make("figure.disk_read", traffic.disk_read_bytes_per_s, "bytes_per_s", pointer="/io"),
            make("figure.network", traffic.network_bytes_per_s, "bytes_per_s", pointer="/io"),
        ),
    )  # fmt: skip


def _outcome(outcome: RunOutcome, *, show_output: bool) -> Outcome:
    return Outcome(
        kind=str(outcome.kind),
        sentence=outcome.sentence,
        exit_status=outcome.exit_status,
        signal=outcome.signal,
        error_type=outcome.error_type,
        error_message=outcome.error_message,
        last_output=outcome.last_output if show_output else (),
        output_left_out=bool(outcome.last_output) and not show_output,
    )
