"""Every return code of NVML from every function that is called: never a crash, never a wrong number."""

from __future__ import annotations

from typing import Any

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import GpuSample
from gpuscope.sources.device_reader import ALL_FIELDS
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.ticker import BackOff
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import DESKTOP, H100_SXM, MIG_GPU, T4, mig_instance
from tests.nvml.scenario import Gpu, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import Everything, poll

CODES = (*range(1, 31), 999, 1234)
"""nvmlReturn_t without SUCCESS, and one that no library has yet."""
GONE_CODES = (1, 9, 12, 15, 16, 18, 28)
"""What concerns the driver or a GPU as a whole: it is started again and again."""
NEEDED = frozenset(
    {
        "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID", "nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount",
        "nvmlDeviceGetMigDeviceHandleByIndex",
    }
)  # fmt: skip
"""Without these nobody knows that there is such a GPU or instance."""
SYSTEM_FUNCTIONS = (
    "nvmlInitWithFlags", "nvmlShutdown", "nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion",
    "nvmlDeviceGetCount_v2", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree", "nvmlGpmMetricsGet",
)  # fmt: skip
DEVICE_FUNCTIONS = (
    "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID", "nvmlDeviceGetName", "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceGetPowerManagementDefaultLimit", "nvmlDeviceGetPowerManagementLimitConstraints",
    "nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetNvLinkVersion",
    "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetEccMode", "nvmlDeviceGetMigMode",
    "nvmlDeviceGetComputeMode", "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetVirtualizationMode",
    "nvmlDeviceGetSupportedEventTypes", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetClockInfo",
    "nvmlDeviceGetFieldValues", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetPerformanceState",
    "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization", "nvmlDeviceGetTemperature",
    "nvmlDeviceGetMarginTemperature", "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
    "nvmlDeviceGetNumFans", "nvmlDeviceGetFanSpeed", "nvmlGpmQueryDeviceSupport", "nvmlGpmSampleGet",
    "nvmlDeviceGetProcessUtilization", "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v3",
)  # fmt: skip
DESKTOP_FUNCTIONS = ("nvmlDeviceGetFanSpeed_v2", "nvmlDeviceGetNumFans")
MIG_FUNCTIONS = (
    "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetGpuInstanceId",
    "nvmlGpmMigSampleGet", "nvmlDeviceGetMigMode",
)  # fmt: skip
WITHOUT_FIELDS = (
    "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetRemappedRows",
    "nvmlDeviceGetPcieReplayCounter", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetNvLinkState",
    "nvmlDeviceGetPcieThroughput",
)  # fmt: skip
"""What is asked where the driver has no field values."""
FIELDS = (3, 31, 74, 82, 83, 90, 91, 94, 138, 139, 142, 145, 164, 165, 185, 186, 193, 197, 198, 271)
CASES = [
    *((name, H100_SXM) for name in (*DEVICE_FUNCTIONS, *(f"field{number}" for number in FIELDS))),
    *((name, T4) for name in ("nvmlDeviceGetPcieThroughput", "field29", "field4")),
    *((name, DESKTOP) for name in DESKTOP_FUNCTIONS),
    *((name, MIG_GPU) for name in MIG_FUNCTIONS),
    *((name, {**H100_SXM, "gpm_supported": 0}) for name in WITHOUT_FIELDS),
]
MOVING = frozenset({"energy_j", "throttle_power_s", "throttle_thermal_s"})
RATES = frozenset({"pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s", "nvlink_rx_bytes_per_s", "nvlink_tx_bytes_per_s"})


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackOff, "FIRST_S", 0.0)
    monkeypatch.setattr(BackOff, "LAST_S", 0.0)


@pytest.fixture
def _without_topology(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls are tried apart: of 33 GPUs there are 528 pairs."""
    monkeypatch.setattr("gpuscope.sources.nvml.machine_topology", lambda *_: None)


TOPOLOGY_FUNCTIONS = (
    "nvmlDeviceGetTopologyCommonAncestor", "nvmlDeviceGetP2PStatus", "nvmlDeviceGetNvLinkRemotePciInfo_v2",
    "nvmlDeviceGetNvLinkRemoteDeviceType", "nvmlDeviceGetNvLinkState",
)  # fmt: skip


def add(scenario: Scenario, profile: dict[str, Any], function: str) -> Gpu:
    """A GPU of a profile, split if it is, and without field values where the function is only asked then."""
    gpu = scenario.add_gpu(profile)
    if profile is MIG_GPU:
        gpu.add_instance(**{**mig_instance(3, 20), "uuid": f"MIG-of-{gpu.name}"})
    if function in WITHOUT_FIELDS and profile is not T4:
        scenario.rule("nvmlDeviceGetFieldValues", gpu, error=13)
    return gpu


def readings(source: NvmlSource) -> dict[str, GpuSample]:
    """Everything, twice: after an error the driver is started again in between."""
    return Everything(source).twice()


def check(sample: GpuSample, well: GpuSample, what: str) -> None:
    """Each figure is what it would be without the error, or missing with a reason."""
    # The same figures by another function: version 1 of memory has the reservation in it, power is the instant one.
    another_way = {
        "memory_used_bytes": (well.memory_used_bytes or 0) + (well.memory_reserved_bytes or 0),
        "power_w": well.power_instant_w,
        "fan_percent": 43,
    }
    for name in ALL_FIELDS:
        value, wanted = getattr(sample, name), getattr(well, name)
        if value is None:
            assert name in sample.unavailable or wanted is None, f"{what}: {name} is missing without a reason"
        elif name in MOVING:
            assert wanted <= value + 100, f"{what}: {name} is {value}"
        elif name in RATES:
            assert value > 0, f"{what}: {name} is {value}"
        elif name == "processes":
            assert {process.pid for process in value} <= {4242, 5151, 977, 103}, f"{what}: {name}"
            assert all(process.gpu_memory_bytes != 0 for process in value), f"{what}: {name}"
        else:
            assert value in {wanted, another_way.get(name)}, f"{what}: {name} is {value}, not {wanted}"


@pytest.mark.usefixtures("_without_topology")
@pytest.mark.parametrize(("function", "profile"), CASES, ids=[f"{name}-{profile['name']}" for name, profile in CASES])
def test_every_code_of_a_device_function(
    function: str, profile: dict[str, Any], nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    """One machine with a GPU for each code that concerns one call; one for each that concerns more."""
    others = [code for code in CODES if code not in GONE_CODES]
    for codes in (others, *([code] for code in GONE_CODES)):
        scenario = Scenario()
        well = add(scenario, profile, function)
        failing = {code: add(scenario, profile, function) for code in codes}
        for code, gpu in failing.items():
            for scope in (gpu, *gpu.instances):
                scenario.rule(function, scope, error=code)
        nvml_in_process(scenario)
        source = open_source()
        samples = readings(source) if codes is others else Everything(source).read()  # nothing to wait for
        source.close()
        assert samples.keys() >= ({well.values["uuid"]} if codes is others else set())
        for code, gpu in failing.items():
            for scope, wanted in zip((gpu, *gpu.instances), (well, *well.instances), strict=True):
                uuid = scope.values["uuid"]
                if uuid in samples:
                    check(samples[uuid], samples[wanted.values["uuid"]], f"{function} with {code}")
                else:
                    assert code in GONE_CODES or function in NEEDED, f"{uuid} is not there: {function} with {code}"
                    assert not source.state.ok or scope is not gpu


@pytest.mark.parametrize("function", TOPOLOGY_FUNCTIONS)
def test_every_code_of_a_function_for_the_topology(
    function: str, nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    """It is a picture beside the figures, all of which stay."""
    for code in CODES:
        scenario = Scenario()
        gpus = [scenario.add_gpu(H100_SXM) for _ in range(2)]
        scenario.rule(function, error=code)
        nvml_in_process(scenario)
        source = open_source()
        samples = Everything(source).read()
        source.close()
        assert [samples[gpu.values["uuid"]].power_w for gpu in gpus] == [540, 540]


@pytest.mark.parametrize("function", SYSTEM_FUNCTIONS)
def test_every_code_of_a_system_function(function: str, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    wanted: GpuSample | None = None
    for code in (None, *CODES):
        scenario = Scenario()
        gpu = scenario.add_gpu(H100_SXM)
        if code is not None:
            scenario.rule(function, error=code)
        nvml_in_process(scenario)
        source = open_source()
        sample = Everything(source).read().get(gpu.values["uuid"])
        source.close()
        if wanted is None:
            wanted = sample
        if sample is not None and wanted is not None:
            check(sample, wanted, f"{function} with {code}")
        else:
            assert not source.state.ok
            assert source.state.sentence


def test_the_lists_of_functions_are_whole(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    """A call that is new in the product must be tried with every error, too."""
    called: set[str] = set()
    for function in ("", WITHOUT_FIELDS[0]):
        scenario = Scenario()
        for profile in (H100_SXM, T4, DESKTOP, MIG_GPU):
            add(scenario, profile, function)
        world = nvml_in_process(scenario)
        source = open_source()
        readings(source)
        source.close()
        called |= set(world.counts())
    tried = {*SYSTEM_FUNCTIONS, *TOPOLOGY_FUNCTIONS, *(name for name, _ in CASES)}
    assert called <= tried, called - tried


def test_a_driver_that_fails_at_everything(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    for code in CODES:
        scenario = Scenario()
        scenario.add_gpu(H100_SXM)
        scenario.rule("*", error=code)
        nvml_in_process(scenario)
        source = open_source()
        assert Everything(source).read() == {}
        assert not source.state.ok
        assert source.state.sentence


@pytest.mark.parametrize("code", [1, 2, 3, 4, 10, 15, 16, 18, 999])
def test_a_driver_that_breaks_while_it_is_read(code: int, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    """From a moment on every call fails: no figure of before is shown as one of now."""
    scenario = Scenario()
    gpu = scenario.add_gpu(H100_SXM)
    scenario.rule("*", error=code, start_s=0.3)
    nvml_in_process(scenario)
    everything = Everything(open_source())
    everything.read()
    sample = poll_until_broken(everything, gpu.values["uuid"])
    assert set(sample.unavailable) | {"fan_percents", "processes"} >= set(ALL_FIELDS)
    assert set(sample.unavailable.values()) <= set(Reason)


def poll_until_broken(everything: Everything, uuid: str) -> GpuSample:
    def broken() -> GpuSample | None:
        sample = everything.read()[uuid]
        return sample if all(getattr(sample, name) is None for name in ALL_FIELDS) else None

    found = poll(broken)
    assert found is not None
    return found
