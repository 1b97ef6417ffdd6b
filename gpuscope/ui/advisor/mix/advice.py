"""Advice on several jobs, worked out beside the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints
from gpuscope.ui.advisor.mix.jobs import JobsForm, MixInput
from gpuscope.ui.advisor.mix.result import MixResult
from gpuscope.ui.background import Newest

AdviseMix = Callable[[MixInput, Constraints], MixRecommendation]


class MixAdvice(QObject):
    """The newest answer for the jobs of a form, in a result page."""

    answered = Signal()
    """The result page shows an answer."""
    failed = Signal(str)
    """A sentence."""

    def __init__(self, form: JobsForm, result: MixResult, advise: AdviseMix, parent: QObject | None = None) -> None:
        """Nothing is asked until `ask`."""
        super().__init__(parent)
        self._form, self._result, self._advise = form, result, advise
        self._work = Newest(self)
        self._work.finished.connect(self._on_answer)
        self._work.failed.connect(self.failed)

    @property
    def busy(self) -> bool:
        """True while an answer is awaited."""
        return self._work.busy

    def ask(self, constraints: Constraints) -> bool:
        """Work out what to get; False when the form holds no jobs or a mistake, which it shows."""
        jobs = self._form.read()
        if jobs is None:
            self._work.forget()
            return False
        self._work.submit(partial(self._advise, jobs, constraints))
        return True

    def forget(self) -> None:
        """Another question is asked now."""
        self._work.forget()

    def _on_answer(self, mix: MixRecommendation) -> None:
        self._result.show_mix(mix)
        self.answered.emit()
