"""A training step of a transformer in each of many layouts: computing, pipeline bubble, communication, update.

    step = (m + (p − 1)/v) · (computing + what it waits for) + gradients not hidden + update,  × waiting for the slowest

m micro batches of a replica, p stages, v parts of a stage that take turns (interleaved schedule; 1 without). The bubble
is (p − 1)/(m + p − 1) of the step (GPipe, PipeDream-Flush, Megatron-LM).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuscope.advisor.parallel.collectives import Fabric
from gpuscope.advisor.parallel.messages import Messages, messages_of
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.table import LayoutTable
from gpuscope.advisor.parallel.transformer import MatrixDevice, Shape, Work, micro_time, work_of

BACKWARD_SHARE = 2 / 3
"""Of a micro batch's computing: gradients of a layer can leave while the layers before it compute."""


class Steps(NamedTuple):
    """Seconds of a step and of its parts; an entry for each layout."""

    seconds: Any
    computing_s: Any
    bubble_s: Any
    tensor_s: Any
    pipeline_s: Any
    context_s: Any
    expert_s: Any
    sharded_s: Any
    """Part of gathering and scattering that the step waits for."""
    gradients_s: Any
    """Part of the gradients' sum that the step waits for."""
    update_s: Any
    waiting_s: Any
    """For the slowest machine and process."""
    messages_s: Any
    """All communication, hidden or not."""

    @property
    def exposed_s(self) -> Any:
        """Communication that the step waits for."""
        return self.tensor_s + self.pipeline_s + self.context_s + self.expert_s + self.sharded_s + self.gradients_s


class Prepared(NamedTuple):
    """What the steps of many layouts take from everything but the GPU itself."""

    table: LayoutTable
    work: Work
    messages: Messages
    waiting_share: Any
    interleaved: Any
    rates: ParallelRates


def prepare_steps(
    shape: Shape,
    table: LayoutTable,
    fabric: Fabric,
    rates: ParallelRates,
    *,
    element_bytes: Any,
    gradient_bytes: Any,
    interleaved: Any = 1.0,
) -> Prepared:
    """Work and messages of all layouts of a table.

    Args:
        shape: the transformer.
        table: layouts with their micro batches.
        fabric: what the links reach.
        rates: constants.
        element_bytes: of activations, 2 in 16 bits.
        gradient_bytes: of an element of the gradients.
        interleaved: parts of a pipeline stage that take turns.
    """
    messages = messages_of(shape, table, fabric, element_bytes=element_bytes, gradient_bytes=gradient_bytes)
    work = work_of(shape, table, rates, element_bytes)
    return Prepared(table, work, messages, waiting_share(table, fabric, rates), interleaved, rates)


def transformer_steps(prepared: Prepared, device: MatrixDevice, measured_over_modelled: float = 1.0) -> Steps:
    """Steps of all layouts on a GPU.

    Args:
        prepared: what does not depend on the GPU.
        device: what a GPU sustains.
        measured_over_modelled: of computing, where a run says how far this model is off.
    """
    import numpy as np

    table, said, off = prepared.table, prepared.messages, measured_over_modelled
    rates, interleaved = prepared.rates, prepared.interleaved
    micro = micro_time(prepared.work, device)
    computing = np.maximum(micro.device_s, prepared.work.host_s - said.tensor_s - said.expert_s) * off
    context = exposed(said.context_s, micro.attention_s * off, rates)
    sharded = exposed(said.sharded_s, computing * rates.window_share, rates)
    gradients = exposed(said.gradients_s, computing * (BACKWARD_SHARE * rates.window_share), rates)
    tensor = said.tensor_s * (1 - rates.tensor_hidden_share)
    each = computing + tensor + said.pipeline_s * interleaved + context + said.expert_s + sharded
    update = micro.update_s * off
    bubble = each * (table.pipeline - 1) / interleaved
    count = table.accumulation
    total = each * count + bubble + gradients + update
    waiting = total * prepared.waiting_share
    messages = said.tensor_s + said.pipeline_s * interleaved + said.context_s + said.expert_s + said.sharded_s
    return Steps(
        seconds=total + waiting,
        computing_s=computing * count,
        bubble_s=bubble,
        tensor_s=tensor * count,
        pipeline_s=said.pipeline_s * interleaved * count,
        context_s=context * count,
        expert_s=said.expert_s * count,
        sharded_s=sharded * count,
        gradients_s=gradients,
        update_s=update,
        waiting_s=waiting,
        messages_s=messages * count + said.gradients_s,
    )


def exposed(communication_s: Any, window_s: Any, rates: ParallelRates) -> Any:
    """What a step waits for of communication that can travel beside `window_s` of computing.

    Even what is hidden slows computing down: both share memory and multiprocessors.
    """
    import numpy as np

    return np.maximum(communication_s * (1 - rates.hidden_share), communication_s - window_s)


def waiting_share(table: LayoutTable, fabric: Fabric, rates: ParallelRates) -> Any:
    """All wait for the slowest: of more machines it is slower, and processes of one machine share its host."""
    import numpy as np

    gpus = table.data * table.model * table.context
    nodes = np.maximum(1.0, gpus / fabric.gpus_per_node)
    inside = np.minimum(gpus, fabric.gpus_per_node)
    return rates.straggler_per_doubling * np.log2(nodes) + rates.host_per_doubling * np.log2(inside)
