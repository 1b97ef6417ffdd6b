"""Published speeds of language models in inference engines: the rows, and what the product predicts for them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.architecture import KnownArchitecture
from gpuscope.advisor.parallel.topology import Topology, topology_at_counts
from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.device import Device, gpu_device
from gpuscope.advisor.serving.engine import Request, decode, operate, operate_at_rate, prefill
from gpuscope.advisor.serving.memory import most_requests, shown_bytes
from gpuscope.advisor.serving.model import ServedModel, served_model
from gpuscope.advisor.serving.split import Split
from gpuscope.advisor.serving.weights import FILE_FORMATS, WeightFormat, cache_bytes, products_of, weight_format
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.domain.architecture import Architecture

DECODE, FIRST_TOKEN, BATCH, SATURATED = "decode", "first_token", "batch", "saturated"
LOAD_FIRST_TOKEN, LOAD_INTER_TOKEN = "load_first_token", "load_inter_token"
PER_SECOND = frozenset({DECODE, BATCH, SATURATED})
"""Kinds of rows whose value is in tokens a second; the others are times."""
_ENGINE_BATCH = 2048
"""Requests in a batch of the engine of the saturated rows, where the memory takes them."""

_WITH_FILES = {
    **FILE_FORMATS,
    "int4_g32": WeightFormat("int4", 5.0, quantised=True, how="4 bits in groups of 32"),
}
"""Besides the formats that people name: those of llama.cpp's files, and gpt-fast's four bits in groups of 32."""


class Row(NamedTuple):
    """One measurement."""

    kind: str
    stack: str
    model_name: str
    weights: str
    model: ServedModel
    gpu: GpuSpec
    gpus: int
    batch: float | None
    requests_per_s: float | None
    request: Request
    value: float
    """Tokens a second, or seconds."""
    source: str

    @property
    def label(self) -> str:
        """What tells the row from others."""
        size = f"{self.request.prompt_tokens:g} + {self.request.output_tokens:g} tokens"
        load = "" if self.batch is None else f", batch {self.batch:g}"
        rate = "" if self.requests_per_s is None else f", {self.requests_per_s:g} requests/s"
        return f"{self.model_name} {self.weights}, {self.gpus} GPUs, {size}{load}{rate} ({self.stack})"

    @property
    def llama_cpp(self) -> bool:
        """Measured with llama.cpp, which starts every kernel by itself."""
        return self.stack.startswith("llama.cpp")


def decoding_rows(tables: Tables) -> tuple[Row, ...]:
    """All rows of published/decoding.csv, with the models of published/decoding_models.csv."""
    shapes = {cells["model"]: _architecture(cells) for cells in tables.rows("decoding_models")}

    @cache
    def model_of(name: str, weights: str, kept: str) -> ServedModel:
        known = KnownArchitecture(shapes[name], assumed=False, how="published")
        return served_model(known, None, _WITH_FILES.get(weights) or weight_format(weights), cache_bytes(kept))

    rows = []
    for cells in tables.rows("decoding"):
        gpu = tables.catalogue.gpu(cells["gpu_id"])
        assert gpu is not None
        model = model_of(cells["model"], cells["weights"], cells["cache"])
        rows.append(_row(cells, model, gpu))
    return tuple(rows)


def _row(cells: Cells, model: ServedModel, gpu: GpuSpec) -> Row:
    scale = 1e-3 if cells["unit"] == "ms" else 1.0
    return Row(
        kind=cells["kind"],
        stack=cells["stack"],
        model_name=cells["model"],
        weights=cells["weights"],
        model=model,
        gpu=gpu,
        gpus=int(cells["gpus"]),
        batch=_number(cells["batch"]),
        requests_per_s=_number(cells["requests_per_s"]),
        request=Request(float(cells["prompt_tokens"]), float(cells["output_tokens"])),
        value=float(cells["value"]) * scale,
        source=cells["source"],
    )


def predicted(
    row: Row, constants: ServingConstants, catalogue: Catalogue, calibration: Calibration
) -> tuple[float | None, str]:
    """What the product predicts for a row, in its unit; None with the reason."""
    device = _device(row, constants, catalogue, calibration)
    if isinstance(device, str):
        return None, device
    model, request = row.model, row.request
    if row.kind == DECODE:
        return 1 / decode(model, device, 1.0, request.mean_context).seconds, ""
    if row.kind == FIRST_TOKEN:
        return prefill(model, device, request.prompt_tokens).seconds, ""
    if row.kind in {BATCH, SATURATED}:
        batch = row.batch if row.batch is not None else _memory_batch(row, constants)
        if batch is None:
            return None, "it does not fit"
        return operate(model, device, batch, request).requests_per_s * request.output_tokens, ""
    assert row.requests_per_s is not None
    point = operate_at_rate(model, device, row.requests_per_s, request, _ENGINE_BATCH)
    if point is None:
        return None, "the load is too high"
    return (point.first_token_s if row.kind == LOAD_FIRST_TOKEN else point.inter_token_s), ""


def _memory_batch(row: Row, constants: ServingConstants) -> float | None:
    usable = shown_bytes(row.gpu) * constants.memory_share
    count, fits = most_requests(row.model, row.gpu, Split(row.gpus), row.request, usable)
    return None if fits is False else float(min(count, _ENGINE_BATCH))


def _device(row: Row, constants: ServingConstants, catalogue: Catalogue, calibration: Calibration) -> Device | str:
    precision = "float16" if row.weights == "float16" else "bfloat16"
    products = products_of(row.gpu, row.model.format, precision)
    if isinstance(products, str):
        return products
    topology = _topology(row.gpu, row.gpus, catalogue)
    return gpu_device(row.gpu, products, topology, Split(row.gpus), constants, calibration)


def _topology(gpu: GpuSpec, count: int, catalogue: Catalogue) -> Topology:
    """The links of a machine with such GPUs, as the catalogue's systems have them."""
    machines: Iterable[str] = (s.scale_up for s in catalogue.systems if s.gpu_id == gpu.id and s.gpu_count == 8)
    return topology_at_counts(gpu, count, next(iter(machines), "") if count > 1 else "")


def _architecture(cells: Cells) -> Architecture:
    def whole(name: str) -> int | None:
        return int(cells[name]) if cells[name] else None

    return Architecture(
        layers=int(cells["layers"]),
        hidden_size=int(cells["hidden_size"]),
        attention_heads=whole("attention_heads"),
        key_value_heads=whole("key_value_heads"),
        head_size=whole("head_size"),
        feed_forward_size=whole("feed_forward_size"),
        gated_feed_forward=cells["gated_feed_forward"] == "1",
        vocabulary_size=whole("vocabulary_size"),
        tied_embeddings=cells["tied_embeddings"] == "1",
        experts=whole("experts"),
        experts_per_token=whole("experts_per_token"),
    )


def _number(text: str) -> float | None:
    return float(text) if text else None
