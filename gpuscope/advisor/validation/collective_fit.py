"""Fits what collectives reach on each kind of link to published times.

    t = start + 2·√(ramp/B) · √m + m/B

is linear in start, 2·√(ramp/B) and 1/B: least squares of the relative error, with weights that let rows far off pull
little, and without negative values.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.parallel.rates import DEFAULT_LINKS, LinkRate
from gpuscope.advisor.parallel.topology import NVLINK_BRIDGE, Link, Topology, topology_at_counts
from gpuscope.advisor.validation.tables import Cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALL_REDUCE, SEND = "all_reduce", "send_recv"
_ROUNDS = 12
_CLOSE = 0.05
"""Relative error up to which a row counts in full."""
_LEAST_BYTES = 32768
_FIRST_CALLS_S_PER_BYTE = 1e-9
"""Slower small messages are a first call's setup, not the link."""


class Timed(NamedTuple):
    """One published collective."""

    row: Cells
    topology: Topology
    collective: str
    gpus: int
    bytes: float
    seconds: float

    @property
    def moved(self) -> float:
        """Bytes over the bus of each GPU."""
        return self.bytes * (2 * (self.gpus - 1) / self.gpus if self.collective == ALL_REDUCE else 1.0)


def timed_of(rows: Iterable[Cells], catalogue: Catalogue) -> Iterator[Timed]:
    """Rows of published/collectives.csv on GPUs of the catalogue."""
    for row in rows:
        gpu = catalogue.gpu(row["gpu_id"])
        if gpu is None:
            continue
        each = int(row["gpus_per_node"])
        count = int(row["gpus"])
        inside = min(each, count)
        topology = topology_at_counts(gpu, count, row["intra_node"], gpus_per_node=inside, network=row["inter_node"])
        yield Timed(row, topology, row["collective"], count, float(row["bytes"]), float(row["seconds"]))


def link_of(timed: Timed) -> tuple[Link, str]:
    """The link that a collective waits for, and the kind that its rate is kept under."""
    topology = timed.topology
    if topology.inter is not None:
        return topology.inter, topology.inter.kind
    assert topology.intra is not None
    link = topology.intra
    if link.kind == NVLINK_BRIDGE and timed.gpus > (link.island or timed.gpus):
        return link._replace(bytes_per_s=link.between_islands_bytes_per_s or link.bytes_per_s), "pcie_islands"
    return link, link.kind


def fit_links(rows: Iterable[Timed]) -> tuple[LinkRate, ...]:
    """A rate for each kind of link at each nominal rate, from all-reduces; sorted."""
    groups: dict[tuple[str, float], list[Timed]] = defaultdict(list)
    for row in rows:
        if row.collective != ALL_REDUCE or row.bytes < _LEAST_BYTES:
            continue
        if row.seconds > 1e-3 and row.bytes * _FIRST_CALLS_S_PER_BYTE < row.seconds * 1e-2:
            continue
        link, kind = link_of(row)
        groups[kind, round(link.bytes_per_s / 1e9, 1)].append(row)
    return tuple(_fit(kind, nominal, groups[kind, nominal]) for kind, nominal in sorted(groups))


def _fit(kind: str, nominal_gbs: float, rows: list[Timed]) -> LinkRate:
    import numpy as np

    moved = np.array([row.moved for row in rows])
    seconds = np.array([row.seconds for row in rows])
    features = np.stack([np.ones_like(moved), np.sqrt(moved), moved], axis=1) / seconds[:, None]
    start, root, inverse = _non_negative(features, _octave_weights([row.bytes for row in rows]))
    bus = 1 / inverse
    hop_us = next((link.hop_us for link in DEFAULT_LINKS if link.kind == kind), 0.0)
    hops = 2 * math.log2(max(row.topology.nodes for row in rows))
    sources = "; ".join(sorted({row.row["source"] for row in rows}))
    return LinkRate(
        kind=kind,
        nominal_gbs=nominal_gbs,
        share=bus / (nominal_gbs * 1e9),
        start_us=max(0.0, start * 1e6 - hops * hop_us),
        ramp_us=(root / 2) ** 2 * bus * 1e6,
        hop_us=hop_us,
        source=f"fitted to {len(rows)} published all-reduces ({sources})",
    )


def _octave_weights(payloads: list[float]) -> Floats:
    """Every doubling of the payload counts the same, however many rows it has."""
    import numpy as np

    octaves = [int(np.log2(payload)) for payload in payloads]
    counts = Counter(octaves)
    return np.array([1.0 / counts[octave] for octave in octaves])


def _non_negative(features: Floats, counts: Floats) -> tuple[float, float, float]:
    """Weighted least squares of features · x = 1; a value that comes out negative is left out."""
    import numpy as np

    used = [0, 1, 2]
    while True:
        solution = _robust(features[:, used], counts)
        if (solution >= 0).all() or len(used) == 1:
            break
        used = [index for index, value in zip(used, solution, strict=True) if value >= 0 or index == 2]
    values: Any = np.zeros(3)
    values[used] = np.maximum(solution, 0.0)
    return float(values[0]), float(values[1]), float(values[2])


def _robust(features: Floats, counts: Floats) -> Floats:
    import numpy as np

    weights = counts
    solution: Floats = np.zeros(features.shape[1])
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        solution = np.asarray(np.linalg.lstsq(features * root[:, None], root, rcond=None)[0], dtype=np.float64)
        residual = np.abs(features @ solution - 1)
        weights = np.asarray(counts * _CLOSE / np.maximum(residual, _CLOSE), dtype=np.float64)
    return solution
