"""`gpuscope` on a hostile file, in a process whose memory and time are bounded and measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

MOST_BYTES = 500_000_000
"""Of real memory, for whatever is refused or small."""
MOST_S = 10.0
"""Of processor time, the start of the program (about 1 s) included."""
_STUCK_AFTER_S = 150.0
_ROOT = Path(__file__).parents[3]
_BOUNDS = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, resource.RLIM_INFINITY))
resource.setrlimit(resource.RLIMIT_CPU, (100, 110))
def measured():
    peak_kib = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read()).group(1)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    sys.stderr.write(f"\\nMEASURED {peak_kib} {usage.ru_utime + usage.ru_stime}\\n")
"""
"""Libraries reserve far more addresses than they use: that bound only keeps the machine going."""
_COMMAND = """
from gpuscope.__main__ import main
try:
    status = main()
finally:
    measured()
sys.exit(status)
"""
_READINGS = """
import time
from pathlib import Path
from gpuscope.engine.import_files import read_file
from gpuscope.errors import GpuscopeError
for name in sys.argv[1:]:
    began_s = time.process_time()
    try:
        told = f"{read_file(Path(name)).rows} rows"
    except GpuscopeError as refusal:
        told = str(refusal)
    print(round(time.process_time() - began_s, 3), told.replace(chr(10), " "))
measured()
"""


class Ended(NamedTuple):
    """What a command did."""

    status: int
    output: str
    errors: str


def gpuscope(*arguments: str | Path, home: Path, most_bytes: int = MOST_BYTES, stdin: bytes = b"") -> Ended:
    """Run a command; a traceback, too much memory or too much time fails the test.

    Args:
        arguments: of the command line.
        home: for all that it writes besides.
        most_bytes: of real memory that it may take.
        stdin: given on standard input.
    """
    ended = _run(_COMMAND, [str(argument) for argument in arguments], home, stdin)
    errors, processor_s = _measured(ended, most_bytes)
    assert processor_s < MOST_S, f"it took {processor_s} s"
    return Ended(ended.returncode, ended.stdout.decode(), errors)


def refusal(file: str | Path, home: Path, most_bytes: int = MOST_BYTES, stdin: bytes = b"") -> str:
    """The sentence with which `gpuscope import` refuses a file; nothing is left behind."""
    session = home / "refused.gpuscope"
    ended = gpuscope("import", file, "-o", session, home=home, most_bytes=most_bytes, stdin=stdin)
    assert ended.status == 2, ended.errors
    assert not session.exists()
    assert not ended.output
    assert 20 < len(ended.errors) < 2500
    return ended.errors


def readings(files: list[Path], home: Path, most_bytes: int = MOST_BYTES) -> list[str]:
    """What is said of each file when one process reads them all: the number of rows, or the refusal."""
    ended = _run(_READINGS, [str(file) for file in files], home, b"")
    _measured(ended, most_bytes)
    lines = [line.split(" ", 1) for line in ended.stdout.decode().splitlines()]
    slow = [
        f"{file.name}: {took_s} s" for file, (took_s, _) in zip(files, lines, strict=True) if float(took_s) > MOST_S
    ]
    assert not slow, slow
    return [told for _, told in lines]


def _run(program: str, arguments: list[str], home: Path, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", _BOUNDS + program, *arguments],
        cwd=_ROOT,
        env=environment,
        input=stdin,
        capture_output=True,
        timeout=_STUCK_AFTER_S,
        check=False,
    )


def _measured(ended: subprocess.CompletedProcess[bytes], most_bytes: int) -> tuple[str, float]:
    """What was told on standard error, and the processor time."""
    told = ended.stderr.decode(errors="replace")
    assert "Traceback" not in told, told[-3000:]
    errors, mark, measured = told.rpartition("\nMEASURED ")
    assert mark, f"it ended with {ended.returncode}: {told[-3000:]}"
    peak_kib, processor_s = measured.split()
    assert int(peak_kib) * 1024 < most_bytes, f"it took {int(peak_kib) * 1024 / 1e6:.0f} MB"
    return errors, float(processor_s)
