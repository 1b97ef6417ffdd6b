"""The topology through NVIDIA's binding and a library: from the scenario to the frame of a source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuscope.domain.topology import Topology
from gpuscope.sources.figures import Tier
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.host.trees import EIGHT_BUS_IDS, eight_gpu_server

SINGLE_SWITCH, SYSTEM = 10, 50
TO_SWITCH, TO_GPU = 2, 0


def scenario_of(links: list[dict[str, Any]]) -> Scenario:
    scenario = Scenario()
    for bus_id, values in zip(EIGHT_BUS_IDS, links, strict=False):
        scenario.add_gpu(H100, pci_bus_id=bus_id, **values)
    return scenario


def topology(open_source: OpenSource, sysfs: Path) -> Topology:
    frame = open_source(sysfs).read(Tier.MEDIUM)
    assert frame is not None
    assert frame.topology is not None
    return frame.topology


def test_eight_gpus_behind_switches(nvml_in_process: MakeWorld, open_source: OpenSource, tmp_path: Path) -> None:
    eight_gpu_server(tmp_path)
    values = {"nvlink_links": 18, "nvlink_state": 1, "nvlink_remote_type": TO_SWITCH, "p2p_status": 0}
    nvml_in_process(scenario_of([values | {"topology": SYSTEM}] * 8))
    found = topology(open_source, tmp_path / "sys")
    matrix = found.matrix()
    assert {cell for row in matrix[:8] for cell in row[:8]} == {"X", "NV18"}
    assert matrix[0][8] == "PIX"
    assert [part.numa_node for part in found.parts[:8]] == [0] * 4 + [1] * 4


def test_direct_links_and_a_pair_without(nvml_in_process: MakeWorld, open_source: OpenSource, tmp_path: Path) -> None:
    first, second = EIGHT_BUS_IDS[:2]
    linked = {"nvlink_links": 3, "nvlink_state": 1, "nvlink_state_2": 0, "nvlink_remote_type": TO_GPU}
    values = [
        linked
        | {"nvlink_remote_0": second, "nvlink_remote_1": second, "topology": SYSTEM, "topology_gpu1": SINGLE_SWITCH},
        linked | {"nvlink_remote_0": first, "nvlink_remote_1": first, "topology": SYSTEM},
        {"topology": SYSTEM},
    ]
    nvml_in_process(scenario_of(values))
    found = topology(open_source, tmp_path)
    assert found.matrix() == [["X", "NV2", "SYS"], ["NV2", "X", "SYS"], ["SYS", "SYS", "X"]]
    assert found.links[0].distance == "PIX"


def test_a_driver_that_says_nothing(nvml_in_process: MakeWorld, open_source: OpenSource, tmp_path: Path) -> None:
    eight_gpu_server(tmp_path)
    nvml_in_process(scenario_of([{}] * 2))
    assert topology(open_source, tmp_path / "sys").matrix()[0][1] == "PIX", "from sysfs"


def test_it_is_told_with_the_devices_and_not_again(
    nvml_in_process: MakeWorld, open_source: OpenSource, tmp_path: Path
) -> None:
    nvml_in_process(scenario_of([{}] * 2))
    source = open_source(tmp_path)
    frames = [source.read(Tier.MEDIUM) for _ in range(3)]
    assert [frame is not None and frame.topology is not None for frame in frames] == [True, False, False]
    assert [frame is not None and frame.devices is not None for frame in frames] == [True, False, False]
