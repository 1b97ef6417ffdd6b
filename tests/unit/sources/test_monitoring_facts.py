"""The facts about NVIDIA's figures that a monitor must know: a test for each, through the real binding."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from gpuscope.domain.reasons import REASON_SENTENCES, Reason
from gpuscope.domain.sample import GpuSample
from gpuscope.sources import process_facts
from gpuscope.sources.figures import Tier
from gpuscope.sources.host import HostSource
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.surroundings import NO_GRAPHICS_ENGINE
from tests.nvml.fixtures import MakeWorld, NvmlWorld
from tests.nvml.profiles import A100, GB10, GB200, H100_SXM, L40S, MIG_GPU, T4, VGPU, mig_instance
from tests.nvml.scenario import GIB, Growing, NvmlError, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import Everything, poll

OpenOne = Any
"""(profile, changes) → the source, and its world."""


@pytest.fixture
def open_one(nvml_in_process: MakeWorld, open_source: OpenSource) -> OpenOne:
    """Opens a machine with one GPU of a profile."""

    def make(profile: dict[str, Any], **changes: Any) -> tuple[NvmlSource, NvmlWorld]:
        scenario = Scenario()
        scenario.add_gpu(profile, **changes)
        world = nvml_in_process(scenario)
        return open_source(), world

    return make


def one(source: NvmlSource) -> GpuSample:
    """The only GPU, read twice."""
    (sample,) = Everything(source).twice().values()
    return sample


def test_fact_1_utilisation_is_a_share_of_time_and_not_of_capacity(open_one: OpenOne) -> None:
    """A GPU can be used all the time by kernels that occupy a tenth of it: both are told, apart."""
    source, _ = open_one(H100_SXM, utilization_gpu=100, gpm_2=11.5)
    sample = one(source)
    assert sample.utilization_gpu_percent == 100
    assert sample.sm_activity_percent == 11.5


def test_fact_2_memory_utilisation_is_neither_bandwidth_nor_occupancy(open_one: OpenOne) -> None:
    source, _ = open_one(H100_SXM, utilization_memory=80, gpm_10=23.5, memory_used=GIB)
    sample = one(source)
    assert sample.utilization_memory_percent == 80
    assert sample.dram_bandwidth_percent == 23.5
    assert sample.memory_used_bytes == GIB


def test_fact_3_split_gpus_have_no_utilisation_and_their_instances_have_gpm(
    nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    gpu = scenario.add_gpu(MIG_GPU)
    gpu.add_instance(**mig_instance(2, 40))
    nvml_in_process(scenario)
    samples = Everything(open_source()).twice()
    whole, part = samples[gpu.values["uuid"]], samples[gpu.instances[0].values["uuid"]]
    for name in NO_GRAPHICS_ENGINE - {"sm_percent"}:
        assert getattr(whole, name) is None
        assert whole.unavailable[name] is Reason.MIG_MODE
    assert part.unavailable["utilization_gpu_percent"] is Reason.MIG_INSTANCE
    assert (part.gpm_graphics_percent, part.sm_activity_percent) == (20.0, 18.0)


def test_fact_4_the_drivers_reservation_is_not_used_memory(open_one: OpenOne) -> None:
    """An idle H200: 614 MiB reserved, nothing used."""
    source, _ = open_one(H100_SXM, memory_used=0, memory_reserved=614 * 1024**2)
    sample = one(source)
    assert sample.memory_used_bytes == 0
    assert sample.memory_reserved_bytes == 614 * 1024**2


def test_fact_5_chips_with_unified_memory_refer_to_the_host(open_one: OpenOne) -> None:
    source, _ = open_one(GB10)
    sample = one(source)
    assert sample.memory_used_bytes is None
    assert sample.unavailable["memory_used_bytes"] is Reason.UNIFIED_MEMORY
    assert "host's memory" in REASON_SENTENCES[Reason.UNIFIED_MEMORY]
    assert sample.utilization_gpu_percent == 61, "the rest is there"
    assert [process.gpu_memory_bytes for process in sample.processes or ()] == [29 * GIB]


def test_fact_6_in_containers_processes_are_not_given_names(open_one: OpenOne, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_facts, "sees_host_pids", lambda: False)
    source, _ = open_one(H100_SXM, compute_processes=((1, 5 * GIB), (77, None)))
    init, hidden = one(source).processes or ()
    assert (init.name, init.user, init.started_wall_s) == (None, None, None)
    assert init.unavailable["name"] is Reason.PID_NAMESPACE
    assert init.gpu_memory_bytes == 5 * GIB
    assert hidden.gpu_memory_bytes is None
    assert "gpu_memory_bytes" in hidden.unavailable
    assert "gpuscope run" in REASON_SENTENCES[Reason.PID_NAMESPACE]


def test_fact_7_shares_of_processes(open_one: OpenOne) -> None:
    """The newest time stamp is passed back, no samples means idle, impossible values are dropped."""
    stamps = [1_000_000, 2_000_000, 3_000_000]
    source, _ = open_one(
        H100_SXM,
        compute_processes=((10, 1), (11, 1), (12, 1)),
        process_utilization=[
            (0.0, ((10, f"90:{stamps[0]}"),)),
            (0.4, ((10, f"90:{stamps[0]}"), (10, f"31:{stamps[1]}"), (11, f"4294967295:{stamps[2]}"))),
            (0.8, ((10, f"31:{stamps[1]}"),)),
        ],
    )
    shares = []

    def seen() -> bool:
        source.read(Tier.MEDIUM)
        frame = source.read(Tier.SLOW)
        assert frame is not None
        assert frame.gpus is not None
        row = tuple((p.sm_percent, p.unavailable.get("sm_percent")) for p in frame.gpus[0].processes or ())
        if row not in shares:
            shares.append(row)
        return len(shares) == 3

    poll(seen)
    first, busy, idle = shares
    assert {reason for _, reason in first} == {Reason.FIRST_READING}, "what the driver had kept may be old"
    assert [share for share, _ in busy] == [0, 0, 0] or [share for share, _ in busy] == [31, 0, 0]
    assert [share for share, _ in idle] in ([31, 0, 0], [0, 0, 0])
    assert {tuple(share for share, _ in busy), tuple(share for share, _ in idle)} == {(0, 0, 0), (31, 0, 0)}


def test_fact_8_only_the_drivers_own_time_stamps_are_fed_back(
    open_one: OpenOne, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same holds of nvmlDeviceGetSamples, which runs dry on an idle GPU and is not used."""
    stamp = 123_456_789
    source, world = open_one(H100_SXM, process_utilization=((10, f"5:{stamp}"),))
    fed: list[int] = []
    raw = source.driver.raw

    def spy(function: str, *arguments: Any) -> None:
        if function == "nvmlDeviceGetProcessUtilization":
            fed.append(arguments[-1].value)
        raw(function, *arguments)

    monkeypatch.setattr(source.driver, "raw", spy)
    for _ in range(3):
        source.read(Tier.MEDIUM)
    assert fed == [0, stamp, stamp]
    assert "nvmlDeviceGetSamples" not in world.counts()


def test_fact_9_pcie_is_counted_where_it_can_be_and_measured_elsewhere(open_one: OpenOne) -> None:
    """Measuring blocks for 20 ms a direction; counters run over; virtual GPUs have neither."""
    source, world = open_one(L40S, pcie_tx_bytes=Growing(2**64 - 10_000_000, 3e9))
    sample = one(source)
    assert sample.pcie_tx_bytes_per_s == pytest.approx(3e9, rel=0.05)
    assert sample.pcie_rx_bytes_per_s == pytest.approx(1.5e9, rel=0.05)
    counts = world.counts()
    Everything(source).twice()
    assert world.counts().get("nvmlDeviceGetPcieThroughput", 0) == counts.get("nvmlDeviceGetPcieThroughput", 0)
    old, _ = open_one(T4)
    assert one(old).pcie_rx_bytes_per_s == 2_500_000_000, "measured"
    virtual, _ = open_one(VGPU)
    assert one(virtual).unavailable["pcie_rx_bytes_per_s"] is Reason.VGPU


def test_fact_10_average_instant_and_module_power_are_told_apart(open_one: OpenOne) -> None:
    source, _ = open_one(H100_SXM)
    sample = one(source)
    assert (sample.power_w, sample.power_instant_w, source.devices[0].power_averaged) == (540, 551, True)
    source, _ = open_one(A100)
    sample = one(source)
    assert (sample.power_w, sample.power_instant_w, source.devices[0].power_averaged) == (323, 323, False)
    source, _ = open_one(GB200)
    sample = one(source)
    assert (sample.power_w, sample.power_module_w) == (900, 1350)
    assert sample.energy_j == pytest.approx(5_000_000, rel=0.01), "a counter in mJ"


def test_fact_11_gpm_takes_two_samples_and_never_sleeps(open_one: OpenOne) -> None:
    source, world = open_one(H100_SXM)
    start_s = time.monotonic()
    frame = source.read(Tier.MEDIUM)
    assert frame is not None
    assert frame.gpus is not None
    assert frame.gpus[0].unavailable["sm_activity_percent"] is Reason.FIRST_READING
    if time.monotonic() - start_s < 0.05:  # at once again: too early to compare, and nothing is asked
        frame = source.read(Tier.MEDIUM)
        assert frame is not None
        assert frame.gpus is not None
        assert "sm_activity_percent" not in frame.gpus[0].unavailable
        assert world.counts()["nvmlGpmSampleGet"] == 1
    sample = one(source)
    assert sample.tensor_activity_percent == 41.75
    assert sample.nvlink_tx_bytes_per_s == 8192 * 1024**2, "MiB/s"
    source.close()
    counts = world.counts()
    assert counts["nvmlGpmSampleAlloc"] == counts["nvmlGpmSampleFree"] == 2


def test_fact_12_nvlink_counters_are_kib_of_each_link_and_bytes_from_nvlink_5_on(open_one: OpenOne) -> None:
    source, _ = open_one({**A100, "nvlink_state_11": 0, "nvlink_tx_kib_3": Growing(5, 1_000_000)})
    everything = Everything(source)
    everything.twice()
    sample = poll(lambda: (found := next(iter(everything.twice().values()))).nvlink_tx_bytes_per_s and found)
    assert sample.nvlink_links_active == 11, "one is down"
    assert sample.nvlink_limit_bytes_per_s == 11 * 25_781_000_000
    assert sample.nvlink_tx_bytes_per_s == pytest.approx((10 * 4_000_000 + 1_000_000) * 1024, rel=0.05)
    assert sample.nvlink_rx_bytes_per_s == pytest.approx(11 * 2_000_000 * 1024, rel=0.05)
    without_gpm = {key: value for key, value in GB200.items() if not key.startswith("gpm_")}
    source, _ = open_one(without_gpm)
    everything = Everything(source)
    everything.twice()
    sample = poll(lambda: (found := next(iter(everything.twice().values()))).nvlink_tx_bytes_per_s and found)
    assert sample.nvlink_tx_bytes_per_s == pytest.approx(18 * 9e9, rel=0.05)
    assert sample.nvlink_rx_bytes_per_s == pytest.approx(18 * 7e9, rel=0.05)


def test_fact_13_fields_come_in_one_call_and_fail_one_by_one(open_one: OpenOne) -> None:
    source, world = open_one(H100_SXM, temperature_memory_c=NvmlError(4), row_remap_failed=NvmlError(999))
    frame = source.read(Tier.SLOW)
    assert frame is not None
    assert frame.gpus is not None
    sample = frame.gpus[0]
    assert sample.unavailable["temperature_memory_c"] is Reason.NO_PERMISSION
    assert sample.unavailable["row_remap_failed"] is Reason.UNKNOWN_ERROR
    assert sample.rows_remapped_correctable == 2
    before = world.counts()["nvmlDeviceGetFieldValues"]
    source.read(Tier.SLOW)
    assert world.counts()["nvmlDeviceGetFieldValues"] - before == 2, "all plain fields, and all about the links"


def test_fact_14_clock_events_combine_and_lost_time_is_counted(open_one: OpenOne) -> None:
    source, _ = open_one(H100_SXM, clock_event_reasons=0x1 | 0x4 | 0x20)
    everything = Everything(source)
    (before,) = everything.read().values()
    (after,) = everything.twice().values()
    assert before.clock_event_reasons == 0x25
    assert (before.throttle_power_s or 0) > 5
    assert (after.throttle_power_s or 0) > (before.throttle_power_s or 0)
    grown = [(getattr(after, name) or 0) - (getattr(before, name) or 0) for name in (
        "throttle_power_s", "throttle_thermal_s", "throttle_hardware_thermal_s", "throttle_power_brake_s")]  # fmt: skip
    assert grown[0] / grown[1] == pytest.approx(0.25 / 0.04, rel=0.2)
    assert grown[2:] == [0, 0]


def test_fact_15_ecc_errors_of_now_are_told_apart_from_those_of_a_lifetime(open_one: OpenOne) -> None:
    """Xid events are in test_xid.py."""
    source, _ = open_one(H100_SXM)
    sample = one(source)
    assert (sample.ecc_corrected_volatile, sample.ecc_corrected_aggregate) == (4, 17)
    assert (sample.ecc_uncorrected_volatile, sample.ecc_uncorrected_aggregate) == (0, 1)
    assert source.devices[0].ecc_enabled


def test_fact_16_the_first_look_at_the_processor_gives_no_share() -> None:
    host = HostSource()
    first = host.sample()
    assert first.cpu_percent is None
    assert first.unavailable["cpu_percent"] is Reason.FIRST_READING


def test_fact_17_slow_calls_are_not_in_the_fast_tier_and_one_thread_makes_all(
    nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario()
    for _ in range(8):
        scenario.add_gpu(H100_SXM)
    world = nvml_in_process(scenario)
    source = open_source()
    threads: set[int] = set()
    raw = source.driver.raw

    def spy(function: str, *arguments: Any) -> None:
        threads.add(threading.get_ident())
        raw(function, *arguments)

    monkeypatch.setattr(source.driver, "raw", spy)
    source.read(Tier.FAST)
    before = world.counts()
    source.read(Tier.FAST)
    called = {
        name: count - before.get(name, 0) for name, count in world.counts().items() if count > before.get(name, 0)
    }
    assert called == {
        "nvmlDeviceGetUtilizationRates": 8, "nvmlDeviceGetMemoryInfo_v2": 8, "nvmlDeviceGetFieldValues": 8,
        "nvmlDeviceGetClockInfo": 16, "nvmlDeviceGetCurrentClocksEventReasons": 8,
    }  # fmt: skip
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("missing", [(), ("_v3",), ("_v3", "_v2")])
def test_fact_18_process_lists_of_every_version(
    missing: tuple[str, ...], nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100_SXM, compute_processes=((11, GIB), (12, 2 * GIB), (13, 3 * GIB)))
    for suffix in missing:
        scenario.rule(f"nvmlDeviceGetComputeRunningProcesses{suffix}", error=13)
    nvml_in_process(scenario)
    found = one(open_source()).processes or ()
    assert [(p.pid, p.gpu_memory_bytes) for p in found] == [(11, GIB), (12, 2 * GIB), (13, 3 * GIB)]
