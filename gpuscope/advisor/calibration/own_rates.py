"""Rates that the person measured: documents of schema `gpuscope.rates/1`, which go before all published ones.

    {"schema": "gpuscope.rates/1", "gpu": "rtx-4090", "gpu_name": "NVIDIA GeForce RTX 4090",
     "when": "2026-11-30T12:00:00+00:00", "torch_version": "2.9.0", "figures": [
        {"figure": "matmul", "precision": "bfloat16", "value": 172.0, "unit": "TFLOP/s", "how": "8192 × 8192 × 8192"},
        {"figure": "vector", "value": 930.0, "unit": "GB/s"}]}

`gpu` is the catalogue's id, or null: then the name and `memory_bytes` are looked up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from gpuscope.advisor.calibration.loading import BY_PRECISION, SINGLE, UNIT_OF, UNITS
from gpuscope.advisor.calibration.model import MEASURED, Calibration, Figure, SustainedRates
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.job.precision import precision_of
from gpuscope.domain.base import Value, from_json
from gpuscope.errors import UsageError

SCHEMA = "gpuscope.rates/1"
_MOST_BYTES = 10_000_000
"""What is larger is cut there, and then no whole document."""


class OwnFigure(Value, frozen=True, kw_only=True):
    """One measured figure."""

    figure: str
    """matmul, convolution, vector or kernel_latency"""
    precision: str | None = None
    """Of matmul and convolution."""
    value: float
    unit: str
    """TFLOP/s, GB/s or us"""
    how: str = ""
    """Shapes, clock, whatever tells how it was measured."""


class RatesDocument(Value, frozen=True, kw_only=True):
    """What was measured on one GPU; null is unknown."""

    schema: str = SCHEMA
    gpu: str | None = None
    """Catalogue id."""
    gpu_name: str | None = None
    """What the driver calls it."""
    memory_bytes: int | None = None
    when: str | None = None
    """ISO 8601 with zone."""
    torch_version: str | None = None
    driver_version: str | None = None
    figures: tuple[OwnFigure, ...] = ()


def read_rates(path: Path) -> RatesDocument:
    """Read one document.

    Raises:
        UsageError: it cannot be read, is no such document, or a figure in it makes no sense.
    """
    try:
        if not path.is_file() and path.exists():
            raise UsageError(f"The rates {path} are no file but a folder, a pipe or a device.")
        with path.open("rb") as file:
            document = from_json(file.read(_MOST_BYTES), RatesDocument)
    except OSError as error:
        raise UsageError(f"The rates {path} cannot be read ({error.strerror}).") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} does not hold measured rates: {error}.") from error
    if document.schema != SCHEMA:
        raise UsageError(f"{path} has the schema {document.schema!r}; measured rates have {SCHEMA!r}.")
    for figure in document.figures:
        _check(figure, path)
    return document


def rates_in(folder: Path) -> tuple[RatesDocument, ...]:
    """The documents `*.json` of a folder in the order of their names; none where there is no such folder.

    Raises:
        UsageError: one of them is damaged; names it.
    """
    return tuple(read_rates(path) for path in sorted(folder.glob("*.json")))


def with_own_rates(calibration: Calibration, documents: Iterable[RatesDocument], catalogue: Catalogue) -> Calibration:
    """The calibration with measured figures in the place of published ones; of equal figures the latest counts.

    Raises:
        UsageError: the catalogue does not know the GPU of a document.
    """
    rates = dict(calibration.rates)
    for document in sorted(documents, key=lambda each: each.when or ""):
        gpu = catalogue.gpu(document.gpu) or catalogue.match_gpu(document.gpu_name, document.memory_bytes)
        if gpu is None:
            name = document.gpu or document.gpu_name or "no name"
            raise UsageError(
                f"The catalogue does not know the GPU of measured rates ({name}): put its catalogue id into their gpu."
            )
        rates[gpu.id] = _with_figures(rates.get(gpu.id, SustainedRates()), document)
    return msgspec.structs.replace(calibration, rates=rates)


def _with_figures(rates: SustainedRates, document: RatesDocument) -> SustainedRates:
    changed = dict(msgspec.structs.asdict(rates))
    for each in document.figures:
        about = ", ".join(filter(None, (document.when and document.when[:10], each.how, _torch(document))))
        figure = Figure(
            value=each.value * UNITS[each.unit], kind=MEASURED, source=f"measured here ({about or 'undated'})"
        )
        if each.figure in SINGLE:
            changed[SINGLE[each.figure]] = figure
        else:
            name = BY_PRECISION[each.figure]
            changed[name] = {**changed[name], precision_of(each.precision or ""): figure}
    return SustainedRates(**changed)


def _torch(document: RatesDocument) -> str:
    return f"torch {document.torch_version}" if document.torch_version else ""


def _check(figure: OwnFigure, path: Path) -> None:
    """Refuse a figure that is not known or cannot be.

    Raises:
        UsageError: says what is wrong.
    """
    known: Sequence[str] = (*BY_PRECISION, *SINGLE)
    if figure.figure not in known:
        raise UsageError(f"{path}: the figure {figure.figure!r} is none of {', '.join(known)}.")
    unit = UNIT_OF[figure.figure]
    if figure.unit != unit:
        raise UsageError(f"{path}: {figure.figure} is given in {unit}, not in {figure.unit!r}.")
    if not math.isfinite(figure.value) or figure.value <= 0:
        raise UsageError(f"{path}: a {figure.figure} of {figure.value:g} {unit} makes no sense.")
    if figure.figure in BY_PRECISION:
        if figure.precision is None:
            raise UsageError(f"{path}: {figure.figure} needs a precision, such as bfloat16.")
        precision_of(figure.precision)
