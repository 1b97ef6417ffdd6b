"""Which processes are on a GPU and what each has of it."""

from __future__ import annotations

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import ProcessSample
from gpuscope.sources.driver import NOT_OFFERED, Driver, DriverError
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, WithoutResources
from gpuscope.sources.process_facts import ProcessFacts
from gpuscope.sources.process_lists import Entry, ProcessList, Shares
from gpuscope.sources.refusals import Refusals
from gpuscope.sources.surroundings import Surroundings

_KINDS = {"Graphics": "graphics", "MPSCompute": "compute", "Compute": "compute"}
"""The driver's lists and what their processes are called; one in several lists is what the last of them says."""


class ProcessShares(WithoutResources):
    """Reads the processes' shares of the GPU's time. It has no figures of its own: `GpuProcesses` shows them."""

    tier = Tier.MEDIUM
    fields = ()

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._shares = Shares(driver, handle)
        self._refusals = Refusals()
        self._last: dict[int, int] | Reason = Reason.FIRST_READING

    def read(self, now_s: float) -> Figures:
        """Look once more."""
        if self._refusals.reason("shares", now_s) is None:
            try:
                self._last = self._shares.read()
            except DriverError as error:
                self._last = error.of_figure()
            self._refusals.note("shares", self._last, now_s)
        return {}

    def of(self, pid: int) -> Figure:
        """The share of a process on the device: 0 for one that was idle."""
        return self._last if isinstance(self._last, Reason) else self._last.get(pid, 0)


class GpuProcesses(WithoutResources):
    """The processes of one device with their memory and, on whole GPUs, their share of its time."""

    tier = Tier.SLOW
    fields = ("processes",)

    def __init__(self, driver: Driver, handle: Handle, device: Device, shares: ProcessShares | None) -> None:
        """Read a whole GPU with its `shares`, or an instance, of which the driver knows none."""
        self._memory_total_bytes = device.memory_total_bytes
        self._lists = {kind: ProcessList(driver, handle, kind) for kind in _KINDS}
        self._shares = shares
        self._surroundings = Surroundings(device)
        self._facts = ProcessFacts()
        self._refusals = Refusals()

    def read(self, now_s: float) -> Figures:
        """All processes with a context on the device, by number."""
        found: dict[int, tuple[Entry, str]] = {}
        refused: list[Reason] = []
        for kind in _KINDS:
            entries = self._list(kind, now_s)
            if not isinstance(entries, Reason):
                found |= {entry.pid: (entry, _KINDS[kind]) for entry in entries}
            elif entries in NOT_OFFERED:
                refused.append(entries)
            else:
                return {"processes": entries}  # half a list would look like a whole one
        if len(refused) == len(_KINDS):
            return {"processes": refused[-1]}
        self._facts.forget_all_but(set(found))
        return {"processes": tuple(self._process(*found[pid]) for pid in sorted(found))}

    def _list(self, kind: str, now_s: float) -> list[Entry] | Reason:
        entries: list[Entry] | Reason | None = self._refusals.reason(kind, now_s)
        if entries is None:
            try:
                entries = self._lists[kind].read(self._memory_total_bytes)
            except DriverError as error:
                entries = error.of_figure()
            self._refusals.note(kind, entries, now_s)
        return entries

    def _process(self, entry: Entry, kind: str) -> ProcessSample:
        share = Reason.MIG_MODE if self._shares is None else self._shares.of(entry.pid)
        if isinstance(share, Reason):
            share = self._surroundings.explain("sm_percent", share)
        figures = {
            "gpu_memory_bytes": (
                self._surroundings.hidden_memory() if entry.memory_bytes is None else entry.memory_bytes
            ),
            "sm_percent": share,
            **self._facts.of(entry.pid),
        }
        return ProcessSample(
            pid=entry.pid,
            kind=kind,
            unavailable={name: figure for name, figure in figures.items() if isinstance(figure, Reason)},
            **{name: figure for name, figure in figures.items() if not isinstance(figure, Reason)},
        )
