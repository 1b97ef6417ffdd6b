"""Time of collectives: against published figures, and what any link has to obey."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.parallel_files import NamedConstant, load_parallel, write_constants, write_links
from gpuscope.advisor.parallel.collectives import (
    Fabric,
    Group,
    all_reduce_s,
    exchange_s,
    fabric_of,
    gather_s,
    send_s,
)
from gpuscope.advisor.parallel.rates import DEFAULT_LINKS, LinkRate, ParallelRates
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.errors import CatalogueError
from tests.unit.advisor.parallel.test_topology import known

RATES = load_calibration(paths.resources_dir() / "calibration").parallel
INFINIBAND = "InfiniBand NDR 400 Gb/s per GPU"


def fabric(gpu_id: str, count: int, text: str = "", network: str = "", rates: ParallelRates = RATES) -> Fabric:
    return fabric_of(topology_at_counts(known(gpu_id), count, text, gpus_per_node=8, network=network), rates)


@pytest.mark.parametrize(
    ("gpu_id", "text", "count", "payload", "bus_gbs"),
    [
        # Published bus bandwidths of all-reduces (nccl-tests, all_reduce_bench).
        ("a100-sxm4-80gb", "NVSwitch 600 GB/s per GPU", 8, 67e6, 165),
        ("a100-sxm4-80gb", "NVSwitch 600 GB/s per GPU", 8, 17e9, 235),
        ("h100-sxm5-80gb", "NVSwitch 900 GB/s per GPU", 8, 64e6, 334),
        ("h200-sxm5-141gb", "NVSwitch 900 GB/s per GPU", 8, 1.07e9, 464),
        ("b200-sxm-180gb", "NVSwitch 1800 GB/s per GPU", 8, 134e6, 568),
        ("a100-pcie-80gb", "NVLink bridge", 4, 65e6, 23.5),
        ("a100-pcie-80gb", "NVLink bridge", 2, 64e6, 172),
    ],
)
def test_published_bus_bandwidths(gpu_id: str, text: str, count: int, payload: float, bus_gbs: float) -> None:
    seconds = float(all_reduce_s(payload, Group(count), fabric(gpu_id, count, text)))
    assert payload * 2 * (count - 1) / count / seconds / 1e9 == pytest.approx(bus_gbs, rel=0.2)


def test_across_machines_the_cards_set_the_pace() -> None:
    inside = fabric("h100-sxm5-80gb", 8)
    outside = fabric("h100-sxm5-80gb", 64, network=INFINIBAND)
    slow = fabric("h100-sxm5-80gb", 64, network="Ethernet")
    times = [float(all_reduce_s(1e9, Group(each.gpus_per_node * each.nodes), each)) for each in (inside, outside, slow)]
    assert times[0] < times[1] < times[2] / 20
    # One member in each machine shares the cards with the seven other groups.
    one_each = float(all_reduce_s(1e9, Group(8, 8), outside))
    assert one_each > 4 * times[1]


def test_an_nvlink_network_is_between_nvswitch_and_infiniband() -> None:
    from gpuscope.advisor.parallel.topology import topology_of_system
    from tests.unit.advisor.advisor_jobs import shipped

    found = next(each for each in shipped().systems if each.id == "nvlink-switch-256-h100")
    cluster = fabric_of(topology_of_system(found, known(found.gpu_id)), RATES)
    network = fabric("h100-sxm5-80gb", 256, network=INFINIBAND)
    payload = 10e9
    # A group of one GPU in each machine sends all over the links between them.
    assert float(gather_s(payload, Group(32, 8), cluster)) < float(gather_s(payload, Group(32, 8), network)) / 3
    assert float(send_s(payload, 1, cluster)) < float(send_s(payload, 8, cluster))


def test_nothing_is_said_in_a_group_of_one() -> None:
    one = fabric("h100-sxm5-80gb", 8)
    for collective in (all_reduce_s, gather_s, exchange_s):
        assert float(collective(1e9, Group(1), one)) == 0


@settings(deadline=None, max_examples=60)
@given(
    payload=st.floats(1e3, 1e11),
    more=st.floats(1.0, 100),
    count=st.sampled_from([2, 4, 8, 16, 64, 512]),
    gpu_id=st.sampled_from(["a100-sxm4-80gb", "h100-sxm5-80gb", "l4", "mi300x", "b200-sxm-180gb"]),
)
def test_more_bytes_never_take_less(payload: float, more: float, count: int, gpu_id: str) -> None:
    link = fabric(gpu_id, count, network=INFINIBAND)
    for collective in (all_reduce_s, gather_s, exchange_s):
        less = float(collective(payload, Group(count), link))
        assert 0 < less <= float(collective(payload * more, Group(count), link)) * (1 + 1e-12)


def test_constants_survive_their_files(tmp_path: Path) -> None:
    link = LinkRate(kind="efa", nominal_gbs=400, share=0.9, start_us=300, ramp_us=20, hop_us=15, source="a fit")
    write_links(tmp_path / "collectives.csv", (link,))
    write_constants(
        tmp_path / "parallel.csv",
        [NamedConstant("matrix_share", 0.9, "a fit"), NamedConstant("matrix_share", 1.0, "b", tuned=True)],
    )
    found = load_parallel(tmp_path)
    assert found.links == (link, *DEFAULT_LINKS)
    assert (found.matrix_share, found.half_width) == (0.9, ParallelRates().half_width)
    assert found.of_software("Megatron-LM").matrix_share == 1.0
    assert found.of_software("torch").matrix_share == found.of_software(None).matrix_share == 0.9
    assert load_parallel(tmp_path / "nowhere") == ParallelRates()


def test_an_unknown_constant_is_named(tmp_path: Path) -> None:
    write_constants(tmp_path / "parallel.csv", [NamedConstant("speed", 1.0, "nobody")])
    with pytest.raises(CatalogueError, match=r"parallel\.csv, line 2: the constant speed"):
        load_parallel(tmp_path)
