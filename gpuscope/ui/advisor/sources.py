"""Where the Advisor panel's footprints, recommendations and choices come from; called beside the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.mix.advising import recommend_mix
from gpuscope.advisor.mix.jobs import AskedJob
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.engine import advise as advice
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.predictions import compare, remember
from gpuscope.engine.registry import SessionSummary, sessions
from gpuscope.engine.session import open_session
from gpuscope.errors import UsageError
from gpuscope.store.reader import SessionState
from gpuscope.store.schema import SUFFIX
from gpuscope.ui.advisor.form.constraints import Choices
from gpuscope.ui.advisor.form.model import EstimateInput
from gpuscope.ui.advisor.form.quote_files import quotes_of_file
from gpuscope.ui.advisor.form.texts import QuoteTexts
from gpuscope.ui.advisor.mix.advice import AdviseMix
from gpuscope.ui.advisor.mix.jobs import MixInput

UNUSED_OPTIMIZER = "adamw"
"""Inference has none; the estimate does not look at it."""


@dataclass(frozen=True, slots=True)
class AdvisorSources:
    """Functions that may take a while and raise `GpuscopeError`."""

    footprint: Callable[[Path], Footprint]
    """Of a session, as far as it goes."""
    advise: Callable[[Footprint, Constraints], Recommendation]
    estimate: Callable[[EstimateInput], Footprint]
    """Of a model that was typed in."""
    choices: Callable[[], Choices]
    """What the catalogue offers to choose from."""
    quotes: Callable[[Path], tuple[QuoteTexts, ...]]
    """Own prices from a file."""
    mix: AdviseMix
    recent: Callable[[], list[SessionSummary]]
    """Sessions to choose jobs from; quick."""
    keep: Callable[[Path, Footprint, Recommendation], None]
    """Keep what was predicted for a session, for the comparison with later runs of its job."""


def engine_sources() -> AdvisorSources:
    """The real ones."""
    return AdvisorSources(
        footprint=_footprint,
        advise=_Advice(),
        estimate=_estimate,
        choices=_choices,
        quotes=quotes_of_file,
        mix=_MixAdvice(),
        recent=sessions,
        keep=_keep,
    )


class _Advice:
    """Keeps the advisor of the present job: what it predicted does not depend on what the person allows."""

    def __init__(self) -> None:
        self._kept: tuple[Footprint, Advisor] | None = None

    def __call__(self, footprint: Footprint, constraints: Constraints) -> Recommendation:
        if self._kept is None or self._kept[0] is not footprint:
            self._kept = (footprint, advice.advisor_of(footprint))
        return self._kept[1].recommend(constraints)


def _footprint(path: Path) -> Footprint:
    with open_session(path) as reader:
        footprint = footprint_of(reader)
        if reader.state() is not SessionState.LIVE:
            compare(reader.manifest, footprint)
        return footprint


def _keep(path: Path, footprint: Footprint, recommendation: Recommendation) -> None:
    with open_session(path) as reader:
        remember(reader.manifest, footprint, recommendation)


def _estimate(model: EstimateInput) -> Footprint:
    return estimate(
        model.parameters,
        model.dtype,
        model.stage,
        model.optimizer or UNUSED_OPTIMIZER,
        batch=model.batch,
        sequence_length=model.sequence_length,
        architecture=model.architecture,
    )


class _MixAdvice:
    """Keeps the advisors of the jobs as long as their files stay as they are."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Path, float], tuple[Footprint, Advisor]] = {}

    def __call__(self, jobs: MixInput, constraints: Constraints) -> MixRecommendation:
        known = {key: self._kept.get(key) or _advised(key[0]) for key in (_version(job.path) for job in jobs.jobs)}
        self._kept = known
        parts = [known[_version(job.path)] for job in jobs.jobs]
        asked = [
            AskedJob(job.name, footprint, job.runs_per_month)
            for job, (footprint, _) in zip(jobs.jobs, parts, strict=True)
        ]
        return recommend_mix(asked, [advisor for _, advisor in parts], constraints, jobs.growth_per_year)


def _version(path: Path) -> tuple[Path, float]:
    try:
        return path, path.stat().st_mtime
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error


def _advised(path: Path) -> tuple[Footprint, Advisor]:
    footprint = _footprint(path) if path.suffix == SUFFIX else advice.read_footprint(path)
    return footprint, advice.advisor_of(footprint)


def _choices() -> Choices:
    catalogue = advice.catalogue()
    return Choices(
        providers=_plain({offer.provider for offer in catalogue.offers}),
        regions=_plain({offer.region for offer in catalogue.offers}),
        vendors=_plain({gpu.vendor for gpu in catalogue.gpus}),
        form_factors=_plain({gpu.form_factor for gpu in catalogue.gpus}),
        gpus=sorted(((gpu.id, gpu.name) for gpu in catalogue.gpus), key=lambda choice: choice[1].lower()),
    )


def _plain(values: set[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in sorted(values, key=str.lower) if value]
