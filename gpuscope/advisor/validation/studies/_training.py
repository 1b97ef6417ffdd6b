"""One published training step beside its prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.parallel.explain import layout_words
from gpuscope.advisor.parallel.scaling import spread_doubts
from gpuscope.advisor.timing.uncertainty import combined, doubt
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.transformer_fit import Trained, predict
from gpuscope.domain.base import Range


def training_outcomes(
    study: str, family: str, held_out: str, source: str, rows: Sequence[tuple[str, Trained]], calibration: Calibration
) -> Iterator[Outcome]:
    """Outcomes of rows that the calibration has not seen; each comes with the name of its model."""
    seconds = predict([row for _, row in rows], calibration)
    for (name, row), mid in zip(rows, seconds.tolist(), strict=True):
        doubts = [doubt("transformer_dimensions", calibration)]
        doubts += spread_doubts(row.topology, calibration, sharded=False, shape_known=True, modelled=True)
        factor = combined(doubts)
        yield Outcome(
            study=study,
            family=family,
            gpu=row.gpu.id,
            precision=row.precision,
            label=f"{name}, {row.topology.gpus} GPUs, {row.shape.sequence:g} tokens, {layout_words(row.layout)}",
            predicted=Range(low=mid / factor, mid=mid, high=mid * factor),
            measured=row.measured_s,
            held_out=held_out,
            source=source,
        )
