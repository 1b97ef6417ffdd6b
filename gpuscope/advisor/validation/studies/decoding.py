"""Language models in inference engines: first token, tokens one by one, batches, saturation, a given load."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.results import around
from gpuscope.advisor.serving.uncertainty import spread_of
from gpuscope.advisor.validation.decoding_fit import SPREADS, fitted_engines, fitted_llama_cpp
from gpuscope.advisor.validation.decoding_rows import (
    BATCH,
    DECODE,
    FIRST_TOKEN,
    PER_SECOND,
    SATURATED,
    Row,
    decoding_rows,
    predicted,
)
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.tables import Tables

NAME = "decoding"
DESCRIPTION = (
    "Language models in llama.cpp, gpt-fast, TensorRT-LLM and vLLM: token times and rates on a GPU whose rows were not "
    "fitted."
)
CASE = ""
GOAL = None
TRIED = ""

_FAMILIES = {
    FIRST_TOKEN: "first token",
    BATCH: "static batches of an older release",
    SATURATED: "saturated service",
}
_UNDER_LOAD = "service under load"


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Each GPU's rows, with constants fitted on the rows of all other GPUs."""
    rows = decoding_rows(tables)
    catalogue, calibration = tables.catalogue, tables.calibration
    for gpu_id in dict.fromkeys(row.gpu.id for row in rows):
        others = [row for row in rows if row.gpu.id != gpu_id]
        here = [row for row in rows if row.gpu.id == gpu_id]
        fits: dict[bool, ServingConstants] = {}
        for llama_cpp in {row.llama_cpp for row in here}:
            fit = fitted_llama_cpp if llama_cpp else fitted_engines
            fits[llama_cpp] = fit(others, catalogue, calibration)
        for row in here:
            constants = fits[row.llama_cpp]
            value, refusal = predicted(row, constants, catalogue, calibration)
            yield _outcome(row, value, refusal, constants)


def _outcome(row: Row, value: float | None, refusal: str, constants: ServingConstants) -> Outcome:
    spread = spread_of(getattr(constants, SPREADS[row.kind]), row.gpu.vendor)
    return Outcome(
        study=NAME,
        family=_family(row),
        gpu=row.gpu.id,
        precision=row.model.format.name,
        label=row.label,
        predicted=None if value is None else around(value, spread),
        measured=row.value,
        unit="tokens/s" if row.kind in PER_SECOND else "s",
        held_out=row.gpu.id,
        source=row.source,
        refusal=refusal,
    )


def _family(row: Row) -> str:
    if row.kind == DECODE:
        engine = "llama.cpp" if row.llama_cpp else row.stack
        return f"one request, {engine}"
    return _FAMILIES.get(row.kind, _UNDER_LOAD)
