"""From a footprint and constraints to a recommendation, for whoever asks once."""

from __future__ import annotations

from datetime import date

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.advisor import NOTHING_KNOWN, Advisor
from gpuscope.advisor.choice.footprint_sense import says_anything
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints, Recommendation

__all__ = ["NOTHING_KNOWN", "recommend", "says_anything"]


def recommend(
    footprint: Footprint,
    constraints: Constraints,
    catalogue: Catalogue,
    *,
    today: date,
    calibration: Calibration = EMPTY,
) -> Recommendation:
    """Judge every GPU × count of the catalogue for a job and choose; as `Advisor` does.

    Raises:
        UsageError: the constraints contradict each other or the footprint is absurd; the text says what to change.
    """
    return Advisor(footprint, catalogue, today=today, calibration=calibration).recommend(constraints)
