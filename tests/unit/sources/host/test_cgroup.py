"""Limits of containers, batch jobs and units, in both versions of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.sources.cgroup import CPU_FIELDS, MEMORY_FIELDS, ControlGroup
from gpuscope.sources.host_reader import HostReader
from gpuscope.sources.system_files import Figures
from tests.unit.sources.host.trees import GIB, UNLIMITED_V1, Machine, container_v1, container_v2, plain_server

THREADS = 8


def read(root: Path, *, process: str = "self", now_s: float = 1.0) -> Figures:
    group = ControlGroup(root, process)
    group.find(64 * GIB, THREADS)
    return group.read(now_s)


def v2_group(machine: Machine, path: str, memory: str | int = "max\n", cpu: str = "max 100000\n") -> None:
    folder = f"sys/fs/cgroup{path}"
    machine.put(f"{folder}/memory.max", memory).put(f"{folder}/cpu.max", cpu)


class TestVersion2:
    """One hierarchy."""

    def test_a_container(self, tmp_path: Path) -> None:
        machine = container_v2(tmp_path)
        v2_group(machine, "", 16 * GIB, "150000 100000\n")
        machine.put("sys/fs/cgroup/memory.current", 10 * GIB)
        machine.put("sys/fs/cgroup/memory.stat", f"anon {5 * GIB}\nfile {5 * GIB}\ninactive_file {4 * GIB}\n")
        machine.put("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n")
        stat = "usage_usec {}\nuser_usec 1\nsystem_usec 1\nnr_periods {}\nnr_throttled {}\nthrottled_usec {}\n"
        machine.put("sys/fs/cgroup/cpu.stat", stat.format(1_000_000, 100, 10, 500_000))
        group = ControlGroup(tmp_path)
        group.find(64 * GIB, THREADS)
        figures = group.read(1.0)
        assert figures["cgroup_memory_limit_bytes"] == 16 * GIB
        assert figures["cgroup_memory_used_bytes"] == 6 * GIB
        assert figures["cgroup_cpu_limit_cores"] == 1.5
        assert figures["cgroup_cpu_percent"] is Reason.FIRST_READING
        machine.put("sys/fs/cgroup/cpu.stat", stat.format(3_000_000, 120, 15, 900_000))
        figures = group.read(3.0)
        assert figures["cgroup_cpu_percent"] == pytest.approx(100)
        assert figures["cgroup_throttled_percent"] == pytest.approx(25)
        assert figures["cgroup_throttled_s_per_s"] == pytest.approx(0.2)

    def test_of_nested_groups_the_tightest_holds(self, tmp_path: Path) -> None:
        machine = container_v2(tmp_path, "/kubepods.slice/pod7/app")
        v2_group(machine, "/kubepods.slice", 48 * GIB, "600000 100000\n")
        v2_group(machine, "/kubepods.slice/pod7", 8 * GIB)
        v2_group(machine, "/kubepods.slice/pod7/app", 12 * GIB, "max 100000\n")
        machine.put("sys/fs/cgroup/kubepods.slice/pod7/memory.current", 3 * GIB)
        machine.put("sys/fs/cgroup/kubepods.slice/pod7/memory.stat", "inactive_file 0\n")
        figures = read(tmp_path)
        assert figures["cgroup_memory_limit_bytes"] == 8 * GIB
        assert figures["cgroup_memory_used_bytes"] == 3 * GIB
        assert figures["cgroup_cpu_limit_cores"] == 6

    def test_a_set_of_processors_limits_too(self, tmp_path: Path) -> None:
        machine = container_v2(tmp_path, "/slurm/job_9")
        v2_group(machine, "/slurm/job_9", cpu="700000 100000\n")
        machine.put("sys/fs/cgroup/slurm/job_9/cpuset.cpus.effective", "0-1,4\n")
        assert read(tmp_path)["cgroup_cpu_limit_cores"] == 3

    def test_no_limit_is_said(self, tmp_path: Path) -> None:
        machine = container_v2(tmp_path, "/user.slice/session-1.scope")
        v2_group(machine, "/user.slice/session-1.scope", 200 * GIB, "1600000 100000\n")
        machine.put("sys/fs/cgroup/user.slice/session-1.scope/cpuset.cpus.effective", "0-7\n")
        assert read(tmp_path) == dict.fromkeys((*MEMORY_FIELDS, *CPU_FIELDS), Reason.NO_LIMIT)

    @pytest.mark.parametrize("own", ["/../../elsewhere", "/only/the/host/sees/this"])
    def test_paths_that_only_the_host_can_see(self, tmp_path: Path, own: str) -> None:
        v2_group(container_v2(tmp_path, own), "", 2 * GIB)
        assert read(tmp_path)["cgroup_memory_limit_bytes"] == 2 * GIB

    def test_garbage_is_not_taken_for_no_limit(self, tmp_path: Path) -> None:
        v2_group(container_v2(tmp_path), "", "lots\n", "some of it\n")
        figures = read(tmp_path)
        assert figures["cgroup_memory_limit_bytes"] is Reason.UNREADABLE
        assert figures["cgroup_cpu_limit_cores"] is Reason.UNREADABLE

    def test_a_limit_without_accounting(self, tmp_path: Path) -> None:
        v2_group(container_v2(tmp_path), "", 2 * GIB, "100000 100000\n")
        figures = read(tmp_path)
        assert figures["cgroup_memory_used_bytes"] is Reason.NOT_OFFERED
        assert figures["cgroup_cpu_limit_cores"] == 1
        assert figures["cgroup_throttled_percent"] is Reason.NOT_OFFERED


class TestVersion1:
    """A hierarchy for each controller."""

    def test_a_container(self, tmp_path: Path) -> None:
        machine = container_v1(tmp_path)
        memory, cpu = "sys/fs/cgroup/memory", "sys/fs/cgroup/cpu,cpuacct"
        machine.put(f"{memory}/memory.limit_in_bytes", 4 * GIB).put(f"{memory}/memory.usage_in_bytes", 3 * GIB)
        machine.put(f"{memory}/memory.stat", f"inactive_file 7\ntotal_inactive_file {GIB}\n")
        machine.put(f"{cpu}/cpu.cfs_quota_us", 250000).put(f"{cpu}/cpu.cfs_period_us", 100000)
        machine.put(f"{cpu}/cpuacct.usage", 10**9)
        machine.put(f"{cpu}/cpu.stat", "nr_periods 10\nnr_throttled 0\nthrottled_time 0\n")
        machine.put("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-7\n")
        group = ControlGroup(tmp_path)
        group.find(64 * GIB, THREADS)
        group.read(1.0)
        machine.put(f"{cpu}/cpuacct.usage", 4 * 10**9)
        machine.put(f"{cpu}/cpu.stat", "nr_periods 20\nnr_throttled 10\nthrottled_time 500000000\n")
        assert group.read(2.0) == {
            "cgroup_memory_limit_bytes": 4 * GIB,
            "cgroup_memory_used_bytes": 2 * GIB,
            "cgroup_cpu_limit_cores": 2.5,
            "cgroup_cpu_percent": pytest.approx(300),
            "cgroup_throttled_s_per_s": pytest.approx(0.5),
            "cgroup_throttled_percent": pytest.approx(100),
        }

    def test_a_limit_of_a_parent_that_is_not_seen(self, tmp_path: Path) -> None:
        machine = container_v1(tmp_path)
        machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED_V1)
        machine.put("sys/fs/cgroup/memory/memory.stat", f"hierarchical_memory_limit {GIB}\ntotal_inactive_file 0\n")
        machine.put("sys/fs/cgroup/memory/memory.usage_in_bytes", 1000)
        figures = read(tmp_path)
        assert figures["cgroup_memory_limit_bytes"] == GIB
        assert figures["cgroup_memory_used_bytes"] == 1000

    @pytest.mark.parametrize("name", ["cpuset.effective_cpus", "cpuset.cpus"])
    def test_a_set_of_processors(self, tmp_path: Path, name: str) -> None:
        container_v1(tmp_path).put(f"sys/fs/cgroup/cpuset/{name}", "2,5\n")
        assert read(tmp_path)["cgroup_cpu_limit_cores"] == 2

    def test_unlimited_is_a_huge_number(self, tmp_path: Path) -> None:
        machine = container_v1(tmp_path)
        machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED_V1)
        machine.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", -1)
        machine.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", 100000)
        assert set(read(tmp_path).values()) == {Reason.NO_LIMIT}


def test_a_system_without_control_groups(tmp_path: Path) -> None:
    plain_server(tmp_path)
    assert set(read(tmp_path).values()) == {Reason.NOT_OFFERED}


def test_the_limits_are_those_of_the_followed_workload(tmp_path: Path) -> None:
    machine = container_v2(tmp_path, "/user.slice")
    machine.put("proc/77/cgroup", "0::/docker/ab\n")
    v2_group(machine, "/docker/ab", GIB)
    reader = HostReader(tmp_path)
    assert reader.read(1.0)["unavailable"]["cgroup_memory_limit_bytes"] is Reason.NO_LIMIT
    reader.follow(77)
    assert reader.read(2.0)["cgroup_memory_limit_bytes"] == GIB
    machine.remove("proc/77/cgroup")
    assert reader.read(20.0)["cgroup_memory_limit_bytes"] == GIB, "it has ended, its container not yet"
    reader.follow(78)
    assert reader.read(21.0)["unavailable"]["cgroup_memory_limit_bytes"] is Reason.PROCESS_ENDED
