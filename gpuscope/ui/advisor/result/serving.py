"""What the chosen configuration does as a service: latencies and throughput against what was asked, copies by hour."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate
from gpuscope.domain.serving import Serving, ServingTarget
from gpuscope.domain.units import format_bytes, format_duration, format_duration_range
from gpuscope.ui import theme
from gpuscope.ui.advisor.result.cells import configuration_name
from gpuscope.ui.advisor.result.scroll_page import ScrollPage
from gpuscope.ui.advisor.result.table_cells import FigureTable, Text
from gpuscope.ui.figures import DASH
from gpuscope.ui.theme import BLUE, GRID, Size
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

translate = QCoreApplication.translate

HOURS_HEIGHT = 11 * GRID
_LABEL_HEIGHT = 16


class ServingPage(QWidget):
    """Of the candidate that is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_candidate`."""
        super().__init__(parent)
        self.setWhatsThis(
            self.tr(
                "Latencies and throughput that are predicted for the chosen configuration, against what you asked for, "
                "and how many copies of the model run in each hour of the day."
            )
        )
        self.sentence = WrappingLabel(self)
        self.table = FigureTable(self.tr("Latencies and throughput"), self)
        self.hours = HoursChart(self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(ScrollPage((self.sentence, self.table, self.hours), self))

    def show_candidate(self, candidate: Candidate | None, target: ServingTarget | None) -> None:
        """Replace everything."""
        serving = candidate.serving if candidate is not None else None
        self.table.setVisible(serving is not None)
        self.hours.setVisible(serving is not None and bool(serving.replicas_by_hour))
        if candidate is None or serving is None:
            self.sentence.setText(self.tr("Nothing is known of this configuration as a service."))
            return
        name = configuration_name(candidate.gpu, candidate.gpu_name, candidate.count)
        self.sentence.setText(f"{name}: {serving_sentence(serving)}")
        titles = [Text(""), Text(self.tr("predicted")), Text(self.tr("asked for"))]
        self.table.show_rows(titles, serving_rows(serving, target or ServingTarget()))
        self.table.fit_height()
        self.hours.show_hours(serving.replicas_by_hour)


def serving_sentence(serving: Serving) -> str:
    """Copies, sharing and what switching them off at night saves."""
    if serving.gpu_share is not None and serving.gpu_share < 1:
        copies = translate("Serving", "{share} of a GPU is enough.").format(share=f"{serving.gpu_share:.0%}")
    elif serving.replicas == 1:
        copies = translate("Serving", "one copy of the model.")
    else:
        copies = translate("Serving", "{0} copies of the model.").format(serving.replicas)
    saving = serving.autoscaling_saving_share
    if saving is None:
        return copies
    sentence = translate("Serving", "Switching copies off in quiet hours saves {0} of the cost.")
    return f"{copies} {sentence.format(f'{saving:.0%}')}"


def serving_rows(serving: Serving, target: ServingTarget) -> list[list[Text]]:
    """Rows of figure, prediction and what was asked; what is neither known nor asked is left out."""
    rows = [
        [
            Text(translate("Serving", "First token (TTFT)"), translate("Serving", "From the request on.")),
            _time(serving.time_to_first_token_s), _at_most(target.time_to_first_token_s),
        ],
        [
            Text(translate("Serving", "Each next token"), translate("Serving", "Inter-token latency.")),
            _time(serving.inter_token_latency_s), _at_most(target.inter_token_latency_s),
        ],
        [Text(translate("Serving", "Whole request")), _time(serving.latency_s), _at_most(target.latency_s)],
        [
            Text(translate("Serving", "Requests a second"), translate("Serving", "All copies together.")),
            _rate(serving.requests_per_second), _at_least(target.requests_per_second),
        ],
        [
            Text(translate("Serving", "Tokens a second"), translate("Serving", "Output, all copies together.")),
            _rate(serving.tokens_per_second), Text(DASH),
        ],
        [
            Text(translate("Serving", "Requests at the same time")),
            _number(None if serving.concurrent_per_replica is None
                    else serving.concurrent_per_replica * serving.replicas),
            _at_least(target.concurrent_users),
        ],
        [Text(translate("Serving", "Copies")), _number(serving.replicas), Text(DASH)],
        [
            Text(translate("Serving", "Weights of a copy")),
            Text(DASH) if serving.weights_bytes is None
            else Text(f"{format_bytes(serving.weights_bytes)} {serving.weight_dtype or ''}".strip()),
            Text(", ".join(target.weight_dtypes) or DASH),
        ],
        [
            Text(translate("Serving", "KV cache of a token")),
            Text(DASH) if serving.cache_bytes_per_token is None else Text(format_bytes(serving.cache_bytes_per_token)),
            Text(target.cache_dtype or DASH),
        ],
        [
            Text(translate("Serving", "Copy-hours a day"), translate("Serving", "With autoscaling over the load.")),
            _number(serving.replica_hours_per_day), Text(DASH),
        ],
    ]  # fmt: skip
    return [row for row in rows if any(cell.text != DASH for cell in row[1:])]


def _time(value: Range | None) -> Text:
    return Text(DASH) if value is None else Text(format_duration_range(value), bold=True)


def _rate(value: Range | None) -> Text:
    if value is None:
        return Text(DASH)
    digits = 0 if value.mid >= 100 else 1 if value.mid >= 10 else 2
    low, high = f"{value.low:,.{digits}f}", f"{value.high:,.{digits}f}"
    return Text(low if low == high else f"{low}–{high}", bold=True)


def _number(value: float | None) -> Text:
    return Text(DASH) if value is None else Text(f"{value:,.0f}" if value >= 10 else f"{value:g}", bold=True)


def _at_most(value_s: float | None) -> Text:
    return Text(DASH) if value_s is None else Text(f"≤ {format_duration(value_s)}")


def _at_least(value: float | None) -> Text:
    return Text(DASH) if value is None else Text(f"≥ {value:g}")


class HoursChart(QWidget):
    """24 bars: copies in each hour of the day."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._counts: tuple[int, ...] = ()
        self.setAccessibleName(self.tr("Copies by hour of the day"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_hours(self, counts: tuple[int, ...]) -> None:
        """Replace the bars."""
        self._counts = counts
        said = ", ".join(f"{hour}:00 {count}" for hour, count in enumerate(counts))
        self.setAccessibleDescription(said)
        self.setToolTip(said)
        self.update()

    def sizeHint(self) -> QSize:
        """A low chart."""
        return QSize(30 * GRID, HOURS_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a title, the bars with their counts, and every sixth hour below."""
        if not self._counts:
            return
        painter = QPainter(self)
        colours = theme.colours_of(self)
        painter.setFont(theme.font(Size.SMALL))
        painter.setPen(QColor(colours.muted))
        title = QRectF(0, 0, self.width(), _LABEL_HEIGHT)
        painter.drawText(title, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                         self.tr("Copies by hour of the day, at most {0}").format(max(self._counts)))  # fmt: skip
        top, bottom = _LABEL_HEIGHT + 4, self.height() - _LABEL_HEIGHT
        slot_px = self.width() / len(self._counts)
        for hour, count in enumerate(self._counts):
            height = (bottom - top) * count / max(*self._counts, 1)
            bar = QRectF(hour * slot_px + 1, bottom - height, max(slot_px - 2, 1), height)
            painter.fillRect(bar, QColor(BLUE))
            if hour % 6 == 0:
                label = QRectF(hour * slot_px, bottom, 6 * slot_px, _LABEL_HEIGHT)
                painter.drawText(label, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, f"{hour}:00")
        painter.setPen(QColor(colours.border))
        painter.drawLine(0, bottom, self.width(), bottom)
        painter.end()
