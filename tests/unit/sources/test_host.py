"""The host's figures against the system's own, and against made-up counters."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.sources import block_and_net
from gpuscope.sources.block_and_net import DiskRates, NetworkRates
from gpuscope.sources.host import HostSource, read_host
from gpuscope.sources.process_tree import ProcessTree
from tests.unit.sources.expected import poll

SLEEP = "import time; time.sleep(60)"
BUSY = "while True: pass"


def test_facts() -> None:
    host = read_host()
    assert host.hostname
    assert host.os
    assert host.threads == os.cpu_count()
    assert host.memory_total_bytes == psutil.virtual_memory().total
    assert host.swap_total_bytes is not None


def test_the_first_shares_and_rates_are_missing_and_the_second_are_there() -> None:
    source = HostSource()
    first = source.sample()
    assert first.cpu_percent is None
    assert first.cpu_percent_per_core is None
    assert first.memory_total_bytes == psutil.virtual_memory().total
    assert first.unavailable["cpu_percent"] is Reason.FIRST_READING
    if first.networks:
        assert first.unavailable["network_send_bytes_per_s"] is Reason.FIRST_READING
    time.sleep(0.2)
    second = source.sample()
    assert second.cpu_percent is not None
    assert 0 <= second.cpu_percent <= 100
    assert len(second.cpu_percent_per_core or ()) == os.cpu_count()
    assert not {"cpu_percent", "cpu_percent_per_core"} & second.unavailable.keys()
    assert second.workload_processes is None, "no workload is followed"
    assert "workload_cpu_percent" not in second.unavailable


def counters(read: int, written: int) -> SimpleNamespace:
    return SimpleNamespace(read_bytes=read, write_bytes=written)


def test_disks_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "block" / "sda" / "device").mkdir(parents=True)
    (tmp_path / "block" / "nvme0n1" / "device").mkdir(parents=True)
    (tmp_path / "block" / "dm-0").mkdir()
    readings = iter([
        {"sda": counters(0, 0), "sda1": counters(0, 0), "nvme0n1": counters(10, 0), "dm-0": counters(0, 0)},
        {"sda": counters(100, 40), "sda1": counters(100, 40), "nvme0n1": counters(40, 0), "dm-0": counters(130, 40)},
        {"sda": counters(5, 0), "nvme0n1": counters(60, 8)},
        {},
    ])  # fmt: skip
    monkeypatch.setattr(block_and_net.psutil, "disk_io_counters", lambda **_: next(readings))
    disks = DiskRates(tmp_path)
    samples, sums, reasons = disks.sample(1.0)
    assert [disk.name for disk in samples] == ["nvme0n1", "sda"]
    assert sums == {}
    assert set(reasons.values()) == {Reason.FIRST_READING}
    samples, sums, reasons = disks.sample(3.0)
    assert sums == {"disk_read_bytes_per_s": 65, "disk_write_bytes_per_s": 20}
    assert samples[1].read_bytes_per_s == 50
    assert reasons == {}
    samples, sums, _ = disks.sample(4.0)
    assert sums == {"disk_read_bytes_per_s": 20, "disk_write_bytes_per_s": 8}, "sda was replaced: no rate yet"
    assert samples[1].read_bytes_per_s is None
    _, sums, reasons = disks.sample(5.0)
    assert sums == {}
    assert set(reasons.values()) == {Reason.NOT_FOUND}


def test_interfaces_inside_the_machine_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(received: int, sent: int) -> dict[str, SimpleNamespace]:
        names = ("lo", "docker0", "veth12", "eth0")
        return {name: SimpleNamespace(bytes_recv=received, bytes_sent=sent) for name in names}

    readings = iter([reading(0, 0), reading(2000, 500)])
    monkeypatch.setattr(block_and_net.psutil, "net_io_counters", lambda **_: next(readings))
    networks = NetworkRates(tmp_path)
    networks.sample(0.0)
    samples, sums, _ = networks.sample(2.0)
    assert [network.name for network in samples] == ["eth0"]
    assert sums == {"network_receive_bytes_per_s": 1000, "network_send_bytes_per_s": 250}


class TestProcessTree:
    """Who belongs to a workload."""

    def test_children_and_grandchildren_also_when_their_parent_has_ended(self) -> None:
        script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}]); {SLEEP}"
        root = subprocess.Popen(
            [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}])"]
        )
        tree = ProcessTree(root.pid)
        family = [psutil.Process(root.pid)]
        try:
            poll(lambda: len(tree.sample(time.monotonic())[0]["workload_processes"]) == 3)
            family += family[0].children(recursive=True)
            _, middle, leaf = family
            figures, _ = tree.sample(time.monotonic())
            assert {row.pid for row in figures["workload_processes"]} == {process.pid for process in family}
            assert figures["workload_rss_bytes"] == sum(row.rss_bytes for row in figures["workload_processes"])
            assert {row.kind for row in figures["workload_processes"]} == {"workload"}
            middle.kill()
            root.wait()
            figures, _ = tree.sample(time.monotonic())
            assert [row.pid for row in figures["workload_processes"]] == [leaf.pid]
            leaf.kill()
            figures, reasons = poll(lambda: (now := tree.sample(time.monotonic()))[1] and now)
            assert figures == {"workload_processes": ()}
            assert reasons == dict.fromkeys(("workload_cpu_percent", "workload_rss_bytes"), Reason.PROCESS_ENDED)
        finally:
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            root.wait()

    def test_cpu_share_is_of_one_core(self) -> None:
        with subprocess.Popen([sys.executable, "-c", BUSY]) as root:
            try:
                tree = ProcessTree(root.pid)
                _, reasons = tree.sample(time.monotonic())
                assert reasons["workload_cpu_percent"] is Reason.FIRST_READING
                start_s, before = time.monotonic(), sum(psutil.Process(root.pid).cpu_times()[:2])
                tree.sample(start_s)
                time.sleep(0.6)
                end_s, after = time.monotonic(), sum(psutil.Process(root.pid).cpu_times()[:2])
                figures, _ = tree.sample(end_s)
                assert figures["workload_cpu_percent"] == pytest.approx(
                    100 * (after - before) / (end_s - start_s), abs=8
                )
            finally:
                root.kill()

    def test_no_such_process(self) -> None:
        figures, reasons = ProcessTree(2**22 + 5).sample(time.monotonic())
        assert figures == {"workload_processes": ()}
        assert reasons["workload_rss_bytes"] is Reason.PROCESS_ENDED
