"""NVML's figures through the real binding: values, units, what is missing and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.sources import device_reader, gpu_processes
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.nvml_fields import ALL_FIELDS, READINGS, Tier
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import GIB, H100, RTX_4090, NvmlError, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import PLAIN, assert_same, poll

NO_VALUE = 2**64 - 1


def one_gpu(**changes: object) -> Scenario:
    scenario = Scenario()
    scenario.add_gpu(H100, **changes)
    return scenario


def all_tiers(source: NvmlSource) -> dict[str, GpuSample]:
    """One reading of everything, merged by device."""
    merged: dict[str, dict[str, object]] = {}
    frames = [source.read(tier) for tier in Tier] + [source.read(Tier.PCIE) for _ in source.devices]
    for frame in frames:
        for sample in (frame.gpus if isinstance(frame, Frame) else None) or ():
            row = merged.setdefault(sample.uuid, {"uuid": sample.uuid, "unavailable": {}})
            row.update({name: value for name in ALL_FIELDS if (value := getattr(sample, name)) is not None})
            row["unavailable"] |= sample.unavailable
    return {uuid: GpuSample(**row) for uuid, row in merged.items()}


def test_every_field_has_the_scenarios_value(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    gpus = [scenario.add_gpu(H100), scenario.add_gpu(RTX_4090, utilization_gpu=0, power_mw=17_004)]
    nvml_in_process(scenario)
    samples = all_tiers(open_source())
    for gpu in gpus:
        sample = samples[gpu.values["uuid"]]
        present = assert_same(sample, gpu, 0, 0)
        missing = set(PLAIN) - present
        assert missing == ({"fan_percent"} if gpu is gpus[0] else set())
        assert set(sample.unavailable) == missing
        assert [(p.pid, p.gpu_memory_bytes) for p in sample.processes or ()] == sorted(
            gpu.values["compute_processes"] + gpu.values["graphics_processes"]
        )
    assert samples[gpus[1].values["uuid"]].utilization_gpu_percent == 0, "a real zero is a zero"


def test_free_memory_is_what_neither_processes_nor_the_driver_hold(
    nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    nvml_in_process(one_gpu(memory_total=100, memory_used=60, memory_reserved=15))
    (sample,) = all_tiers(open_source()).values()
    assert (sample.memory_used_bytes, sample.memory_reserved_bytes, sample.memory_free_bytes) == (60, 15, 25)


@pytest.mark.parametrize("code", [3, 13, 25])
def test_version_1_of_memory_says_that_the_reservation_is_in_it(
    code: int, nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = one_gpu(memory_total=100, memory_used=60, memory_reserved=15)
    scenario.rule("nvmlDeviceGetMemoryInfo_v2", error=code)
    nvml_in_process(scenario)
    (sample,) = all_tiers(open_source()).values()
    assert (sample.memory_used_bytes, sample.memory_reserved_bytes, sample.memory_free_bytes) == (75, None, 25)
    assert sample.unavailable["memory_reserved_bytes"] is Reason.FUNCTION_NOT_FOUND


@pytest.mark.parametrize("total", [0, NvmlError(3)])
def test_a_chip_without_memory_of_its_own(total: object, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    nvml_in_process(one_gpu(memory_total=total, memory_used=0, memory_reserved=0))
    source = open_source()
    (sample,) = all_tiers(source).values()
    for name in ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes"):
        assert getattr(sample, name) is None
        assert sample.unavailable[name] is Reason.UNIFIED_MEMORY
    assert source.devices[0].unavailable["memory_total_bytes"] is Reason.UNIFIED_MEMORY


@pytest.mark.parametrize(
    ("key", "value", "field", "reason"),
    [
        ("utilization_gpu", 4_294_967, "utilization_gpu_percent", Reason.IMPLAUSIBLE),
        ("encoder_percent", 101, "encoder_percent", Reason.IMPLAUSIBLE),
        ("power_mw", 2**32 - 1, "power_w", Reason.NO_DATA),
        ("energy_mj", NO_VALUE, "energy_j", Reason.NO_DATA),
        ("performance_state", 32, "performance_state", Reason.NO_DATA),
        ("pcie_rx_kb_per_s", 2**32 - 1, "pcie_rx_bytes_per_s", Reason.NO_DATA),
        ("memory_used", NO_VALUE, "memory_used_bytes", Reason.NO_DATA),
    ],
)  # fmt: skip
def test_values_that_are_none(
    key: str, value: int, field: str, reason: Reason, nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    nvml_in_process(one_gpu(**{key: value}))
    (sample,) = all_tiers(open_source()).values()
    assert getattr(sample, field) is None
    assert sample.unavailable[field] is reason


def test_old_names_of_functions(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = one_gpu(clock_event_reasons=0x20)
    scenario.rule("nvmlDeviceGetCurrentClocksEventReasons", error=13)
    nvml_in_process(scenario)
    (sample,) = all_tiers(open_source()).values()
    assert sample.clock_event_reasons == 0x20


def test_what_is_not_offered_is_asked_for_again_after_a_while(
    nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = nvml_in_process(one_gpu(fan_percent=NvmlError(3), temperature_c=NvmlError(999)))
    source = open_source()
    for _ in range(5):
        frame = source.read(Tier.SLOW)
        assert frame is not None
        assert frame.gpus is not None
        assert frame.gpus[0].unavailable["fan_percent"] is Reason.NOT_SUPPORTED
    assert world.counts()["nvmlDeviceGetFanSpeed"] == 1
    assert world.counts()["nvmlDeviceGetTemperature"] == 5, "a passing failure is tried again at once"
    monkeypatch.setattr(device_reader, "PROBE_AGAIN_S", 0.0)
    again = open_source()
    again.read(Tier.SLOW)
    again.read(Tier.SLOW)
    assert world.counts()["nvmlDeviceGetFanSpeed"] == 3


def test_pcie_is_measured_one_gpu_at_a_time_and_never_in_the_fast_tier(
    nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    for _ in range(3):
        scenario.add_gpu(H100)
    world = nvml_in_process(scenario)
    source = open_source()
    for tier in (Tier.FAST, Tier.MEDIUM, Tier.SLOW):
        source.read(tier)
    assert "nvmlDeviceGetPcieThroughput" not in world.counts()
    frames = [source.read(Tier.PCIE) for _ in range(6)]
    assert [len(frame.gpus or ()) for frame in frames if frame] == [1] * 6
    seen = [frame.gpus[0].uuid for frame in frames if frame and frame.gpus]
    assert seen[:3] == seen[3:]
    assert len(set(seen)) == 3


def test_fast_tier_makes_as_few_calls_as_it_can(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    world = nvml_in_process(one_gpu())
    source = open_source()
    source.read(Tier.FAST)
    before = sum(world.counts().values())
    source.read(Tier.FAST)
    assert sum(world.counts().values()) - before == sum(reading.tier is Tier.FAST for reading in READINGS)


def test_a_sleeping_gpu_is_not_woken(nvml_in_process: MakeWorld, open_source: OpenSource, tmp_path: Path) -> None:
    power = tmp_path / "sys" / "bus" / "pci" / "devices" / "0000:01:00.0" / "power"
    power.mkdir(parents=True)
    (power / "control").write_text("auto\n")
    (power / "runtime_status").write_text("active\n")
    world = nvml_in_process(one_gpu())
    source = open_source(tmp_path / "sys")
    frame = source.read(Tier.FAST)
    assert frame is not None
    (power / "runtime_status").write_text("suspended\n")
    before = world.counts()
    assert source.read(Tier.FAST) is None
    frame = source.read(Tier.MEDIUM)
    assert world.counts() == before
    assert frame is not None
    assert frame.gpus is not None
    assert frame.gpus[0].unavailable == dict.fromkeys(ALL_FIELDS, Reason.SUSPENDED)


class TestProcesses:
    """Who is on the GPU."""

    @pytest.fixture(autouse=True)
    def _host_pids(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gpu_processes, "_sees_host_pids", lambda: True)

    def processes(self, source: NvmlSource) -> dict[int, object]:
        (sample,) = all_tiers(source).values()
        return {process.pid: process for process in sample.processes or ()}

    def test_names_memory_and_kinds(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        own = os.getpid()
        nvml_in_process(
            one_gpu(compute_processes=((own, 3 * GIB),), graphics_processes=((own, 3 * GIB), (4_000_000, 5)))
        )
        found = self.processes(open_source())
        assert set(found) == {own, 4_000_000}, "a process in both lists is one process"
        assert found[own].kind == "compute"
        assert found[own].gpu_memory_bytes == 3 * GIB
        assert found[own].name
        assert found[4_000_000].kind == "graphics"
        assert found[4_000_000].unavailable == {"name": Reason.PROCESS_ENDED}

    @pytest.mark.parametrize(("windows", "reason"), [(True, Reason.WDDM), (False, Reason.NO_DATA)])
    def test_hidden_memory_is_not_zero(
        self, windows: bool, reason: Reason, nvml_in_process: MakeWorld, open_source: OpenSource,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(gpu_processes, "_under_windows", lambda: windows)
        nvml_in_process(one_gpu(compute_processes=((os.getpid(), None),)))
        process = self.processes(open_source())[os.getpid()]
        assert process.gpu_memory_bytes is None
        assert process.unavailable == {"gpu_memory_bytes": reason}

    def test_container_pids_are_not_given_other_processes_names(
        self, nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gpu_processes, "_sees_host_pids", lambda: False)
        nvml_in_process(one_gpu(compute_processes=((os.getpid(), 7),)))
        process = self.processes(open_source())[os.getpid()]
        assert process.name is None
        assert process.unavailable == {"name": Reason.PID_NAMESPACE}

    def test_half_a_list_is_not_shown_as_a_whole_one(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        nvml_in_process(one_gpu(compute_processes=NvmlError(999), graphics_processes=((1, 2),)))
        (sample,) = all_tiers(open_source()).values()
        assert sample.processes is None
        assert sample.unavailable["processes"] is Reason.UNKNOWN_ERROR

    def test_a_card_without_graphics_still_lists_compute(
        self, nvml_in_process: MakeWorld, open_source: OpenSource
    ) -> None:
        nvml_in_process(one_gpu(compute_processes=((7, 8),), graphics_processes=NvmlError(3)))
        assert set(self.processes(open_source())) == {7}

    def test_no_processes_is_an_empty_list(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        nvml_in_process(one_gpu(compute_processes=(), graphics_processes=()))
        (sample,) = all_tiers(open_source()).values()
        assert sample.processes == ()


class TestMig:
    """GPUs that are split into instances."""

    def split(self) -> Scenario:
        scenario = Scenario()
        gpu = scenario.add_gpu(
            H100, mig_mode=1, utilization_gpu=NvmlError(3), encoder_percent=NvmlError(3), decoder_percent=NvmlError(3)
        )
        for index, size in enumerate((40, 20)):
            gpu.add_instance(
                uuid=f"MIG-{index}", name=f"NVIDIA H100 80GB HBM3 MIG {size // 10}g", memory_total=size * GIB,
                memory_used=(size - 5) * GIB, memory_reserved=GIB, compute_processes=((10 + index, GIB),),
                power_mw=NvmlError(2),
            )  # fmt: skip
        return scenario

    def test_instances_are_devices(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        nvml_in_process(self.split())
        source = open_source()
        samples = all_tiers(source)
        gpu, *instances = source.devices
        assert gpu.mig_enabled
        assert [device.kind for device in instances] == ["mig", "mig"]
        assert {device.parent_uuid for device in instances} == {gpu.uuid}
        assert [device.memory_total_bytes for device in instances] == [40 * GIB, 20 * GIB]
        assert samples["MIG-1"].memory_used_bytes == 15 * GIB
        assert samples["MIG-1"].unavailable["utilization_gpu_percent"] is Reason.NOT_SUPPORTED
        assert samples["MIG-1"].unavailable["power_w"] is Reason.NOT_SUPPORTED
        for name in ("utilization_gpu_percent", "utilization_memory_percent", "encoder_percent", "decoder_percent"):
            assert getattr(samples[gpu.uuid], name) is None
            assert samples[gpu.uuid].unavailable[name] is Reason.MIG_MODE

    def test_instances_come_and_go(
        self, nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gpuscope.sources.nvml.LAYOUT_INTERVAL_S", 0.0)
        scenario = self.split()
        scenario.gpus[0].instances[1].values["present"] = [(0.0, 1), (0.5, 0)]
        nvml_in_process(scenario)
        source = open_source()
        first = source.read(Tier.SLOW)
        assert first is not None
        assert len(first.devices or ()) == 3
        layouts = poll(lambda: (frame := source.read(Tier.SLOW)) is not None and frame.devices)
        assert [device.uuid for device in layouts] == [scenario.gpus[0].values["uuid"], "MIG-0"]
        assert {sample.uuid for sample in all_tiers(source).values()} == {device.uuid for device in layouts}
