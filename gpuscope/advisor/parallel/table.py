"""Many layouts at once: a column of numbers for each degree, so that one formula is worked out for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuscope.domain.recommendation import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LayoutTable(NamedTuple):
    """Layouts as columns; all have as many entries. Ranks are numbered tensor first, then context, data, pipeline."""

    data: NDArray[Any]
    tensor: NDArray[Any]
    pipeline: NDArray[Any]
    context: NDArray[Any]
    expert: NDArray[Any]
    """Divides `data`."""
    zero: NDArray[Any]
    micro: NDArray[Any]
    """Sequences (samples) in a micro batch of a replica."""
    accumulation: NDArray[Any]
    """Micro batches of a replica in a step."""
    checkpointing: NDArray[Any]
    """1 or 0."""

    @property
    def model(self) -> NDArray[Any]:
        """GPUs that hold different parts of the dense weights."""
        product: NDArray[Any] = self.tensor * self.pipeline
        return product

    @property
    def replicas_of_weights(self) -> NDArray[Any]:
        """GPUs that hold the same weights: what ZeRO shards over."""
        product: NDArray[Any] = self.data * self.context
        return product

    def layout(self, index: int) -> Layout:
        """One row as the document writes it."""
        micro = float(self.micro[index])
        return Layout(
            data_parallel=int(self.data[index]),
            tensor_parallel=int(self.tensor[index]),
            pipeline_parallel=int(self.pipeline[index]),
            context_parallel=int(self.context[index]),
            expert_parallel=int(self.expert[index]),
            zero_stage=int(self.zero[index]),
            micro_batch=micro,
            gradient_accumulation=max(1, round(float(self.accumulation[index]))),
            activation_checkpointing=bool(self.checkpointing[index]),
        )


def table_of(layouts: Sequence[Layout], micro_batch: float = 1.0) -> LayoutTable:
    """Columns of given layouts.

    Args:
        layouts: at least one.
        micro_batch: of layouts that do not say theirs.
    """
    import numpy as np

    def column(values: list[float]) -> NDArray[Any]:
        return np.array(values, dtype=float)

    return LayoutTable(
        data=column([float(each.data_parallel) for each in layouts]),
        tensor=column([float(each.tensor_parallel) for each in layouts]),
        pipeline=column([float(each.pipeline_parallel) for each in layouts]),
        context=column([float(each.context_parallel) for each in layouts]),
        expert=column([float(each.expert_parallel) for each in layouts]),
        zero=column([float(each.zero_stage) for each in layouts]),
        micro=column([each.micro_batch or micro_batch for each in layouts]),
        accumulation=column([float(each.gradient_accumulation) for each in layouts]),
        checkpointing=column([float(each.activation_checkpointing) for each in layouts]),
    )
