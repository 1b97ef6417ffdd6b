"""One reader under thousands of damaged files: errors that are no sentences, slow files, memory."""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import resource
import signal
import time
import traceback
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import Target, outcome, targets

MOST_S = 1.0
MOST_BYTES = 500_000_000
_STOPPED_AFTER_S = 5.0
"""Of processor time: a file that takes longer is given up, and the next one follows."""
_STUCK_AFTER_S = 120.0
"""Of any time: code that cannot be interrupted, a wait that never ends."""
_ADDRESS_SPACE = 4 * MOST_BYTES
"""Above what the process has when it begins: what asks for more fails, and the machine goes on."""
_OUT = Path("out/fuzz")
_MOST_PRINTED = 3000
_NOT_BEGUN = -1
_CONTEXT = "spawn"
"""A fresh process, whose peak of memory is its own."""


class HangError(BaseException):
    """A file took too long; no reader catches it."""


class Tally(NamedTuple):
    """What came of some files."""

    failures: int = 0
    slowest_s: float = 0.0
    grown_bytes: int = 0


def run(name: str, start: int, count: int) -> int:
    """Fuzz the reader of a name from one number on, so many files; prints a line and returns how many failed.

    The files are read in a process of its own, which may crash, hang or be killed: then the file is kept, and another
    process goes on behind it.
    """
    context = multiprocessing.get_context(_CONTEXT)
    failures, next_number, end = 0, start, start + count
    while next_number < end:
        current, failed = context.Value("q", _NOT_BEGUN), context.Value("q", 0)
        process = context.Process(target=_in_process, args=(name, range(next_number, end), current, failed))
        process.start()
        _watch(process, current)
        failures += failed.value
        if process.exitcode == 0:
            return failures
        if current.value == _NOT_BEGUN:
            raise RuntimeError(f"The process that was to fuzz the reader of {name} did not begin.")
        failures += 1
        how = f"ended the process with {process.exitcode}"
        _keep(name, current.value, mutated(_target(name).seeds, current.value), how)
        next_number = current.value + 1
    return failures


def _watch(process: Any, current: Synchronized[int]) -> None:
    """Wait for the end of a process; one that makes no progress is killed."""
    before, since_s = current.value, time.monotonic()
    while process.exitcode is None:
        process.join(1.0)
        if current.value != before:
            before, since_s = current.value, time.monotonic()
        elif time.monotonic() - since_s > _STUCK_AFTER_S:
            process.kill()
            process.join()


def _in_process(name: str, numbers: range, current: Synchronized[int], failed: Synchronized[int]) -> None:
    """Fuzz in this process; `failed` is how many files did."""
    size_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size_bytes + _ADDRESS_SPACE, resource.RLIM_INFINITY))
    tally = fuzzed(_target(name), numbers, current, failed)
    memory, slowest = f"{tally.grown_bytes / 1e6:.0f} MB", f"slowest {tally.slowest_s:.3f} s"
    print(f"{name:60} {len(numbers):6} files  {tally.failures} failures  {slowest}  {memory}", flush=True)


def fuzzed(
    target: Target,
    numbers: range,
    current: Synchronized[int] | None = None,
    failed: Synchronized[int] | None = None,
) -> Tally:
    """Read the damaged files of some numbers; what fails is kept and told.

    Args:
        target: the reader.
        numbers: of the files.
        current: is set to the number of each file before it is read.
        failed: is counted up with each file that fails.
    """
    failures, slowest_s, first = 0, 0.0, peak_bytes()
    before = first
    for number in numbers:
        if current is not None:
            current.value = number
        data = mutated(target.seeds, number)
        what, took_s = _tried(target, data)
        slowest_s, peak = max(slowest_s, took_s), peak_bytes()
        if peak - before > MOST_BYTES:
            what, before = f"took {(peak - before) / 1e6:.0f} MB", peak
        if what is not None:
            failures += 1
            if failed is not None:
                failed.value = failures
            _keep(target.name, number, data, what)
    return Tally(failures, slowest_s, peak_bytes() - first)


def _tried(target: Target, data: bytes) -> tuple[str | None, float]:
    """What went wrong with a file, and how long it took."""
    began_s = time.process_time()
    try:
        with _bounded():
            error = outcome(target, data)
    except HangError as hang:
        return "".join(["took for ever\n", *traceback.format_exception(hang)[-3:]]), _STOPPED_AFTER_S
    took_s = time.process_time() - began_s
    if error is not None:
        return "".join(traceback.format_exception(error)[-3:]), took_s
    return (f"took {took_s:.1f} s" if took_s > MOST_S else None), took_s


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """Raises HangError where the code inside takes too long."""

    def stop(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _STOPPED_AFTER_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def peak_bytes() -> int:
    """The most memory that this process has had at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _target(name: str) -> Target:
    return next(target for target in targets() if target.name == name)


def _keep(name: str, number: int, data: bytes, what: str) -> None:
    """Keep the file, and print how it is made and read again."""
    _OUT.mkdir(parents=True, exist_ok=True)
    path = _OUT / f"{re.sub(r'[^A-Za-z0-9]+', '_', name)}-{number}"
    path.write_bytes(data)
    again = f'python -m tests.fuzz --from {number} --inputs 1 "{name}"'
    print(f"{name}, file {number}, kept as {path} (again: {again}): {what[-_MOST_PRINTED:]}", flush=True)
