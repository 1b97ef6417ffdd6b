"""One reader under thousands of damaged files: errors that are no sentences, slow files, memory."""

from __future__ import annotations

import resource
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import Target, outcome, targets

MOST_S = 1.0
MOST_BYTES = 500_000_000
_OUT = Path("out/fuzz")


def run_and_exit(name: str, start: int, count: int) -> None:
    """`run` as a process of its own; its status is 1 when a file failed."""
    sys.exit(1 if run(name, start, count) else 0)


def run(name: str, start: int, count: int) -> int:
    """Fuzz the reader of a name from one number on, so many files; prints a line and returns how many failed."""
    target = next(target for target in targets() if target.name == name)
    before_bytes = _peak_bytes()
    slowest_s, failures = 0.0, 0
    for number in range(start, start + count):
        data = mutated(target.seeds, number)
        began_s = time.process_time()
        error = outcome(target, data)
        took_s = time.process_time() - began_s
        slowest_s = max(slowest_s, took_s)
        if error is not None or took_s > MOST_S:
            failures += 1
            _keep(target, number, data, error, took_s)
    grown = _peak_bytes() - before_bytes
    failures += grown > MOST_BYTES
    print(
        f"{name:60} {count:6} files  {failures} failures  slowest {slowest_s:.3f} s  {grown / 1e6:.0f} MB", flush=True
    )
    return failures


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _keep(target: Target, number: int, data: bytes, error: BaseException | None, took_s: float) -> None:
    _OUT.mkdir(parents=True, exist_ok=True)
    path = _OUT / f"{''.join(letter if letter.isalnum() else '_' for letter in target.name)}-{number}"
    path.write_bytes(data)
    what = f"took {took_s:.1f} s" if error is None else "".join(traceback.format_exception(error)[-3:])
    print(f"{target.name}, file {number} ({path}): {what}", flush=True)
