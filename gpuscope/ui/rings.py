"""Ring buffers whose newest values are always one contiguous array: every value is written twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

FIRST_CAPACITY = 256


class Ring:
    """The newest rows of a table of float columns, oldest first.

    A row is written at `i` and `i + capacity`, so that any run of at most `capacity` rows lies in one piece. The
    memory grows by doubling up to `capacity` rows; after that the oldest are overwritten.
    """

    def __init__(self, columns: int, capacity: int) -> None:
        """Empty; `capacity` rows at most."""
        self.capacity = capacity
        self._size = min(FIRST_CAPACITY, capacity)
        self._data = np.empty((columns, 2 * self._size))
        self._next = 0
        self._count = 0

    def __len__(self) -> int:
        """Rows that are kept."""
        return self._count

    def extend(self, columns: Sequence[Sequence[float] | FloatArray] | FloatArray) -> None:
        """Append rows, given as one sequence a column, all of the same length."""
        rows = np.asarray(columns, dtype=np.float64)
        self._make_room(self._count + rows.shape[1])
        rows = rows[:, -self._size :]
        while rows.shape[1]:
            part = rows[:, : self._size - self._next]
            rows = rows[:, part.shape[1] :]
            end = self._next + part.shape[1]
            self._data[:, self._next : end] = part
            self._data[:, self._next + self._size : end + self._size] = part
            self._next = end % self._size
            self._count = min(self._size, self._count + part.shape[1])

    def view(self) -> FloatArray:
        """All rows that are kept, columns first; a view that the next `extend` may change."""
        start = (self._next - self._count) % self._size
        return self._data[:, start : start + self._count]

    def _make_room(self, wanted: int) -> None:
        size = self._size
        while size < min(wanted, self.capacity):
            size = min(2 * size, self.capacity)
        if size == self._size:
            return
        kept = self.view()
        data = np.empty((len(self._data), 2 * size))
        data[:, : self._count] = data[:, size : size + self._count] = kept
        self._data, self._size, self._next = data, size, self._count % size
