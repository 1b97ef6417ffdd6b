"""GPUs that are split into instances."""

from __future__ import annotations

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.sources.figures import Tier
from gpuscope.sources.gpm import PERCENT_FIELDS
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import A100, H100_SXM, MIG_GPU, mig_instance
from tests.nvml.scenario import GIB, NvmlError, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import Everything, poll


def split() -> Scenario:
    scenario = Scenario()
    gpu = scenario.add_gpu(MIG_GPU)
    gpu.add_instance(**mig_instance(2, 40))
    gpu.add_instance(**mig_instance(5, 20))
    return scenario


def test_instances_are_devices_with_their_own_memory_processes_and_gpm(
    nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    nvml_in_process(split())
    source = open_source()
    samples = Everything(source).twice()
    gpu, *instances = source.devices
    assert gpu.mig_enabled
    assert [device.kind for device in instances] == ["mig", "mig"]
    assert {device.parent_uuid for device in instances} == {gpu.uuid}
    assert [device.memory_total_bytes for device in instances] == [40 * GIB, 20 * GIB]
    assert [device.gpu_instance_id for device in instances] == [2, 5]
    large, small = (samples[device.uuid] for device in instances)
    assert (large.memory_used_bytes, small.memory_used_bytes) == (10 * GIB, 5 * GIB)
    assert ([p.pid for p in large.processes or ()], [p.pid for p in small.processes or ()]) == ([102], [105])
    assert (large.sm_activity_percent, small.sm_activity_percent) == (18, 45)
    assert (large.dram_bandwidth_percent, small.dram_bandwidth_percent) == (10, 25)
    assert large.unavailable["power_w"] is Reason.MIG_INSTANCE
    assert large.unavailable["fp64_activity_percent"] is Reason.NOT_SUPPORTED, "GPM is there, this metric is not"
    assert samples[gpu.uuid].sm_activity_percent == 71.25, "the whole GPU"
    assert samples[gpu.uuid].power_w == 540


def test_instances_are_not_asked_for_what_is_their_gpus(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    world = nvml_in_process(split())
    source = open_source()
    Everything(source).read()
    before = world.counts()
    source.read(Tier.FAST)
    after = world.counts()
    assert after["nvmlDeviceGetMemoryInfo_v2"] - before["nvmlDeviceGetMemoryInfo_v2"] == 3
    assert after["nvmlDeviceGetUtilizationRates"] == before["nvmlDeviceGetUtilizationRates"], "refused and remembered"
    assert after["nvmlDeviceGetFieldValues"] - before["nvmlDeviceGetFieldValues"] == 1


def test_gpm_of_an_instance_by_its_own_handle(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = split()
    scenario.rule("nvmlGpmMigSampleGet", error=3)
    nvml_in_process(scenario)
    source = open_source()
    samples = Everything(source).twice()
    assert samples[source.devices[1].uuid].sm_activity_percent == 18


def test_gpm_that_a_driver_has_for_whole_gpus_only(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = split()
    scenario.rule("nvmlGpmMigSampleGet", error=3)
    scenario.rule("nvmlGpmSampleGet", scenario.gpus[0].instances[0], error=2)
    nvml_in_process(scenario)
    source = open_source()
    samples = Everything(source).twice()
    sample = samples[source.devices[1].uuid]
    assert {sample.unavailable[name] for name in PERCENT_FIELDS} == {Reason.NOT_SUPPORTED}
    assert samples[source.devices[0].uuid].sm_activity_percent == 71.25


def test_instances_of_a_chip_without_gpm(nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
    scenario = Scenario()
    gpu = scenario.add_gpu(A100, mig_mode=1)
    gpu.add_instance(**mig_instance(1, 10))
    nvml_in_process(scenario)
    source = open_source()
    sample = Everything(source).twice()[source.devices[1].uuid]
    assert {sample.unavailable[name] for name in PERCENT_FIELDS} == {Reason.GPM_CHIP}


class TestReconfigured:
    """While it is watched."""

    @pytest.fixture(autouse=True)
    def _look_often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gpuscope.sources.nvml.LAYOUT_INTERVAL_S", 0.0)

    def test_instances_come_and_go(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        scenario = split()
        gpu = scenario.gpus[0]
        gpu.instances[1].values["present"] = [(0.0, 1), (0.4, 0)]
        gpu.add_instance(**mig_instance(7, 10), present=[(0.0, 0), (0.8, 1)])
        nvml_in_process(scenario)
        source = open_source()
        first = source.read(Tier.SLOW)
        assert first is not None
        assert len(first.devices or ()) == 3
        uuids = [gpu.values["uuid"], *(instance.values["uuid"] for instance in gpu.instances)]
        fewer = poll(lambda: (frame := source.read(Tier.SLOW)) is not None and frame.devices)
        assert [device.uuid for device in fewer] == uuids[:2]
        again = poll(lambda: (frame := source.read(Tier.SLOW)) is not None and frame.devices)
        assert [device.uuid for device in again] == [*uuids[:2], uuids[3]]
        assert set(Everything(source).twice()) == {*uuids[:2], uuids[3]}
        assert source.generation == 0, "the driver was not started again for it"

    def test_a_gpu_is_split_while_it_runs(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        """Until instances are made there is nothing but the reason why figures are missing."""
        scenario = Scenario()
        changes = {name: [(0.0, 50), (0.4, NvmlError(3))] for name in ("utilization_gpu", "encoder_percent")}
        gpu = scenario.add_gpu(H100_SXM, mig_mode=[(0.0, 0), (0.4, 1)], **changes)
        nvml_in_process(scenario)
        source = open_source()
        everything = Everything(source)
        assert everything.read()[gpu.values["uuid"]].utilization_gpu_percent == 50
        uuid = gpu.values["uuid"]
        poll(lambda: everything.read() and source.devices[0].mig_enabled)
        sample = everything.read()[uuid]
        assert sample.utilization_gpu_percent is None
        assert sample.unavailable["utilization_gpu_percent"] is Reason.MIG_MODE


def test_instances_that_cannot_be_listed_do_not_hide_their_gpu(
    nvml_in_process: MakeWorld, open_source: OpenSource
) -> None:
    scenario = split()
    scenario.rule("nvmlDeviceGetMaxMigDeviceCount", error=999)
    nvml_in_process(scenario)
    source = open_source()
    Everything(source).read()
    (gpu,) = source.devices
    assert gpu.unavailable["mig_instances"] is Reason.UNKNOWN_ERROR
