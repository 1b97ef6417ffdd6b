"""A container's limits stand in for the machine's totals, and are marked."""

from __future__ import annotations

from gpuscope.domain.host_capacity import HostCapacity, host_capacity
from gpuscope.domain.sample import HostSample

MACHINE = {"memory_total_bytes": 64, "memory_used_bytes": 32, "cpu_percent": 10.0}


def test_a_machine_of_its_own() -> None:
    assert host_capacity(HostSample(**MACHINE), 16) == HostCapacity(
        memory_total_bytes=64,
        memory_used_bytes=32,
        memory_is_limited=False,
        cpus=16,
        cpu_percent=10.0,
        cpus_are_limited=False,
    )


def test_a_container() -> None:
    sample = HostSample(
        **MACHINE,
        cgroup_memory_limit_bytes=8,
        cgroup_memory_used_bytes=6,
        cgroup_cpu_limit_cores=2.5,
        cgroup_cpu_percent=200.0,
    )
    assert host_capacity(sample, 16) == HostCapacity(
        memory_total_bytes=8,
        memory_used_bytes=6,
        memory_is_limited=True,
        cpus=2.5,
        cpu_percent=80.0,
        cpus_are_limited=True,
    )


def test_what_a_container_does_not_tell_is_not_the_machines() -> None:
    sample = HostSample(**MACHINE, cgroup_memory_limit_bytes=8, cgroup_cpu_limit_cores=1.0)
    capacity = host_capacity(sample, 16)
    assert capacity.memory_used_bytes is None
    assert capacity.cpu_percent is None


def test_nothing_known() -> None:
    capacity = host_capacity(HostSample(), None)
    assert capacity.memory_total_bytes is None
    assert capacity.cpus is None
