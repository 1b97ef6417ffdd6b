"""Sustained rates out of measurements that others published, and the shares of specifications that follow from them.

    matmul in 16 and 8 bits   best measured product (stas00/ml-engineering; of a T4 NVIDIA's forum)
    matmul in FP32            products of 0.1 TFLOP and more without TF32 (NeuSight's kernels): the upper decile; of
                              other GPUs the best product (zzc0721/torch-performance-test-data)
    vector                    elementwise operators on 100 MB and more (NeuSight's kernels): the median

Pure: whoever holds a GPU out passes the rows without it.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from gpuscope.advisor.calibration.model import FITTED, PUBLISHED, Figure, SustainedRates, share_key
from gpuscope.advisor.calibration.power_limits import IDLE_W, chip, on_the_slot, with_generations
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import BFLOAT16, FLOAT8, FLOAT16, FLOAT32, matrix_peak_tflops

Cells = Mapping[str, str]

_KERNEL_SOURCE = "sitar-lab/NeuSight kernels"
# The same silicon, clock and power with two sizes of memory; the source names no size.
_UNNAMED = {
    "NVIDIA A100 SXM": ("a100-sxm4-40gb", "a100-sxm4-80gb"),
    "NVIDIA A100 PCIe": ("a100-pcie-40gb", "a100-pcie-80gb"),
    "NVIDIA GH200 SXM": ("gh200-96gb", "gh200-144gb"),
}
_PRECISIONS = {"bf16": BFLOAT16, "fp16": FLOAT16, "fp8": FLOAT8, "fp32": FLOAT32}

_TENSORS_MOVED = {"add": 3, "mul": 3, "div": 3, "addu": 2, "mulu": 2, "divu": 2, "relu": 2, "gelu": 2, "tanh": 2}
"""Tensors that an elementwise operator reads and writes: the result and two inputs, with a number (…u) one."""
_LARGE_TENSOR_BYTES = 1e8
_LARGE_PRODUCT_FLOPS = 1e11
_UPPER_DECILE = 0.9
_FEWEST = 8
"""Rows of a GPU below which nothing is said about it."""
_CDNA3 = "gfx942"
_FP32_MATRIX_OVER_VECTOR = {"gfx908": 2.0, "gfx90a": 2.0, _CDNA3: 1.0}
"""Peak of FP32 in AMD's matrix units over that of the vector units, which is the one in the catalogue."""


def published_rates(
    matmul: Iterable[Cells], products: Iterable[Cells], vector: Iterable[Cells]
) -> dict[str, SustainedRates]:
    """Rates by catalogue id of the GPU.

    Args:
        matmul: rows of `matmul_achievable`.
        products: rows of `neusight_gemm`, FP32 without TF32.
        vector: rows of `neusight_vector`.
    """
    by_precision: dict[str, dict[str, Figure]] = defaultdict(dict)
    for gpu_id, precision, figure in _best_products(matmul):
        by_precision[gpu_id][precision] = figure
    for gpu_id, figure in _float32_products(products).items():
        by_precision[gpu_id][FLOAT32] = figure
    moved = _bytes_moved(vector)
    return {
        gpu_id: SustainedRates(matmul_flops_per_s=by_precision.get(gpu_id, {}), vector_bytes_per_s=moved.get(gpu_id))
        for gpu_id in sorted({*by_precision, *moved})
    }


def fitted_shares(rates: Mapping[str, SustainedRates], catalogue: Catalogue) -> dict[str, Figure]:
    """Shares of the specifications that GPUs with published rates reach, by chip and over all, for those without.

    Keys are those of `share_key`: `matmul_16bit`, `matmul_8bit`, `matmul_fp32` by compute capability (others' by
    architecture), `vector` by kind of memory. The share of a chip is the highest of its GPUs; the share of memory the
    median. A card that lives on the slot's 75 W tells nothing about its chip's silicon, but what a TFLOPS takes there
    (`power_limits`).
    """
    seen: dict[str, list[float]] = defaultdict(list)
    for gpu_id, known in sorted(rates.items()):
        gpu = catalogue.gpu(gpu_id)
        if gpu is not None:
            for key, value in _shares_of(gpu, known):
                seen[key].append(value)
    shares = {key: _share(_summary(key)(values), values) for key, values in sorted(seen.items())}
    for group in sorted({key.split("/")[0] for key in seen if key.startswith("matmul")}):
        best = [share.value for key, share in shares.items() if key.startswith(f"{group}/")]
        shares[group] = _share(statistics.median(best), best)
    return with_generations({**shares, **_of_matrix_units(shares)}, catalogue)


def _of_matrix_units(shares: Mapping[str, Figure]) -> dict[str, Figure]:
    """AMD's matrix units compute FP32, too; of their peak they sustain what CDNA3 does in 16 bits."""
    known = shares.get(share_key("matmul_16bit", _CDNA3))
    if known is None:
        return {}
    return {
        share_key("matmul_fp32", of_chip): Figure(
            value=times * known.value,
            kind=FITTED,
            source=f"matrix units in FP32: {times:g} × the vector rate (AMD's CDNA papers) × CDNA3's share in 16 bits",
        )
        for of_chip, times in _FP32_MATRIX_OVER_VECTOR.items()
    }


def _shares_of(gpu: GpuSpec, known: SustainedRates) -> Iterator[tuple[str, float]]:
    for precision, figure in known.matmul_flops_per_s.items():
        peak = matrix_peak_tflops(gpu, precision)
        tflops = figure.value / 1e12
        if on_the_slot(gpu) and gpu.tdp_w is not None:
            yield share_key(f"watts_per_tflops_{_GROUP[precision]}", chip(gpu)), (gpu.tdp_w - IDLE_W) / tflops
        elif peak:
            yield share_key(f"matmul_{_GROUP[precision]}", chip(gpu)), tflops / peak
    if known.vector_bytes_per_s is not None and gpu.memory_bandwidth_gbs:
        yield share_key("vector", memory(gpu)), known.vector_bytes_per_s.value / (gpu.memory_bandwidth_gbs * 1e9)


def _summary(key: str) -> Callable[[list[float]], float]:
    return max if key.startswith("matmul") else statistics.median


def memory(gpu: GpuSpec) -> str:
    """Kind of memory by what large operators reach of it: HBM, GDDR (5 and 6), and each later kind by its name."""
    if gpu.memory_type.startswith("HBM"):
        return "HBM"
    return "GDDR" if gpu.memory_type in {"GDDR5", "GDDR5X", "GDDR6"} else gpu.memory_type


_GROUP = {BFLOAT16: "16bit", FLOAT16: "16bit", FLOAT8: "8bit", FLOAT32: "fp32"}


def _share(value: float, values: list[float]) -> Figure:
    count = f"{len(values)} GPU{'s' if len(values) > 1 else ''}"
    return Figure(value=value, kind=FITTED, source=f"published rates of {count}")


def _best_products(rows: Iterable[Cells]) -> Iterable[tuple[str, str, Figure]]:
    for row in rows:
        precision = _PRECISIONS.get(row["precision"])
        ids = (row["gpu_id"],) if row["gpu_id"] else _UNNAMED.get(row["accelerator"], ())
        if precision is None:
            continue
        publisher, software = row["source"].split(":")[0], f", torch {row['torch']}" if row["torch"] else ""
        source = f"{publisher}: best {row['precision']} product, {row['best_shape_MxNxK']}{software}"
        figure = Figure(value=float(row["measured_tflops"]) * 1e12, kind=PUBLISHED, source=source)
        yield from ((gpu_id, precision, figure) for gpu_id in ids)


def _float32_products(rows: Iterable[Cells]) -> dict[str, Figure]:
    rates: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        flops = product_flops(row)
        if flops >= _LARGE_PRODUCT_FLOPS:
            rates[row["gpu_id"]].append(flops / (float(row["latency_ms"]) / 1e3))
    return {
        gpu_id: Figure(
            value=sorted(values)[int(len(values) * _UPPER_DECILE)],
            kind=PUBLISHED,
            source=f"{_KERNEL_SOURCE}: upper decile of {len(values)} FP32 products of 0.1 TFLOP and more",
        )
        for gpu_id, values in rates.items()
        if len(values) >= _FEWEST
    }


def product_flops(row: Cells) -> float:
    """FLOPs of a row of `neusight_gemm`: b products of m×k and k×n; linear layers have no m, b rows of k."""
    return 2 * float(row["b"]) * float(row["m"] or 1) * float(row["n"]) * float(row["k"])


def _bytes_moved(rows: Iterable[Cells]) -> dict[str, Figure]:
    rates: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        tensors, size = _TENSORS_MOVED.get(row["op"], 0), 4 * float(row["rows"]) * float(row["width"])
        if tensors and size >= _LARGE_TENSOR_BYTES:
            rates[row["gpu_id"]].append(tensors * size / (float(row["latency_ms"]) / 1e3))
    return {
        gpu_id: Figure(
            value=statistics.median(values),
            kind=PUBLISHED,
            source=f"{_KERNEL_SOURCE}: median of {len(values)} FP32 elementwise operators on 100 MB and more",
        )
        for gpu_id, values in rates.items()
        if len(values) >= _FEWEST
    }
