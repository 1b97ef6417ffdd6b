"""Fit the shares of `cost.power` to published power: five figures, linear least squares, each GPU with equal weight."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.cost.power import Load, PowerShares, mean_watts
from gpuscope.advisor.job.precision import FLOAT32, matrix_peak_tflops
from gpuscope.advisor.validation.tables import Cells, Tables

TABLE = "power"
HOST_BOUND = "host-bound"
"""Kind of the rows whose GPU waits nearly all the time."""
_COVERED = 0.9


class PowerRow(NamedTuple):
    """One published mean power with the load that goes with it."""

    gpu: GpuSpec
    load: Load
    watts: float
    """Of one GPU."""
    cells: Cells


def power_rows(tables: Tables) -> tuple[PowerRow, ...]:
    """The rows of published/power.csv."""
    return tuple(_row(cells, tables) for cells in tables.rows(TABLE))


def fit(rows: Sequence[PowerRow]) -> PowerShares:
    """Shares that fit these rows best in relative terms.

    The spreads are found by leaving each GPU out once more. Rows at a lowered power limit say nothing of the shares.
    """
    errors: dict[bool, list[float]] = {True: [], False: []}
    for name in sorted({row.gpu.id for row in rows}):
        others = _shares([row for row in rows if row.gpu.id != name])
        for row in rows:
            predicted = mean_watts(row.load, row.gpu, others) if row.gpu.id == name else None
            if predicted is not None:
                errors[row.load.busy == 0].append(abs(math.log(predicted.mid / row.watts)))
    return _shares(rows)._replace(
        idle_spread=math.exp(_quantile(errors[True], _COVERED)), spread=math.exp(_quantile(errors[False], _COVERED))
    )


def _shares(rows: Sequence[PowerRow]) -> PowerShares:
    import numpy as np  # here, for starting is not to wait for it

    free = [row for row in rows if row.load.limit_w is None]
    weight = Counter(row.gpu.id for row in free)
    scale = [math.sqrt(1 / weight[row.gpu.id]) for row in free]
    # Relative errors: each row is divided by what was measured, so that all are to come out as 1.
    left = np.array(
        [[factor * part for part in _parts(row)] for factor, row in zip(scale, free, strict=True)], dtype=float
    )
    found = np.linalg.lstsq(left, np.array(scale), rcond=None)[0]
    idle, busy, memory, vector, tensor = (max(0.0, float(share)) for share in found)
    return PowerShares(idle=idle, busy=busy, memory=memory, vector=vector, tensor=tensor, idle_spread=1.0, spread=1.0)


def _parts(row: PowerRow) -> tuple[float, ...]:
    """What multiplies each share, over the measured power."""
    gpu, load = row.gpu, row.load
    peak = matrix_peak_tflops(gpu, load.precision)
    assert gpu.tdp_w
    assert gpu.memory_bandwidth_gbs
    assert peak
    computing = load.flops_per_s / (peak * 1e12)
    vector = load.precision == FLOAT32
    parts = (
        1 - load.busy,
        load.busy,
        load.bytes_per_s / (gpu.memory_bandwidth_gbs * 1e9),
        computing if vector else 0.0,
        0.0 if vector else computing,
    )
    return tuple(part * gpu.tdp_w / row.watts for part in parts)


def _row(cells: Cells, tables: Tables) -> PowerRow:
    gpu = tables.catalogue.gpu(cells["gpu_id"])
    assert gpu is not None
    load = Load(
        busy=0.0 if cells["kind"] == HOST_BOUND else 1.0,
        flops_per_s=float(cells["tflops_per_gpu"]) * 1e12,
        bytes_per_s=float(cells["gbs_per_gpu"]) * 1e9,
        precision=cells["precision"],
        limit_w=float(cells["power_limit_w"]) if cells["power_limit_w"] else None,
    )
    return PowerRow(gpu, load, float(cells["watts_per_gpu"]), cells)


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
