"""Lines of a block by the heading that holds for them: headings come again and again, and sometimes change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from gpuscope.importers.tabular.blocks import Mask, Positions

Table = TypeVar("Table")


def by_heading(rows: Mask, changes: Sequence[tuple[int, Table | None]]) -> dict[Table, Positions]:
    """The rows of each heading.

    Args:
        rows: which lines of a block are to be read.
        changes: the line from which on a heading holds, in order; lines under None belong to none.
    """
    ends = [begin for begin, _ in changes[1:]] + [len(rows)]
    found: dict[Table, list[Positions]] = {}
    for (begin, table), end in zip(changes, ends, strict=True):
        own = begin + np.flatnonzero(rows[begin:end])
        if table is not None and len(own):
            found.setdefault(table, []).append(own)
    return {table: np.concatenate(parts) for table, parts in found.items()}
