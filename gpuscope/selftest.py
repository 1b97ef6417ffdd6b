"""`gpuscope selftest`: tries every part of this installation once, the packaged app's own parts included."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from gpuscope import paths
from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.domain.run import OutcomeKind
from gpuscope.domain.units import format_bytes
from gpuscope.engine.advise import advise
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.profile import profile
from gpuscope.engine.record import record
from gpuscope.engine.session import open_session
from gpuscope.errors import GpuscopeError
from gpuscope.report.build import build_report
from gpuscope.report.write import write_report
from gpuscope.runner.command import plan_launch
from gpuscope.ui.snapshot import snapshot

RECORD_S = 2.0
STEPS = 12
EXAMPLE_OPTIONS = ("--steps", str(STEPS), "--batch-size", "2", "--length", "32", "--width", "64", "--layers", "2")
"""A model so small that a slow machine needs seconds for it."""
MIN_REPORT_BYTES = 5_000
"""A PDF with text and plots is far larger; an empty one is smaller."""


class SelfTestError(GpuscopeError):
    """A part of gpuscope did not do what it should."""


class SelfTest:
    """The steps, each of which needs the ones before it, in a folder of their own."""

    def __init__(self, folder: Path, python: str | None, *, without_run: bool) -> None:
        """Work in `folder`; run the example with `python` (None: one that has torch is looked for)."""
        self._folder = folder
        self._python = python
        self._session = folder / "record.gpuscope"
        self._without_run = without_run
        self._footprint: Footprint | None = None
        self._recommendation: Recommendation | None = None

    def steps(self) -> list[tuple[str, Callable[[], str]]]:
        """Names and functions, in order; each function says what it saw."""
        job = ("estimate a job", self.estimate) if self._without_run else ("run the example", self.run_example)
        return [
            ("record the machine", self.record),
            ("reach other machines", self.reach_others),
            job,
            ("advise", self.advise),
            ("write the report", self.report),
            ("open the window", self.window),
        ]

    def record(self) -> str:
        """Two seconds of live figures."""
        record(self._session, seconds=RECORD_S)
        with open_session(self._session) as reader:
            frames = [frame for _, frame in reader.frames()]
            gpus = len(reader.devices())
        hosts = sum(frame.host is not None and frame.host.memory_total_bytes is not None for frame in frames)
        if not hosts:
            raise SelfTestError("The sampler sent no figures of this machine: run `gpuscope doctor`.")
        return f"{len(frames)} frames, {gpus} GPUs"

    def reach_others(self) -> str:
        """What machines by ssh would be sent, and encryption for servers; nothing is sent."""
        import ssl

        from gpuscope.sources.remote.parcel import far_parcel

        return f"{format_bytes(len(far_parcel(0.1, 1.0)))} to send, {ssl.OPENSSL_VERSION}"

    def run_example(self) -> str:
        """The bundled training script in an interpreter that has torch."""
        script = paths.resources_dir() / "workloads" / "train_gpt.py"
        plan = plan_launch([str(script), *EXAMPLE_OPTIONS], target="script", python=self._python, cwd=str(self._folder))
        self._session = self._folder / "run.gpuscope"
        outcome = profile(self._session, plan)
        if outcome.kind is not OutcomeKind.FINISHED:
            raise SelfTestError("\n".join([f"The example did not finish: {outcome.sentence}", *outcome.last_output]))
        with open_session(self._session) as reader:
            self._footprint = footprint_of(reader)
        if self._footprint.steps.count != STEPS:
            raise SelfTestError(f"The example made {STEPS} steps, and {self._footprint.steps.count} were counted.")
        return f"{STEPS} steps with {plan.spec.interpreter}"

    def estimate(self) -> str:
        """Instead of a run: a footprint by formula."""
        self._footprint = estimate(7_000_000_000, "fp16", "inference", "adamw")
        return "7B parameters in fp16, for inference"

    def advise(self) -> str:
        """A recommendation from the bundled catalogue."""
        assert self._footprint is not None
        self._recommendation = advise(self._footprint, Constraints())
        if not self._recommendation.candidates:
            raise SelfTestError("The advisor found no candidate at all: the catalogue may be damaged.")
        return self._recommendation.sentence

    def report(self) -> str:
        """The report as PDF and JSON."""
        assert self._footprint is not None
        assert self._recommendation is not None
        with open_session(self._session) as reader:
            report = build_report(reader, self._footprint, self._recommendation, now=datetime.now(UTC))
        write_report(report, self._folder / "report.json")
        target = self._folder / "report.pdf"
        write_report(report, target)
        size_bytes = target.stat().st_size
        if size_bytes < MIN_REPORT_BYTES:
            raise SelfTestError(f"The PDF report has only {size_bytes} bytes: it cannot be whole.")
        return f"PDF of {format_bytes(size_bytes)}"

    def window(self) -> str:
        """The window, offscreen, on the session just made."""
        picture = self._folder / "window.png"
        snapshot(self._session, picture)
        return f"picture of {format_bytes(picture.stat().st_size)}"


def main(*, python: str | None = None, without_run: bool = False) -> int:
    """Try everything; prints a line a step.

    Args:
        python: interpreter for the example; it needs torch. None: one is looked for, and not finding one is a failure.
        without_run: leave the example out, where no interpreter has torch.

    Returns:
        0 when every step worked, else 1.
    """
    with _own_folder() as folder:
        test = SelfTest(folder, python, without_run=without_run)
        for name, step in test.steps():
            started = time.monotonic()
            try:
                seen = step()
            except GpuscopeError as error:
                print(f"FAILED  {name} after {time.monotonic() - started:.1f} s: {error}", flush=True)
                if name == "run the example":
                    print("Without a Python that has torch, `gpuscope selftest --without-run` tries the other parts.")
                return 1
            print(f"ok      {name} ({time.monotonic() - started:.1f} s): {seen}", flush=True)
    print("gpuscope selftest: every part works.")
    return 0


@contextlib.contextmanager
def _own_folder() -> Iterator[Path]:
    """A folder that is removed again, with the app's memory of sessions inside it, so that no trace is left."""
    changed = {"GPUSCOPE_STATE_DIR": "state", "GPUSCOPE_SESSIONS_DIR": "sessions"}
    before = {name: os.environ.get(name) for name in [*changed, "QT_QPA_PLATFORM"]}
    with tempfile.TemporaryDirectory(prefix="gpuscope-selftest-") as name:
        folder = Path(name)
        os.environ.update({variable: str(folder / part) for variable, part in changed.items()})
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        try:
            yield folder
        finally:
            for variable, value in before.items():
                if value is None:
                    os.environ.pop(variable, None)
                else:
                    os.environ[variable] = value
