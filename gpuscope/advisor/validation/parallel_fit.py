"""Fits everything for many GPUs to the published rows, and writes it: links, transformers, tuned libraries, mixtures.

Each set builds on the one before it, and moves only what its rows can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from gpuscope.advisor.calibration.fitting import Constant
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.parallel_files import (
    CONSTANTS_FILE,
    LINKS_FILE,
    NamedConstant,
    write_constants,
    write_links,
)
from gpuscope.advisor.parallel.rates import DEFAULT_LINKS, LinkRate, ParallelRates
from gpuscope.advisor.validation.collective_fit import fit_links, timed_of
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import llm_foundry, llm_layouts
from gpuscope.advisor.validation.transformer_fit import (
    CONSTANTS,
    EXPERT_CONSTANTS,
    TUNED_CONSTANTS,
    Trained,
    fit_transformers,
)

MOST_GPUS_FITTED = 32
"""Steps on more GPUs are left for validation."""
FITTED_TUNED_SOURCE = "NVIDIA/NeMo:"
FITTED_MIXTURE = "Qwen3-30B-A3B"


def write_fitted_parallel(tables: Tables, folder: Path) -> None:
    """Write collectives.csv and parallel.csv."""
    links = fit_links(timed_of(tables.rows("collectives"), tables.catalogue))
    write_links(folder / LINKS_FILE, links)
    plain, found = _fitted(
        [row for _, row in llm_foundry(tables) if row.topology.gpus <= MOST_GPUS_FITTED],
        without_transformers(tables.calibration, links),
        CONSTANTS,
        "training steps on up to 32 GPUs (mosaicml/llm-foundry)",
    )
    tuned, tuned_found = _fitted(
        fitted_tuned(tables), plain, TUNED_CONSTANTS, "training steps on H100 (NVIDIA/NeMo 24.07)", tuned=True
    )
    _, mixture_found = _fitted(
        fitted_mixture(tables), tuned, EXPERT_CONSTANTS, f"training steps of {FITTED_MIXTURE} (Megatron-Bridge 25.11)"
    )
    write_constants(folder / CONSTANTS_FILE, [*found, *tuned_found, *mixture_found])


def without_transformers(calibration: Calibration, links: tuple[LinkRate, ...] | None = None) -> Calibration:
    """A calibration whose constants of transformers have seen no row; with its own links, or these."""
    kept = calibration.parallel.links if links is None else (*links, *DEFAULT_LINKS)
    return msgspec.structs.replace(calibration, parallel=ParallelRates(links=kept))


def fitted_tuned(tables: Tables) -> list[Trained]:
    """Steps that the constants of tuned libraries are fitted to."""
    return [row for cells, row in llm_layouts(tables) if cells["source"].startswith(FITTED_TUNED_SOURCE)]


def fitted_mixture(tables: Tables) -> list[Trained]:
    """Steps that the constant of mixtures is fitted to."""
    return [row for cells, row in llm_layouts(tables) if cells["model"] == FITTED_MIXTURE]


def _fitted(
    rows: Iterable[Trained], base: Calibration, constants: Mapping[str, Constant], what: str, *, tuned: bool = False
) -> tuple[Calibration, list[NamedConstant]]:
    known = list(rows)
    calibration = fit_transformers(known, base, constants)
    source = f"fitted to {len(known)} published {what}"
    found = [
        NamedConstant(name, getattr(calibration.parallel, name), source, tuned=tuned) for name in sorted(constants)
    ]
    return calibration, found
