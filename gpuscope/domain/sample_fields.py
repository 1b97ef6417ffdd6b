"""Which fields of samples are single numbers, and which of those count something: as the types of samples say."""

from __future__ import annotations

import msgspec

from gpuscope.domain.sample import GpuSample, HostSample

_NOT_FIGURES = frozenset({"read_start_s", "read_end_s"})
"""Of the sampler's own clock: they say nothing outside."""


def _figures_of(sample_type: type[msgspec.Struct]) -> dict[str, bool]:
    types = {field.name: field.type for field in msgspec.structs.fields(sample_type) if field.name not in _NOT_FIGURES}
    return {name: type_ == int | None for name, type_ in types.items() if type_ in {int | None, float | None}}


GPU_FIGURES = _figures_of(GpuSample)
"""Single numbers of a `GpuSample` by name, and whether they are whole."""
HOST_FIGURES = _figures_of(HostSample)
"""The same of a `HostSample`."""


def is_whole(name: str) -> bool:
    """Whether a figure of a GPU or a host counts something (bytes, errors) and has no fraction."""
    return GPU_FIGURES.get(name, False) or HOST_FIGURES.get(name, False)
