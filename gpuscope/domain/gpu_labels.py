"""What the labels of exporters' metrics say: which GPU it is, in which machine, and whose work it does."""

from __future__ import annotations

from collections.abc import Mapping

from gpuscope.domain.device import Device
from gpuscope.domain.whole_numbers import whole_number

JOB_LABELS = ("hpc_job", "exported_pod", "pod", "exported_container", "container", "exported_namespace", "namespace")
"""Where dcgm-exporter notes whose work runs on a GPU: the job of a batch system, or of Kubernetes. Prometheus renames
its own to `exported_…` where they clash with those of the scraped target."""


def gpu_key(labels: Mapping[str, str]) -> str:
    """What tells a GPU or a MIG instance from all others: its UUID, or else its host and number."""
    uuid = labels.get("UUID") or labels.get("uuid") or labels.get("gpu_uuid")
    number = labels.get("gpu") or labels.get("minor_number") or labels.get("minor") or "?"
    name = uuid or f"{_host_with_port(labels) or ''} GPU {number}".strip()
    instance = labels.get("GPU_I_ID")
    return f"{name} MIG {instance}" if instance else name


def host_of(labels: Mapping[str, str]) -> str | None:
    """The machine that a series is about, without a port."""
    name = _host_with_port(labels)
    if name is None:
        return None
    host, colon, port = name.rpartition(":")
    return host.strip("[]") if colon and port.isdigit() else name


def gpu_device(labels: Mapping[str, str], position: int, memory_total_bytes: int | None = None) -> Device:
    """The facts of a GPU; `position` numbers it where the labels do not."""
    number = whole_number(labels.get("gpu") or labels.get("minor_number"))
    name = labels.get("modelName") or labels.get("name") or "unknown GPU"
    profile = labels.get("GPU_I_PROFILE")
    return Device(
        uuid=gpu_key(labels),
        index=position if number is None else number,
        name=f"{name} MIG {profile}" if profile else name,  # as the driver itself names an instance
        kind="mig" if labels.get("GPU_I_ID") else "gpu",
        pci_bus_id=labels.get("pci_bus_id"),
        driver_version=labels.get("DCGM_FI_DRIVER_VERSION") or labels.get("driver_version"),
        hostname=host_of(labels),
        rack=labels.get("rack") or labels.get("topology_rack"),
        memory_total_bytes=memory_total_bytes,
    )


def _host_with_port(labels: Mapping[str, str]) -> str | None:
    return labels.get("Hostname") or labels.get("hostname") or labels.get("node") or labels.get("instance") or None
