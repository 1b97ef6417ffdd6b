"""What of a host is open to the work: all of it, or the part that a container or a batch job was given."""

from __future__ import annotations

from gpuscope.domain.base import Value
from gpuscope.domain.sample import HostSample


class HostCapacity(Value, frozen=True, kw_only=True):
    """The figures to show as a whole and a share of it; a limit of a container stands in for the machine's total."""

    memory_total_bytes: int | None
    memory_used_bytes: int | None
    memory_is_limited: bool
    """The two are of the container, not of the machine: to be marked so."""
    cpus: float | None
    """Hardware threads, or the cores that the limit amounts to."""
    cpu_percent: float | None
    """Of these: 0 to 100. A container can go above its limit for a moment."""
    cpus_are_limited: bool


def host_capacity(sample: HostSample, threads: int | None) -> HostCapacity:
    """The capacity that a sample shows.

    Args:
        sample: of the host.
        threads: hardware threads of the machine (`Host.threads`).
    """
    memory_is_limited = sample.cgroup_memory_limit_bytes is not None
    limit_cores, used_percent = sample.cgroup_cpu_limit_cores, sample.cgroup_cpu_percent
    if limit_cores:
        cpus: float | None = limit_cores
        cpu_percent = None if used_percent is None else used_percent / limit_cores
    else:
        cpus, cpu_percent = threads, sample.cpu_percent
    return HostCapacity(
        memory_total_bytes=sample.cgroup_memory_limit_bytes if memory_is_limited else sample.memory_total_bytes,
        memory_used_bytes=sample.cgroup_memory_used_bytes if memory_is_limited else sample.memory_used_bytes,
        memory_is_limited=memory_is_limited,
        cpus=cpus,
        cpu_percent=cpu_percent,
        cpus_are_limited=bool(limit_cores),
    )
