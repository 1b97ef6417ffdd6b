"""Who is near to whom: from prepared trees of sysfs, and from what a driver says."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.topology import Topology, matrix_lines
from gpuscope.sources.binding import Binding
from gpuscope.sources.driver import Driver
from gpuscope.sources.gpu_links import GpuLink, read_gpu_links
from gpuscope.sources.pci_places import system_bus_id
from gpuscope.sources.topology import GpuPlace, read_topology
from tests.unit.sources.host.trees import EIGHT_BUS_IDS, GIB, Machine, cloud_machine, eight_gpu_server, plain_server

EIGHT = [GpuPlace(index, f"GPU-{index}", bus_id) for index, bus_id in enumerate(EIGHT_BUS_IDS)]


def topology(root: Path, gpus: list[GpuPlace], links: dict[tuple[int, int], GpuLink] | None = None) -> Topology:
    return msgspec.convert(read_topology(root / "sys", gpus, links or {}), Topology)


class TestPlaces:
    """Distances from sysfs alone."""

    def test_two_sockets_with_switches(self, tmp_path: Path) -> None:
        eight_gpu_server(tmp_path)
        found = topology(tmp_path, EIGHT)
        names = [part.name for part in found.parts]
        assert names == [*(f"GPU{index}" for index in range(8)), *(f"mlx5_{index}" for index in range(4)), "eno1"]
        matrix = found.matrix()
        cell = {(row, column): matrix[names.index(row)][names.index(column)] for row in names for column in names}
        assert cell["GPU0", "GPU0"] == "X"
        assert cell["GPU0", "GPU1"] == cell["GPU1", "GPU0"] == "PIX"
        assert cell["GPU4", "GPU5"] == "PXB", "GPU5 is behind a second switch"
        assert cell["GPU0", "GPU2"] == "NODE"
        assert cell["GPU0", "GPU4"] == "SYS"
        assert cell["GPU0", "mlx5_0"] == "PIX"
        assert cell["GPU5", "mlx5_2"] == "PXB"
        assert cell["GPU0", "eno1"] == "PHB"
        assert cell["GPU7", "eno1"] == "SYS"
        assert cell["mlx5_0", "mlx5_1"] == "NODE"

    def test_numa(self, tmp_path: Path) -> None:
        eight_gpu_server(tmp_path)
        found = topology(tmp_path, EIGHT)
        assert [part.numa_node for part in found.parts[:8]] == [0, 0, 0, 0, 1, 1, 1, 1]
        assert found.parts[7].cpus == "32-63"
        assert found.parts[0].pcie_path == ("pci0000:10", "0000:10:01.0", "0000:11:00.0", "0000:12:00.0")
        assert [node.distances for node in found.numa_nodes] == [(10, 21), (21, 10)]
        assert found.numa_nodes[1].memory_total_bytes == 512 * GIB

    def test_a_virtual_machine(self, tmp_path: Path) -> None:
        cloud_machine(tmp_path)
        found = topology(tmp_path, [GpuPlace(0, "a", "00000000:00:04.0"), GpuPlace(1, "b", "00000000:00:05.0")])
        assert found.matrix() == [["X", "PHB", "PHB"], ["PHB", "X", "PHB"], ["PHB", "PHB", "X"]]
        assert found.parts[2].pci_bus_id == "0000:00:03.0"
        assert found.parts[0].numa_node is None
        assert found.parts[0].unavailable == {"numa_node": Reason.NOT_OFFERED}

    def test_sockets_that_are_not_named(self, tmp_path: Path) -> None:
        machine = eight_gpu_server(tmp_path)
        for place in ("10/0000:10:01.0/0000:11:00.0/0000:12:00.0/0000:13:00.0",):
            machine.put(f"sys/devices/pci0000:{place}/numa_node", -1)
        matrix = topology(tmp_path, EIGHT).matrix()
        assert matrix[0][2] == matrix[0][4] == "?", "neither near nor far may be claimed"
        assert matrix[0][1] == "PIX"

    def test_a_container_that_hides_the_devices(self, tmp_path: Path) -> None:
        plain_server(tmp_path)
        found = topology(tmp_path, [*EIGHT[:2], GpuPlace(2, "c", None)])
        assert {cell for row in found.matrix() for cell in row} == {"X", "?"}
        assert found.parts[0].unavailable["pcie_path"] is Reason.NOT_OFFERED

    def test_cards_at_usb_are_no_neighbours(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path).folder("sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0")
        machine.link("sys/class/net/usb0/device", "sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0")
        assert topology(tmp_path, []).parts == ()

    @pytest.mark.parametrize(
        ("nvml", "system"),
        [("00000000:3B:00.0", "0000:3b:00.0"), ("00010001:00:00.0", "10001:00:00.0"), ("odd", "odd")],
    )
    def test_numbers_as_nvml_and_the_system_write_them(self, nvml: str, system: str) -> None:
        assert system_bus_id(nvml) == system


class NvmlError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class Nvml:
    """A driver that knows the links of some GPUs: for each, the ends of its links (a PCI number, `switch`, or off)."""

    NVMLError = NvmlError

    def __init__(self, ends: list[list[str]], level: int | None = 50, p2p: int | None = 0) -> None:
        self._ends = ends
        self._level = level
        self._p2p = p2p

    def nvmlDeviceGetTopologyCommonAncestor(self, one: int, other: int) -> int:  # noqa: N802 # NVML's own name
        return self._known(self._level)

    def nvmlDeviceGetP2PStatus(self, one: int, other: int, index: int) -> int:  # noqa: N802 # NVML's own name
        assert index == 2
        return self._known(self._p2p)

    def nvmlDeviceGetNvLinkState(self, gpu: int, link: int) -> int:  # noqa: N802 # NVML's own name
        return int(self._end(gpu, link) != "off")

    def nvmlDeviceGetNvLinkRemoteDeviceType(self, gpu: int, link: int) -> int:  # noqa: N802 # NVML's own name
        return 2 if self._end(gpu, link) == "switch" else 0

    def nvmlDeviceGetNvLinkRemotePciInfo(self, gpu: int, link: int) -> Any:  # noqa: N802 # NVML's own name
        return SimpleNamespace(busId=self._end(gpu, link).encode())

    def _end(self, gpu: int, link: int) -> str:
        if link >= len(self._ends[gpu]):
            raise NvmlError(2)
        return self._ends[gpu][link]

    def _known(self, value: int | None) -> int:
        if value is None:
            raise NvmlError(3)
        return value


def links_of(nvml: Nvml, gpus: int) -> dict[tuple[int, int], GpuLink]:
    driver = Driver(Binding(module=nvml, package="nvidia-ml-py", version="13"))
    return read_gpu_links(driver, range(gpus), [system_bus_id(bus_id) for bus_id in EIGHT_BUS_IDS[:gpus]])


class TestDriver:
    """NVLink and the driver's own distances."""

    def test_switches_connect_all_with_all(self, tmp_path: Path) -> None:
        eight_gpu_server(tmp_path)
        links = links_of(Nvml([["switch"] * 18] * 8), 8)
        assert links == dict.fromkeys(combinations(range(8), 2), GpuLink("SYS", 18))
        matrix = topology(tmp_path, EIGHT, links).matrix()
        assert {cell for row in matrix[:8] for cell in row[:8]} == {"X", "NV18"}
        assert matrix[0][8] == "PIX", "a network card keeps its place"

    def test_a_link_that_is_down_counts_for_its_gpu(self) -> None:
        links = links_of(Nvml([["switch"] * 4, ["switch", "off", "switch", "switch"], ["switch"] * 4]), 3)
        assert [links[pair].nvlinks for pair in ((0, 1), (0, 2), (1, 2))] == [3, 4, 3]

    def test_direct_links_differ_from_pair_to_pair(self) -> None:
        first, second, third = EIGHT_BUS_IDS[:3]
        links = links_of(Nvml([[second, second, third], [first, first], [first]], level=10), 3)
        assert links == {(0, 1): GpuLink("PIX", 2), (0, 2): GpuLink("PIX", 1), (1, 2): GpuLink("PIX", 0)}

    def test_switches_by_their_numbers_where_types_are_not_told(self) -> None:
        links = links_of(Nvml([["00000000:E0:00.0", "00000000:E1:00.0"], ["00000000:E1:00.0"]], level=50), 2)
        assert links[0, 1].nvlinks == 1

    @pytest.mark.parametrize(("p2p", "expected"), [(0, 2), (None, 2), (5, 0)])
    def test_switches_that_keep_two_gpus_apart(self, p2p: int | None, expected: int) -> None:
        assert links_of(Nvml([["switch"] * 2] * 2, p2p=p2p), 2)[0, 1].nvlinks == expected

    def test_without_an_answer_sysfs_decides(self, tmp_path: Path) -> None:
        eight_gpu_server(tmp_path)
        links = links_of(Nvml([[]] * 8, level=None), 8)
        assert links[0, 1] == GpuLink(None, 0)
        assert topology(tmp_path, EIGHT, links).matrix()[0][1] == "PIX"


def test_the_matrix_as_text(tmp_path: Path) -> None:
    eight_gpu_server(tmp_path)
    lines = matrix_lines(topology(tmp_path, EIGHT[:2], {(0, 1): GpuLink("PIX", 12)}))
    assert lines[0].split() == ["GPU0", "GPU1", "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "eno1", "NUMA", "CPUs"]
    assert lines[1].split() == ["GPU0", "X", "NV12", "PIX", "NODE", "SYS", "SYS", "PHB", "0", "0-31"]
    legend = "\n".join(lines[8:])
    assert "PIX: " in legend
    assert "NVLinks" in legend
    assert "PXB" not in legend, "only what is used is explained"
