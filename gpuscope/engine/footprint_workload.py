"""What kind of job a footprint is of, and what it ran on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.domain.device import Device, Host
from gpuscope.domain.footprint import Batch, FootprintDevice, FootprintHost, Framework, Precision, Workload
from gpuscope.domain.sample import Frame
from gpuscope.engine.run_facts import ProcessFacts


def workload_of(
    facts: ProcessFacts, batch: Batch, devices: Sequence[FootprintDevice], catalogue: Catalogue
) -> Workload:
    """The job as its main process describes it; a framework without optimizer steps is taken for inference.

    Args:
        facts: the main process.
        batch: what a step works through.
        devices: the GPUs in use; they decide whether TF32, where it is allowed, is also there.
        catalogue: for what these GPUs can do.
    """
    framework, model = facts.last("framework"), facts.last("model")
    precision, optimizer = facts.last("precision"), facts.dominant_optimizer
    dtype = _largest(model.get("parameter_dtypes") or optimizer.get("parameter_dtypes") or {})
    specs = [catalogue.gpu(device.gpu) for device in devices]
    has_tf32 = any(spec is not None and spec.tf32_tensor_tflops for spec in specs)
    tf32 = has_tf32 and dtype == "float32" and precision.get("tf32")
    return Workload(
        stage="training" if facts.steps or not framework else "inference",
        framework=Framework(name=name, version=framework.get("version")) if (name := framework.get("name")) else None,
        model=next(iter(model.get("class_names") or []), None),
        parameters=model.get("parameters") or optimizer.get("parameters"),
        trainable_parameters=model.get("trainable_parameters") or optimizer.get("parameters"),
        precision=Precision(compute=precision.get("autocast") or ("tf32" if tf32 else dtype), parameters=dtype),
        optimizer=optimizer.get("class_name"),
        compiled=precision.get("compiled"),
        activation_checkpointing=precision.get("checkpointing"),
        batch=batch,
    )


def devices_of(processes: list[ProcessFacts], known: list[Device], catalogue: Catalogue) -> tuple[FootprintDevice, ...]:
    """The GPUs on which the job's parameters were, matched to the driver's by UUID."""
    by_uuid = {device.uuid: device for device in known}
    used = {}
    for facts in processes:
        for seen in facts.all("device"):
            if seen.get("type") == "cuda":
                uuid = nvml_uuid(seen.get("uuid"))
                used[uuid or str(seen.get("index"))] = _device(seen, by_uuid.get(uuid or ""), catalogue)
    return tuple(used.values())


class ProcessSightings:
    """Which processes were seen in the workload's tree and which on each GPU, frame by frame."""

    def __init__(self) -> None:
        self._workload: set[int] = set()
        self._on_gpu: dict[str, set[int]] = defaultdict(set)

    def add(self, frame: Frame) -> None:
        """Look at one frame."""
        if frame.host is not None:
            self._workload.update(process.pid for process in frame.host.workload_processes or ())
        for gpu in frame.gpus or ():
            if gpu.processes:
                self._on_gpu[gpu.uuid].update(process.pid for process in gpu.processes)

    def devices(self, known: list[Device], catalogue: Catalogue) -> tuple[FootprintDevice, ...]:
        """The GPUs on which the driver saw a process of the workload's tree, for a job that has no probe."""
        used = [device for device in known if self._on_gpu.get(device.uuid, set()) & self._workload]
        return tuple(_device({}, device, catalogue) for device in used)


def host_of(host: Host, catalogue: Catalogue) -> FootprintHost:
    """The machine, with its CPU's catalogue id where the catalogue knows it."""
    cpu = catalogue.match_cpu(host.cpu_name) if host.cpu_name else None
    return FootprintHost(
        cpu=cpu.id if cpu else None, name=host.cpu_name, cores=host.cores, memory_bytes=host.memory_total_bytes
    )


def nvml_uuid(uuid: Any) -> str | None:
    """NVML's form of a UUID; PyTorch prints it without the prefix."""
    if not uuid:
        return None
    text = str(uuid)
    return text if text.startswith(("GPU-", "MIG-")) else f"GPU-{text}"


def _device(seen: dict[str, Any], nvml: Device | None, catalogue: Catalogue) -> FootprintDevice:
    name = nvml.name if nvml else seen.get("name")
    memory = nvml.memory_total_bytes if nvml else seen.get("memory_bytes")
    gpu = catalogue.match_gpu(name, memory) if name else None
    uuid = nvml.uuid if nvml else nvml_uuid(seen.get("uuid"))
    return FootprintDevice(gpu=gpu.id if gpu else None, name=name, uuid=uuid, memory_bytes=memory)


def _largest(sizes: dict[str, Any]) -> str | None:
    return max(sizes, key=lambda name: float(sizes[name]), default=None)
