"""Logs in which no GPU works: a single look between two steps, or at an idle machine."""

from __future__ import annotations

from pathlib import Path

from gpuscope.domain.footprint import Footprint
from gpuscope.domain.units import MIB
from gpuscope.engine.footprint_import import imported_footprint
from gpuscope.engine.import_files import import_files
from gpuscope.store.reader import SessionReader

HEADING = "timestamp, index, name, utilization.gpu [%], memory.used [MiB]\n"


def footprint_of(folder: Path, *rows: str) -> Footprint:
    log = folder / "log.csv"
    log.write_text(HEADING + "".join(f"2026/07/31 00:00:00, {row}\n" for row in rows))
    session = folder / "log.gpuscope"
    import_files([log], session)
    with SessionReader(session) as reader:
        return imported_footprint(reader)


def codes(footprint: Footprint) -> list[str]:
    return [finding.code for finding in footprint.findings]


def test_the_gpu_that_holds_memory_between_two_steps_is_the_jobs(tmp_path: Path) -> None:
    footprint = footprint_of(tmp_path, "0, NVIDIA A10G, 0 %, 4 MiB", "1, NVIDIA A10G, 0 %, 20000 MiB")
    assert len(footprint.devices) == 1
    assert footprint.memory.peak_device_bytes is not None
    assert footprint.memory.peak_device_bytes.low == footprint.memory.peak_device_bytes.high == 20000 * MIB
    assert codes(footprint) == ["gpus_idle", "job_not_seen"]


def test_an_idle_machine_has_its_gpus_all_the_same(tmp_path: Path) -> None:
    footprint = footprint_of(tmp_path, "0, NVIDIA A10G, 0 %, 4 MiB", "1, NVIDIA A10G, 0 %, 4 MiB")
    assert len(footprint.devices) == 2
    assert codes(footprint) == ["gpus_idle", "job_not_seen"]


def test_a_gpu_that_only_holds_memory_beside_a_busy_one_is_somebody_elses(tmp_path: Path) -> None:
    footprint = footprint_of(tmp_path, "0, NVIDIA A10G, 90 %, 9000 MiB", "1, NVIDIA A10G, 0 %, 20000 MiB")
    assert len(footprint.devices) == 1
    assert codes(footprint) == ["job_not_seen"]
