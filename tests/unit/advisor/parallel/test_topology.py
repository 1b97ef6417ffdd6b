"""How the GPUs of offers, systems and counts are connected."""

from __future__ import annotations

import pytest

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.parallel import topology as links
from gpuscope.advisor.parallel.topology import topology_at_counts, topology_of_offer, topology_of_system
from tests.unit.advisor.advisor_jobs import gpu, offer, shipped


def known(gpu_id: str) -> GpuSpec:
    found = shipped().gpu(gpu_id)
    assert found is not None
    return found


def system(system_id: str) -> links.Topology:
    found = next(each for each in shipped().systems if each.id == system_id)
    return topology_of_system(found, known(found.gpu_id), nodes=1)


@pytest.mark.parametrize(
    ("gpu_id", "count", "text", "kind", "gigabytes"),
    [
        ("a100-sxm4-80gb", 8, "NVSwitch 600 GB/s per GPU", links.NVSWITCH, 300),
        ("h100-sxm5-80gb", 8, "NVSwitch 900 GB/s per GPU", links.NVSWITCH, 450),
        ("v100-sxm2-16gb", 8, "NVLink 300 GB/s (hybrid cube mesh)", links.NVLINK, 150),
        ("mi300x", 8, "Infinity Fabric 448 GB/s per GPU and direction", links.INFINITY_FABRIC, 448),
        ("gb200-186gb", 4, "NVLink 5 (NVL72 domain)", links.NVSWITCH, 900),
        ("a100-pcie-80gb", 2, "NVLink bridge", links.NVLINK_BRIDGE, 300),
        ("l4", 8, "PCIe", links.PCIE, None),
        ("rtx-4090", 2, "", links.PCIE, None),
        ("h100-sxm5-80gb", 8, "", links.NVSWITCH, 450),
    ],
)
def test_links_inside_a_machine(gpu_id: str, count: int, text: str, kind: str, gigabytes: float | None) -> None:
    found = topology_at_counts(known(gpu_id), count, text)
    assert found.intra is not None
    assert (found.gpus, found.nodes, found.intra.kind) == (count, 1, kind)
    if gigabytes is not None:
        assert found.intra.bytes_per_s == gigabytes * 1e9
    assert found.inter is None


@pytest.mark.parametrize(
    ("text", "rate", "kind", "gigabits"),
    [
        ("InfiniBand NDR 400 Gb/s per GPU", None, links.INFINIBAND, 3200),
        ("InfiniBand EDR 100 Gb/s per node", None, links.INFINIBAND, 100),
        ("InfiniBand", None, links.INFINIBAND, 3200),
        ("EFA x32", 3200.0, links.EFA, 3200),
        # The catalogue's total holds the card for other traffic, too.
        ("GPUDirect-TCPX 800 Gb/s per node (200 Gb/s x4 NICs)", 1000.0, links.TCPX, 800),
        ("Ethernet (1-Click Clusters: InfiniBand)", None, links.ETHERNET, 25),
        ("Ethernet", 100.0, links.ETHERNET, 100),
        ("", None, links.ETHERNET, 25),
    ],
)
def test_networks_between_machines(text: str, rate: float | None, kind: str, gigabits: float) -> None:
    made = offer("h100-sxm5-80gb", 8, intra_node="NVSwitch 900 GB/s per GPU", inter_node=text, network_gbps=rate)
    found = topology_of_offer(made, known("h100-sxm5-80gb"), nodes=4)
    assert found.inter is not None
    assert (found.gpus, found.inter.kind, found.inter.bytes_per_s * 8e-9) == (32, kind, pytest.approx(gigabits))


def test_one_gpu_talks_to_nobody() -> None:
    alone = topology_of_offer(offer("l4", 1), known("l4"))
    assert (alone.intra, alone.inter, alone.gpus) == (None, None, 1)


def test_a_rack_is_one_machine_and_an_nvlink_network_joins_machines_of_eight() -> None:
    rack = system("gb200-nvl72")
    assert (rack.gpus_per_node, rack.nodes, rack.inter) == (72, 1, None)
    cluster = system("nvlink-switch-256-h100")
    assert (cluster.gpus_per_node, cluster.nodes) == (8, 32)
    assert cluster.inter is not None
    # 57.6 TB/s over 256 GPUs: half of what each GPU's NVLinks carry inside its machine.
    assert cluster.inter.bytes_per_s * cluster.nodes == pytest.approx(57.6e12)
    assert cluster.intra is not None
    assert cluster.inter.bytes_per_s / 8 == pytest.approx(cluster.intra.bytes_per_s / 2)


@pytest.mark.parametrize(("nodes", "each", "racks"), [(1, 4, 1), (2, 8, 1), (18, 72, 1), (64, 64, 4)])
def test_instances_of_one_rack_are_one_machine(nodes: int, each: int, racks: int) -> None:
    made = offer("gb200-186gb", 4, intra_node="NVLink 5 (NVL72 domain)", inter_node="InfiniBand")
    found = topology_of_offer(made, known("gb200-186gb"), nodes)
    assert (found.gpus_per_node, found.nodes) == (each, racks)


def test_bought_machines_get_the_network_of_the_reference_design() -> None:
    found = next(each for each in shipped().systems if each.id == "hgx-h100-8")
    several = topology_of_system(found, known(found.gpu_id), nodes=4)
    assert several.inter is not None
    assert (several.inter.kind, several.inter.bytes_per_s) == (links.INFINIBAND, 400e9)
    assert several.inter.how.startswith("assumed")


def test_bridges_join_only_a_few() -> None:
    found = system("srv-8x-h200-nvl").intra
    assert found is not None
    assert found.island == 4
    assert found.between_islands_bytes_per_s is not None
    assert found.between_islands_bytes_per_s < found.bytes_per_s


def test_counts_are_split_into_machines() -> None:
    found = topology_at_counts(gpu(), 64, gpus_per_node=8, network="8x NDR 400 Gb/s")
    assert (found.gpus_per_node, found.nodes, found.gpus) == (8, 8, 64)
    assert topology_at_counts(gpu(), 4, gpus_per_node=8).nodes == 1
