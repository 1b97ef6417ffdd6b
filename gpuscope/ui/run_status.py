"""The upper half of the Run panel while a run is followed: state in words, steps, speed, memory by part."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QGridLayout, QProgressBar, QVBoxLayout, QWidget

from gpuscope.domain.run import RunOutcome
from gpuscope.domain.units import format_bytes, format_duration
from gpuscope.ui import theme
from gpuscope.ui.figures import UNKNOWN, Figure, memory
from gpuscope.ui.live_run import LiveRun, MemoryParts, RunState
from gpuscope.ui.session_status import rate_text
from gpuscope.ui.theme import GRID, Size, set_role
from gpuscope.ui.titles import short_title
from gpuscope.ui.widgets.elided_label import ElidedLabel
from gpuscope.ui.widgets.figure_label import FigureLabel
from gpuscope.ui.widgets.parts_bar import Part, PartsBar
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

translate = QCoreApplication.translate

LAST_LINES = 12
_PART_COLOURS = {
    "parameters": theme.METRIC_COLOURS["parameters"],
    "gradients": theme.METRIC_COLOURS["gradients"],
    "optimizer_state": theme.METRIC_COLOURS["optimizer_state"],
    "activations": theme.METRIC_COLOURS["activations"],
    "other": theme.METRIC_COLOURS["temporaries"],
    "unused": "",
}
_TROUBLE = {RunState.FAILED, RunState.OUT_OF_MEMORY, RunState.KILLED, RunState.NOT_STARTED}


class RunStatus(QWidget):
    """Shows a `LiveRun`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_run`."""
        super().__init__(parent)
        self.name = ElidedLabel(self)
        set_role(self.name, "title")
        self.state = WrappingLabel(self)
        self.last_output = WrappingLabel(self)
        self.last_output.setFont(_fixed_font())
        self.last_output.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.steps, self.remaining = FigureLabel(self), FigureLabel(self)
        self.median, self.last = FigureLabel(self, large=True), FigureLabel(self, before=self.tr("last"))
        self.rate, self.samples = FigureLabel(self, large=True), FigureLabel(self)
        self.memory_title = WrappingLabel(self)
        set_role(self.memory_title, "muted")
        self.parts = PartsBar(self)
        self._explain()
        self._lay_out()

    def show_run(self, run: LiveRun) -> None:
        """Show what is known now."""
        spec = run.manifest.run
        self.name.set_full_text(short_title(spec.display) if spec else run.manifest.host.hostname)
        state = run.state()
        self.state.setText(state_sentence(run))
        role = "trouble" if state in _TROUBLE else "warning" if state is RunState.STALLED else ""
        if self.state.property("role") != role:
            set_role(self.state, role)
        self._show_outcome(run.outcome)
        self._show_steps(run)
        self._show_memory(run.memory(), live=run.live)

    def _show_outcome(self, outcome: RunOutcome | None) -> None:
        lines = outcome.last_output[-LAST_LINES:] if outcome is not None else ()
        self.last_output.setText("\n".join(lines))
        self.last_output.setVisible(bool(lines))

    def _show_steps(self, run: LiveRun) -> None:
        known = run.steps > 0
        for widget in (self.steps, self.median, self.last, self.rate, self.samples):
            widget.setVisible(known)
        total, remaining_s = run.total_steps, run.remaining_s
        self.progress.setVisible(known and total is not None)
        if total is not None:
            self.progress.setRange(0, total)
            self.progress.setValue(min(run.steps, total))
        of_total = (
            translate("RunStatus", "of {0} steps").format(f"{total:,}") if total else translate("RunStatus", "steps")
        )
        self.steps.show_figure(Figure(f"{run.steps:,}", of_total))
        self.remaining.setVisible(known and remaining_s is not None)
        if remaining_s is not None:
            number, _, unit = format_duration(remaining_s).partition(" ")
            self.remaining.show_figure(Figure(number, translate("RunStatus", "{0} to go").format(unit)))
        self.median.show_figure(_duration(run.median_step_s), translate("RunStatus", "Median of the last 100 steps."))
        self.last.show_figure(_duration(run.last_step_s), translate("RunStatus", "The last step."))
        rate = rate_text(run.steps_per_s)
        self.rate.show_figure(Figure(*rate.split(" ")) if " " in rate else UNKNOWN)
        self.samples.show_figure(
            UNKNOWN
            if run.samples_per_s is None
            else Figure(f"{run.samples_per_s:,.4g}", translate("RunStatus", "samples/s")),
            translate(
                "RunStatus", "Samples that a step usually takes from the script's DataLoaders, over its median time."
            ),
        )

    def _show_memory(self, parts: MemoryParts, *, live: bool) -> None:
        shown = tuple(
            Part(part_name(part.name), part.bytes, _PART_COLOURS[part.name], part_explanation(part.name))
            for part in parts.parts
        )
        self.parts.show_parts(shown)
        self.parts.setVisible(bool(shown))
        self.memory_title.setText(memory_sentence(parts, live=live))
        self.memory_title.setVisible(bool(self.memory_title.text()))

    def _explain(self) -> None:
        for widget, text in (
            (self.steps, self.tr("Training steps that the probe has counted: iterations that end in an update.")),
            (self.remaining, self.tr("Steps that are left times the median step time.")),
            (self.median, self.tr("Median time of the last 100 steps. Steps that were profiled are left out.")),
            (self.last, self.tr("Time of the last step, from the end of the one before.")),
            (self.rate, self.tr("Steps a second at the median step time.")),
            (self.samples, self.tr("Samples that a step takes from the script's DataLoaders, over its median time.")),
            (self.parts, self.tr("Where the memory goes. Point at a name to see how its figure is come by.")),
        ):
            widget.setWhatsThis(text)

    def _lay_out(self) -> None:
        figures = QGridLayout()
        figures.setContentsMargins(0, 0, 0, 0)
        figures.setHorizontalSpacing(2 * GRID)
        figures.setVerticalSpacing(0)
        for row, column, widget in (
            (0, 0, self.steps), (0, 1, self.remaining), (2, 0, self.median), (2, 1, self.rate), (3, 0, self.last),
            (3, 1, self.samples),
        ):  # fmt: skip
            figures.addWidget(widget, row, column)
        figures.addWidget(self.progress, 1, 0, 1, 2)
        figures.setColumnStretch(0, 1)
        figures.setColumnStretch(1, 1)
        lines = QVBoxLayout(self)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(GRID)
        lines.addWidget(self.name)
        lines.addWidget(self.state)
        lines.addWidget(self.last_output)
        lines.addLayout(figures)
        lines.addWidget(self.memory_title)
        lines.addWidget(self.parts)


def state_sentence(run: LiveRun) -> str:
    """The state in words, with its numbers."""
    if run.outcome is not None:
        return outcome_sentence(run.outcome)
    match run.state():
        case RunState.WAITING:
            return translate("RunStatus", "Waiting for the first step: the script is loading or preparing data.")
        case RunState.NO_PROBE:
            reason = run.probe_off_reason or translate("RunStatus", "it is not a Python script of PyTorch")
            return translate("RunStatus", "Running; steps are not counted: {0}.").format(reason.rstrip("."))
        case RunState.RUNNING:
            return translate("RunStatus", "Running; step times are still settling.")
        case RunState.STEADY:
            return translate("RunStatus", "Running steadily.")
        case RunState.STALLED:
            return translate("RunStatus", "No step for {0}; a step usually takes {1}.").format(
                format_duration(run.stalled_for_s()), format_duration(run.median_step_s or 0.0)
            )
        case RunState.STOPPING:
            return translate("RunStatus", "Stopping: the script was asked to end. Stop again to be more forceful.")
        case RunState.READING:
            return translate("RunStatus", "The session is being read.")
        case _:
            return translate("RunStatus", "The recording was interrupted; what came after it is not known.")


def outcome_sentence(outcome: RunOutcome) -> str:
    """How the run ended; out of memory with its numbers."""
    names = {
        "tried": translate("RunStatus", "tried to allocate {0}"),
        "total": translate("RunStatus", "the GPU has {0}"),
        "free": translate("RunStatus", "{0} were free"),
        "allocated": translate("RunStatus", "{0} were allocated"),
        "reserved": translate("RunStatus", "{0} were reserved"),
    }
    numbers = [
        text.format(format_bytes(outcome.out_of_memory[name]))
        for name, text in names.items()
        if name in outcome.out_of_memory
    ]
    if not numbers:
        return outcome.sentence
    details = ", ".join(numbers)
    return f"{outcome.sentence} {details[0].upper()}{details[1:]}."


def memory_sentence(parts: MemoryParts, *, live: bool) -> str:
    """What the bar is of, and the counters beside it."""
    now = translate("RunStatus", "now {0}") if live else translate("RunStatus", "at the end {0}")
    if parts.on_gpu:
        counters = (
            (translate("RunStatus", "peak {0}"), parts.peak_allocated_bytes),
            (now, parts.allocated_bytes),
            (translate("RunStatus", "reserved {0}"), parts.reserved_bytes),
        )
        known = [text.format(" ".join(memory(value))) for text, value in counters if value is not None]
        return translate("RunStatus", "GPU memory at the peak, by part: ") + ", ".join(known)
    if parts.rss_bytes is not None:
        title = translate("RunStatus", "Memory by part") if parts.parts else translate("RunStatus", "Memory")
        return f"{title}, {now.format(' '.join(memory(parts.rss_bytes)))}"
    return translate("RunStatus", "Memory by part") if parts.parts else ""


def part_name(name: str) -> str:
    """A part of the memory in words."""
    return {
        "parameters": translate("RunStatus", "parameters"),
        "gradients": translate("RunStatus", "gradients"),
        "optimizer_state": translate("RunStatus", "optimizer state"),
        "activations": translate("RunStatus", "activations and temporaries"),
        "other": translate("RunStatus", "the rest of the process"),
        "unused": translate("RunStatus", "reserved, not in use"),
    }[name]


def part_explanation(name: str) -> str:
    """Where the figure of a part comes from."""
    return {
        "parameters": translate("RunStatus", "Added up over the model's tensors by the probe."),
        "gradients": translate("RunStatus", "The most that was seen at the end of a step."),
        "optimizer_state": translate("RunStatus", "Added up over the optimizer's tensors by the probe."),
        "activations": translate("RunStatus", "Peak of PyTorch's allocator less the parts above."),
        "other": translate("RunStatus", "Python, libraries, activations, data: resident memory less the parts above."),
        "unused": translate("RunStatus", "Held by PyTorch's allocator at its peak, but not allocated to tensors."),
    }[name]


def _duration(seconds: float | None) -> Figure:
    if seconds is None:
        return UNKNOWN
    number, _, unit = format_duration(seconds).partition(" ")
    return Figure(number, unit)


def _fixed_font() -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSize(theme.POINT_SIZES[Size.SMALL])
    return font
