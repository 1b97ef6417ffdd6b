"""Reports that no session stands behind: of a model that was typed in, and of several jobs."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from gpuscope import __version__
from gpuscope.domain.device import Host
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Recommendation, Verdict
from gpuscope.domain.run import Manifest
from gpuscope.domain.units import format_count
from gpuscope.report.build import advice_report
from gpuscope.report.evidence import Facts, evidence
from gpuscope.report.model import Decision, Evidence, Report, SessionReference
from gpuscope.report.privacy import Redactor, scrub
from gpuscope.report.requirement import requirement
from gpuscope.report.text import Texts

ESTIMATE, JOBS = "estimate", "jobs"
"""Kinds of `SessionReference` without a session."""
_VERDICTS = {
    "kept": Verdict.KEEP,
    "rented": Verdict.RENT,
    "shared": Verdict.BUY,
    "separate": Verdict.BUY,
    "mixed": Verdict.BUY,
}


def build_estimate_report(
    footprint: Footprint, recommendation: Recommendation, *, now: datetime | None = None, language: str = "en"
) -> Report:
    """The report of a model that was typed in; nothing is written.

    Args:
        footprint: what the model needs, from formulas.
        recommendation: what to get.
        now: date of the report, with its time zone; None is the present.
        language: of gpuscope's own words.

    Raises:
        ReportError: there is no report in that language.
    """
    texts = Texts(language)
    nobody = _nobody(ESTIMATE)
    seen = evidence(Facts(nobody, [], [], footprint, None), ((), ()), texts, show_output=False)
    known = tuple(group for group in seen.groups if any(each.value is not None for each in group.figures))
    report = advice_report(
        recommendation,
        texts,
        workload=_model_name(footprint, texts),
        stage=footprint.workload.stage,
        now=now,
        session=_reference(ESTIMATE, now),
        seen=msgspec.structs.replace(seen, groups=known),
    )
    return scrub(report, Report, Redactor(nobody))


def build_mix_report(mix: MixRecommendation, *, now: datetime | None = None, language: str = "en") -> Report:
    """The report of what to get for several jobs; nothing is written.

    Args:
        mix: the advice.
        now: date of the report, with its time zone; None is the present.
        language: of gpuscope's own words.

    Raises:
        ReportError: there is no report in that language.
    """
    texts = Texts(language)
    option = None if mix.recommended is None else mix.options[mix.recommended]
    verdict = Verdict.IMPOSSIBLE if option is None else _VERDICTS.get(option.kind, Verdict.BUY)
    report = Report(
        language=language,
        title=texts("report.title"),
        workload=", ".join(job.name for job in mix.jobs) or texts("report.mix"),
        generated=_date(now),
        session=_reference(JOBS, now),
        decision=Decision(
            verdict=str(verdict),
            sentence=mix.sentence,
            paragraph=f"{mix.sentence} {texts('decision.ranges')}",
            confidence="none",
            confidence_sentence="",
            key_figures=(),
        ),
        requirement=requirement(mix.constraints, mix.constraints.stage or "training", texts),
        evidence=Evidence(
            source_kind=JOBS, source_sentence=texts("source.jobs"), groups=(), breakdown=(), findings=(), outcome=None
        ),
        candidates=(),
        configuration=(),
        explanation=None,
        rejections=(),
        sensitivity=mix.sensitivity,
        assumptions=mix.assumptions,
        prices=(),
        needs_quote=(),
        appendix=(),
        mix=mix,
    )
    return scrub(report, Report, Redactor(_nobody(JOBS)))


def _model_name(footprint: Footprint, texts: Texts) -> str:
    workload = footprint.workload
    if workload.model:
        return workload.model
    if workload.parameters is None:
        return texts("report.estimate")
    return texts("report.estimate_of", parameters=format_count(workload.parameters))


def _reference(kind: str, now: datetime | None) -> SessionReference:
    return SessionReference(session_id="", kind=kind, started=_date(now), gpuscope_version=__version__)


def _date(now: datetime | None) -> str:
    return (now or datetime.now(UTC)).isoformat(timespec="seconds")


def _nobody(kind: str) -> Manifest:
    """A manifest that names no machine and no person."""
    return Manifest(
        session_id="", kind=kind, created_wall_s=0.0, created_monotonic_s=0.0, gpuscope_version=__version__,
        host=Host(hostname="", os=""), interval_s=0.0,
    )  # fmt: skip
