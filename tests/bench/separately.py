"""A measurement in a process of its own, so that the peak of its memory can be told."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

OTHER_PYTHON = "GPUSCOPE_BENCH_PYTHON"
"""Variable that names an interpreter in which programs to compare with are installed; by default, this one."""
_NOT_INSTALLED = 3


class NotInstalledError(Exception):
    """What was to be compared with is not there."""


class Separate:
    """One way to do something with a file: `python -m MODULE HOW FILE`, which ends with `report`."""

    def __init__(self, module: str, how: str, path: Path) -> None:
        """Nothing is run yet.

        Args:
            module: that measures.
            how: which of its ways; `ours` is run by this interpreter, others by the one that the environment names.
            path: of the file.
        """
        python = sys.executable if how == "ours" else os.environ.get(OTHER_PYTHON, sys.executable)
        self._command = [python, "-m", module, how, str(path)]
        self.peaks_mb: list[float] = []

    def __call__(self) -> float:
        """Run it; returns seconds.

        Raises:
            NotInstalledError: a module is missing.
        """
        done = subprocess.run(self._command, capture_output=True, text=True, check=False)
        if done.returncode == _NOT_INSTALLED:
            raise NotInstalledError(done.stderr.strip())
        if done.returncode:
            raise RuntimeError(done.stderr)
        seconds, megabytes = map(float, done.stdout.split()[-2:])
        self.peaks_mb.append(megabytes)
        return seconds


def report(prepare: Callable[[], Callable[[], object]]) -> None:
    """Print seconds and the peak of memory in MB of what `prepare` (imports, which do not count) returns."""
    import resource

    try:
        work = prepare()
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(_NOT_INSTALLED)
    began_s = time.perf_counter()
    work()
    print(time.perf_counter() - began_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
