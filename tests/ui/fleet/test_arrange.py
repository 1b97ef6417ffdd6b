"""The order of machines on the map of a cluster."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.device import Device
from gpuscope.ui.fleet.arrange import Order, machines_of, ordered


def _device(host: str | None, index: int, rack: str | None = None) -> Device:
    return Device(uuid=f"{host}-{index}", index=index, name="NVIDIA L40S", hostname=host, rack=rack)


DEVICES = [_device(f"node{host}", index) for host in (10, 2, 1) for index in (1, 0)]


def test_machines_in_the_order_in_which_people_count() -> None:
    machines = machines_of(DEVICES)
    assert [machine.name for machine in machines] == ["node1", "node2", "node10"]
    assert machines[0].keys == ("node1-0", "node1-1")


def test_racks_come_before_names() -> None:
    machines = machines_of([_device("b", 0, "r10"), _device("a", 0, "r2"), _device("c", 0)])
    assert [(machine.rack, machine.name) for machine in machines] == [("", "c"), ("r2", "a"), ("r10", "b")]


def test_what_stands_out_comes_first_and_then_what_is_silent() -> None:
    values: dict[str, float | None] = {device.uuid: 80.0 + device.index for device in DEVICES}
    values["node2-1"] = 3.0
    values["node10-0"] = None
    machines = ordered(machines_of(DEVICES), values, Order.OUTLIERS)
    assert [machine.name for machine in machines] == ["node2", "node10", "node1"]


def test_one_strange_gpu_among_equal_ones() -> None:
    values: dict[str, float | None] = {device.uuid: 80.0 for device in DEVICES}
    values["node10-1"] = 79.0
    assert ordered(machines_of(DEVICES), values, Order.OUTLIERS)[0].name == "node10"


@given(
    st.lists(
        st.tuples(st.text(max_size=6), st.integers(0, 7), st.one_of(st.none(), st.floats(-1e9, 1e9))), max_size=40
    ),
    st.sampled_from(Order),
)
def test_no_gpu_is_lost_or_doubled(rows: list[tuple[str, int, float | None]], order: Order) -> None:
    devices = [
        Device(uuid=str(place), index=index, name="x", hostname=host) for place, (host, index, _) in enumerate(rows)
    ]
    values = {str(place): value for place, (_, _, value) in enumerate(rows)}
    shown = [key for machine in ordered(machines_of(devices), values, order) for key in machine.keys]
    assert sorted(shown) == sorted(values)
