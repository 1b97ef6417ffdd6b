"""What `doctor` says of the host."""

from __future__ import annotations

from gpuscope.domain.device import Host
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import HostSample
from gpuscope.domain.units import GIB
from gpuscope.engine.doctor import check_host

HOST = Host(hostname="h", os="Debian", cpu_name="EPYC", threads=64, memory_total_bytes=512 * GIB)


def test_a_whole_machine_with_everything() -> None:
    check = check_host(HOST, HostSample(memory_total_bytes=512 * GIB))
    assert check.detail == "EPYC, 64 CPUs, 512 GiB of memory."
    assert check.remedy == ""


def test_a_container_in_which_something_is_missing() -> None:
    sample = HostSample(
        memory_total_bytes=512 * GIB,
        cgroup_memory_limit_bytes=16 * GIB,
        cgroup_cpu_limit_cores=2.5,
        unavailable={
            "cpu_frequency_mhz": Reason.NOT_OFFERED,
            "memory_bandwidth_bytes_per_s": Reason.RESCTRL_NOT_MOUNTED,
        },
    )
    check = check_host(HOST, sample)
    assert check.detail == (
        "EPYC, 2.5 CPUs (limited), 16 GiB of memory (limited). Not to be had here: frequencies, memory bandwidth."
    )
    assert "mount -t resctrl" in check.remedy


def test_nothing_is_known() -> None:
    check = check_host(Host(hostname="h", os="?"), HostSample())
    assert check.detail == "unknown processor."
