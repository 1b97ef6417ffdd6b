"""Figures of a host from the metrics of node-exporter: which expression of Prometheus gives each field."""

from __future__ import annotations

_REAL_DISKS = 'device!~"(loop|ram|dm-|md|sr)[0-9].*"'
"""Without those that stand for others, whose traffic would count twice."""
_REAL_NETWORKS = 'device!~"lo|(veth|docker|br-|cni|cali|flannel|tun|virbr).*"'


def host_expressions(window: str) -> dict[str, str]:
    """Expressions by field of HostSample, each with one series a host (label `instance`).

    Names and units of the metrics are those of node-exporter 1.x (https://github.com/prometheus/node_exporter).

    Args:
        window: over which rates of counters are taken, as `1m`; at least four times the scrape interval is usual.
    """

    def rate(metric: str, matcher: str = "") -> str:
        return f"rate({metric}{{{matcher}}}[{window}])"

    def by_host(metric: str) -> str:
        return f"max by (instance) ({metric})"

    total, available = by_host("node_memory_MemTotal_bytes"), by_host("node_memory_MemAvailable_bytes")
    swap, swap_free = by_host("node_memory_SwapTotal_bytes"), by_host("node_memory_SwapFree_bytes")
    idle = rate("node_cpu_seconds_total", 'mode="idle"')
    return {
        "cpu_percent": f"100 * (1 - avg by (instance) ({idle}))",
        "load_1min": by_host("node_load1"),
        "memory_total_bytes": total,
        "memory_available_bytes": available,
        "memory_used_bytes": f"{total} - {available}",
        "swap_total_bytes": swap,
        "swap_used_bytes": f"{swap} - {swap_free}",
        "disk_read_bytes_per_s": f"sum by (instance) ({rate('node_disk_read_bytes_total', _REAL_DISKS)})",
        "disk_write_bytes_per_s": f"sum by (instance) ({rate('node_disk_written_bytes_total', _REAL_DISKS)})",
        "network_receive_bytes_per_s": (
            f"sum by (instance) ({rate('node_network_receive_bytes_total', _REAL_NETWORKS)})"
        ),
        "network_send_bytes_per_s": (
            f"sum by (instance) ({rate('node_network_transmit_bytes_total', _REAL_NETWORKS)})"
        ),
    }
