"""From a session to the footprint of its job."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gpuscope.advisor.catalogue import Catalogue
from gpuscope.domain.base import Range
from gpuscope.domain.device import Device
from gpuscope.domain.footprint import (
    Batch,
    Breakdown,
    Footprint,
    FootprintDevice,
    FootprintHost,
    FootprintSource,
    Framework,
    InputOutput,
    Memory,
    Precision,
    Provenance,
    RankFootprint,
    Steps,
    Throughput,
    TimePerStep,
    Utilization,
    Workload,
)
from gpuscope.domain.ops import classify
from gpuscope.domain.series import HOST_KEY, Timeline
from gpuscope.domain.steps import StepRecord
from gpuscope.engine import measures
from gpuscope.engine.advise import catalogue
from gpuscope.engine.findings import findings_of
from gpuscope.engine.run_facts import ProcessFacts, process_facts
from gpuscope.store.reader import SessionReader

NO_PROCESS = ProcessFacts("none")


def footprint_of(reader: SessionReader) -> Footprint:
    """The stored footprint of a finished session, else one computed from what is there now."""
    return reader.document("footprint", Footprint) or compute_footprint(reader)


def compute_footprint(reader: SessionReader) -> Footprint:
    """The footprint of whatever a session holds so far; what it does not hold is null."""
    return _Builder(reader, catalogue()).build()


class _Builder:
    """Puts a footprint together; each figure's provenance is noted where the figure is found."""

    def __init__(self, reader: SessionReader, known: Catalogue) -> None:
        self.reader = reader
        self.catalogue = known
        self.timeline: Timeline = reader.timeline()
        self.processes = process_facts(reader.events())
        self.main = self.processes[0] if self.processes else NO_PROCESS
        self.steady = _steady_steps(self.main.steps)
        self.start_s, self.end_s = self._steady_window()
        self.provenance: dict[str, Provenance] = {}

    def build(self) -> Footprint:
        devices = self._devices()
        uuids = [device.uuid for device in devices if device.uuid]
        energy, how = measures.energy(self.timeline, uuids, self.start_s, self.end_s, self._steps_in_window())
        if energy.mean_power_w is not None:
            self._note("/energy", "measured", how, "NVML")
        steps = self._steps()
        footprint = Footprint(
            source=self._source(),
            workload=self._workload(),
            devices=devices,
            host=self._host(),
            steps=steps,
            time_per_step_s=self._time_per_step(),
            memory=self._memory(self.main, uuids),
            ops=self._ops(),
            utilization=Utilization(
                gpu=measures.gpu_spread(self.timeline, uuids, self.start_s, self.end_s),
                cpu=measures.spread(self.timeline.get(HOST_KEY, "cpu_percent"), self.start_s, self.end_s),
            ),
            energy=energy,
            io=self._io(),
            ranks=self._ranks(),
            provenance=self.provenance,
            extra=self._extra(),
        )
        return footprint_with_findings(footprint, bool(self.processes))

    def _note(self, pointer: str, kind: str, how: str, source: str = "") -> None:
        self.provenance[pointer] = Provenance(kind=kind, how=how, source=source)

    def _steady_window(self) -> tuple[float, float]:
        if self.steady:
            first = self.steady[0]
            return first.t - (first.duration_s or 0.0), self.steady[-1].t
        return 0.0, self.timeline.end_s

    def _steps_in_window(self) -> int:
        return sum(1 for step in self.main.steps if self.start_s < step.t <= self.end_s)

    def _source(self) -> FootprintSource:
        manifest = self.reader.manifest
        when = datetime.fromtimestamp(manifest.created_wall_s, UTC).isoformat(timespec="seconds")
        return FootprintSource(kind="measured", session=manifest.session_id, when=when)

    def _workload(self) -> Workload:
        framework, model = self.main.last("framework"), self.main.last("model")
        precision, optimizer = self.main.last("precision"), self.main.dominant_optimizer
        manifest = self.reader.manifest
        if self.processes:
            self._note("/workload/parameters", "measured", "all live modules, each tensor once", "probe")
            how = "an optimizer stepped" if self.main.steps else "no optimizer stepped"
            self._note("/workload/stage", "derived", how, "probe")
        parameter_dtype = _largest(model.get("parameter_dtypes") or optimizer.get("parameter_dtypes") or {})
        return (
            Workload(
                stage="training" if self.main.steps or not self.processes else "inference",
                framework=Framework(name=framework["name"], version=framework.get("version")) if framework else None,
                model=(model.get("class_names") or [None])[0],
                parameters=model.get("parameters") or optimizer.get("parameters"),
                trainable_parameters=model.get("trainable_parameters") or optimizer.get("parameters"),
                precision=Precision(compute=precision.get("autocast") or parameter_dtype, parameters=parameter_dtype),
                optimizer=optimizer.get("class_name"),
                compiled=precision.get("compiled"),
                activation_checkpointing=precision.get("checkpointing"),
                batch=self._batch(),
            )
            if manifest.kind == "run"
            else Workload()
        )

    def _batch(self) -> Batch:
        samples = [float(batch["samples"]) for batch in self.main.all("batch") if batch.get("samples")]
        if not samples or not self.main.steps:
            return Batch()
        per_step = sorted(samples)[len(samples) // 2]
        world = int(self.main.last("process_start").get("world_size") or 1)
        self._note("/workload/batch", "measured", "median samples of the DataLoader batches of a step", "probe")
        return Batch(per_device=per_step, global_=per_step * world, unit="samples")

    def _devices(self) -> tuple[FootprintDevice, ...]:
        known = {device.uuid: device for device in self.reader.devices()}
        used = {}
        for facts in self.processes:
            for device in facts.all("device"):
                if device.get("type") == "cuda":
                    uuid = _nvml_uuid(device.get("uuid"))
                    used[uuid or str(device.get("index"))] = self._device(device, known.get(uuid or ""))
        return tuple(used.values())

    def _device(self, seen: dict[str, Any], nvml: Device | None) -> FootprintDevice:
        name = nvml.name if nvml else seen.get("name")
        memory = nvml.memory_total_bytes if nvml else seen.get("memory_bytes")
        gpu = self.catalogue.match_gpu(name, memory) if name else None
        uuid = nvml.uuid if nvml else _nvml_uuid(seen.get("uuid"))
        return FootprintDevice(gpu=gpu.id if gpu else None, name=name, uuid=uuid, memory_bytes=memory)

    def _host(self) -> FootprintHost:
        host = self.reader.manifest.host
        cpu = self.catalogue.match_cpu(host.cpu_name) if host.cpu_name else None
        return FootprintHost(
            cpu=cpu.id if cpu else None, name=host.cpu_name, cores=host.cores, memory_bytes=host.memory_total_bytes
        )

    def _steps(self) -> Steps:
        steps = self.main.steps
        if not steps:
            return Steps(count=0 if self.processes else None)
        self._note(
            "/steps/count", "measured", "optimizer steps of the dominant optimizer, one a backward pass", "probe"
        )
        self._note("/steps/time_s", "measured", "time between the ends of successive steps in steady state", "probe")
        return _steps_summary(steps, self.steady, self._batch())

    def _time_per_step(self) -> TimePerStep:
        count = len(self.main.steps)
        waits = [float(batch["wait_s"]) for batch in self.main.all("batch") if batch.get("wait_s") is not None]
        if not waits or not count:
            return TimePerStep()
        self._note("/time_per_step_s/data_loader", "measured", "time in the DataLoader's next, per step", "probe")
        return TimePerStep(data_loader=sum(waits) / count)

    def _memory(self, facts: ProcessFacts, uuids: list[str]) -> Memory:
        counters = facts.all("memory")
        allocated = max((int(c["peak_allocated_bytes"]) for c in counters), default=None)
        reserved = max((int(c["peak_reserved_bytes"]) for c in counters), default=None)
        if allocated is not None:
            self._note("/memory/peak_allocated_bytes", "measured", "PyTorch's caching allocator", "probe")
        return Memory(
            peak_allocated_bytes=None if allocated is None else Range.exact(allocated),
            peak_reserved_bytes=None if reserved is None else Range.exact(reserved),
            peak_device_bytes=self._device_peak(uuids),
            breakdown=self._breakdown(facts),
            host_rss_bytes=measures.peak(self.timeline.get(HOST_KEY, "workload_rss_bytes")),
        )

    def _device_peak(self, uuids: list[str]) -> Range | None:
        peaks = []
        for uuid in uuids:
            known = self.timeline.get(uuid, "memory_used_bytes").known
            if len(known):
                peaks.append(float(known.max() - known[0]))
        if not peaks:
            return None
        self._note("/memory/peak_device_bytes", "measured", "highest use of a GPU above its first reading", "NVML")
        return Range.exact(max(peaks))

    def _breakdown(self, facts: ProcessFacts) -> Breakdown:
        model, optimizers = facts.last("model"), facts.optimizers()
        if not optimizers and not model:
            return Breakdown()
        self._note("/memory/breakdown", "measured", "tensors of modules and optimizers, each storage once", "probe")
        in_optimizers = sum(int(o.get("parameter_bytes") or 0) for o in optimizers)
        parameters = model.get("parameter_bytes")
        return Breakdown(
            parameters_bytes=int(parameters if parameters is not None else in_optimizers),
            gradients_bytes=_peak_sum(facts, "gradient_bytes") if optimizers else None,
            optimizer_state_bytes=_peak_sum(facts, "state_bytes") if optimizers else None,
        )

    def _ops(self) -> tuple[Any, ...]:
        event = self.main.last("ops")
        if not event:
            return ()
        self._note("/ops", "derived", "operators of one profiled step; FLOPs and bytes from shapes", "probe")
        return classify(event.get("rows", []))

    def _io(self) -> InputOutput:
        read = measures.host_mean(self.timeline, "disk_read_bytes_per_s", self.start_s, self.end_s)
        network = measures.host_mean(self.timeline, "network_receive_bytes_per_s", self.start_s, self.end_s)
        return InputOutput(disk_read_bytes_per_s=read, network_bytes_per_s=network)

    def _ranks(self) -> tuple[RankFootprint, ...]:
        ranked = [facts for facts in self.processes if facts.rank is not None and facts.steps]
        if len(ranked) < 2:
            return ()
        return tuple(
            RankFootprint(
                rank=facts.rank or 0,
                steps=_steps_summary(facts.steps, _steady_steps(facts.steps), Batch()),
                memory=self._memory(facts, []),
            )
            for facts in sorted(ranked, key=lambda facts: facts.rank or 0)
        )

    def _extra(self) -> dict[str, Any]:
        durations = [step.duration_s for step in self.main.steps if step.duration_s is not None]
        extra: dict[str, Any] = {"buffer_bytes": self.main.last("model").get("buffer_bytes")}
        extra["all_steps_p50_s"] = measures.step_time(durations).p50
        return {name: value for name, value in extra.items() if value is not None}


def footprint_with_findings(footprint: Footprint, has_probe: bool) -> Footprint:
    """The same footprint with what a person should know about it."""
    import msgspec

    return msgspec.structs.replace(footprint, findings=findings_of(footprint, has_probe))


def _steady_steps(steps: list[StepRecord]) -> list[StepRecord]:
    timed = [step for step in steps[measures.warm_up_steps(len(steps)) :] if step.duration_s and not step.profiled]
    return timed or [step for step in steps if step.duration_s and not step.profiled]


def _steps_summary(steps: list[StepRecord], steady: list[StepRecord], batch: Batch) -> Steps:
    time_s = measures.step_time([step.duration_s for step in steady if step.duration_s])
    throughput = None
    if time_s.p50:
        if batch.global_:
            throughput = Throughput(value=batch.global_ / time_s.p50, unit=f"{batch.unit}/s")
        else:
            throughput = Throughput(value=1 / time_s.p50, unit="steps/s")
    skipped = [step.skipped for step in steps]
    return Steps(
        count=len(steps),
        skipped_updates=None if None in skipped else sum(1 for value in skipped if value),
        steady_count=len(steady),
        time_s=time_s,
        throughput=throughput,
    )


def _peak_sum(facts: ProcessFacts, name: str) -> int:
    """Sum over optimizers of the highest value that each was seen with."""
    highest: dict[str, int] = {}
    for census in facts.all("optimizer"):
        key = str(census.get("key"))
        highest[key] = max(highest.get(key, 0), int(census.get(name) or 0))
    return sum(highest.values())


def _largest(sizes: dict[str, Any]) -> str | None:
    return max(sizes, key=lambda name: float(sizes[name]), default=None)


def _nvml_uuid(uuid: Any) -> str | None:
    """PyTorch prints a UUID without NVML's prefix."""
    if not uuid:
        return None
    text = str(uuid)
    return text if text.startswith(("GPU-", "MIG-")) else f"GPU-{text}"
