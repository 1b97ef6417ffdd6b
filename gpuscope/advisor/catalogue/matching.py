"""Find a GPU or CPU of the catalogue by the name that a driver or an operating system prints.

A name that fits two variants which nothing tells apart matches neither: better unknown than another one's numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.domain.units import GIB

# How far the memory that a driver reports may lie from the vendor's figure: from 6.3% below it in GiB (ECC and the
# driver's reservation: L4, 24 GB, shows 22.5 GiB) to 7.4% above it in decimal GB.
_LOWEST_SHARE = 0.93
_HIGHEST_SHARE = 1.01

# Vendor words that drivers print or leave out.
_GPU_NOISE = re.compile(r"\b(nvidia|amd|intel|geforce|tesla|quadro|instinct|graphics|corporation|radeon)\b")
_CPU_NOISE = re.compile(
    r"\((r|tm|c)\)|\b(cpu|processor|with radeon graphics|\d+-cores?|\d+th gen)\b|@.*$", re.IGNORECASE
)
_PARENTHESES = re.compile(r"\([^)]*\)")

# Names seen in the wild for parts whose catalogue entry prints differently. Normalised name → catalogue id.
_GPU_ALIASES = {
    "a100-pg509-200": "a100-sxm4-40gb",
    "h100 sxm5": "h100-sxm5-80gb",
    "h100 80gb hbm3e": "h200-sxm5-141gb",
    "mi300x oam": "mi300x",
    "mi325x oam": "mi325x",
    "b300 sxm6 ac": "b300-sxm-288gb",
}


def find_gpu(gpus: Sequence[GpuSpec], name: str | None, memory_bytes: int | None) -> GpuSpec | None:
    """The one GPU whose driver name or catalogue name is `name` and whose memory agrees; else None."""
    wanted = _gpu_key(name)
    if not wanted:
        return None
    alias = _GPU_ALIASES.get(wanted)
    matches = [gpu for gpu in gpus if gpu.id == alias or wanted in {_gpu_key(gpu.device_name), _gpu_key(gpu.name)}]
    matches += [gpu for gpu in gpus if not matches and gpu.id == (name or "").strip().lower()]
    if memory_bytes is not None:
        matches = [gpu for gpu in matches if memory_agrees(gpu, memory_bytes)]
    return matches[0] if len(matches) == 1 else None


def memory_agrees(gpu: GpuSpec, memory_bytes: int) -> bool:
    """Whether a card that reports this much memory can be that variant."""
    nominal = gpu.memory_gb * 1e9
    return nominal * _LOWEST_SHARE <= memory_bytes <= gpu.memory_gb * GIB * _HIGHEST_SHARE


def find_cpu(cpus: Sequence[CpuSpec], name: str | None) -> CpuSpec | None:
    """The one CPU whose model number is in `name`; else None."""
    wanted = _cpu_key(name)
    if not wanted:
        return None
    matches = [cpu for cpu in cpus if _cpu_key(cpu.name) == wanted]
    return matches[0] if len(matches) == 1 else None


def _gpu_key(name: str | None) -> str:
    text = _PARENTHESES.sub(" ", (name or "").lower())
    return " ".join(_GPU_NOISE.sub(" ", text).split())


def _cpu_key(name: str | None) -> str:
    text = _CPU_NOISE.sub(" ", name or "")
    text = _PARENTHESES.sub(" ", text).lower().replace("amd ", "").replace("intel ", "")
    text = re.sub(r"\b(aws|ampere|apple|nvidia)\b", " ", text)
    return " ".join(text.split())
