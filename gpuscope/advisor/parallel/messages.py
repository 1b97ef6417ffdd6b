"""What the GPUs of a layout say to each other in a step of training a transformer, and how long that takes.

Tensor parallelism sums a layer's result over its group twice forward and twice backward (Megatron-LM). A pipeline stage
sends a micro batch's activations on and their gradients back. Data parallelism sums gradients once a step, in ZeRO
stages 1 and 2 as a scatter and a gather of the same size; stage 3 gathers parameters for the forward and the backward
pass of each micro batch and scatters gradients. Context parallelism passes keys and values around a ring. Expert
parallelism exchanges tokens before and after the experts, forward and backward.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuscope.advisor.parallel.collectives import Fabric, Group, all_reduce_s, exchange_s, gather_s, send_s
from gpuscope.advisor.parallel.table import LayoutTable
from gpuscope.advisor.parallel.transformer import Shape, local_parameters

BUCKET_BYTES = 25 * 1024**2
"""Gradients are reduced in buckets of this size (PyTorch DDP's default)."""
_TENSOR_SUMS = 2
"""Of a layer in one pass."""
_PASSES = 2


class Messages(NamedTuple):
    """Seconds of communication; an entry for each layout."""

    tensor_s: Any
    """Of one micro batch on one stage; computing waits for it."""
    pipeline_s: Any
    """Of one micro batch on one stage."""
    context_s: Any
    """Of one micro batch on one stage; beside attention."""
    expert_s: Any
    """Of one micro batch on one stage; computing waits for it."""
    sharded_s: Any
    """ZeRO stage 3, of one micro batch on one stage."""
    gradients_s: Any
    """Of a step: ZeRO stages 0 to 2."""


def messages_of(
    shape: Shape,
    table: LayoutTable,
    fabric: Fabric,
    *,
    element_bytes: Any,
    gradient_bytes: Any,
) -> Messages:
    """Communication of a step.

    Args:
        shape: the transformer.
        table: layouts.
        fabric: what the links reach.
        element_bytes: of activations and gathered parameters, 2 in 16 bits.
        gradient_bytes: of a gradient's element.
    """
    import numpy as np

    tokens = table.micro * shape.sequence / table.context
    layers = np.ceil(shape.layers / table.pipeline)
    hidden = tokens * shape.hidden * element_bytes
    tensor = Group(table.tensor, 1)
    sums = layers * _TENSOR_SUMS * (_PASSES + table.checkpointing)
    stride = table.tensor * table.context * table.data
    pipeline = np.where(table.pipeline > 1, _PASSES * send_s(hidden / table.tensor, stride, fabric), 0.0)
    return Messages(
        tensor_s=sums * all_reduce_s(hidden, tensor, fabric),
        pipeline_s=pipeline,
        context_s=layers * _context_seconds(shape, table, tokens * element_bytes, fabric),
        expert_s=layers * _expert_seconds(shape, table, hidden, fabric),
        sharded_s=np.where(table.zero == 3, _sharded_seconds(shape, table, fabric, element_bytes, gradient_bytes), 0.0),
        gradients_s=np.where(table.zero == 3, 0.0, _gradient_seconds(shape, table, fabric, gradient_bytes)),
    )


def _context_seconds(shape: Shape, table: LayoutTable, token_bytes: Any, fabric: Fabric) -> Any:
    """Keys and values go once around forward, and with their gradients twice backward."""
    import numpy as np

    block = token_bytes * 2 * shape.key_value / table.tensor
    hops = (table.context - 1) * 3.0
    return np.where(table.context > 1, hops * send_s(block, table.tensor, fabric), 0.0)


def _expert_seconds(shape: Shape, table: LayoutTable, hidden_bytes: Any, fabric: Fabric) -> Any:
    group = Group(table.expert, table.tensor * table.context)
    once = exchange_s(hidden_bytes * shape.experts_per_token / table.tensor, group, fabric)
    return _PASSES * (_PASSES + table.checkpointing) * once


def _gradient_seconds(shape: Shape, table: LayoutTable, fabric: Fabric, gradient_bytes: Any) -> Any:
    import numpy as np

    group = Group(table.replicas_of_weights, table.tensor)
    payload = local_parameters(shape, table) * gradient_bytes
    buckets = np.maximum(1.0, np.ceil(payload / BUCKET_BYTES))
    return buckets * all_reduce_s(payload / buckets, group, fabric)


def _sharded_seconds(shape: Shape, table: LayoutTable, fabric: Fabric, element_bytes: Any, gradient_bytes: Any) -> Any:
    """Layer by layer: parameters gathered twice, gradients scattered once."""
    import numpy as np

    group = Group(table.replicas_of_weights, table.tensor)
    layers = np.ceil(shape.layers / table.pipeline)
    layer = local_parameters(shape, table) / layers
    return layers * (
        _PASSES * gather_s(layer * element_bytes, group, fabric) + gather_s(layer * gradient_bytes, group, fabric)
    )
