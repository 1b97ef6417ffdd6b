"""A dialog that looks at the machines of a Prometheus server, and opens a stretch of their past as a session."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpuscope import paths
from gpuscope.domain.when import parse_moment
from gpuscope.engine.manifest import default_session_name
from gpuscope.engine.record_cluster import ClusterQuestion, import_cluster, look_at_cluster
from gpuscope.errors import GpuscopeError, UsageError
from gpuscope.sources.prometheus.overview import Overview
from gpuscope.ui.background import Newest
from gpuscope.ui.fleet.fleet_map import FleetMap
from gpuscope.ui.monitor_model import Reading
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import GRID, set_role

translate = QCoreApplication.translate

START_SIZE = (760, 560)
PROGRESS_MS = 100


class _CancelledError(GpuscopeError):
    """The person thought better of it."""


class _ImportState:
    """How far the server's past has been read, and whether that is to end; shared with the thread that reads."""

    def __init__(self) -> None:
        self.share = 0.0
        self.cancelled = False

    def tell(self, share: float) -> None:
        """Note how far it is.

        Raises:
            _CancelledError: it is to end.
        """
        if self.cancelled:
            raise _CancelledError(translate("ClusterDialog", "Cancelled: nothing was kept."))
        self.share = share


class ClusterDialog(QDialog):
    """Look first, which takes a second even for thousands of GPUs; then open what is meant.

    Attributes:
        address: of the server.
        start: of the stretch of time, as people say it.
        end: the same; empty: now.
        job: one of those that a look has found, or any other name; empty: all.
        labels: matchers, separated by blanks.
        map: the GPUs of the last look.
    """

    opened = Signal(object)
    """Path of the session that was made."""

    def __init__(
        self,
        settings: WindowSettings,
        parent: QWidget | None = None,
        look: Callable[[ClusterQuestion, datetime, datetime], Overview] = look_at_cluster,
    ) -> None:
        """With what was asked last; `look` stands for the engine in tests."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Machines of a Prometheus server – gpuscope"))
        self.resize(*START_SIZE)
        self._settings, self._look_at = settings, look
        self._state = _ImportState()
        self._looking, self._opening = Newest(self), Newest(self)
        self._looking.finished.connect(self._on_seen)
        self._opening.finished.connect(self._on_opened)
        for work in (self._looking, self._opening):
            work.failed.connect(self._say)
            work.failed.connect(self._rest)
        self._clock = QTimer(self, interval=PROGRESS_MS)
        self._clock.timeout.connect(self._show_progress)
        self._make_widgets()
        self._lay_out()
        self._rest()

    @property
    def busy(self) -> bool:
        """True while the server is asked."""
        return self._looking.busy or self._opening.busy

    def question(self) -> ClusterQuestion:
        """What is asked now.

        Raises:
            UsageError: there is no address.
        """
        if not self.address.text().strip():
            raise UsageError(self.tr("Type in the server's address, such as http://prometheus:9090."))
        token = self.token.text().strip()
        return ClusterQuestion(
            self.address.text().strip(),
            Path(token).expanduser() if token else None,
            self.job.currentText().strip() or None,
            self.labels.text().split(),
        )

    def look(self) -> None:
        """Show the GPUs that are meant and how busy they were."""
        asked = self._asked()
        if asked is not None:
            self._begin(self.tr("Looking…"))
            self._looking.submit(partial(self._look_at, *asked))

    def open(self) -> None:
        """Read everything that the server kept of them, and tell where it is."""
        asked = self._asked()
        if asked is None:
            return
        self._begin(self.tr("Reading…"))
        self._state = state = _ImportState()
        self._opening.submit(partial(_import, *asked, state))

    def cancel(self) -> None:
        """Stop what is going on."""
        self._state.cancelled = True
        self._looking.forget()
        if self._opening.busy:
            self._say(self.tr("Cancelling…"))
        else:
            self._rest()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Nobody waits for an answer any more."""
        self._state.cancelled = True
        self._looking.forget()
        self._opening.forget()
        self._rest()
        super().closeEvent(event)

    def _asked(self) -> tuple[ClusterQuestion, datetime, datetime] | None:
        """What is to be asked, remembered; None after saying what is wrong with it."""
        now = datetime.now().astimezone()
        try:
            question = self.question()
            start = parse_moment(self.start.text(), now)
            end = parse_moment(self.end.text() or "now", now)
        except GpuscopeError as error:
            self._say(str(error))
            return None
        for name, field in self._remembered().items():
            self._settings.set_text(f"cluster/{name}", field.text())
        return question, start, end

    def _on_seen(self, seen: Overview) -> None:
        chosen = self.job.currentText()
        self.job.clear()
        self.job.addItems(["", *seen.jobs])
        self.job.setEditText(chosen)
        self.map.set_devices(seen.devices)
        self.map.draw(_Means(seen), None)
        self.map.show()
        self._say("")
        self._rest()

    def _on_opened(self, path: Path) -> None:
        self._say("")
        self._rest()
        self.opened.emit(path)
        self.close()

    def _begin(self, sentence: str) -> None:
        self._say(sentence)
        self.progress.setRange(0, 0)
        self.progress.show()
        self.cancel_button.show()
        for button in (self.look_button, self.open_button):
            button.setEnabled(False)
        self._clock.start()

    def _rest(self) -> None:
        self._clock.stop()
        self.progress.hide()
        self.cancel_button.hide()
        for button in (self.look_button, self.open_button):
            button.setEnabled(True)

    def _show_progress(self) -> None:
        if self._opening.busy and self._state.share > 0:
            self.progress.setRange(0, 100)
            self.progress.setValue(round(100 * self._state.share))

    def _say(self, sentence: str) -> None:
        self.sentence.setText(sentence)

    def _remembered(self) -> dict[str, QLineEdit]:
        return {
            "address": self.address,
            "token": self.token,
            "start": self.start,
            "end": self.end,
            "labels": self.labels,
        }

    def _make_widgets(self) -> None:
        self.address, self.token, self.start, self.end, self.labels = (QLineEdit(self) for _ in range(5))
        self.address.setPlaceholderText("http://prometheus:9090")
        self.token.setPlaceholderText(self.tr("a file with a bearer token, if the server wants one"))
        self.start.setPlaceholderText(self.tr("tuesday 14:00, yesterday 9:00, 6h ago, 2026-11-24 14:00"))
        self.end.setPlaceholderText(self.tr("now"))
        self.labels.setPlaceholderText(self.tr("Hostname=node7 pod=~train-.*"))
        for name, field in self._remembered().items():
            field.setText(self._settings.text(f"cluster/{name}", "1h ago" if name == "start" else ""))
        self.job = QComboBox(self)
        self.job.setEditable(True)
        self.sentence = QLabel(self)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)  # it may be the server's own words
        self.sentence.setWordWrap(True)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.map = FleetMap(self)
        self.map.hide()
        self.look_button = QPushButton(self.tr("&Look"), self)
        self.open_button = QPushButton(self.tr("&Open"), self)
        self.cancel_button = QPushButton(self.tr("&Cancel"), self)
        set_role(self.open_button, "primary")
        self.look_button.setDefault(True)
        self.look_button.clicked.connect(self.look)
        self.open_button.clicked.connect(self.open)
        self.cancel_button.clicked.connect(self.cancel)

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setSpacing(GRID)
        form.addRow(self.tr("&Server"), self.address)
        form.addRow(self.tr("&Token file"), self.token)
        form.addRow(self.tr("&From"), self.start)
        form.addRow(self.tr("T&o"), self.end)
        form.addRow(self.tr("&Job"), self.job)
        form.addRow(self.tr("L&abels"), self.labels)
        buttons = QHBoxLayout()
        buttons.addWidget(self.progress, 1)
        buttons.addWidget(self.cancel_button)
        buttons.addStretch(1)
        buttons.addWidget(self.look_button)
        buttons.addWidget(self.open_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(form)
        layout.addWidget(self.map)
        layout.addStretch(1)
        layout.addWidget(self.sentence)
        layout.addLayout(buttons)


class _Means:
    """The means of a look, as the map asks for figures."""

    def __init__(self, seen: Overview) -> None:
        self._seen = seen

    def reading(self, key: str, name: str) -> Reading:
        """The mean utilisation; nothing else is known yet."""
        if name != "utilization_gpu_percent":
            return Reading(None, translate("ClusterDialog", "It is read when the machines are opened."))
        value = self._seen.utilization_percent.get(key)
        return Reading(value, "" if value is not None else translate("ClusterDialog", "It says nothing in that time."))


def _import(question: ClusterQuestion, start: datetime, end: datetime, state: _ImportState) -> Path:
    folder = paths.sessions_dir()
    folder.mkdir(parents=True, exist_ok=True)
    path = default_session_name(folder, question.job or "cluster")
    import_cluster(path, question, start, end, progress=state.tell)
    return path
