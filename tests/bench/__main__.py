"""`python -m tests.bench [NAME...]`: every benchmark, or those named. Prints medians and ratios."""

from __future__ import annotations

import os
import sys

from tests.bench import advising, drawing, host, probing, reading, recording, tables
from tests.bench.measure import HEADING
from tests.bench.separately import NotInstalledError

BENCHMARKS = {
    "recording": lambda: recording.run(rounds=3),
    "host": lambda: host.run(rounds=7),
    "probing": lambda: probing.run(rounds=5),
    "drawing": lambda: drawing.run(rounds=7),
    "advising": lambda: advising.run(rounds=7),
    "tables": lambda: tables.run(rounds=2),
    "reading": lambda: reading.run(rounds=3),
    "reading beside HTA": lambda: reading.run(rounds=1, beside="hta"),
    "reading beside Perfetto": lambda: reading.run(rounds=1, beside="perfetto"),
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
        try:
            print(BENCHMARKS[name]().row(), flush=True)
        except NotInstalledError as error:
            print(f"{name}: not installed ({error})", flush=True)
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print("Medians of rounds that took turns; the range is that of the rounds' ratios.")
    print(f"The load average was {load}: on a busy machine the ratios hold better than the figures.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
