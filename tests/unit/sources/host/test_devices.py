"""Disks, network interfaces and RDMA ports: which ones count, and how much goes through them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.sources.block_and_net import Disks, Networks
from gpuscope.sources.rdma import RdmaPorts
from tests.unit.sources.host.trees import Machine, wsl2

KB_SECTORS = 2


def diskstats(**disks: tuple[int, int, int]) -> str:
    """Kilobytes read and written and milliseconds busy of each disk."""
    lines = []
    for number, (name, (read, written, busy_ms)) in enumerate(disks.items()):
        lines.append(
            f" 8 {number} {name} 9 0 {read * KB_SECTORS} 5 8 0 {written * KB_SECTORS} 4 0 {busy_ms} 77 0 0 0 0"
        )
    return "\n".join([*lines, ""])


def net_dev(**interfaces: tuple[int, int]) -> str:
    rows = [f"{name:>6}: {got} 1 0 0 0 0 0 0 {sent} 1 0 0 0 0 0 0" for name, (got, sent) in interfaces.items()]
    return "\n".join(["Inter-|   Receive  |  Transmit", " face |bytes ...|bytes ...", *rows, ""])


def test_disks_are_counted_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.folder("sys/block/sda/device").folder("sys/block/nvme0n1/device").folder("sys/block/dm-0")
    machine.put("proc/diskstats", diskstats(sda=(0, 0, 0), sda1=(0, 0, 0), nvme0n1=(10, 0, 0), **{"dm-0": (0, 0, 0)}))
    disks = Disks(tmp_path / "proc", tmp_path / "sys")
    figures = disks.read(1.0)
    assert [disk["name"] for disk in figures["disks"]] == ["nvme0n1", "sda"]
    assert figures["disk_read_bytes_per_s"] is Reason.FIRST_READING
    assert figures["disk_busy_percent"] is Reason.FIRST_READING
    machine.put(
        "proc/diskstats",
        diskstats(sda=(100, 40, 500), sda1=(100, 40, 500), nvme0n1=(40, 0, 2010), **{"dm-0": (130, 40, 9)}),
    )
    figures = disks.read(3.0)
    assert figures["disk_read_bytes_per_s"] == 65 * 1024
    assert figures["disk_write_bytes_per_s"] == 20 * 1024
    assert figures["disk_busy_percent"] == 100, "jiffies add up to a little more than all the time"
    assert figures["disks"][1] == {
        "name": "sda",
        "read_bytes_per_s": 50 * 1024,
        "write_bytes_per_s": 20 * 1024,
        "busy_percent": 25,
        "unavailable": {},
    }
    machine.put("proc/diskstats", diskstats(sda=(5, 0, 0), nvme0n1=(60, 8, 2010)))
    figures = disks.read(4.0)
    assert figures["disk_read_bytes_per_s"] == 20 * 1024, "sda was replaced: no rate yet"
    assert figures["disks"][1]["unavailable"]["read_bytes_per_s"] is Reason.FIRST_READING
    machine.put("proc/diskstats", "")
    assert disks.read(5.0) == {
        "disks": [],
        "disk_read_bytes_per_s": Reason.NOT_FOUND,
        "disk_write_bytes_per_s": Reason.NOT_FOUND,
        "disk_busy_percent": Reason.NOT_FOUND,
    }
    machine.remove("proc/diskstats")
    assert set(Disks(tmp_path / "proc", tmp_path / "sys").read(6.0).values()) == {Reason.NOT_OFFERED}


def test_interfaces_inside_the_machine_are_left_out(tmp_path: Path) -> None:
    names = ("lo", "docker0", "veth12", "eth0")
    machine = Machine(tmp_path).put("proc/net/dev", net_dev(**dict.fromkeys(names, (0, 0))))
    networks = Networks(tmp_path / "proc", tmp_path / "sys")
    networks.read(0.0)
    machine.put("proc/net/dev", net_dev(**dict.fromkeys(names, (2000, 500))))
    figures = networks.read(2.0)
    assert [network["name"] for network in figures["networks"]] == ["eth0"]
    assert figures["network_receive_bytes_per_s"] == 1000
    assert figures["network_send_bytes_per_s"] == 250


def test_the_links_speed_and_one_that_nobody_knows(tmp_path: Path) -> None:
    machine = wsl2(tmp_path)
    networks = Networks(tmp_path / "proc", tmp_path / "sys")
    assert networks.read(1.0)["networks"][0]["link_bytes_per_s"] == 1.25e9
    machine.put("sys/class/net/eth0/speed", -1)
    assert networks.read(2.0)["networks"][0]["link_bytes_per_s"] == 1.25e9, "asked for now and then only"
    networks.look_at_links()
    row = networks.read(3.0)["networks"][0]
    assert row["unavailable"] == {"link_bytes_per_s": Reason.NOT_OFFERED}


class TestRdma:
    """InfiniBand and RoCE."""

    @staticmethod
    def card(machine: Machine, received: int, sent: int, name: str = "mlx5_0") -> None:
        port = f"sys/class/infiniband/{name}/ports/1"
        machine.put(f"{port}/counters/port_rcv_data", received).put(f"{port}/counters/port_xmit_data", sent)
        machine.put(f"{port}/rate", "400 Gb/sec (4X NDR)\n")

    def test_rates_in_bytes(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path)
        self.card(machine, 0, 100)
        ports = RdmaPorts(tmp_path / "sys")
        ports.find()
        assert ports.read(1.0)["rdma_send_bytes_per_s"] is Reason.FIRST_READING
        self.card(machine, 1000, 600)
        figures = ports.read(3.0)
        assert figures["rdma_receive_bytes_per_s"] == 2000
        assert figures["rdma_send_bytes_per_s"] == 1000
        assert figures["rdma"] == [
            {
                "name": "mlx5_0:1",
                "receive_bytes_per_s": 2000,
                "send_bytes_per_s": 1000,
                "link_bytes_per_s": pytest.approx(50e9),
                "unavailable": {},
            }
        ]

    def test_a_card_that_vanishes(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path)
        self.card(machine, 0, 0)
        self.card(machine, 0, 0, "mlx5_1")
        ports = RdmaPorts(tmp_path / "sys")
        ports.find()
        ports.read(1.0)
        folder = "sys/class/infiniband/mlx5_1/ports/1"
        for name in ("counters/port_rcv_data", "counters/port_xmit_data", "rate"):
            machine.put(f"{folder}/{name}", "")
        figures = ports.read(2.0)
        assert figures["rdma_send_bytes_per_s"] == 0
        assert figures["rdma"][1]["unavailable"]["send_bytes_per_s"] is Reason.UNREADABLE

    def test_none(self, tmp_path: Path) -> None:
        ports = RdmaPorts(tmp_path / "sys")
        ports.find()
        assert set(ports.read(1.0).values()) == {Reason.NOT_OFFERED}
