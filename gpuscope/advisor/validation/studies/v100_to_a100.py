"""Mixed-precision training on a V100 predicted for an A100, from the step time alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.rates_fit import all_units
from gpuscope.advisor.validation.studies._suites import both_16_bit, family_held_out
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import UnitTime

NAME = "v100-to-a100"
DESCRIPTION = (
    "From a training step in 16 bits on a V100 to an A100, without a profile, on two suites; a model family held out."
)
CASE = "v100-a100"
GOAL = None
TRIED = (
    "Mixes without a part that no GPU shortens (20 / 52); with it, and with the share that computes from the FLOPs "
    "that the run reached, where parameters and tokens are known, which is what ships. What is left are steps of "
    "which the time alone does not tell that the host, the data or small batches hold them up (MaskRCNN, SE3, Wide "
    "and Deep), and rows that contradict each other (EfficientNet on two V100s differs by half)."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every V100 and A100 that ran the same task in 16 bits."""
    yield from family_held_out(NAME, tables, all_units(tables), _wanted)


def _wanted(source: UnitTime, target: UnitTime) -> bool:
    return both_16_bit(source, target) and source.gpu.startswith("v100") and target.gpu.startswith("a100")
