"""What tests of the Advisor panel share: an engine of their own, and ways to drive the panel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from gpuscope.domain.device import Host
from gpuscope.domain.footprint import Footprint, FootprintSource, Workload
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.domain.run import Manifest, RunSpec
from gpuscope.errors import SessionError
from gpuscope.ui.advisor.form.constraints import Choices
from gpuscope.ui.advisor.form.model import EstimateInput
from gpuscope.ui.advisor.form.texts import QuoteTexts
from gpuscope.ui.advisor.mix.jobs import MixInput
from gpuscope.ui.advisor.panel import AdvisorPanel
from gpuscope.ui.advisor.sources import AdvisorSources
from tests.ui.advisor.samples import FOOTPRINT, mix, recommendation

MANIFEST = Manifest(
    session_id="1", kind="run", created_wall_s=0, created_monotonic_s=0, gpuscope_version="0", interval_s=0.1,
    host=Host(hostname="box", os="Linux"),
    run=RunSpec(argv=("python", "train.py"), cwd="/", target="script", display="train.py --config gpt2-medium.yaml"),
)  # fmt: skip
CHOICES = Choices(
    providers=[("aws", "aws"), ("lambda", "lambda")], regions=[("us-east-1", "us-east-1")],
    vendors=[("NVIDIA", "NVIDIA")], gpus=[("l40s", "L40S"), ("t4", "T4")],
    form_factors=[("PCIe", "PCIe")],
)  # fmt: skip


class Recorder:
    """Stands where the engine is, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Constraints] = []
        self.models: list[EstimateInput] = []
        self.answer: Callable[[Constraints], Recommendation] = recommendation
        self.footprint_error: str = ""
        self.found = FOOTPRINT
        self.kept: list[Path] = []
        self.mixes: list[MixInput] = []

    def footprint(self, path: Path) -> Footprint:
        if self.footprint_error:
            raise SessionError(self.footprint_error)
        return self.found

    def advise(self, footprint: Footprint, constraints: Constraints) -> Recommendation:
        self.asked.append(constraints)
        return self.answer(constraints)

    def estimate(self, model: EstimateInput) -> Footprint:
        self.models.append(model)
        return Footprint(source=FootprintSource(kind="estimated"), workload=Workload(parameters=model.parameters))

    def sources(self) -> AdvisorSources:
        return AdvisorSources(
            footprint=self.footprint,
            advise=self.advise,
            estimate=self.estimate,
            choices=lambda: CHOICES,
            quotes=lambda _path: (QuoteTexts(gpu="l40s", price="9000"),),
            mix=self.mix,
            recent=list,
            keep=lambda path, _footprint, _recommendation: self.kept.append(path),
        )

    def mix(self, jobs: MixInput, constraints: Constraints) -> MixRecommendation:
        self.mixes.append(jobs)
        return mix(constraints)


def field(panel: AdvisorPanel, name: str) -> QLineEdit:
    widget = panel.constraints_form.editor_widget(name)
    assert isinstance(widget, QLineEdit)
    return widget


def wait_until_idle(qtbot: QtBot, panel: AdvisorPanel) -> None:
    works = (panel._reading, panel._ranking, panel._keeping, panel._importing, panel._mixing)
    qtbot.waitUntil(lambda: not any(work.busy for work in works))


def finish(qtbot: QtBot, panel: AdvisorPanel) -> None:
    panel.on_session_opened(MANIFEST, Path("/tmp/train.gpuscope"))
    panel.on_session_ended(None)
    qtbot.waitUntil(lambda: panel.recommendation is not None)


def shown_text(panel: AdvisorPanel) -> str:
    return panel.message._title.text() if panel.message.isVisible() else panel.result.verdict._sentence.text()
