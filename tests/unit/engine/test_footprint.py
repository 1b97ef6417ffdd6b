"""From a session's events and samples to a footprint: right figures, unknown ones null."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuscope.cli.footprint_text import footprint_text
from gpuscope.domain.base import Range
from gpuscope.domain.device import Device, Host
from gpuscope.domain.recommendation import Constraints, Verdict
from gpuscope.domain.run import Manifest
from gpuscope.domain.sample import Frame, GpuSample, HostSample, ProcessSample
from gpuscope.engine.advise import advise
from gpuscope.engine.footprint import compute_footprint
from gpuscope.engine.footprint_steps import PHASES
from gpuscope.store.reader import SessionReader
from gpuscope.store.writer import SessionWriter

ZERO = 500.0
GPU = "GPU-aaaa"
GIB = 1024**3


def session(
    path: Path, events: list[tuple[float, str, dict[str, Any]]], source: str = "probe:1", kind: str = "run"
) -> SessionWriter:
    host = Host(hostname="h", os="Linux", cpu_name="no such CPU", cores=8, threads=16, memory_total_bytes=64 * GIB)
    manifest = Manifest(
        session_id="id",
        kind=kind,
        created_wall_s=1.7e9,
        created_monotonic_s=ZERO,
        gpuscope_version="0",
        host=host,
        interval_s=0.1,
    )
    writer = SessionWriter.create(path, manifest)
    for t, kind, data in events:
        writer.add_event(ZERO + t, kind, data, source)
    return writer


def steps(count: int, step_s: float, key: str = "a") -> list[tuple[float, str, dict[str, Any]]]:
    return [
        (
            1 + n * step_s,
            "step",
            {"n": n + 1, "optimizer": key, "duration_s": step_s if n else None, "skipped": False, "profiled": False},
        )
        for n in range(count)
    ]


def footprint_of_session(path: Path) -> Any:
    with SessionReader(path) as reader:
        return compute_footprint(reader)


def test_a_gpu_run(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    census = {
        "key": "a",
        "class_name": "AdamW",
        "parameters": 100,
        "parameter_bytes": 400,
        "gradient_bytes": 400,
        "state_bytes": 808,
        "parameter_dtypes": {"float32": 400},
        "devices": {"cuda": 400},
        "dominant": True,
        "after_step": 2,
    }
    counters = {
        "device": 0,
        "allocated_bytes": 1,
        "reserved_bytes": 2,
        "peak_allocated_bytes": 3 * GIB,
        "peak_reserved_bytes": 4 * GIB,
        "alloc_retries": 0,
        "ooms": 0,
    }
    writer = session(
        path,
        [
            (0.1, "framework", {"name": "torch", "version": "2.13.0", "cuda_version": "13.0"}),
            (0.2, "device", {"type": "cuda", "index": 0, "name": "NVIDIA L4", "uuid": "aaaa"}),
            *steps(40, 0.5),
            (1.5, "optimizer", census),
            (1.6, "optimizer", {**census, "gradient_bytes": 0}),
            (1.7, "model", {"parameters": 150, "trainable_parameters": 100, "parameter_bytes": 600, "buffer_bytes": 8}),
            (9.0, "memory", {**counters, "peak_allocated_bytes": GIB}),
            (9.5, "memory", counters),
            (9.6, "precision", {"autocast": "bfloat16", "compiled": False, "checkpointing": None}),
            *[(1 + n / 2, "batch", {"samples": 32, "wait_s": 0.2}) for n in range(40)],
        ],
    )
    writer.add_device(Device(uuid=GPU, index=0, name="NVIDIA L4", memory_total_bytes=23 * GIB))
    for n in range(300):
        gpu = GpuSample(
            uuid=GPU, utilization_gpu_percent=50.0, memory_used_bytes=GIB + n * 10**7, energy_j=1000 + 7.0 * n
        )
        host = HostSample(cpu_percent=25.0, workload_rss_bytes=2 * GIB)
        writer.add_frame(Frame(monotonic_s=ZERO + n / 10, wall_s=0, gpus=(gpu,), host=host))
    writer.close()
    footprint = footprint_of_session(path)
    assert footprint.steps.count == 40
    assert footprint.steps.skipped_updates == 0
    assert footprint.steps.time_s.p50 == 0.5
    assert footprint.steps.throughput.value == pytest.approx(64)
    assert footprint.steps.throughput.unit == "samples/s"
    assert footprint.workload.stage == "training"
    assert (footprint.workload.parameters, footprint.workload.trainable_parameters) == (150, 100)
    assert (footprint.workload.precision.compute, footprint.workload.precision.parameters) == ("bfloat16", "float32")
    assert footprint.devices[0].gpu == "l4"
    assert footprint.devices[0].uuid == GPU
    assert footprint.memory.peak_allocated_bytes == Range.exact(3 * GIB)
    assert footprint.memory.peak_device_bytes == Range.exact(299 * 10**7)
    breakdown = footprint.memory.breakdown
    assert (breakdown.parameters_bytes, breakdown.gradients_bytes, breakdown.optimizer_state_bytes) == (600, 400, 808)
    assert breakdown.activations_bytes is None, "nobody measured it"
    assert footprint.energy.mean_power_w == pytest.approx(70, rel=0.02)
    assert footprint.energy.per_step_j == pytest.approx(35, rel=0.05)
    assert footprint.utilization.gpu.mean == 50
    assert footprint.time_per_step_s.data_loader == pytest.approx(0.2)
    assert footprint.time_per_step_s.backward is None
    assert [finding.code for finding in footprint.findings] == ["input_pipeline"]
    assert footprint.provenance["/steps/count"].kind == "measured"
    assert "/ops" not in footprint.provenance


@pytest.mark.parametrize(("gpu", "computes_in"), [("NVIDIA L4", "tf32"), ("Tesla T4", "float32")])
def test_fp32_products_that_may_use_tf32_do_where_the_gpu_has_it(tmp_path: Path, gpu: str, computes_in: str) -> None:
    path = tmp_path / "a.gpuscope"
    events: list[tuple[float, str, dict[str, Any]]] = [
        (0.2, "device", {"type": "cuda", "index": 0, "name": gpu, "uuid": "aaaa"}),
        (1.7, "model", {"parameters": 150, "parameter_bytes": 600, "parameter_dtypes": {"float32": 600}}),
        (9.6, "precision", {"autocast": None, "tf32": True, "compiled": False, "checkpointing": None}),
    ]
    session(path, events).close()
    precision = footprint_of_session(path).workload.precision
    assert (precision.compute, precision.parameters) == (computes_in, "float32")


def test_strange_events_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    strange: list[tuple[float, str, dict[str, Any]]] = [
        (0.1, "framework", {"version": ["2"]}),
        (1.2, "step", {"optimizer": "a", "duration_s": "long", "steps": 2**62}),
        (1.3, "optimizer", {"key": "a", "parameter_bytes": float("nan")}),
        (1.4, "ops", {"rows": [{"name": "aten::mm", "cpu_time_s": {}, "phase": "forward"}]}),
    ]
    session(path, [*steps(40, 0.5), *strange]).close()
    with SessionReader(path) as reader:
        footprint = compute_footprint(reader)
        assert footprint.steps.time_s.p50 == 0.5
        assert any("events" in note for note in reader.notes)


def test_a_run_without_the_probe(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    session(path, []).close()
    footprint = footprint_of_session(path)
    assert footprint.steps.count is None
    assert footprint.workload.parameters is None
    assert footprint.memory.breakdown.parameters_bytes is None
    assert footprint.host.cpu is None, "a CPU that the catalogue does not know is unknown"
    assert [finding.code for finding in footprint.findings] == ["no_probe"]
    assert "/steps/count" not in footprint.provenance


def test_a_framework_without_steps_is_inference(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    session(path, [(0.1, "framework", {"name": "torch", "version": "2"})]).close()
    footprint = footprint_of_session(path)
    assert footprint.workload.stage == "inference"
    assert [finding.code for finding in footprint.findings] == ["no_steps"]
    assert footprint.steps.count == 0
    assert footprint.steps.time_s.p50 is None


def test_ranks(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    start = {"rank": 0, "world_size": 2}
    writer = session(path, [(0.0, "process_start", start), *steps(30, 0.1)], source="probe:10")
    for t, kind, data in [(0.0, "process_start", {**start, "rank": 1}), *steps(29, 0.2)]:
        writer.add_event(ZERO + t, kind, data, "probe:11")
    writer.close()
    footprint = footprint_of_session(path)
    assert [(rank.rank, rank.steps.count, rank.steps.time_s.p50) for rank in footprint.ranks] == [
        (0, 30, 0.1),
        (1, 29, 0.2),
    ]
    assert footprint.steps.count == 30


def test_a_gpu_that_only_the_driver_saw(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = session(path, [])
    for index, uuid in enumerate(("GPU-a", "GPU-b")):
        writer.add_device(Device(uuid=uuid, index=index, name="NVIDIA L4", memory_total_bytes=23 * GIB))
    host = HostSample(workload_processes=(ProcessSample(pid=77),))
    gpus = (
        GpuSample(uuid="GPU-a", processes=(ProcessSample(pid=5),)),
        GpuSample(uuid="GPU-b", processes=(ProcessSample(pid=77, gpu_memory_bytes=GIB),)),
    )
    writer.add_frame(Frame(monotonic_s=ZERO, wall_s=0, gpus=gpus, host=host))
    writer.close()
    footprint = footprint_of_session(path)
    assert [device.uuid for device in footprint.devices] == ["GPU-b"]
    assert not footprint.device_unknown


def test_an_unseen_device_is_not_the_cpu(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = session(path, steps(40, 0.1))
    writer.add_device(Device(uuid="GPU-a", index=0, name="NVIDIA L4"))
    writer.close()
    footprint = footprint_of_session(path)
    assert footprint.device_unknown
    assert advise(footprint, Constraints(total_steps=1000)).verdict not in {Verdict.CPU_IS_ENOUGH, Verdict.KEEP}


def profiled(**time: float) -> dict[str, Any]:
    rows = [{"name": "aten::mm", "shapes": [], "dtypes": [], "count": 1, "phase": phase} for phase in PHASES]
    times = [{"cpu_time_s": 0.3, "device_time_s": 0.0}, {"cpu_time_s": 0.6, "device_time_s": 0.0}]
    times.append({"cpu_time_s": 0.1, "device_time_s": 0.0})
    return {"rows": [{**row, **own, **time} for row, own in zip(rows, times, strict=True)]}


def test_where_a_steps_time_goes_on_the_cpu(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    waits = [(1 + n / 2, "batch", {"samples": 4, "wait_s": 0.1, "steps": 1}) for n in range(40)]
    session(path, [*steps(40, 0.5), *waits, (3.0, "ops", profiled())]).close()
    parts = footprint_of_session(path).time_per_step_s
    assert parts.data_loader == pytest.approx(0.1)
    assert (parts.forward, parts.backward, parts.optimizer) == pytest.approx((0.12, 0.24, 0.04))
    assert parts.idle is None


def test_where_a_steps_time_goes_on_a_gpu(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    session(path, [*steps(40, 0.5), (3.0, "ops", profiled(device_time_s=0.1))]).close()
    parts = footprint_of_session(path).time_per_step_s
    assert (parts.forward, parts.backward, parts.optimizer, parts.idle) == pytest.approx((0.1, 0.1, 0.1, 0.2))


def test_waiting_is_weighted_by_the_steps_that_an_event_covers(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    waits = [
        (1 + 29 * 0.5, "batch", {"samples": 4, "wait_s": 0.3, "steps": 30}),
        *[(1 + n * 0.5, "batch", {"samples": 4, "wait_s": 0.1, "steps": 1}) for n in range(30, 40)],
    ]
    session(path, [*steps(40, 0.5), *waits]).close()
    steady_s = 36 * 0.5
    expected_s = 0.5 * (30 * 0.3 + 10 * 0.1) / steady_s
    assert footprint_of_session(path).time_per_step_s.data_loader == pytest.approx(expected_s)


def test_starting_workers_and_evaluating_is_no_part_of_a_usual_step(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    waits = [(1 + n * 0.5, "batch", {"samples": 4, "batches": 1, "wait_s": 0.1}) for n in range(40)]
    waits[0] = (1.0, "batch", {"samples": 4, "batches": 1, "wait_s": 9.0})
    waits[20] = (11.0, "batch", {"samples": 44, "batches": 11, "wait_s": 5.0})
    session(path, [*steps(40, 0.5), *waits]).close()
    assert footprint_of_session(path).time_per_step_s.data_loader == pytest.approx(0.1)


def test_no_step_waits_longer_than_it_lasts(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    events = steps(40, 0.5)
    events[20][2]["duration_s"] = 60.0  # a stall of the loader: the mean wait is longer than the median step
    waits = [(1 + n * 0.5, "batch", {"samples": 4, "wait_s": 59.9 if n == 20 else 0.1}) for n in range(40)]
    session(path, [*events, *waits]).close()
    footprint = footprint_of_session(path)
    assert 0.1 < footprint.time_per_step_s.data_loader < footprint.steps.time_s.p50


def test_sums_that_lack_parts_are_no_figures(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    census = {"key": "a", "parameter_bytes": 4, "gradient_bytes": 4, "state_bytes": 8, "dominant": True}
    session(path, [*steps(5, 0.1), (2.0, "optimizer", {**census, "uncounted_tensors": 1})]).close()
    parts = footprint_of_session(path).memory.breakdown
    assert (parts.parameters_bytes, parts.gradients_bytes, parts.optimizer_state_bytes) == (None, None, None)


def test_the_stage_of_a_job_that_nobody_saw_is_an_assumption(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    session(path, []).close()
    footprint = footprint_of_session(path)
    assert footprint.provenance["/workload/stage"].kind == "assumed"
    assert "training (assumed: nobody saw what the job does)" in footprint_text(footprint, None)
    seen = tmp_path / "b.gpuscope"
    session(seen, [(0.1, "framework", {"name": "torch", "version": "2.13.0"}), *steps(5, 0.1)]).close()
    assert footprint_of_session(seen).provenance["/workload/stage"].kind == "derived"


def test_gradients_that_nobody_saw_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    census = {"key": "in_backward", "parameter_bytes": 4, "gradient_bytes": 0, "state_bytes": 0, "dominant": True}
    session(path, [*steps(5, 0.1, "in_backward"), (2.0, "optimizer", census)]).close()
    parts = footprint_of_session(path).memory.breakdown
    assert (parts.parameters_bytes, parts.gradients_bytes, parts.optimizer_state_bytes) == (4, None, 0)


@pytest.mark.parametrize(("kind", "rise"), [("run", Range.exact(GIB)), ("record", None)])
def test_a_rise_above_idle_is_known_only_where_idle_was_seen(tmp_path: Path, kind: str, rise: Range | None) -> None:
    path = tmp_path / "a.gpuscope"
    writer = session(path, [], kind=kind)
    writer.add_device(Device(uuid=GPU, index=0, name="NVIDIA L4"))
    host = HostSample(workload_processes=(ProcessSample(pid=77),))
    for n in range(2):
        gpu = GpuSample(uuid=GPU, memory_used_bytes=(3 + n) * GIB, processes=(ProcessSample(pid=77),))
        writer.add_frame(Frame(monotonic_s=ZERO + n, wall_s=0, gpus=(gpu,), host=host))
    writer.close()
    assert footprint_of_session(path).memory.peak_device_bytes == rise
