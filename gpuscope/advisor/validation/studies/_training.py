"""One published training step beside its prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.parallel.explain import layout_words
from gpuscope.advisor.parallel.scaling import spread_doubts, transformer_doubts
from gpuscope.advisor.timing.uncertainty import combined
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.transformer_fit import Trained, predict
from gpuscope.domain.base import Range


def training_outcomes(
    study: str,
    family: str,
    held_out: str,
    source: str,
    rows: Sequence[tuple[str, Trained]],
    calibration: Calibration,
    *,
    tuned: bool = False,
) -> Iterator[Outcome]:
    """Outcomes of rows that the calibration has not seen; each comes with the name of its model.

    Args:
        study: its name.
        family: of models.
        held_out: what the constants have not seen.
        source: of the rows.
        rows: names and steps.
        calibration: the constants.
        tuned: they are those of libraries tuned for the GPU.
    """
    seconds = predict([row for _, row in rows], calibration)
    for (name, row), mid in zip(rows, seconds.tolist(), strict=True):
        found = transformer_doubts(row.gpu, calibration, mixture=row.shape.experts > 1, tuned=tuned)
        spread = spread_doubts(row.topology, calibration, sharded=False, shape_known=True, modelled=True)
        low = mid / combined((*found.both, *found.faster, *spread))
        yield Outcome(
            study=study,
            family=family,
            gpu=row.gpu.id,
            precision=row.precision,
            label=f"{name}, {row.topology.gpus} GPUs, {row.shape.sequence:g} tokens, {layout_words(row.layout)}",
            predicted=Range(low=low, mid=mid, high=mid * combined((*found.both, *spread))),
            measured=row.measured_s,
            held_out=held_out,
            source=source,
        )
