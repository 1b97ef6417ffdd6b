"""The advisor of one job: built once, asked again whenever the person changes what is allowed."""

from __future__ import annotations

from datetime import date

import msgspec

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.alternates import alternates
from gpuscope.advisor.choice.assumptions import assumptions, price_dates
from gpuscope.advisor.choice.candidates import Builder, service_of
from gpuscope.advisor.choice.constraints import BUY, RENT, check
from gpuscope.advisor.choice.footprint_sense import check_footprint, check_job, check_service, says_anything
from gpuscope.advisor.choice.judging import explained
from gpuscope.advisor.choice.mending import fix_first, mended, waiting_share
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.choice.predictions import Predictions
from gpuscope.advisor.choice.ranking import front
from gpuscope.advisor.choice.rejections import rejections
from gpuscope.advisor.choice.relaxing import EMPTY_CATALOGUE, impossible_sentence, what_to_allow
from gpuscope.advisor.choice.robustness import sensitivities
from gpuscope.advisor.choice.search import Found, search
from gpuscope.advisor.choice.surer import improvements
from gpuscope.advisor.choice.verdict import Decision, decide
from gpuscope.advisor.job.architecture import with_counted_parameters
from gpuscope.advisor.job.job import TRAINING
from gpuscope.advisor.job.work import work_of
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints, Recommendation, Sensitivity, Verdict
from gpuscope.domain.units import format_duration_range

NOTHING_KNOWN = (
    "Nothing can be recommended: neither the steps nor the memory of a job are known. Run a training script with "
    "`gpuscope run`, or type in its size with `gpuscope estimate`."
)

_MOST_KEPT = 24
"""Searches under different constraints."""


class Advisor:
    """Recommends for one footprint. Predictions are kept, so that other constraints are judged at once.

    Args:
        footprint: what the job uses.
        catalogue: what there is.
        today: the day of the advice: prices are stale 30 days after theirs.
        calibration: sustained rates, fitted constants and interval widths.
        is_mended: the footprint's wait for data was taken away.

    Raises:
        UsageError: the footprint is absurd; the text says what to correct.
    """

    def __init__(
        self,
        footprint: Footprint,
        catalogue: Catalogue,
        *,
        today: date,
        calibration: Calibration = EMPTY,
        is_mended: bool = False,
    ) -> None:
        check_footprint(footprint, catalogue)
        footprint = with_counted_parameters(footprint)
        self._footprint = footprint
        self._catalogue = catalogue
        self._today = today
        self._calibration = calibration
        self._predictions = Predictions(footprint, catalogue, calibration, mended=is_mended)
        self._found: dict[Constraints, Found] = {}
        self._mended: Advisor | None = None

    def recommend(self, constraints: Constraints) -> Recommendation:
        """Judge every GPU × count of the catalogue and choose. Pure: the same input gives the same bytes.

        Returns:
            Candidates best first, a rejection for every GPU × count that is none, and the decision in a sentence.

        Raises:
            UsageError: the constraints contradict each other; the text says what to change.
        """
        self._check(constraints)
        if not says_anything(self._footprint):
            return Recommendation(verdict=Verdict.IMPOSSIBLE, sentence=NOTHING_KNOWN, constraints=constraints)
        found = self._search(constraints)
        rival = next((option for option in found.passed if option.candidate.acquisition == RENT), None)
        _add_worth(found, rival)
        used = self._predictions.variants(constraints)[0].job.busy_gpus
        decision = decide(found.passed, found.at_hand, constraints, 1 if constraints.counts else used)
        return self._after_mending(found, decision, constraints) or self._document(found, rival, decision, constraints)

    def options(self, constraints: Constraints) -> Found:
        """Every configuration, judged, for whoever puts several jobs together.

        Raises:
            UsageError: the constraints contradict each other.
        """
        self._check(constraints)
        return self._search(constraints)

    def _check(self, constraints: Constraints) -> None:
        check(constraints, self._catalogue)
        check_service(self._footprint, constraints)
        job = self._predictions.variants(constraints)[0].job
        check_job(job, constraints, serves=service_of(job, constraints) is not None)

    def serves(self, constraints: Constraints) -> bool:
        """Whether it is a service among other jobs: only inference is, whatever is asked of the services."""
        job = self._predictions.variants(constraints)[0].job
        return job.stage != TRAINING and service_of(job, constraints) is not None

    def assumed(self, constraints: Constraints) -> tuple[str, ...]:
        """What the predictions take for granted."""
        return self._predictions.variants(constraints)[0].job.assumptions

    def _search(self, constraints: Constraints) -> Found:
        """Kept, for what would have to give is looked for under many constraints that come again."""
        if constraints not in self._found:
            work = work_of(self._predictions.variants(constraints)[0].job, constraints)
            builder = Builder(self._predictions, work, constraints, self._catalogue, self._today)
            if len(self._found) >= _MOST_KEPT:
                self._found.pop(next(iter(self._found)))
            self._found[constraints] = search(builder, constraints, self._catalogue)
        return self._found[constraints]

    def _after_mending(
        self, found: Found, decision: Decision | None, constraints: Constraints
    ) -> Recommendation | None:
        """Advice for the job without its wait for data; None: that need not be mended, or does not help."""
        job = self._predictions.variants(constraints)[0].job
        share = waiting_share(None if decision is None else decision.chosen, job, constraints)
        if share is None:
            return None
        if self._mended is None:
            self._mended = Advisor(
                mended(self._footprint), self._catalogue, today=self._today, calibration=self._calibration,
                is_mended=True,
            )  # fmt: skip
        after = self._mended.recommend(constraints)
        return None if after.recommended is None else fix_first(after, found, share, job.data_wait_s)

    def _document(
        self, found: Found, rival: Option | None, decided: Decision | None, constraints: Constraints
    ) -> Recommendation:
        decision = decided or Decision(Verdict.IMPOSSIBLE, self._impossible(constraints, found), None)
        if decision.alone:
            decision = decision._replace(sentence=self._alone(decision, constraints, found))
        job = self._predictions.variants(constraints)[0].job
        ranked = _in_rank(found, decision)
        on_front = front(ranked)
        candidates = tuple(
            msgspec.structs.replace(
                explained(option, found.money.over_years(option, rival), constraints.economics), pareto=best
            )
            for option, best in zip(ranked, on_front, strict=True)
        )
        chosen = None if decision.chosen is None else 0
        return Recommendation(
            verdict=decision.verdict,
            sentence=decision.sentence,
            constraints=constraints,
            recommended=chosen,
            alternates=() if chosen is None else alternates(ranked, on_front, chosen),
            candidates=candidates,
            rejected=rejections(found),
            sensitivity=_sensitivity(decision, found, constraints),
            would_be_surer=()
            if decision.chosen is None
            else improvements(decision.chosen, found.passed, found.broken, job),
            assumptions=(*_of_service(decision), *assumptions(job, work_of(job, constraints), candidates, constraints)),
            prices_as_of=price_dates(candidates),
        )

    def _alone(self, decision: Decision, constraints: Constraints, found: Found) -> str:
        """The sentence for keeping what alone will do, with what any other machine would need."""
        if not found.broken and not found.rejected:
            return f"{decision.sentence} {EMPTY_CATALOGUE}"
        allowed = what_to_allow(constraints, lambda other: self._search(other).passed, found.broken)
        return f"{decision.sentence} For another machine, {allowed}" if allowed else decision.sentence

    def _impossible(self, constraints: Constraints, found: Found) -> str:
        text = impossible_sentence(
            constraints, lambda other: self._search(other).passed, found.broken, found.rejected, self._catalogue
        )
        total = None if found.at_hand is None else found.at_hand.candidate.time_to_finish_s
        if total is not None:
            text += f" The machine that it ran on takes {format_duration_range(total)}."
        return text


def _add_worth(found: Found, rival: Option | None) -> None:
    """Where the best one needs a quote, what it is worth has to be known before it is put into words."""
    if not found.passed or found.passed[0].candidate.acquisition != BUY or found.passed[0].figures.purchase_usd:
        return
    best = found.passed[0]
    owned = found.money.over_years(best, rival)
    if owned is not None:
        found.passed[0] = best._replace(candidate=msgspec.structs.replace(best.candidate, cost_over_years=owned.costs))


def _of_service(decision: Decision) -> tuple[str, ...]:
    service = None if decision.chosen is None else decision.chosen.parts.service
    return () if service is None else service.assumptions


def _sensitivity(decision: Decision, found: Found, limits: Constraints) -> tuple[Sensitivity, ...]:
    if decision.chosen is None:
        return ()
    return sensitivities(decision.chosen, found.passed, found.broken, found.at_hand, limits, found.money)


def _in_rank(found: Found, decision: Decision) -> list[Option]:
    """All that break no limit, the machine at hand first where it is chosen and else last."""
    ranked = list(found.passed)
    if found.at_hand is not None:
        ranked.insert(0 if decision.chosen is found.at_hand else len(ranked), found.at_hand)
    return ranked
