"""`python -m tests.bench [NAME...]`: every benchmark, or those named. Prints medians and ratios."""

from __future__ import annotations

import os
import sys

from tests.bench import advising, drawing, host, probing, reading, recording
from tests.bench.measure import HEADING

BENCHMARKS = {
    "recording": lambda: recording.run(rounds=3),
    "host": lambda: host.run(rounds=7),
    "probing": lambda: probing.run(rounds=5),
    "drawing": lambda: drawing.run(rounds=7),
    "advising": lambda: advising.run(rounds=7),
    "reading": lambda: reading.run(rounds=3),
    "advising again": lambda: advising.run_again(rounds=7),
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"There is no benchmark {unknown[0]}: choose from {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    print(HEADING)
    for name in names or list(BENCHMARKS):
        print(BENCHMARKS[name]().row(), flush=True)
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print("Medians of rounds that took turns; the range is that of the rounds' ratios.")
    print(f"The load average was {load}: on a busy machine the ratios hold better than the figures.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
