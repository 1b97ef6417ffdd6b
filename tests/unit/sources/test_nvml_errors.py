"""Every NVML error on every main call, drivers that do not start, GPUs that go and come back."""

from __future__ import annotations

import pytest

from gpuscope.domain.reasons import REASON_SENTENCES, Reason
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.sources.device_reader import ALL_FIELDS
from gpuscope.sources.figures import Tier
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.ticker import BackOff
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, RTX_4090, NvmlError, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import poll

DEVICE_CODES = {15: Reason.GPU_LOST, 16: Reason.RESET_REQUIRED, 28: Reason.GPU_LOST}
DRIVER_CODES = {
    1: Reason.DRIVER_NOT_LOADED, 9: Reason.DRIVER_NOT_LOADED, 12: Reason.DRIVER_NOT_LOADED,
    18: Reason.LIBRARY_MISMATCH,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackOff, "FIRST_S", 0.02)


def read(source: NvmlSource, tier: Tier) -> Frame:
    frame = source.read(tier)
    assert frame is not None
    return frame


def sample_of(frame: Frame, uuid: str) -> GpuSample:
    return next(sample for sample in frame.gpus or () if sample.uuid == uuid)


@pytest.mark.parametrize(("code", "reason"), DEVICE_CODES.items())
def test_a_lost_gpu_has_no_figures_and_the_others_all_theirs(
    code: int, reason: Reason, nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    lost, well = scenario.add_gpu(H100), scenario.add_gpu(RTX_4090)
    scenario.rule("nvmlDeviceGetPowerUsage", lost, error=code)
    nvml_in_process(scenario)
    source = open_source()
    frame = read(source, Tier.FAST)
    assert sample_of(frame, lost.values["uuid"]).unavailable == dict.fromkeys(ALL_FIELDS, reason)
    assert sample_of(frame, well.values["uuid"]).power_w == pytest.approx(318.25)
    (state,) = frame.states or ()
    assert (state.ok, state.code) == (False, "gpu_lost")
    assert "GPU 0 (NVIDIA H100 80GB HBM3)" in state.sentence
    assert REASON_SENTENCES[reason] in state.sentence


@pytest.mark.parametrize(("code", "reason"), DRIVER_CODES.items())
def test_a_driver_that_goes_takes_all_figures_along(
    code: int, reason: Reason, nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    gpus = [scenario.add_gpu(H100) for _ in range(3)]
    scenario.rule("nvmlDeviceGetPowerUsage", gpus[1], error=code)
    nvml_in_process(scenario)
    source = open_source()
    read(source, Tier.MEDIUM)
    frame = read(source, Tier.FAST)
    for gpu in gpus[1:]:
        assert sample_of(frame, gpu.values["uuid"]).unavailable == dict.fromkeys(ALL_FIELDS, reason)
    (state,) = frame.states or ()
    assert not state.ok


def test_lost_and_back_is_the_same_gpu(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    lost, well = scenario.add_gpu(H100, lost=[(0.6, 1), (1.4, 0)]), scenario.add_gpu(H100, power_mw=111_000)
    world = nvml_in_process(scenario)
    source = open_source()
    uuid = lost.values["uuid"]
    first = read(source, Tier.MEDIUM)
    assert [device.generation for device in first.devices or ()] == [0, 0]
    assert sample_of(first, uuid).energy_j is not None
    gone = poll(lambda: (frame := read(source, Tier.MEDIUM)).states and frame)
    assert sample_of(gone, uuid).unavailable == dict.fromkeys(ALL_FIELDS, Reason.GPU_LOST)
    assert len(gone.gpus or ()) == 2, "repeated with every reading, the well one beside it"
    while_gone = poll(lambda: (frame := read(source, Tier.MEDIUM)) and source.generation > 0 and frame)
    assert sample_of(while_gone, uuid).unavailable == dict.fromkeys(ALL_FIELDS, Reason.GPU_LOST)
    assert sample_of(while_gone, well.values["uuid"]).energy_j is not None
    back = poll(lambda: (frame := read(source, Tier.MEDIUM)).states and frame.states[0].ok and frame)
    assert sample_of(back, uuid).energy_j == pytest.approx(987_654.321)
    assert [device.uuid for device in source.devices] == [uuid, well.values["uuid"]]
    assert source.generation >= 1
    assert read(source, Tier.FAST).devices is None, "nothing new about the devices"
    assert world.counts()["nvmlInitWithFlags"] == source.generation + 1


@pytest.fixture
def back_off_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the back-off's methods as they are called."""
    calls: list[str] = []
    next_s, reset = BackOff.next_s, BackOff.reset
    monkeypatch.setattr(BackOff, "next_s", lambda self: calls.append("next_s") or next_s(self))
    monkeypatch.setattr(BackOff, "reset", lambda self: calls.append("reset") or reset(self))
    return calls


def test_gpus_that_go_together_are_one_failure(
    back_off_calls: list[str], nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    for _ in range(4):
        scenario.rule("nvmlDeviceGetPowerUsage", scenario.add_gpu(H100), error=15)
    nvml_in_process(scenario)
    (state,) = read(open_source(), Tier.FAST).states or ()
    assert back_off_calls == ["next_s"]
    assert all(f"GPU {index} " in state.sentence for index in range(4))


def test_a_start_has_worked_only_after_a_while(
    back_off_calls: list[str], nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU that needs a reset can be opened and then fails, again and again: the attempts must become rare."""
    scenario = Scenario()
    scenario.rule("nvmlDeviceGetPowerUsage", scenario.add_gpu(H100), error=16, end_s=0.6)
    nvml_in_process(scenario)
    source = open_source()
    poll(lambda: source.read(Tier.FAST) and source.state.ok)
    assert len(back_off_calls) > 1
    assert "reset" not in back_off_calls
    monkeypatch.setattr("gpuscope.sources.nvml.SETTLED_S", 0.0)
    read(source, Tier.FAST)
    assert back_off_calls[-1] == "reset"


def test_back_off_grows() -> None:
    back_off = BackOff()
    back_off.FIRST_S = 1.0  # shortened for the other tests
    back_off.reset()
    assert [back_off.next_s() for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    back_off.reset()
    assert back_off.next_s() == 1


@pytest.mark.parametrize(
    ("code", "name", "advice"),
    [
        (9, "driver_not_loaded", "modprobe nvidia"),
        (18, "library_mismatch", "reboot"),
        (12, "no_driver_library", "install NVIDIA's driver"),
        (4, "no_permission", "administrator"),
        (999, "error", "nvidia-smi"),
    ],
)
def test_a_driver_that_does_not_start_is_explained_and_tried_again(
    code: int, name: str, advice: str, nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    scenario.system.values["init"] = [(0.0, NvmlError(code)), (0.4, 0)]
    nvml_in_process(scenario)
    source = open_source()
    frame = read(source, Tier.FAST)
    (state,) = frame.states or ()
    assert (state.source, state.ok, state.code) == ("nvml", False, name)
    assert advice in state.sentence
    assert frame.gpus is None
    assert frame.devices is None
    there = poll(lambda: source.read(Tier.FAST))
    assert there.states is not None
    assert there.states[0].ok
    assert len(there.devices or ()) == 1
    assert sample_of(there, scenario.gpus[0].values["uuid"]).power_w == pytest.approx(412.345)


def test_no_gpu_is_said_once(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    nvml_in_process(Scenario())
    source = open_source()
    (state,) = read(source, Tier.FAST).states or ()
    assert (state.ok, state.code) == (False, "no_gpu")
    assert source.read(Tier.FAST) is None


def test_a_gpu_that_this_user_may_not_open(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    closed = scenario.add_gpu(H100)
    scenario.add_gpu(H100)
    scenario.rule("nvmlDeviceGetHandleByIndex_v2", closed, error=4)
    nvml_in_process(scenario)
    frame = read(open_source(), Tier.FAST)
    (state,) = frame.states or ()
    assert (state.code, len(frame.gpus or ())) == ("no_permission", 1)
    assert "GPU 0 cannot be read" in state.sentence


def test_static_facts_that_are_missing_say_why(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100, pcie_width_max=NvmlError(3), compute_major=NvmlError(999), mig_mode=NvmlError(3))
    scenario.add_gpu(H100, name="torn \udcff")  # a byte that is no text
    scenario.system.values["cuda_driver_version"] = NvmlError(13)
    nvml_in_process(scenario)
    source = open_source()
    source.read(Tier.FAST)
    device, nameless = source.devices
    assert nameless.name == "Unknown NVIDIA GPU"
    assert nameless.unavailable["name"] is Reason.UNKNOWN_ERROR
    assert device.unavailable["pcie_width_max"] is Reason.NOT_SUPPORTED
    assert device.unavailable["pcie_limit_bytes_per_s"] is Reason.NOT_SUPPORTED, "it follows from the width"
    assert device.unavailable["compute_capability"] is Reason.UNKNOWN_ERROR
    assert device.unavailable["mig_enabled"] is Reason.NOT_SUPPORTED
    assert device.unavailable["cuda_version"] is Reason.FUNCTION_NOT_FOUND
    assert device.pcie_width_max is None
    assert device.compute_capability is None
    assert (device.power_limit_w, device.pcie_generation_max, device.clock_sm_max_mhz) == (700, 5, 1980)
    assert device.pci_bus_id == "00000000:01:00.0"


def test_versions_are_written_as_people_write_them(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    scenario.system.values["cuda_driver_version"] = 12080
    nvml_in_process(scenario)
    source = open_source()
    source.read(Tier.FAST)
    (device,) = source.devices
    assert (device.cuda_version, device.driver_version, device.compute_capability) == ("12.8", "580.65.06", "9.0")
