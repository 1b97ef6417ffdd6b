"""The GPU that a job ran on, as the person says it where a recording does not name it."""

from __future__ import annotations

import difflib

import msgspec

from gpuscope.domain.base import Value
from gpuscope.domain.footprint import Footprint, FootprintDevice, Provenance
from gpuscope.engine.advise import catalogue
from gpuscope.engine.framework_findings import CARD_NOT_NAMED
from gpuscope.errors import UsageError
from gpuscope.store.reader import SessionReader

RAN_ON = "ran_on"
"""Kind of the session's document that keeps what the person said."""
_SAID = "the person said which GPU it was"
_UNNAMED = frozenset({None, "", "unknown GPU"})


class RanOn(Value, frozen=True, kw_only=True):
    """What the person said."""

    gpu: str
    """Catalogue id."""


def gpu_called(name: str) -> str:
    """Catalogue id of a GPU by its id or by what its driver calls it.

    Raises:
        UsageError: the catalogue does not know it, or cannot tell variants of that name apart.
    """
    known = catalogue()
    found = known.gpu(name.strip().lower()) or known.match_gpu(name, None)
    if found is not None:
        return found.id
    alike = difflib.get_close_matches(name.strip().lower(), [gpu.id for gpu in known.gpus], n=3, cutoff=0.4)
    hint = f": {', '.join(alike)} are alike" if alike else ""
    raise UsageError(f"The catalogue knows no GPU {name!r}, or several{hint}. Write its name as nvidia-smi prints it.")


def with_card(footprint: Footprint, gpu_id: str) -> Footprint:
    """The footprint with a GPU in place of those that its recording does not name; others stay.

    Raises:
        UsageError: there is no unnamed GPU in it.
    """
    said = footprint.provenance.get("/devices")
    if said is not None and said.how == _SAID:  # and may say it better now
        blank = tuple(FootprintDevice(uuid=device.uuid) for device in footprint.devices)
        return _named(msgspec.structs.replace(footprint, devices=blank), gpu_id)
    if not any(_is_unnamed(device) for device in footprint.devices):
        names = ", ".join(sorted({str(device.name or device.gpu) for device in footprint.devices})) or "no GPU at all"
        raise UsageError(f"The recording tells what it ran on itself ({names}): --ran-on is for those that do not.")
    return _named(footprint, gpu_id)


def with_known_card(footprint: Footprint, reader: SessionReader) -> Footprint:
    """The footprint with what the person said of this session before, if anything."""
    said = reader.document(RAN_ON, RanOn)
    return footprint if said is None else _named(footprint, said.gpu)


def _named(footprint: Footprint, gpu_id: str) -> Footprint:
    devices = tuple(_as_card(device, gpu_id) if _is_unnamed(device) else device for device in footprint.devices)
    findings = tuple(finding for finding in footprint.findings if finding.code != CARD_NOT_NAMED)
    provenance = {
        **footprint.provenance,
        "/devices": Provenance(kind="assumed", how=_SAID),
    }
    return msgspec.structs.replace(footprint, devices=devices, findings=findings, provenance=provenance)


def _is_unnamed(device: FootprintDevice) -> bool:
    return device.gpu is None and (device.name in _UNNAMED or catalogue().match_gpu(device.name, None) is None)


def _as_card(device: FootprintDevice, gpu_id: str) -> FootprintDevice:
    spec = catalogue().gpu(gpu_id)
    if spec is None:  # said of an older catalogue
        return device
    name = spec.name if device.name in _UNNAMED else device.name
    return msgspec.structs.replace(
        device, gpu=spec.id, name=name, memory_bytes=device.memory_bytes or spec.memory_bytes
    )
