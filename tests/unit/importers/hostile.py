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
_STUCK_AFTER_S = 60.0
_ROOT = Path(__file__).parents[3]
_LAUNCHER = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, resource.RLIM_INFINITY))
resource.setrlimit(resource.RLIMIT_CPU, (30, 40))
from gpuscope.__main__ import main
try:
    status = main()
finally:
    peak_kib = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read()).group(1)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    sys.stderr.write(f"\\nMEASURED {peak_kib} {usage.ru_utime + usage.ru_stime}\\n")
sys.exit(status)
"""
"""Libraries reserve far more addresses than they use: that bound only keeps the machine going."""


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
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home)}
    ended = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *map(str, arguments)],
        cwd=_ROOT,
        env=environment,
        input=stdin,
        capture_output=True,
        timeout=_STUCK_AFTER_S,
        check=False,
    )
    told = ended.stderr.decode(errors="replace")
    assert "Traceback" not in told, told[-3000:]
    errors, mark, measured = told.rpartition("\nMEASURED ")
    assert mark, f"it ended with {ended.returncode}: {told[-3000:]}"
    peak_kib, processor_s = measured.split()
    assert int(peak_kib) * 1024 < most_bytes, f"it took {int(peak_kib) * 1024 / 1e6:.0f} MB"
    assert float(processor_s) < MOST_S, f"it took {processor_s} s"
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
