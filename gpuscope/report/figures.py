"""Make labelled figures out of a footprint's values, each with where it comes from or why it is not there."""

from __future__ import annotations

from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Footprint, Provenance
from gpuscope.report.model import Figure

Raw = bool | int | float | str | Range | None


class FigureMaker:
    """Figures of one footprint."""

    def __init__(self, footprint: Footprint, missing: str) -> None:
        """`missing` is the sentence for figures that nobody has."""
        self._provenance = footprint.provenance
        self._missing = missing

    def __call__(
        self, key: str, value: Raw, unit: str = "text", *, pointer: str = "", missing: str = "", seen: str = ""
    ) -> Figure:
        """A figure; its provenance is that of the JSON pointer or of the nearest part of the document around it.

        Where the footprint has none, `seen` says where the session has the figure from.
        """
        origin = self._origin(pointer)
        if origin is None and seen:
            origin = Provenance(kind="measured", how=seen)
        return figure(key, value, unit, missing=missing or self._missing, origin=origin)

    def _origin(self, pointer: str) -> Provenance | None:
        while pointer:
            if pointer in self._provenance:
                return self._provenance[pointer]
            pointer = pointer.rpartition("/")[0]
        return None


def figure(key: str, value: Raw, unit: str = "text", *, missing: str = "", origin: Provenance | None = None) -> Figure:
    """A figure; `missing` is only kept when there is no value."""
    if value is None or value == "":
        return Figure(key=key, unit=unit, missing=missing)
    kind = origin.kind if origin else ""
    how = " · ".join(part for part in (origin.how, origin.source) if part) if origin else ""
    if isinstance(value, Range):
        return Figure(key=key, value=value.mid, low=value.low, high=value.high, unit=unit, kind=kind, how=how)
    return Figure(key=key, value=value, unit=unit, kind=kind, how=how)
