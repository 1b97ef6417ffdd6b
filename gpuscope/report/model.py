"""The report as data: every renderer (PDF, JSON) shows this and nothing else.

Labels are keys of the report's text catalogue, so that a renderer can show them in the report's language; numbers are
raw, with their unit beside them, so that a spreadsheet can go on computing with them.
"""

from __future__ import annotations

from gpuscope.domain.base import Value
from gpuscope.domain.footprint import Finding
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Candidate, Explanation, Improvement, Rejected, Sensitivity

SCHEMA = "gpuscope.report/1"


class Figure(Value, frozen=True, kw_only=True):
    """One labelled figure. It has a value, or `missing` says why not; it is never 0 for "unknown"."""

    key: str
    """Key in the text catalogue, which gives the label."""
    value: bool | int | float | str | None = None
    """A number in `unit`; text when the unit is `text`."""
    low: float | None = None
    """90% range, where the figure has one; `value` is then its middle."""
    high: float | None = None
    unit: str = "text"
    """text, count, bytes, s, s_per_step, usd, usd_per_hour, percent, w, j, kwh, bytes_per_s, or a rate as `steps/s`"""
    missing: str = ""
    """Why there is no value, in a sentence."""
    kind: str = ""
    """measured, derived, assumed or given; empty when nobody recorded it"""
    how: str = ""
    """How the figure was come by, in a few words."""


class Group(Value, frozen=True, kw_only=True):
    """Figures under one heading."""

    key: str
    """Key in the text catalogue; `group.gpu:0–7` is that of the GPUs with these indexes."""
    figures: tuple[Figure, ...]


class SessionReference(Value, frozen=True, kw_only=True):
    """Which session the evidence is from, so that it can be checked."""

    session_id: str
    kind: str
    sha256: str | None = None
    """Of the session file; null while it is still being written."""
    started: str
    """ISO 8601 with zone."""
    gpuscope_version: str
    notes: tuple[str, ...] = ()
    """What may be missing from the session."""


class Decision(Value, frozen=True, kw_only=True):
    """The first page."""

    verdict: str
    sentence: str
    paragraph: str
    confidence: str
    """measured, calibrated, specification, or none when nothing is recommended"""
    confidence_sentence: str
    key_figures: tuple[Figure, ...]
    prices_as_of: str | None = None


class Outcome(Value, frozen=True, kw_only=True):
    """How the session ended."""

    kind: str
    sentence: str
    exit_status: int | None = None
    signal: int | None = None
    error_type: str | None = None
    error_message: str | None = None
    last_output: tuple[str, ...] = ()
    """Empty unless identity is included: output can hold anything."""
    output_left_out: bool = False


class PlotLine(Value, frozen=True, kw_only=True):
    """One series, cut into pixel columns; a row of nulls is a gap."""

    label: str
    """Which device; empty where the plot's title says it."""
    t_s: tuple[float, ...]
    low: tuple[float | None, ...]
    mean: tuple[float | None, ...]
    high: tuple[float | None, ...]


class Plot(Value, frozen=True, kw_only=True):
    """A picture of figures over session time."""

    key: str
    unit: str
    """Of the values, as in `Figure.unit`."""
    maximum: float | None = None
    """Where the axis ends when that is known (100 for percent), else null."""
    lines: tuple[PlotLine, ...] = ()
    missing: str = ""
    """Why there is nothing to draw."""


class Phase(Value, frozen=True, kw_only=True):
    """A stretch of the session, drawn behind the plots."""

    key: str
    start_s: float
    end_s: float


class Evidence(Value, frozen=True, kw_only=True):
    """What was seen."""

    source_kind: str
    """measured, dry_run, imported or estimated"""
    source_sentence: str
    groups: tuple[Group, ...]
    breakdown: tuple[Figure, ...]
    """Bytes at the memory peak by what they are for; parts that are unknown are left out."""
    findings: tuple[Finding, ...]
    outcome: Outcome | None
    phases: tuple[Phase, ...] = ()
    plots: tuple[Plot, ...] = ()


class RankedCandidate(Value, frozen=True, kw_only=True):
    """A row of the table of candidates."""

    rank: int
    role: str
    """recommended, alternate, or empty"""
    name: str
    """As people say it: `2 × NVIDIA L40S`."""
    candidate: Candidate


class RejectionGroup(Value, frozen=True, kw_only=True):
    """Configurations that are out for the same kind of reason."""

    reason_code: str
    rejected: tuple[Rejected, ...]


class Price(Value, frozen=True, kw_only=True):
    """A published price that a candidate rests on."""

    provider: str
    instance_type: str
    region: str
    usd_per_hour: float | None
    spot_usd_per_hour: float | None
    price_date: str | None
    status: str
    source: str
    source_url: str
    stale: bool


class Identity(Value, frozen=True, kw_only=True):
    """Who and where; only there when asked for."""

    host: str
    command: tuple[str, ...]
    folder: str
    interpreter: str | None
    gpu_uuids: tuple[str, ...]


class Report(Value, frozen=True, kw_only=True):
    """The document `gpuscope.report/1`: what a person signs, with everything it rests on."""

    schema: str = SCHEMA
    language: str = "en"
    title: str
    workload: str
    """What was run, as the person typed it, without folders."""
    generated: str
    """ISO 8601 with zone."""
    session: SessionReference
    decision: Decision
    requirement: tuple[Figure, ...]
    evidence: Evidence
    candidates: tuple[RankedCandidate, ...]
    configuration: tuple[Figure, ...]
    """The recommended configuration in detail; empty when nothing is recommended."""
    explanation: Explanation | None
    rejections: tuple[RejectionGroup, ...]
    sensitivity: tuple[Sensitivity, ...]
    assumptions: tuple[str, ...]
    prices: tuple[Price, ...]
    needs_quote: tuple[str, ...]
    """Names of candidates without a published price."""
    appendix: tuple[Group, ...]
    would_be_surer: tuple[Improvement, ...] = ()
    """What to measure or ask for, the most telling first."""
    mix: MixRecommendation | None = None
    """The advice on several jobs, in a report about those."""
    identity: Identity | None = None
