"""The main memory that a job needs on a machine without a GPU."""

from __future__ import annotations

from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import JobMemory
from gpuscope.domain.base import Range
from gpuscope.domain.units import GIB

# Interpreter, framework and loaded data (assumed): a Python process that has imported torch holds about 0.4 GiB.
_PROCESS = Range(low=0.3 * GIB, mid=1.0 * GIB, high=3.0 * GIB)


def host_need(job: Job, memory: JobMemory) -> Range | None:
    """What the process holds: as the run did, else parameters, gradients, optimizer state and activations.

    Args:
        job: in the wanted stage.
        memory: its parts, for one device.

    Returns:
        Bytes; None: neither was seen, nor are all parts known.
    """
    resident = job.footprint.memory.host_rss_bytes
    if resident is not None:
        return Range.exact(float(resident))
    if memory.parameters is None or memory.activations is None:
        return None
    parts = (Range.exact(memory.parameters), memory.gradients, memory.optimizer_state, memory.temporaries)
    total = _PROCESS.plus(memory.activations)
    for part in parts:
        total = total.plus(part)
    return total
