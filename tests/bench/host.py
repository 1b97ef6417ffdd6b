"""What one reading of the host costs, beside the same figures and fewer from psutil."""

from __future__ import annotations

import time

import psutil

from gpuscope.sources.host import HostSource
from tests.bench.measure import Comparison, interleave

READINGS = 200
MS_PER_S = 1000


def run(rounds: int) -> Comparison:
    """CPU milliseconds of a reading; sensors and limits, which are read every few seconds, in their proportion."""
    source = HostSource()

    def psutil_set() -> None:
        psutil.cpu_percent(percpu=True)
        psutil.virtual_memory()
        psutil.swap_memory()
        psutil.getloadavg()
        psutil.disk_io_counters(perdisk=True, nowrap=False)
        psutil.net_io_counters(pernic=True, nowrap=False)

    def milliseconds(read: object) -> float:
        start_s = time.process_time()
        for _ in range(READINGS):
            source.sample() if read is source else psutil_set()
        return MS_PER_S * (time.process_time() - start_s) / READINGS

    return interleave(
        "a reading of the host",
        "psutil: CPU, memory, disks, network",
        "ms",
        ours=lambda: milliseconds(source),
        baseline=lambda: milliseconds(None),
        rounds=rounds,
    )
