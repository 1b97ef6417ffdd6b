"""Pressure-stall information: how much time work loses by waiting for processors, memory or disks.

Format and meaning: https://docs.kernel.org/accounting/psi.html
"""

from __future__ import annotations

from pathlib import Path

from gpuscope.domain.reasons import Reason
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.system_files import Figures, KeptFile, Number

KINDS = {"cpu": ("some",), "memory": ("some", "full"), "io": ("some", "full")}
"""The kernel prints `full` of the processors too, but it is not defined for a whole machine and always 0."""
MICROSECONDS_PER_S = 1e6


class Pressure:
    """Shares of time in which some task, or all of them at once (full), stood still."""

    def __init__(self, proc: Path) -> None:
        self._files = {name: KeptFile(proc / "pressure" / name, in_one_piece=True) for name in KINDS}
        self._rates = CounterRates()

    def read(self, now_s: float) -> Figures:
        """In percent: since the last reading (from the counters), and the kernel's average over 10 s."""
        figures: Figures = {}
        for name, kinds in KINDS.items():
            text = self._files[name].read()
            lines = _parse(text) if isinstance(text, bytes) else {}
            reason = text if isinstance(text, Reason) else Reason.UNREADABLE
            for kind in kinds:
                total_us, average = lines.get(kind, (reason, reason))
                figures[f"{name}_pressure_{kind}_percent"] = self._share((name, kind), total_us, now_s)
                figures[f"{name}_pressure_{kind}_avg10_percent"] = average
        return figures

    def _share(self, key: object, total_us: Number, now_s: float) -> Number:
        if isinstance(total_us, Reason):
            return total_us
        rate = self._rates.rate(key, total_us, now_s)
        # The counter moves in steps: a little more than all the time can fall between two readings.
        return rate if isinstance(rate, Reason) else min(100.0, 100 * rate / MICROSECONDS_PER_S)


def _parse(text: bytes) -> dict[str, tuple[Number, Number]]:
    """Total in microseconds and average over 10 s of each kind of `some avg10=0.12 avg60=... total=123`."""
    found: dict[str, tuple[Number, Number]] = {}
    for line in text.decode("ascii", "replace").splitlines():
        kind, *words = line.split() or [""]
        parts = dict(word.partition("=")[::2] for word in words)
        try:
            found[kind] = (int(parts["total"]), float(parts["avg10"]))
        except (KeyError, ValueError):
            continue
    return found
