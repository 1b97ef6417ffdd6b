"""What a TFLOPS takes in watts, by chip: it says how far a board's power limit keeps a card below its silicon.

Cards that live on the slot's 75 W were measured at their limit, so they tell it for their chip. Of a generation that
has none measured, the board power of its GeForce cards tells it: they are sold with as much as their specified clock
needs, and a card held down by power runs at a lower voltage, at which each operation takes less by a factor that the
measured generations share.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping

from gpuscope.advisor.calibration.model import FITTED, Figure, share_key
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec

SLOT_W = 75.0
"""What a PCIe slot feeds a card without a plug of its own."""
IDLE_W = 16.0
"""Board power that computes nothing. An L4 (72 W) sustains 9.8 FP32 TFLOPS and 300 W cards with the same cores at most
55% of 91: a straight line through both leaves 16 W at no work."""
TENSOR_OVER_PLAIN_WATTS = 0.17
"""Of an operation on tensor cores in 16 bits over one in FP32 without them: a T4 at its limit sustains 24 TFLOPS in
16 bits (NVIDIA developer forum, thread 264462) and 4.1 in FP32 (sitar-lab/NeuSight)."""
FLOAT32_WATTS, HALF_WATTS = "watts_per_tflops_fp32", "watts_per_tflops_16bit"


def chip(gpu: GpuSpec) -> str:
    """What GPUs with the same cores have in common: NVIDIA's compute capability, others' architecture."""
    return gpu.compute_capability or gpu.architecture


def on_the_slot(gpu: GpuSpec) -> bool:
    """Whether a card has no other power than the slot's."""
    return gpu.tdp_w is not None and gpu.tdp_w <= SLOT_W


def with_generations(shares: Mapping[str, Figure], catalogue: Catalogue) -> dict[str, Figure]:
    """The shares with what an FP32 TFLOPS takes on NVIDIA's chips of which no card on the slot was measured."""
    typical = _geforce_watts(catalogue)
    measured = {of_chip: shares.get(share_key(FLOAT32_WATTS, of_chip)) for of_chip in typical}
    saved = [figure.value / typical[of_chip] for of_chip, figure in measured.items() if figure is not None]
    if not saved:
        return dict(shares)
    saving = statistics.geometric_mean(saved)
    source = f"board power of its GeForce cards × {saving:.2f}, as on the {len(saved)} generations with a measured one"
    more = {
        share_key(FLOAT32_WATTS, of_chip): Figure(value=typical[of_chip] * saving, kind=FITTED, source=source)
        for of_chip, figure in measured.items()
        if figure is None
    }
    return {**shares, **more}


def _geforce_watts(catalogue: Catalogue) -> dict[str, float]:
    """Watts for each specified FP32 TFLOPS of the middle one of a generation's GeForce cards."""
    seen: dict[str, list[float]] = defaultdict(list)
    for gpu in catalogue.gpus:
        geforce = gpu.vendor == "NVIDIA" and gpu.segment == "consumer" and gpu.compute_capability
        if geforce and gpu.tdp_w and gpu.fp32_tflops and not on_the_slot(gpu):
            seen[chip(gpu)].append((gpu.tdp_w - IDLE_W) / gpu.fp32_tflops)
    return {of_chip: statistics.median(values) for of_chip, values in sorted(seen.items())}
