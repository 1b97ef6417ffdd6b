"""Build the report of a session: read it once, and put evidence and recommendation side by side."""

from __future__ import annotations

from datetime import UTC, datetime

from gpuscope.domain.device import Device
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Recommendation
from gpuscope.domain.run import Manifest, RunOutcome
from gpuscope.report import choice
from gpuscope.report.evidence import Facts, evidence, gpu_groups
from gpuscope.report.figures import figure
from gpuscope.report.model import Evidence, Group, Identity, Report, SessionReference
from gpuscope.report.pictures import pictures
from gpuscope.report.privacy import Redactor, command_title, scrub
from gpuscope.report.requirement import requirement
from gpuscope.report.text import Texts
from gpuscope.store.reader import SessionReader, SessionState


def build_report(
    reader: SessionReader,
    footprint: Footprint,
    recommendation: Recommendation,
    *,
    now: datetime | None = None,
    include_identity: bool = False,
    language: str = "en",
) -> Report:
    """Put a report together; nothing is written.

    Args:
        reader: the session, for the machine, the course over time and the outcome.
        footprint: what the job uses.
        recommendation: what to get.
        now: date of the report, with its time zone; None is the present.
        include_identity: also show host, command line, folders, GPU UUIDs and the last output. Otherwise these, user
            names and secrets are left out of every text.
        language: of gpuscope's own words.

    Raises:
        ReportError: there is no report in that language.
        SessionError: the session cannot be read.
    """
    texts = Texts(language)
    manifest, devices = reader.manifest, reader.devices()
    events = list(reader.events())
    outcome = reader.document("outcome", RunOutcome)
    session = _session(reader, texts)
    seen = evidence(
        Facts(manifest, devices, events, footprint, outcome),
        pictures(reader.timeline(), devices, events, texts),
        texts,
        show_output=include_identity,
    )
    report = advice_report(
        recommendation,
        texts,
        workload=_workload_name(manifest, footprint, texts),
        stage=footprint.workload.stage,
        now=now,
        session=session,
        seen=seen,
        appendix=(_session_group(session, texts), *gpu_groups(devices, texts)),
        identity=_identity(manifest, devices) if include_identity else None,
    )
    return scrub(report, Report, None if include_identity else Redactor(manifest))


def advice_report(
    recommendation: Recommendation,
    texts: Texts,
    *,
    workload: str,
    stage: str,
    now: datetime | None,
    session: SessionReference,
    seen: Evidence,
    appendix: tuple[Group, ...] = (),
    identity: Identity | None = None,
) -> Report:
    """A report around a recommendation.

    Args:
        recommendation: what to get.
        texts: words of the report's language.
        workload: what the advice is for.
        stage: training or inference, where the constraints say nothing else.
        now: date of the report; None is the present.
        session: where the evidence is from.
        seen: the evidence.
        appendix: raw figures.
        identity: who and where.
    """
    selected = choice.recommended(recommendation)
    return Report(
        language=texts.language,
        title=texts("report.title"),
        workload=workload,
        generated=(now or datetime.now(UTC)).isoformat(timespec="seconds"),
        session=session,
        decision=choice.decision(recommendation, texts),
        requirement=requirement(recommendation.constraints, stage, texts),
        evidence=seen,
        candidates=choice.ranked(recommendation, texts),
        configuration=choice.configuration(selected, texts),
        explanation=selected.explanation if selected else None,
        rejections=choice.rejections(recommendation),
        sensitivity=recommendation.sensitivity,
        assumptions=recommendation.assumptions,
        prices=choice.prices(recommendation),
        needs_quote=choice.needs_quote(recommendation, texts),
        appendix=appendix,
        would_be_surer=recommendation.would_be_surer,
        identity=identity,
    )


def _workload_name(manifest: Manifest, footprint: Footprint, texts: Texts) -> str:
    """What was run, without the folders it lies in; else the model; else that it is a recording."""
    if manifest.run is not None:
        return command_title(manifest.run.display)
    return footprint.workload.model or texts("report.recording")


def _session(reader: SessionReader, texts: Texts) -> SessionReference:
    manifest = reader.manifest
    live = reader.state() is SessionState.LIVE
    return SessionReference(
        session_id=manifest.session_id,
        kind=manifest.kind,
        sha256=None if live else reader.evidence_sha256(),
        started=datetime.fromtimestamp(manifest.created_wall_s, UTC).isoformat(timespec="seconds"),
        gpuscope_version=manifest.gpuscope_version,
        notes=(*reader.notes, texts("missing.live")) if live else tuple(reader.notes),
    )


def _session_group(session: SessionReference, texts: Texts) -> Group:
    return Group(
        key="group.session",
        figures=(
            figure("figure.session_id", session.session_id),
            figure("figure.sha256", session.sha256, missing=texts("missing.live")),
            figure("figure.session_kind", session.kind),
            figure("figure.started", session.started),
        ),
    )


def _identity(manifest: Manifest, devices: list[Device]) -> Identity:
    run = manifest.run
    return Identity(
        host=manifest.host.hostname,
        command=run.argv if run else (),
        folder=run.cwd if run else "",
        interpreter=run.interpreter if run else None,
        gpu_uuids=tuple(device.uuid for device in devices),
    )
