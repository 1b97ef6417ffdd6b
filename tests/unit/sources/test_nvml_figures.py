"""NVML's figures through the real binding: values, units, what is missing and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import GpuSample
from gpuscope.sources import refusals
from gpuscope.sources.device_reader import ALL_FIELDS
from gpuscope.sources.figures import Tier
from gpuscope.sources.nvml import NvmlSource
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import H100_SXM
from tests.nvml.scenario import H100, RTX_4090, NvmlError, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import PLAIN, Everything, assert_same

NO_VALUE = 2**64 - 1


def one_gpu(**changes: object) -> Scenario:
    scenario = Scenario()
    scenario.add_gpu(H100, **changes)
    return scenario


def all_tiers(source: NvmlSource) -> dict[str, GpuSample]:
    """One reading of everything, merged by device."""
    return Everything(source).read()


def test_every_field_has_the_scenarios_value(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    gpus = [scenario.add_gpu(H100), scenario.add_gpu(RTX_4090, utilization_gpu=0, power_mw=17_004)]
    nvml_in_process(scenario)
    samples = all_tiers(open_source())
    for gpu in gpus:
        sample = samples[gpu.values["uuid"]]
        present = assert_same(sample, gpu, 0, 0)
        assert set(PLAIN) - present == ({"fan_percent"} if gpu is gpus[0] else set())
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
    monkeypatch.setattr(refusals, "PROBE_AGAIN_S", 0.0)
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
    scenario = Scenario()
    scenario.add_gpu(H100_SXM)
    world = nvml_in_process(scenario)
    source = open_source()
    source.read(Tier.FAST)
    before = sum(world.counts().values())
    source.read(Tier.FAST)
    assert sum(world.counts().values()) - before == 6, "utilisation, memory, power, two clocks, their events"


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
