"""The host's figures against the system's own and psutil's."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from gpuscope.domain.device import Host
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import HostSample
from gpuscope.sources.host import HostSource, read_host
from gpuscope.sources.host_portable import PortableHostReader, read_portable_facts
from gpuscope.sources.process_tree import ProcessTree
from gpuscope.sources.process_tree_portable import PortableProcessTree
from gpuscope.sources.system_files import Figures
from tests.unit.sources.expected import poll

SLEEP = "import time; time.sleep(60)"
BUSY = "while True: pass"
Kind = type[ProcessTree] | type[PortableProcessTree]


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


def test_the_portable_reader_says_the_same() -> None:
    portable, source = PortableHostReader(os.getpid()), HostSource(os.getpid())
    portable.read(time.monotonic())
    source.sample()
    time.sleep(0.3)
    theirs, ours = msgspec.convert(portable.read(time.monotonic()), HostSample), source.sample()
    assert theirs.memory_total_bytes == ours.memory_total_bytes
    assert theirs.memory_available_bytes == pytest.approx(ours.memory_available_bytes, rel=0.05)
    assert theirs.cpu_percent == pytest.approx(ours.cpu_percent, abs=35), "over nearly the same time"
    assert len(theirs.cpu_percent_per_core or ()) == len(ours.cpu_percent_per_core or ())
    assert theirs.load_1min == pytest.approx(ours.load_1min, abs=0.5)
    assert {disk.name for disk in ours.disks} <= {disk.name for disk in theirs.disks}
    assert os.getpid() in {row.pid for row in theirs.workload_processes or ()}
    assert theirs.workload_rss_bytes == pytest.approx(ours.workload_rss_bytes, rel=0.1)


def test_without_proc_psutil_is_asked(tmp_path: Path) -> None:
    sample = HostSource(root=tmp_path).sample()
    assert sample.memory_total_bytes == psutil.virtual_memory().total
    assert sample.unavailable["io_pressure_some_percent"] is Reason.NOT_OFFERED
    assert sample.unavailable["cgroup_memory_limit_bytes"] is Reason.NOT_OFFERED
    assert read_host(tmp_path).threads == os.cpu_count()


def test_portable_facts_are_the_same() -> None:
    ours, theirs = read_host(), msgspec.convert(read_portable_facts(), Host)
    for name in ("hostname", "cores", "threads", "memory_total_bytes", "swap_total_bytes"):
        assert getattr(ours, name) == getattr(theirs, name), name


def pids(figures: Figures) -> set[int]:
    return {row["pid"] for row in figures["workload_processes"]}


ENDED = {
    "workload_processes": [],
    "workload_cpu_percent": Reason.PROCESS_ENDED,
    "workload_rss_bytes": Reason.PROCESS_ENDED,
}


@pytest.mark.parametrize("kind", [ProcessTree, PortableProcessTree])
class TestProcessTree:
    """Who belongs to a workload."""

    def test_children_and_grandchildren_also_when_their_parent_has_ended(self, kind: Kind) -> None:
        script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}]); {SLEEP}"
        root = subprocess.Popen(
            [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}])"]
        )
        tree = kind(root.pid)
        family = [psutil.Process(root.pid)]
        try:
            poll(lambda: len(tree.read(time.monotonic())["workload_processes"]) == 3)
            family += family[0].children(recursive=True)
            _, middle, leaf = family
            figures = tree.read(time.monotonic())
            assert pids(figures) == {process.pid for process in family}
            assert figures["workload_rss_bytes"] == sum(row["rss_bytes"] for row in figures["workload_processes"])
            assert {row["kind"] for row in figures["workload_processes"]} == {"workload"}
            assert {row["name"] for row in figures["workload_processes"]} == {family[0].name()}
            middle.kill()
            root.wait()
            assert pids(tree.read(time.monotonic())) == {leaf.pid}
            leaf.kill()
            assert poll(lambda: (now := tree.read(time.monotonic())) == ENDED and now)
        finally:
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            root.wait()

    def test_cpu_share_is_of_one_core(self, kind: Kind) -> None:
        with subprocess.Popen([sys.executable, "-c", BUSY]) as root:
            try:
                tree = kind(root.pid)
                assert tree.read(time.monotonic())["workload_cpu_percent"] is Reason.FIRST_READING
                start_s, before = time.monotonic(), sum(psutil.Process(root.pid).cpu_times()[:2])
                tree.read(start_s)
                time.sleep(0.6)
                end_s, after = time.monotonic(), sum(psutil.Process(root.pid).cpu_times()[:2])
                figures = tree.read(end_s)
                assert figures["workload_cpu_percent"] == pytest.approx(
                    100 * (after - before) / (end_s - start_s), abs=8
                )
            finally:
                root.kill()

    def test_no_such_process(self, kind: Kind) -> None:
        assert kind(2**22 + 5).read(time.monotonic()) == ENDED
