"""Faults that users reported of other monitors: a test that each is none of ours, named after its report."""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import GpuSample
from gpuscope.errors import SourceError
from gpuscope.sources import binding, process_facts
from gpuscope.sources.budget import BUDGET_SHARE, DriverBudget
from gpuscope.sources.figures import Tier
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.ticker import BackOff
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import H100_SXM, LAPTOP, MIG_GPU, T4, mig_instance
from tests.nvml.scenario import GIB, NvmlError, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import Everything, poll

OpenOne = Callable[..., NvmlSource]


@pytest.fixture
def open_one(nvml_in_process: MakeWorld, open_source: OpenSource) -> OpenOne:
    def make(profile: dict[str, Any] = H100_SXM, **changes: Any) -> NvmlSource:
        scenario = Scenario()
        scenario.add_gpu(profile, **changes)
        nvml_in_process(scenario)
        return open_source()

    return make


def one(source: NvmlSource) -> GpuSample:
    (sample,) = Everything(source).twice().values()
    return sample


def test_gpustat_141_nvitop_13_nvtop_322_reserved_memory_counted_as_used(open_one: OpenOne) -> None:
    sample = one(open_one(memory_total=100, memory_used=0, memory_reserved=40))
    assert (sample.memory_used_bytes, sample.memory_reserved_bytes, sample.memory_free_bytes) == (0, 40, 60)


def test_nvitop_75_gpustat_161_scrambled_process_numbers_after_a_driver_update(open_one: OpenOne) -> None:
    listed = tuple((900_000 + number, GIB + number) for number in range(4))
    sample = one(open_one(process_stride=32, compute_processes=listed))
    assert sample.processes is None
    assert sample.unavailable["processes"] is Reason.SCRAMBLED


def test_gpustat_153_nvitop_44_the_wrong_pynvml_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", types.ModuleType("pynvml"))
    with pytest.raises(SourceError, match="pip install --force-reinstall nvidia-ml-py"):
        binding.load_binding()


def test_nvtop_149_processes_of_containers(open_one: OpenOne, monkeypatch: pytest.MonkeyPatch) -> None:
    """Process 1 of the host is not this container's process 1."""
    monkeypatch.setattr(process_facts, "sees_host_pids", lambda: False)
    (process,) = one(open_one(compute_processes=((1, GIB),))).processes or ()
    assert process.name is None
    assert process.unavailable["name"] is Reason.PID_NAMESPACE


def test_nvtop_432_nvitop_55_memory_under_wddm_and_wsl(open_one: OpenOne, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver says 2^64 - 1 bytes."""
    monkeypatch.setattr("platform.release", lambda: "5.15.0-microsoft-standard-WSL2")
    (process,) = one(open_one(LAPTOP, compute_processes=((7, None),), graphics_processes=())).processes or ()
    assert process.gpu_memory_bytes is None
    assert process.unavailable["gpu_memory_bytes"] is Reason.WSL


def test_nvtop_256_instances_read_0_percent(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    gpu = scenario.add_gpu(MIG_GPU)
    gpu.add_instance(**mig_instance(4, 20))
    nvml_in_process(scenario)
    samples = Everything(open_source()).twice()
    assert all(sample.utilization_gpu_percent is None for sample in samples.values())
    assert samples[gpu.instances[0].values["uuid"]].gpm_graphics_percent == 40


def test_nvitop_145_a_bad_handle_ends_the_program(open_one: OpenOne, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every handle becomes invalid: figures are missing, nothing crashes, and the GPU is looked for again."""
    source = open_one()
    everything = Everything(source)
    everything.read()
    module = source.driver.module
    module.nvmlInitWithFlags(0)
    for _ in range(2):
        source.read(Tier.FAST)
        (sample,) = everything.read().values()
        assert sample.power_w is None
        assert sample.unavailable["utilization_gpu_percent"] is Reason.UNKNOWN_ERROR
    monkeypatch.setattr("gpuscope.sources.nvml.LAYOUT_INTERVAL_S", 0.0)
    source._next_layout_s = 0.0
    source.read(Tier.SLOW)
    (sample,) = everything.read().values()
    assert sample.power_w == 540
    module.nvmlShutdown()


def test_nvtop_95_driver_and_library_do_not_match(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100_SXM)
    scenario.system.values["init"] = NvmlError(18)
    nvml_in_process(scenario)
    source = open_source()
    frame = source.read(Tier.FAST)
    assert frame is not None
    assert frame.states is not None
    assert "reboot" in frame.states[0].sentence


def test_a_driver_that_is_updated_while_it_is_watched(
    nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of nvtop's report: from one reading to the next nothing fits any more, and then it does again."""
    monkeypatch.setattr(BackOff, "FIRST_S", 0.02)
    scenario = Scenario()
    gpu = scenario.add_gpu(H100_SXM)
    scenario.rule("*", error=18, start_s=0.3, end_s=0.8)
    nvml_in_process(scenario)
    source = open_source()
    everything = Everything(source)
    assert everything.read()[gpu.values["uuid"]].power_w == 540
    sample = poll(lambda: (now := everything.read()[gpu.values["uuid"]]).power_w is None and now)
    assert set(sample.unavailable.values()) == {Reason.LIBRARY_MISMATCH}
    assert source.state.code == "library_mismatch"
    poll(lambda: everything.read()[gpu.values["uuid"]].power_w == 540)
    assert source.generation >= 1


def test_nvtop_110_garbage_utilisation(open_one: OpenOne) -> None:
    sample = one(open_one(utilization_gpu=4_294_967, encoder_percent=65_535, gpm_2="nan", gpm_3=-1.0, gpm_5=1e9))
    for name in ("utilization_gpu_percent", "encoder_percent", "sm_activity_percent", "sm_occupancy_percent",
                 "tensor_activity_percent"):  # fmt: skip
        assert getattr(sample, name) is None
        assert sample.unavailable[name] is Reason.IMPLAUSIBLE


def test_nvtop_365_238_the_monitor_slows_down_the_work() -> None:
    """Driver calls of all programs wait for one another: past a share of the time, the slowest tier is stretched."""
    budget = DriverBudget(0.0)
    assert budget.check(BUDGET_SHARE * 5, 5.0) is None
    stretched = budget.check(BUDGET_SHARE * 5 + 1.5, 10.0)
    assert stretched is not None
    assert stretched[0] is Tier.SLOW
    assert budget.interval_s(Tier.SLOW, 0.1) == 4.0
    assert budget.interval_s(Tier.FAST, 0.1) == 0.1


def test_nvtop_365_238_a_blocking_measurement_only_where_nothing_else_gives_pcie_rates(
    nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100_SXM)
    old = scenario.add_gpu(T4)
    world = nvml_in_process(scenario)
    source = open_source()
    everything = Everything(source)
    everything.twice()
    before = world.counts()["nvmlDeviceGetPcieThroughput"]
    frames = [source.read(Tier.PCIE) for _ in range(4)]
    assert {sample.uuid for frame in frames if frame for sample in frame.gpus or ()} == {old.values["uuid"]}
    assert world.counts()["nvmlDeviceGetPcieThroughput"] - before == 8, "both directions each time"


def test_nvtop_139_btop_793_a_call_that_hangs_is_seen_from_outside(open_one: OpenOne) -> None:
    """Any other thread can tell how long a call has been running; replacing the sampler is in test_sampler.py."""
    source = open_one()
    assert source.driver.call_started_s is None
    seen: list[float | None] = []
    source.driver.module.nvmlSlow = lambda: seen.append(source.driver.call_started_s)
    start_s = time.monotonic()
    source.driver.call("nvmlSlow")
    del source.driver.module.nvmlSlow
    assert seen[0] is not None
    assert start_s <= seen[0] <= time.monotonic()
    assert source.driver.call_started_s is None


def test_codecarbon_1316_missing_energy_is_shown_as_0(open_one: OpenOne) -> None:
    sample = one(open_one(energy_mj=NvmlError(3)))
    assert sample.energy_j is None
    assert sample.unavailable["energy_j"] is Reason.NOT_SUPPORTED


class TestSleepingLaptops:
    """A wish as old as the monitors: the second GPU of a laptop is left asleep."""

    def machine(self, tmp_path: Path, status: str) -> tuple[Path, Path]:
        device = tmp_path / "sys" / "bus" / "pci" / "devices" / "0000:01:00.0"
        (device / "power").mkdir(parents=True)
        (device / "vendor").write_text("0x10de\n")
        (device / "class").write_text("0x030000\n")
        (device / "power" / "control").write_text("auto\n")
        (device / "power" / "runtime_status").write_text(f"{status}\n")
        return tmp_path / "sys", device / "power" / "runtime_status"

    def test_it_is_not_woken_by_the_start(
        self, nvml_in_process: MakeWorld, open_source: OpenSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gpuscope.sources.nvml.ASLEEP_CHECK_S", 0.0)
        scenario = Scenario()
        scenario.add_gpu(LAPTOP)
        world = nvml_in_process(scenario)
        sysfs, status = self.machine(tmp_path, "suspended")
        source = open_source(sysfs)
        frame = source.read(Tier.FAST)
        assert frame is not None
        assert frame.states is not None
        assert (frame.states[0].ok, frame.states[0].code) == (True, "asleep")
        assert "not woken" in frame.states[0].sentence
        assert source.read(Tier.SLOW) is None, "said once"
        assert not Path(world.variables["NVML_STANDIN_COUNTS"]).exists(), "the driver was left alone"
        status.write_text("active\n")
        frame = source.read(Tier.FAST)
        assert frame is not None
        assert frame.gpus is not None
        assert frame.gpus[0].power_w == 85

    def test_another_card_that_is_awake_is_read(
        self, nvml_in_process: MakeWorld, open_source: OpenSource, tmp_path: Path
    ) -> None:
        scenario = Scenario()
        scenario.add_gpu(LAPTOP)
        scenario.add_gpu(T4)
        nvml_in_process(scenario)
        sysfs, _ = self.machine(tmp_path, "suspended")
        other = sysfs / "bus" / "pci" / "devices" / "0000:02:00.0"
        (other / "power").mkdir(parents=True)
        (other / "vendor").write_text("0x10de\n")
        (other / "class").write_text("0x030200\n")
        (other / "power" / "runtime_status").write_text("active\n")
        frame = open_source(sysfs).read(Tier.FAST)
        assert frame is not None
        assert [sample.uuid for sample in frame.gpus or ()] == [scenario.gpus[1].values["uuid"]]
