"""Fits the constants of transformers on many GPUs to published training runs.

Only rows that are passed in are seen, and the search begins at the assumed constants of `parallel.rates`, so that
whoever holds rows out can say that nothing was fitted on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gpuscope.advisor.calibration.fitting import Constant, fitted
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.parallel.collectives import fabric_of
from gpuscope.advisor.parallel.device import matrix_device
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.step import prepare_steps, transformer_steps
from gpuscope.advisor.parallel.table import LayoutTable, table_of
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.parallel.transformer import Shape
from gpuscope.domain.recommendation import Layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_ROW_SPREAD = 0.06
"""Of a row's logarithm around the model; rows further off count less."""

CONSTANTS: dict[str, Constant] = {
    "matrix_share": Constant(0.95, 1.1, 0.5, 1.1),
    "hopper_share": Constant(0.85, 1.2, 0.4, 1.0),
    "half_width": Constant(120.0, 1.5),
    "half_tokens": Constant(150.0, 1.5),
    "attention_share": Constant(0.45, 1.4, 0.1, 1.0),
    "hopper_attention_share": Constant(0.7, 1.3, 0.2, 1.5),
    "elementwise_bytes": Constant(1.0, 1.4),
    "recompute_share": Constant(0.85, 1.2, 0.6, 1.0),
    "hidden_share": Constant(0.5, 1.4, 0.05, 0.98),
    "straggler_per_doubling": Constant(0.01, 1.6),
}
"""What is fitted, with where it lies before any row was seen."""


TUNED_CONSTANTS: dict[str, Constant] = {
    "hopper_share": Constant(0.9, 1.1, 0.4, 1.0),
    "hopper_attention_share": Constant(1.2, 1.3, 0.2, 2.0),
    "elementwise_bytes": Constant(0.6, 1.4),
    "tensor_hidden_share": Constant(0.5, 1.4, 0.05, 0.95),
    "hidden_share": Constant(0.8, 1.2, 0.05, 0.98),
}
"""What libraries tuned for the GPU change: fused operators, attention written for Hopper, messages beside products."""

EXPERT_CONSTANTS: dict[str, Constant] = {"expert_half_width": Constant(1000.0, 2.0)}
"""What only mixtures of experts have."""


class Trained(NamedTuple):
    """One published training step."""

    gpu: GpuSpec
    topology: Topology
    shape: Shape
    layout: Layout
    precision: str
    gradient_bytes: float
    measured_s: float
    interleaved: float = 1.0


class _Columns(NamedTuple):
    """Rows whose attention and tensor parallelism are of the same kind, as columns."""

    indexes: list[int]
    shape: Shape
    """With a column in each field."""
    table: LayoutTable
    gradient_bytes: Floats
    interleaved: Floats


def predict(rows: Sequence[Trained], calibration: Calibration) -> Floats:
    """Seconds of each row's step."""
    return _predict(rows, _columns(rows), calibration)


def _columns(rows: Sequence[Trained]) -> list[_Columns]:
    import numpy as np

    groups: dict[tuple[bool, bool], list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        groups[row.shape.fused_attention, row.shape.sequence_parallel].append(index)
    return [
        _Columns(
            indexes=indexes,
            shape=_stacked([rows[index].shape for index in indexes])._replace(
                fused_attention=fused, sequence_parallel=shared
            ),
            table=table_of([rows[index].layout for index in indexes]),
            gradient_bytes=np.array([rows[index].gradient_bytes for index in indexes]),
            interleaved=np.array([rows[index].interleaved for index in indexes]),
        )
        for (fused, shared), indexes in groups.items()
    ]


def _predict(rows: Sequence[Trained], columns: Sequence[_Columns], calibration: Calibration) -> Floats:
    import numpy as np

    seconds = np.zeros(len(rows))
    rates = calibration.parallel
    fabrics = {row.topology: fabric_of(row.topology, rates) for row in rows}
    devices = {}
    for row in rows:
        key = row.gpu.id, row.precision
        if key not in devices:
            devices[key] = matrix_device(row.gpu, row.precision, calibration, rates)
    for group in columns:
        device = _stacked([devices[rows[index].gpu.id, rows[index].precision] for index in group.indexes])
        prepared = prepare_steps(
            group.shape,
            group.table,
            _stacked([fabrics[rows[index].topology] for index in group.indexes]),
            rates,
            element_bytes=device.element_bytes,
            gradient_bytes=group.gradient_bytes,
            interleaved=group.interleaved,
        )
        seconds[group.indexes] = transformer_steps(prepared, device).seconds
    return seconds


def _stacked(entries: Sequence[Any]) -> Any:
    """Named tuples of one kind as one of them that holds a column in each field."""
    import numpy as np

    return type(entries[0])(*(np.array(column) for column in zip(*entries, strict=True)))


def fit_transformers(
    rows: Iterable[Trained], calibration: Calibration, constants: Mapping[str, Constant] = CONSTANTS
) -> Calibration:
    """A calibration whose constants for many GPUs are those that the rows say."""
    import numpy as np

    known = list(rows)
    columns = _columns(known)
    logs = np.log([row.measured_s for row in known])
    start = calibration.parallel

    def with_values(values: Mapping[str, float]) -> Calibration:
        rates: ParallelRates = msgspec.structs.replace(start, **values)
        return msgspec.structs.replace(calibration, parallel=rates)

    def loss(values: Mapping[str, float]) -> float:
        sizes = np.abs(np.log(_predict(known, columns, with_values(values))) - logs) / _ROW_SPREAD
        return float(np.where(sizes <= 1, sizes * sizes / 2, sizes - 0.5).sum())

    return with_values(fitted(constants, loss))
