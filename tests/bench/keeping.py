"""What a long recording of eight GPUs costs and how fast it opens: `python -m tests.bench.keeping [HOURS]`.

The frames are made up (see `eight_gpus`); writer, compaction and reader are the real ones, faster than time passes. A
whole day, the default, takes about ten minutes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from gpuscope.domain.device import Device, Host
from gpuscope.domain.run import Manifest
from gpuscope.engine.follow import Follower
from gpuscope.store.writer import SessionWriter
from gpuscope.ui.monitor_model import PLOTTED_FIELDS, MonitorModel
from tests.bench.eight_gpus import GPUS, frames

HOURS = 24.0
ZERO_S, WALL_S = 1000.0, 1.7e9
COLUMNS = 900
"""Pixels of a plot."""


def run(hours: float) -> None:
    """Record, open, and cut out parts; print what it took."""
    with tempfile.TemporaryDirectory(prefix="gpuscope-bench-") as folder:
        path = Path(folder) / "day.gpuscope"
        count, spent_s, longest_ms = _record(path, hours)
        size_mb = path.stat().st_size / 1e6
        most_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{hours:g} h of {GPUS} GPUs at 10 Hz, host at 1 Hz: {count} frames, {size_mb:.1f} MB")
        print(f"writing and compacting: {spent_s / hours / 36:.2f}% of a core, {longest_ms:.1f} ms CPU a frame (p99.9)")
        print(f"most memory, with that of what makes up the frames: {most_mb:.0f} MB")
        _open(path)


def _record(path: Path, hours: float) -> tuple[int, float, float]:
    """Frames written, CPU seconds of writing, and milliseconds (p99.9) of one frame."""
    manifest = Manifest(
        session_id="bench", kind="record", created_wall_s=WALL_S, created_monotonic_s=ZERO_S, gpuscope_version="0",
        host=Host(hostname="bench", os="Linux"), interval_s=0.1,
    )  # fmt: skip
    writer = SessionWriter.create(path, manifest)
    histogram = [0] * 10_000
    spent_s, count = 0.0, 0
    for frame in frames(3600 * hours, ZERO_S, WALL_S):
        for index, gpu in enumerate(frame.gpus or ()) if not count else ():
            writer.add_device(Device(uuid=gpu.uuid, index=index, name="NVIDIA H100 80GB HBM3"))
        began_s = time.process_time()
        writer.add_frame(frame)
        writer.commit()
        writer.compact()
        took_s = time.process_time() - began_s
        spent_s += took_s
        histogram[min(len(histogram) - 1, int(10_000 * took_s))] += 1
        count += 1
    began_s = time.process_time()
    writer.close()
    spent_s += time.process_time() - began_s
    above, place = 0, len(histogram)
    while above < count / 1000:
        place -= 1
        above += histogram[place]
    return count, spent_s, place / 10


def _open(path: Path) -> None:
    """Open the session as the window does, and cut out what its plots draw."""
    began_s, cpu_s = time.perf_counter(), time.process_time()
    follower = Follower(path, PLOTTED_FIELDS)
    model = MonitorModel(follower.manifest)
    more = True
    while more:
        update = follower.poll()
        model.take(update)
        more = update.more
    follower.close()
    print(f"opened in {time.perf_counter() - began_s:.2f} s ({time.process_time() - cpu_s:.2f} s CPU)")
    for share in (1.0, 0.3, 0.03):
        span = (0.5 * (1 - share) * model.end_s, 0.5 * (1 + share) * model.end_s)
        _cut_out(model, span)  # the first look makes coarser steps
        began_s = time.perf_counter()
        curves = _cut_out(model, span)
        print(f"{curves} curves of {share:.0%} of it: {1000 * (time.perf_counter() - began_s):.1f} ms without painting")
    read = model.detail_wanted()
    if read is not None:
        began_s = time.perf_counter()
        read()
        print(f"their readings in full, read beside the window: {time.perf_counter() - began_s:.2f} s")


def _cut_out(model: MonitorModel, span: tuple[float, float]) -> int:
    count = 0
    for device in [*(device.uuid for device in model.devices), "host"]:
        for name in sorted(PLOTTED_FIELDS):
            count += len(model.between(device, name, *span, COLUMNS)[0]) > 0
    return count


if __name__ == "__main__":
    run(float(sys.argv[1]) if len(sys.argv) > 1 else HOURS)
