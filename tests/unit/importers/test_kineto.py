"""Traces of PyTorch's profiler: what the GPU did and what it did not, steps, operators, memory."""

from __future__ import annotations

import pytest

from gpuscope.domain.footprint import PeakAt
from tests.unit.importers.pytorch_files import (
    event,
    kernel,
    launch,
    operator,
    read_case,
    read_trace,
    rows_of,
    sentences,
    trace_of,
)

US = 1e-6


def test_an_annotation_on_the_gpu_is_no_kernel_time() -> None:
    (device,) = trace_of(read_case("kineto-annotation-not-kernel-time.json")).devices
    assert (device.kernels, device.copies, device.annotations) == (1, 1, 1)
    assert device.kernel_time_s == pytest.approx(41.5 * US)
    assert device.copy_time_s == pytest.approx(3.25 * US)
    assert device.busy_s == device.work_sum_s == pytest.approx(44.75 * US)
    assert device.communication_time_s == pytest.approx(41.5 * US)


def test_work_on_the_device_that_the_trace_names() -> None:
    reading = read_case("kineto-rocm-device-2.json")
    told = trace_of(reading)
    assert (told.vendor, told.devices_listed) == ("AMD", 4)
    (device,) = told.devices
    assert (device.index, device.name, device.kernels, device.copies) == (2, "AMD Radeon Graphics", 14, 2)
    assert device.kernel_time_s == pytest.approx(110.881 * US)
    assert device.copy_time_s == pytest.approx(38.161 * US)
    assert device.busy_s == pytest.approx(149.042 * US)
    assert device.annotations == 2
    assert [(step.name, step.complete) for step in told.steps] == [("ProfilerStep#1", True), ("ProfilerStep#2", False)]
    assert told.steps[0].duration_s == pytest.approx(9288.291 * US)
    (track,) = reading.tracks.values()
    assert track.device.index == 2
    assert reading.zone_known
    assert track.wall_s[-1] == pytest.approx(1735632360 + 4203669.612561813, abs=1e-4)


def test_a_step_of_another_process_and_an_operator_called_like_its_kernel() -> None:
    told = trace_of(read_case("kineto-triton-one-kernel-long-step.json"))
    (device,), (step,), (only,) = told.devices, told.steps, told.kernels
    assert (only.name, only.count, only.launched_by) == ("triton_poi_fused_add_cos_sin_0", 1, "cuLaunchKernel")
    assert device.kernel_time_s == only.time_s == pytest.approx(1.76 * US)
    assert only.launch_delay_s == pytest.approx(45.426 * US, abs=0.01 * US)
    assert step.duration_s == pytest.approx(13.336315805)
    assert step.busy_s == pytest.approx(1.76 * US)
    assert told.runtime_version == "12.0"
    assert told.devices_listed == 8


def test_a_trace_cut_inside_its_compression_gives_what_was_before() -> None:
    reading = read_case("kineto-truncated-gzip.json.gz")
    told = trace_of(reading)
    assert told.events >= 18
    assert (told.rank, told.cut) == (0, True)
    (device,) = told.devices
    assert (device.name, device.memory_bytes, device.kernels) == ("NVIDIA A100-PG509-200", 42297524224, 3)
    assert device.kernel_time_s == pytest.approx(13 * US)
    assert "lower bounds" in sentences(reading, "lost")[0]


def test_the_profiler_before_kineto_and_a_key_without_its_first_quote() -> None:
    reading = read_case("kineto-legacy-array-missing-quote.txt")
    told = trace_of(reading)
    assert (told.events, told.operators, told.lost_events) == (4, 1, 0)
    (row,) = rows_of(reading)
    assert row["name"] == "add"
    assert row["cpu_time_s"] == pytest.approx(134.49 * US)
    (device,) = told.devices
    assert (device.kernels, device.ranges) == (0, 1)
    assert device.range_time_s == pytest.approx(134.176 * US, abs=0.001 * US)
    assert any("mended" in sentence for sentence in sentences(reading, "assumed"))


def test_backslashes_of_windows_are_no_line_feeds() -> None:
    told = trace_of(read_case("kineto-windows-unescaped-backslashes.json"))
    assert (told.operators, told.python_functions) == (1, 2)
    assert {function.name for function in told.functions} == {
        "torch\\cuda\\__init__.py(219): _lazy_init", "C:\\new\\train.py(12): <module>",
    }  # fmt: skip
    assert told.span_s == pytest.approx(95 * US)


def test_memory_events_of_gpu_and_host_are_apart() -> None:
    reading = read_case("kineto-memory-instant-events.json")
    host, gpu = trace_of(reading).memory
    assert (host.device, host.events, host.peak_allocated_bytes) == ("CPU", 1, None)
    assert (gpu.device, gpu.events, gpu.net_bytes) == ("GPU 0", 2, 0)
    assert (gpu.peak_allocated_bytes, gpu.peak_reserved_bytes) == (61060382720, 82514542592)
    assert gpu.last_allocated_bytes == 52654997504
    assert gpu.peak_at == PeakAt(op="aten::mm")
    assert "20460 MiB were reserved but not allocated" in sentences(reading, "finding")[0]
    (track,) = reading.tracks.values()
    assert min(value for value in track.known("allocated_bytes") if value is not None) > 5e10


def test_kernels_that_overlap_count_once() -> None:
    (device,) = trace_of(read_trace([kernel("a", 0, 10, 1), kernel("b", 5, 10, 2, stream=8)])).devices
    assert device.kernel_time_s == pytest.approx(15 * US)
    assert device.work_sum_s == pytest.approx(20 * US)


def test_gaps_between_work() -> None:
    (device,) = trace_of(read_trace([kernel("a", 0, 10, 1), kernel("b", 50, 10, 2), kernel("c", 61, 9, 3)])).devices
    assert device.longest_gap_s == pytest.approx(40 * US)
    assert device.span_s == pytest.approx(70 * US)


def test_a_kernel_belongs_to_the_innermost_operator_at_its_launch() -> None:
    reading = read_trace(
        [
            operator("aten::linear", 0, 100, [[8, 16], [4, 16]], ["float", "float"]),
            operator("aten::mm", 10, 50, [[8, 16], [16, 4]], ["float", "float"]),
            launch(20, 1),
            kernel("gemm", 200, 30, 1),
        ]
    )
    by_name = {row["name"]: row for row in rows_of(reading)}
    assert by_name["aten::mm"]["device_time_s"] == pytest.approx(30 * US)
    assert by_name["aten::mm"]["shapes"] == [[8, 16], [16, 4]]
    assert by_name["aten::linear"]["device_time_s"] == 0
    assert by_name["aten::linear"]["cpu_time_s"] == pytest.approx(50 * US)
    assert by_name["aten::mm"]["kernels"] == 1


def test_phases_by_the_ranges_that_pytorch_marks() -> None:
    reading = read_trace(
        [
            operator("aten::mm", 0, 10),
            operator("autograd::engine::evaluate_function: MmBackward0", 20, 10, tid=2),
            operator("aten::mm", 22, 5, tid=2),
            event("user_annotation", "Optimizer.step#AdamW.step", 40, 20),
            operator("aten::add_", 45, 5),
            event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 70, 20),
            operator("aten::stack", 75, 5),
        ]
    )
    phases = {(row["name"], row["phase"]) for row in rows_of(reading)}
    assert {("aten::mm", "forward"), ("aten::mm", "backward")} <= phases
    assert {("aten::add_", "optimizer"), ("aten::stack", "data_loader")} <= phases
    assert trace_of(reading).optimizer == "AdamW"


def test_rows_are_of_a_mean_step() -> None:
    events = []
    for number in range(4):
        start = 1000.0 * number
        events.append(event("user_annotation", f"ProfilerStep#{number + 3}", start, 999))
        events += [
            operator("aten::mm", start + 10, 50),
            launch(start + 20, number),
            kernel("k", start + 500, 100, number),
        ]
    reading = read_trace(events)
    (row,) = rows_of(reading)
    assert (row["count"], row["kernels"]) == (1, 1)
    assert row["device_time_s"] == pytest.approx(100 * US)
    assert [event.data["duration_s"] for event in reading.events if event.kind == "step"] == pytest.approx(
        [999 * US] * 4
    )


def test_a_step_lasts_at_least_as_long_as_the_gpu_works_on_it() -> None:
    reading = read_trace(
        [
            event("user_annotation", "ProfilerStep#1", 0, 100),
            launch(10, 1),
            kernel("k", 50, 900, 1),
        ]
    )
    (step,) = [event for event in reading.events if event.kind == "step"]
    assert step.data["duration_s"] == pytest.approx(900 * US)


def test_steps_by_the_optimizer_where_the_profiler_marks_none() -> None:
    events = [event("user_annotation", "Optimizer.step#SGD.step", 100.0 * number, 10) for number in range(4)]
    told = trace_of(read_trace([*events, operator("aten::mm", 5, 1)]))
    assert told.steps_marked_by == "Optimizer.step"
    assert [step.duration_s for step in told.steps] == pytest.approx([100 * US] * 3)


def test_messages_of_collectives() -> None:
    arguments = {
        "device": 0, "correlation": 1, "Collective name": "_allgather_base", "In msg nelems": 100,
        "Out msg nelems": 800, "dtype": "BFloat16", "Group size": 8,
    }  # fmt: skip
    (told,) = trace_of(
        read_trace([event("kernel", "ncclDevKernel_AllGather_RING_LL", 0, 10, pid=0, args=arguments)])
    ).communication
    assert (told.collective, told.bytes, told.count, told.group_size) == ("all_gather", 1600, 1, 8)


def test_memory_events_without_totals_are_added_up() -> None:
    instants = [
        {
            "ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": number,
            "args": {"Device Type": 1, "Device Id": 0, "Bytes": change},
        }
        for number, change in enumerate([100, -300, 500])
    ]  # fmt: skip
    reading = read_trace([operator("aten::mm", 0, 1), *instants])
    (memory,) = trace_of(reading).memory
    assert memory.relative
    assert memory.peak_allocated_bytes == 500
    assert memory.net_bytes == 300


def test_ranks_have_gpus_of_their_own() -> None:
    reading = read_trace([kernel("k", 0, 1, 1)], distributedInfo={"rank": 5, "world_size": 8})
    assert list(reading.tracks) == ["rank 5 GPU 0"]
    assert any("rank 5 of 8" in sentence for sentence in sentences(reading, "missing"))


def test_categories_of_torch_1_8() -> None:
    reading = read_trace(
        [
            event("Operator", "ProfilerStep#1", 0, 100),
            event(
                "Operator", "aten::mm", 1, 20, args={"Input dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
            ),
            event("Runtime", "cudaLaunchKernel", 5, 2, args={"correlation": "9"}),
            event("Kernel", "gemm", 30, 10, pid=0, args={"device": 0, "correlation": "9"}),
            event("Memset", "Memset (Device)", 40, 5, pid=0, args={"device": 0}),
        ]
    )
    told = trace_of(reading)
    assert (told.devices[0].kernels, told.devices[0].sets, len(told.steps)) == (1, 1, 1)
    assert {row["name"]: row["device_time_s"] for row in rows_of(reading)}["aten::mm"] == pytest.approx(10 * US)
