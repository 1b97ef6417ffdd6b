"""Nsight Systems' SQLite export: what a GPU did, steps by NVTX, counters, several processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuscope.cli import main
from gpuscope.domain.imported import TraceDetails
from gpuscope.domain.ops import classify
from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.nsight_exports import MS, RECORDED_NS, Export, training
from tests.unit.importers.pytorch_files import rows_of, sentences, trace_of


def told_of(export: Export) -> TraceDetails:
    return trace_of(read(export.data, "report.sqlite"))


def test_what_the_gpu_did() -> None:
    (device,) = told_of(training()).devices
    assert (device.name, device.memory_bytes) == ("NVIDIA A100-SXM4-80GB", 85_031_714_816)
    assert (device.kernels, device.copies) == (18, 6)
    assert device.kernel_time_s == pytest.approx(6 * 0.050)
    assert device.copy_time_s == pytest.approx(6 * 0.010)
    assert device.busy_s == pytest.approx(6 * 0.060)
    assert device.longest_gap_s == pytest.approx(0.040)


def test_steps_are_the_ranges_that_speak_of_them_and_their_numbers_count() -> None:
    told = told_of(training())
    assert told.steps_marked_by == "NVTX ranges"
    assert [step.name for step in told.steps] == [f"step {number}" for number in range(6)]
    assert told.steps[0].duration_s == pytest.approx(0.099)
    assert told.steps[0].busy_s == pytest.approx(0.060)
    assert told.host_to_device_bytes == pytest.approx(64 * 1024**2)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["iteration_1", "iteration_2"], 2),
        (["Iteration", "Iteration", "Iteration"], 3),
        (["train_step", "train_step"], 2),
        (["micro_step 1", "micro_step 2"], 0),
        (["Optimizer step", "Optimizer step"], 0),
        (["stepping stone"], 0),
        (["step 1"], 0),
        (["forward", "backward"], 0),
    ],
)
def test_which_ranges_are_steps(names: list[str], expected: int) -> None:
    export = Export()
    export.kernel("k", 0, MS)
    for number, name in enumerate(names):
        export.marked(name, number * 10 * MS, (number + 1) * 10 * MS)
    assert len(told_of(export).steps) == expected


def test_ranges_that_overlap_are_no_steps() -> None:
    export = Export()
    export.kernel("k", 0, MS)
    export.marked("step 1", 0, 20 * MS)
    export.marked("step 2", 10 * MS, 30 * MS)
    assert told_of(export).steps == ()


def test_kernels_are_classes_of_operators_by_their_names() -> None:
    ops = {op.class_: op for op in classify(rows_of(read(training().data, "report.sqlite")))}
    assert ops["gemm"].time_s == pytest.approx(0.030)
    assert ops["gemm"].dtype == "bfloat16"
    assert ops["attention"].time_s == ops["reduction"].time_s == ops["copy"].time_s == pytest.approx(0.010)
    assert all(op.flops is None for op in ops.values())


def test_ranges_of_emit_nvtx_are_operators_with_shapes() -> None:
    export = Export()
    export.marked("aten::mm, seq = 3, op_id = 9, sizes = [[8, 16], [16, 4]], input_op_ids = [(1,0)]", 0, 10 * MS)
    export.launch(MS, 5)
    export.kernel("gemm", 20 * MS, 50 * MS, 5)
    (row,) = rows_of(read(export.data, "report.sqlite"))
    assert (row["name"], row["shapes"]) == ("aten::mm", [[8, 16], [16, 4]])
    assert row["device_time_s"] == pytest.approx(0.030)
    (op,) = classify([row])
    assert op.flops == 2 * 8 * 16 * 4


def test_calls_of_two_processes_with_the_same_number_are_apart_and_gpus_are_the_machines() -> None:
    export = Export()
    for number in (0, 1, 2):
        export.gpu(number)
    for pid, gpu in ((7, 2), (8, 1)):
        export.insert("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=0, pid=pid)
        export.launch(MS, 5, pid=pid)
        export.kernel("k", 10 * MS, (20 + pid) * MS, 5, pid=pid)
    reading = read(export.data, "report.sqlite")
    told = trace_of(reading)
    assert [device.index for device in told.devices] == [1, 2]
    assert [device.kernels for device in told.devices] == [1, 1]
    (kernel,) = told.kernels
    assert kernel.time_s == pytest.approx(0.018)  # of process 8, whose work took longest
    assert "process 8" in " ".join(sentences(reading, "assumed"))
    assert len(reading.tracks) == 2


def test_memory_from_the_driver_is_what_was_reserved() -> None:
    export = training(2)
    export.memory(0, 3 * 1024**3)
    export.memory(10 * MS, 1024**3)
    export.memory(20 * MS, 1024**3, freed=True)
    export.memory(30 * MS, 2 * 1024**3, kind=1)  # the host's
    reading = read(export.data, "report.sqlite")
    (memory,) = trace_of(reading).memory
    assert (memory.peak_reserved_bytes, memory.peak_allocated_bytes) == (4 * 1024**3, None)
    (event,) = [event for event in reading.events if event.kind == "memory"]
    assert event.data["peak_reserved_bytes"] == 4 * 1024**3
    (track,) = reading.tracks.values()
    assert "allocated_bytes" not in track.columns
    assert track.known("reserved_bytes")[-1] == 3 * 1024**3


def test_counters_of_reading_and_writing_add_up() -> None:
    export = training(2)
    moments = [100 * MS + number * MS for number in range(100)]
    export.metric(1, "GR Active [Throughput %]", dict.fromkeys(moments, 60))
    export.metric(2, "DRAM Read Bandwidth [Throughput %]", dict.fromkeys(moments, 30))
    export.metric(3, "DRAM Write Bandwidth [Throughput %]", dict.fromkeys(moments, 12))
    export.metric(4, "SMs Active [Throughput %]", {moment: place for place, moment in enumerate(moments)})
    export.metric(5, "GPC Clock Frequency [MHz]", dict.fromkeys(moments, 1410))
    reading = read(export.data, "report.sqlite")
    metrics = {metric.name: metric.percent for metric in trace_of(reading).metrics}
    assert set(metrics) == {"graphics_engine", "dram", "sm"}
    assert metrics["dram"].mean == metrics["dram"].p95 == 42
    assert (metrics["sm"].mean, metrics["sm"].p50, metrics["sm"].p95) == (49.5, 49, 94)
    (track,) = reading.tracks.values()
    assert {value for value in track.known("graphics_engine_percent") if value is not None} == {60}


def test_times_are_those_of_the_clock_that_the_export_names() -> None:
    reading = read(training().data, "report.sqlite")
    (track,) = reading.tracks.values()
    assert reading.zone_known
    assert track.wall_s[-1] == pytest.approx(RECORDED_NS * 1e-9 + 0.699, abs=1e-3)


def test_an_older_schema_has_fewer_tables_and_columns() -> None:
    schema = """
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE TARGET_INFO_CUDA_GPU (id INT, name TEXT, globalMemory INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
      streamId INT NOT NULL, correlationId INT, shortName INT NOT NULL);
    """
    export = Export(schema)
    export.insert("TARGET_INFO_CUDA_GPU", id=0, name="Tesla V100-SXM2-16GB", globalMemory=16945512448)
    number = export.string("volta_sgemm_128x64_nn")
    export.insert("CUPTI_ACTIVITY_KIND_KERNEL", start=0, end=MS, deviceId=0, streamId=7, shortName=number)
    (device,) = told_of(export).devices
    assert (device.name, device.kernels) == ("Tesla V100-SXM2-16GB", 1)


def test_graphs_that_were_recorded_as_a_whole_are_work() -> None:
    export = Export()
    export.connection.execute(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, deviceId INT, correlationId INT)"
    )
    export.insert("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=0, end=MS, deviceId=0, correlationId=1)
    (device,) = told_of(export).devices
    assert device.busy_s == pytest.approx(0.001)


def test_through_the_command_line_to_a_footprint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export = training(30)
    export.metric(2, "Tensor Active [Throughput %]", {200 * MS: 40})
    file = tmp_path / "report.sqlite"
    file.write_bytes(export.data)
    assert main(["import", str(file), "-o", str(tmp_path / "out.gpuscope"), "--json"]) == 0
    footprint = json.loads(capsys.readouterr().out)
    assert footprint["devices"][0]["gpu"] == "a100-sxm4-80gb"
    assert footprint["steps"]["time_s"]["p50"] == pytest.approx(0.099, rel=0.01)
    assert footprint["time_per_step_s"]["idle"] == pytest.approx(0.039, rel=0.01)
    assert footprint["io"]["host_to_device_bytes_per_step"] == pytest.approx(64 * 1024**2)
    assert footprint["utilization"]["tensor"]["mean"] == 40
    assert {op["class"] for op in footprint["ops"]} == {"gemm", "attention", "reduction", "copy"}
    assert "no_shapes" in {finding["code"] for finding in footprint["findings"]}
    assert footprint["workload"].get("framework") is None


def test_an_export_without_gpu_work_says_what_to_record() -> None:
    export = Export("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);")
    with pytest.raises(UsageError, match="--trace=cuda,nvtx"):
        read(export.data, "report.sqlite")


@pytest.mark.parametrize("name", ["report1.nsys-rep", "report1.qdrep", "REPORT.NSYS-REP", "a.qdstrm", "kernel.ncu-rep"])
def test_a_report_in_a_format_of_nvidias_own_says_how_to_export_it(name: str) -> None:
    with pytest.raises(UsageError, match="nsys export --type sqlite"):
        read(bytes(range(256)) * 20, name)
