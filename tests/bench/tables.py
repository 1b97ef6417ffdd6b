"""What a week of `nvidia-smi --query-gpu` of eight GPUs costs: file to session on disk, beside pandas' data frame.

pandas reads the same file with its C parser and makes numbers of the columns with units and times of the stamps, as
scripts on such logs do; it neither tells what is wrong in the file nor writes anything.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from tests.bench.measure import Comparison, interleave
from tests.bench.separately import Separate, report

SECONDS, GPUS = 7 * 24 * 3600, 8
_UNITS = ("utilization.gpu [%]", "utilization.memory [%]", "memory.used [MiB]", "memory.total [MiB]", "power.draw [W]",
          "clocks.current.sm [MHz]")  # fmt: skip
_HEADING = f"timestamp, index, name, uuid, temperature.gpu, pstate, {', '.join(_UNITS)}\n"
_VARIANTS = 997
"""Different figures of a GPU; a prime number, so that no two GPUs go on together."""


def run(rounds: int) -> Comparison:
    """Wall seconds of an import, and of pandas' data frame of the same file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "week.csv"
        write_log(path, SECONDS)
        ours, pandas = (Separate(__name__, how, path) for how in ("ours", "pandas"))
        comparison = interleave(
            f"importing {SECONDS * GPUS / 1e6:.1f} M rows, {path.stat().st_size / 1e6:.0f} MB",
            "pandas.read_csv and numbers of it",
            "s",
            ours=ours,
            baseline=pandas,
            rounds=rounds,
        )
    print(f"Most memory: {max(ours.peaks_mb):.0f} MB, pandas {max(pandas.peaks_mb):.0f} MB.")
    return comparison


def write_log(path: Path, seconds: int) -> None:
    """Write the log of eight GPUs, one row a second each, with units."""
    chance = random.Random(8)
    figures = [
        f"{chance.randint(30, 70)}, P0, {chance.randint(0, 100)} %, {chance.randint(0, 60)} %, "
        f"{chance.randint(60_000, 80_000)} MiB, 81559 MiB, {chance.uniform(70, 700):.2f} W, "
        f"{chance.randint(345, 1980)} MHz\n"
        for _ in range(_VARIANTS)
    ]
    facts = [f"{gpu}, NVIDIA H100 80GB HBM3, GPU-{gpu:08x}-1111-2222-3333-{gpu:012x}" for gpu in range(GPUS)]
    start = datetime(2026, 3, 1)  # noqa: DTZ001 - nvidia-smi writes no zone
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEADING)
        for second in range(seconds):
            stamp = f"{start + timedelta(seconds=second):%Y/%m/%d %H:%M:%S}"
            rows = (
                f"{stamp}.{100 + gpu:03}, {facts[gpu]}, {figures[(second * (gpu + 3) + gpu) % _VARIANTS]}"
                for gpu in range(GPUS)
            )
            file.write("".join(rows))


def _ours(path: Path) -> Callable[[], object]:
    from gpuscope.engine.import_files import import_files

    session = path.with_suffix(".gpuscope")
    session.unlink(missing_ok=True)
    return lambda: import_files([path], session)


def _pandas(path: Path) -> Callable[[], object]:
    import pandas as pd

    def read() -> object:
        frame = pd.read_csv(path, skipinitialspace=True)
        frame["timestamp"] = pd.to_datetime(frame["timestamp"], format="%Y/%m/%d %H:%M:%S.%f")
        for name in _UNITS:
            frame[name] = pd.to_numeric(frame[name].str.split(" ").str[0])
        return frame

    return read


if __name__ == "__main__":
    report(lambda: {"ours": _ours, "pandas": _pandas}[sys.argv[1]](Path(sys.argv[2])))
