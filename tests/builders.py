"""Made-up sessions, footprints and recommendations for tests: everything goes through the real writer and types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gpuscope.domain.base import Range
from gpuscope.domain.device import Device, Host
from gpuscope.domain.footprint import (
    Batch,
    Breakdown,
    Energy,
    Finding,
    Footprint,
    FootprintDevice,
    FootprintHost,
    FootprintSource,
    Framework,
    Memory,
    PeakAt,
    Precision,
    Provenance,
    Spread,
    Steps,
    StepTime,
    Throughput,
    Utilization,
    Workload,
)
from gpuscope.domain.recommendation import (
    Candidate,
    CandidateMemory,
    Constraints,
    Explanation,
    Layout,
    Offer,
    Recommendation,
    Rejected,
    Sensitivity,
    Verdict,
)
from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome, RunSpec
from gpuscope.domain.sample import Frame, GpuSample, HostSample
from gpuscope.store.writer import SessionWriter

GIB = 1024**3
CREATED_WALL_S = 1_790_000_000.0
ZERO_MONOTONIC_S = 1_000.0
HOSTNAME = "lab-ws-7"
USER = "ada"
FOLDER = f"/home/{USER}/secret-project"


def uuid_of(index: int) -> str:
    """The UUID of the made-up GPU with this index."""
    return f"GPU-{index:08x}-1111-2222-3333-444455556666"


def build_session(
    path: Path,
    *,
    gpus: int = 1,
    steps: int = 200,
    step_s: float = 0.1,
    interval_s: float = 0.1,
    gap: tuple[float, float] | None = None,
    gpu_name: str = "NVIDIA L40S",
    display: str = "examples/train.py --epochs 3",
    hostname: str = HOSTNAME,
    outcome: RunOutcome | None = None,
    close: bool = True,
    recording: bool = False,
) -> Path:
    """Write a session of a run that trains evenly for `steps` steps after two seconds of start-up.

    Args:
        path: file to make.
        gpus: how many GPUs of 48 GiB; 0 is a machine without.
        steps: optimizer steps.
        step_s: seconds a step; the first takes five times as long.
        interval_s: seconds between frames.
        gap: session times between which nothing was sampled.
        gpu_name: what the driver calls the GPUs.
        display: what the person typed.
        hostname: what the machine is called.
        outcome: how it ended; finished when not given.
        close: leave one plain file; otherwise the session looks interrupted.
        recording: say that nothing was started, only watched.
    """
    manifest = _manifest(display, hostname, interval_s)
    if recording:
        manifest = msgspec.structs.replace(manifest, kind="record", run=None)
    writer = SessionWriter.create(path, manifest)
    for index in range(gpus):
        writer.add_device(_device(index, gpu_name))
    end_s = 2.0 + (steps + 4) * step_s + 1.0
    for number in range(math.floor(end_s / interval_s) + 1):
        t = number * interval_s
        if gap is None or not gap[0] < t < gap[1]:
            writer.add_frame(_frame(t, number, gpus, busy=2.0 <= t < end_s - 1.0))
    _add_events(writer, steps, step_s, gpus)
    writer.put_document("outcome", outcome or finished(end_s))
    writer.commit()
    if close:
        writer.close()
    else:
        writer.abandon()
    return path


def finished(end_s: float = 23.0) -> RunOutcome:
    """A run that went well."""
    return RunOutcome(
        kind=OutcomeKind.FINISHED, sentence="The run finished.", exit_status=0, started_s=0.0, ended_s=end_s
    )


def failed() -> RunOutcome:
    """A run that ended in an exception that names a folder, a user and a secret."""
    return RunOutcome(
        kind=OutcomeKind.FAILED,
        sentence="The script failed with FileNotFoundError.",
        exit_status=1,
        started_s=0.0,
        ended_s=4.0,
        last_output=(
            "Traceback (most recent call last):",
            f"  File '{FOLDER}/train.py', line 3",
            "\x1b[31mboom\x1b[0m",
        ),
        error_type="FileNotFoundError",
        error_message=f"No such file: '{FOLDER}/data/train.bin' (api_key=hunter2-hunter2)",
    )


def _manifest(display: str, hostname: str, interval_s: float) -> Manifest:
    return Manifest(
        session_id="5e551017-0000-4000-8000-00000000abcd",
        kind="run",
        created_wall_s=CREATED_WALL_S,
        created_monotonic_s=ZERO_MONOTONIC_S,
        gpuscope_version="0.1.0",
        host=Host(
            hostname=hostname,
            os="Linux 6.8",
            cpu_name="AMD EPYC 9354",
            cores=32,
            threads=64,
            memory_total_bytes=256 * GIB,
        ),
        interval_s=interval_s,
        run=RunSpec(
            argv=(f"{FOLDER}/.venv/bin/python", *display.split(" ")),
            cwd=FOLDER,
            target="script",
            display=display,
            interpreter=f"{FOLDER}/.venv/bin/python",
        ),
    )


def _device(index: int, name: str) -> Device:
    return Device(
        uuid=uuid_of(index),
        index=index,
        name=name,
        memory_total_bytes=48 * GIB,
        driver_version="570.86.15",
        cuda_version="12.8",
        compute_capability="8.9",
        power_limit_w=350.0,
    )


def _frame(t: float, number: int, gpus: int, *, busy: bool) -> Frame:
    wave = math.sin(number / 7)
    samples = tuple(
        GpuSample(
            uuid=uuid_of(index),
            utilization_gpu_percent=(88 + 8 * wave - 4 * index % 30) if busy else 0.0,
            memory_used_bytes=round((18.5 + 0.1 * wave + 0.5 * index) * GIB) if busy else 300 * 1024**2,
            memory_total_bytes=48 * GIB,
            power_w=(290 + 25 * wave - 3 * index) if busy else 38.0,
        )
        for index in range(gpus)
    )
    host = None
    if number % 10 == 0:
        host = HostSample(
            cpu_percent=21 + 6 * wave if busy else 3.0, workload_rss_bytes=round((3.1 if busy else 0.8) * GIB)
        )
    return Frame(monotonic_s=ZERO_MONOTONIC_S + t, wall_s=CREATED_WALL_S + t, gpus=samples or None, host=host)


def _add_events(writer: SessionWriter, steps: int, step_s: float, gpus: int) -> None:
    probe = "probe:4242"
    start = ZERO_MONOTONIC_S
    writer.add_event(start + 0.1, "process_start", {"python": "3.12.4", "script": f"{FOLDER}/train.py"}, probe)
    cuda = "12.6" if gpus else None
    writer.add_event(start + 1.2, "framework", {"name": "torch", "version": "2.7.1", "cuda_version": cuda}, probe)
    t = start + 2.0
    for number in range(1, steps + 1):
        duration = step_s * (5 if number == 1 else 1 + 0.05 * math.sin(number))
        t += duration
        writer.add_event(t, "step", {"n": number, "duration_s": duration}, probe)


def build_footprint(*, gpus: int = 1, steps: int = 200, findings: Sequence[Finding] = ()) -> Footprint:
    """What the made-up session uses; without GPUs, the CPU's share of it."""
    measured = Provenance(kind="measured", how="median of steady steps", source="probe")
    counter = Provenance(kind="measured", how="allocator's counter", source="probe")
    return Footprint(
        source=FootprintSource(kind="measured", session="run.gpuscope", when="2026-09-21T13:33:20+00:00"),
        workload=Workload(
            framework=Framework(name="torch", version="2.7.1"),
            model="GPT",
            parameters=354_823_168,
            trainable_parameters=354_823_168,
            precision=Precision(compute="bfloat16", parameters="float32"),
            optimizer="AdamW",
            batch=Batch(per_device=8, gradient_accumulation=1, global_=8 * max(gpus, 1), unit="samples"),
            sequence_length=1024,
        ),
        devices=tuple(
            FootprintDevice(gpu="l40s", name="NVIDIA L40S", uuid=uuid_of(index), memory_bytes=48 * GIB)
            for index in range(gpus)
        ),
        host=FootprintHost(cpu="epyc-9354", name="AMD EPYC 9354", cores=32, memory_bytes=256 * GIB),
        steps=Steps(
            count=steps,
            steady_count=max(steps - 10, 0),
            time_s=StepTime(p50=0.1, p95=0.105, low=0.0991, mid=0.1, high=0.1009),
            throughput=Throughput(value=80.0 * max(gpus, 1), unit="samples/s"),
        ),
        memory=_memory(gpus),
        utilization=Utilization(
            gpu=Spread(mean=88.1, p50=88.0, p95=96.0) if gpus else None, cpu=Spread(mean=21.2, p50=21.0, p95=27.0)
        ),
        energy=Energy(per_step_j=29.0, mean_power_w=290.0) if gpus else Energy(),
        findings=tuple(findings),
        provenance={"/steps": measured, "/memory": counter},
    )


def _memory(gpus: int) -> Memory:
    if not gpus:
        return Memory(host_rss_bytes=round(3.1 * GIB))
    parameters = 354_823_168 * 4
    return Memory(
        peak_allocated_bytes=Range.exact(17.2 * GIB),
        peak_reserved_bytes=Range.exact(18.1 * GIB),
        peak_device_bytes=Range(low=18.4 * GIB, mid=18.6 * GIB, high=18.8 * GIB),
        breakdown=Breakdown(
            parameters_bytes=parameters,
            gradients_bytes=parameters,
            optimizer_state_bytes=2 * parameters,
            activations_bytes=round(17.2 * GIB) - 4 * parameters,
            fragmentation_bytes=round(0.9 * GIB),
            context_bytes=round(0.5 * GIB),
        ),
        peak_at=PeakAt(op="aten::mm", file=f"{FOLDER}/model.py", line=88),
        host_rss_bytes=round(3.1 * GIB),
    )


def build_candidate(index: int = 0, **changes: object) -> Candidate:
    """A rented candidate; with a higher index it is faster and dearer."""
    count = 1 + index % 8
    hours = 34.0 / (1 + index * 0.4)
    usd_per_hour = 0.86 * count + 0.31 * index
    fields: dict[str, object] = {
        "gpu": f"gpu-{index}",
        "gpu_name": "NVIDIA L40S" if index == 0 else f"NVIDIA Example {index}",
        "count": count,
        "acquisition": "rent",
        "offer": Offer(
            provider="examplecloud",
            instance_type=f"g{index}.{count}x",
            region="eu-west-1",
            price_date="2026-09-01",
            source="price list",
            source_url="https://example.com/prices",
            on_demand_usd_per_hour=usd_per_hour,
            stale=index % 5 == 4,
            status="list",
            virtual_cpus=16.0,
            memory_gib=128.0,
        ),
        "precision": "bfloat16",
        "layout": Layout(data_parallel=count, micro_batch=8),
        "fits": True,
        "memory": CandidateMemory(
            needed_bytes=Range(low=18.4 * GIB, mid=19.0 * GIB, high=20.5 * GIB), available_bytes=48 * GIB
        ),
        "step_time_s": Range(low=0.091, mid=0.1, high=0.118).scaled(hours / 34),
        "throughput": Range(low=68, mid=80, high=88).scaled(34 / hours),
        "throughput_unit": "samples/s",
        "time_to_finish_s": Range(low=31 * 3600, mid=34 * 3600, high=38 * 3600).scaled(hours / 34),
        "cost_usd": Range(low=31.0, mid=34.0, high=38.0).scaled(hours / 34 * usd_per_hour),
        "cost_usd_per_hour": Range.exact(usd_per_hour),
        "energy_kwh": Range(low=9.0, mid=10.0, high=12.0),
        "confidence": "measured" if index == 0 else "specification",
        "reason": "The cheapest one that is done in time.",
        "interconnect": "PCIe 4.0 x16",
        "explanation": _explanation(),
    }
    return Candidate(**{**fields, **changes})  # type: ignore[arg-type]  # test data by name


def _explanation() -> Explanation:
    step = Explanation(name="Step time", value="100 ms", provenance="measured, median of 190 steps")
    work = Explanation(name="Steps", value="1,224,000", provenance="given")
    return Explanation(name="Time to finish", value="31–38 h", formula="steps × step time", inputs=(work, step))


def build_recommendation(candidates: int = 4, rejected: int = 6) -> Recommendation:
    """Rent the first of so many candidates."""
    return Recommendation(
        verdict=Verdict.RENT,
        sentence="Rent 1 × NVIDIA L40S from examplecloud: done in 31–38 h for $27–33.",
        constraints=Constraints(deadline_s=48 * 3600.0, total_samples=9_800_000.0, regions=("eu-west-1",)),
        recommended=0,
        alternates=tuple(range(1, min(candidates, 3))),
        candidates=tuple(build_candidate(index) for index in range(candidates)),
        rejected=tuple(
            Rejected(
                gpu=f"small-{index}",
                gpu_name=f"NVIDIA Small {index}",
                count=1 + index,
                reason_code="memory" if index % 2 else "deadline",
                reason=f"Needs 19.0 GiB, has {4 + index} GiB." if index % 2 else "Takes 4.1 d, 48 h are allowed.",
            )
            for index in range(rejected)
        ),
        sensitivity=(Sensitivity(input="price", sentence="The choice stays until the price rises by 35%."),),
        assumptions=("Batch size and precision stay as measured.", "One GPU hour costs the same all day."),
        prices_as_of="2026-09-01",
    )


def build_impossible() -> Recommendation:
    """Nothing fits."""
    return Recommendation(
        verdict=Verdict.IMPOSSIBLE,
        sentence="No configuration is done within 1 h: the fastest one takes 4.1 h.",
        constraints=Constraints(deadline_s=3600.0),
        rejected=(
            Rejected(
                gpu="l40s",
                gpu_name="NVIDIA L40S",
                count=1,
                reason_code="deadline",
                reason="Takes 34 h, 1 h is allowed.",
            ),
        ),
    )
