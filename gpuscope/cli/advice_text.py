"""Advice for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuscope.cli.mix_table import MIX_MARKS, mix_table
from gpuscope.cli.tables import MARKS, candidate_table
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Recommendation


def recommendation_text(recommendation: Recommendation, shown: int | None) -> str:
    """The recommendation for a terminal.

    Args:
        recommendation: the advice.
        shown: so many candidates; None: all.
    """
    return "\n".join(_lines(recommendation, shown)).rstrip()


def mix_text(mix: MixRecommendation, shown: int | None) -> str:
    """The advice on several jobs for a terminal."""
    return "\n".join(_mix_lines(mix, shown)).rstrip()


def _mix_lines(mix: MixRecommendation, shown: int | None) -> Iterator[str]:
    yield mix.sentence
    yield ""
    if mix.options:
        yield mix_table(mix, shown)
        yield MIX_MARKS
    yield from _block("How far inputs may move", [each.sentence for each in mix.sensitivity])
    yield from _block("Assumed", mix.assumptions)


def _lines(recommendation: Recommendation, shown: int | None) -> Iterator[str]:
    yield recommendation.sentence
    yield ""
    if recommendation.candidates:
        yield candidate_table(recommendation, shown)
        yield MARKS
        yield ""
    hidden = 0 if shown is None else max(0, len(recommendation.candidates) - shown)
    if hidden:
        yield f"{hidden} more {'candidate' if hidden == 1 else 'candidates'}: --all lists them."
    if recommendation.rejected:
        yield f"{len(recommendation.rejected)} configurations were rejected; --json says why each."
    yield from _block("How far inputs may move", [each.sentence for each in recommendation.sensitivity])
    yield from _block("What would make it surer", [each.sentence for each in recommendation.would_be_surer])
    yield from _block("Assumed", recommendation.assumptions)
    if recommendation.prices_as_of:
        yield ""
        yield f"Prices as of {recommendation.prices_as_of}."


def _block(title: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield ""
        yield f"{title}:"
        yield from (f"  {sentence}" for sentence in sentences)
