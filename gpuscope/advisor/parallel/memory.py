"""What each GPU of a layout has to hold.

Tensor and pipeline parallelism divide the weights and what belongs to them (gradients, optimizer state); ZeRO shards
the optimizer state (stage 1), the gradients (2) and the parameters (3) over the GPUs that hold the same weights; expert
parallelism spreads the experts. Activations follow the micro batch. Of a transformer they are counted (arXiv
2205.05198): s·b·(18·h + 4·f) bytes a layer in 16 bits with fused attention, shared out by tensor with sequence
parallelism, by context parallelism; min(p, m) micro batches are under way on the first of p pipeline stages; with
checkpointing only the input of each layer (2·s·b·h) and one layer at work are held. What has run on a GPU at the same
or a larger micro batch needs no more than that GPU's memory, and what more of them need to talk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.memory.context_memory import context_bytes
from gpuscope.advisor.memory.memory_model import JobMemory, MemoryNeed
from gpuscope.advisor.parallel.table import LayoutTable, table_of
from gpuscope.advisor.parallel.transformer import Shape
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout

NCCL_BYTES = Range(low=0.2e9, mid=0.5e9, high=1.0e9)
"""NCCL's buffers on each GPU (published: 0.2 to 1 GB)."""
# ZeRO stage 3 gathers up to four layers at a time; where the layers are not known, one is assumed to be a 96th to an
# 8th of the parameters.
_GATHERED_LAYERS = Range(low=2.0, mid=3.0, high=4.0)
_UNKNOWN_LAYERS = Range(low=96.0, mid=32.0, high=8.0)
_HIDDEN_BYTES = 18.0
_FEED_FORWARD_BYTES = 4.0
_SCORE_BYTES = 5.0
"""For each head and pair of tokens, where attention is not fused."""
_LOGIT_BYTES = 12.0
"""For each token and word: logits, their softmax and gradient, partly in 32 bits."""
# Gathered, cached and short-lived tensors besides the formula's: half as much again (assumed). Losses in 16 bits or in
# pieces save most of the logits: published runs fitted where 0.8 of the formula would not have.
_FORMULA = Range(low=0.7, mid=1.0, high=1.5)

_BUFFERS, _BUCKETS, _GATHERED = "communication buffers", "gradient buckets", "gathered layers"
_OF_SEVERAL_GPUS = {_BUFFERS, _BUCKETS, _GATHERED}
"""Parts that a job on one GPU does not have."""


class Part(NamedTuple):
    """One part of what a GPU holds: bytes of an unsplit job, and the share of it in each layout."""

    name: str
    whole: Range
    share: Any
    how: str
    fragmented: bool = True
    """Goes through the caching allocator."""


class Needs(NamedTuple):
    """Memory of one GPU in each layout, without what depends on the GPU."""

    parts: tuple[Part, ...]
    known: bool
    """False: the activations are not known, so that only the least is."""
    fragmentation: tuple[Range, str]
    low: Any
    mid: Any
    high: Any
    least: Any
    """Needed in any case."""
    most: Any
    """In all, for the job has run in it; infinite where no run says so."""

    def of(self, index: int, gpu: GpuSpec) -> MemoryNeed:
        """One layout on one GPU, part by part."""
        context, how = context_bytes(gpu)
        shares = [(part, float(part.share[index])) for part in self.parts]
        listed = [(part.name, part.whole.scaled(share), part.how) for part, share in shares if share * part.whole.high]
        held = [part.whole.scaled(share) for part, share in shares if part.fragmented]
        extra = _extra(held, self.fragmentation[0])
        listed = [*listed, ("context", context, how)]
        least = float(self.least[index]) + context.low
        most = float(self.most[index])
        if not self.known:
            return MemoryNeed(_between(least, most), least, tuple(listed))
        listed.insert(-1, ("fragmentation", extra, self.fragmentation[1]))
        needed = Range(low=float(self.low[index]), mid=float(self.mid[index]), high=float(self.high[index]))
        needed = needed.plus(context)
        needed = Range(low=min(needed.low, most), mid=min(needed.mid, most), high=min(needed.high, most))
        return MemoryNeed(needed, least, tuple(listed))


def needs_of(
    memory: JobMemory, table: LayoutTable, shape: Shape | None, batch: float | None, *, training: bool, ran: Run
) -> Needs:
    """Memory of all layouts of a table.

    Args:
        memory: the job's parts on one GPU at its batch.
        table: layouts.
        shape: of a transformer; None: only data parallel and sharded layouts are to be asked for.
        batch: samples of the job's batch for each device; None: not known, micro batches are taken to be as large.
        training: not inference.
        ran: how the job was run when `memory` was seen.
    """
    parts = _state_parts(memory, table, shape, training=training)
    activations, share, how = _activations(memory, table, shape, batch, ran, training=training)
    held = [*parts]
    if activations is not None:
        held.append(Part("activations and temporaries", activations, share, how))
    gpus = table.data * table.model * table.context
    held.append(Part(_BUFFERS, NCCL_BYTES, (gpus > 1) * 1.0, "published for NCCL", fragmented=False))
    fragmentation = memory.fragmentation[0]
    low, mid, high = (_total(held, end, getattr(fragmentation, end)) for end in ("low", "mid", "high"))
    least = sum(part.share * part.whole.low for part in held if part.name != "activations and temporaries")
    known = activations is not None and (memory.parameters is not None or memory.holds_all)
    most = _most(memory, table, held, ran._replace(micro_batch=ran.micro_batch or batch))
    return Needs(tuple(held), known, memory.fragmentation, low, mid, high, least, most)


def memory_need(memory: JobMemory, gpu: GpuSpec, layout: Layout) -> MemoryNeed:
    """Memory of one GPU of one data parallel or split layout, at the job's batch."""
    table = table_of([layout])
    needs = needs_of(memory, table, None, None, training=True, ran=Run(None, checkpointing=False))
    return needs.of(0, gpu)


def _most(memory: JobMemory, table: LayoutTable, held: Sequence[Part], ran: Run) -> Any:
    """Memory that each layout needs at most, for the job has run in it."""
    import numpy as np

    room = memory.room
    if room is None:
        return np.full_like(table.data, np.inf)
    gpus = table.data * table.model * table.context
    like_it = (gpus >= room.gpus) & (table.checkpointing >= ran.checkpointing)
    if ran.micro_batch:
        like_it &= table.micro <= ran.micro_batch
    more = (
        sum(part.share * part.whole.high for part in held if part.name in _OF_SEVERAL_GPUS) if room.gpus == 1 else 0.0
    )
    return np.where(like_it, room.of_gpu_bytes + more, np.inf)


def _between(least: float, most: float) -> Range | None:
    """A need of which only the ends are known; None: not even the upper one."""
    if math.isinf(most):
        return None
    low = min(least, most)
    return Range(low=low, mid=(low + most) / 2, high=most)


class Run(NamedTuple):
    """How a job was run when its memory was seen, and the width of its activations."""

    micro_batch: float | None
    checkpointing: bool
    element_bytes: float = 2.0
    """Of an activation on the target: 2 in 16 bits, 4 in 32."""


def _state_parts(memory: JobMemory, table: LayoutTable, shape: Shape | None, *, training: bool) -> list[Part]:
    import numpy as np

    same = table.replicas_of_weights
    split = _weight_share(table, shape)
    parameters = split / np.where(table.zero >= 3, same, 1.0)
    gradients = split / np.where(table.zero >= 2, same, 1.0)
    state = split / np.where(table.zero >= 1, same, 1.0)
    whole = memory.parameters or 0.0
    parts = [
        Part("parameters", Range.exact(whole), parameters, "counted"),
        Part("gradients", memory.gradients, gradients, memory.state_how),
        Part("optimizer state", memory.optimizer_state, state, memory.state_how),
        Part("16-bit copies", memory.cast_copies, parameters, "half of the parameters, cached by autocast"),
        Part("update temporaries", memory.temporaries, state, "of a multi-tensor optimizer"),
    ]
    if training:
        gathered = np.where((table.zero >= 3) & (same > 1), split, 0.0)
        parts.append(Part(_GATHERED, _gathered(whole, shape), gathered, "up to four layers"))
        copies = Range(low=0.0, mid=memory.gradients.high, high=memory.gradients.high)
        replicated = np.where((table.zero == 0) & (same > 1), split, 0.0)
        parts.append(Part(_BUCKETS, copies, replicated, "DDP's copy"))
    return parts


def _weight_share(table: LayoutTable, shape: Shape | None) -> Any:
    """Share of the weights that one GPU holds before ZeRO; expert parallelism spreads the experts alone."""
    if shape is None or not shape.expert_parameters:
        return 1.0 / table.model
    experts = shape.expert_parameters / shape.parameters
    return ((1 - experts) + experts / table.expert) / table.model


def _gathered(parameters: float, shape: Shape | None) -> Range:
    if shape is not None:
        return _GATHERED_LAYERS.scaled(parameters / shape.layers)
    return Range(
        low=_GATHERED_LAYERS.high * parameters / _UNKNOWN_LAYERS.low,
        mid=_GATHERED_LAYERS.high * parameters / _UNKNOWN_LAYERS.mid,
        high=_GATHERED_LAYERS.high * parameters / _UNKNOWN_LAYERS.high,
    )


def _activations(
    memory: JobMemory, table: LayoutTable, shape: Shape | None, batch: float | None, ran: Run, *, training: bool
) -> tuple[Range | None, Any, str]:
    """Of the whole job on one GPU, the share in each layout, and where it comes from."""
    import numpy as np

    if shape is not None and training:
        counted = transformer_activations(shape, table, ran.element_bytes)
        if memory.activations is not None and memory.activations.high > 0 and ran.micro_batch:
            one = _single(ran.micro_batch, checkpointing=ran.checkpointing)
            share = counted / transformer_activations(shape, one, ran.element_bytes)[0]
            return memory.activations, share, memory.activations_how
        return _FORMULA, counted, "counted from the transformer's dimensions, 0 to 50% more for short-lived tensors"
    if memory.activations is None or memory.holds_all:
        return memory.activations, np.ones_like(table.data), memory.activations_how
    share = np.ones_like(table.data) if not batch else np.minimum(1.0, table.micro / batch)
    return memory.activations, share, memory.activations_how


def transformer_activations(shape: Shape, table: LayoutTable, element_bytes: float) -> Any:
    """Bytes of activations on the GPU that holds most; an element of them has `element_bytes`."""
    import numpy as np

    tokens = table.micro * shape.sequence / table.context
    layers = np.ceil(shape.layers / table.pipeline)
    width = _HIDDEN_BYTES * shape.hidden + _FEED_FORWARD_BYTES * shape.feed_forward * (
        shape.experts_per_token * (1.5 if shape.matrices > 2 else 1.0)
    )
    if not shape.fused_attention:
        width = width + _SCORE_BYTES * shape.heads * shape.sequence
    layer = tokens * width / table.tensor * (element_bytes / 2)
    kept = tokens * shape.hidden / table.tensor * element_bytes
    underway = np.minimum(table.pipeline, table.accumulation)
    held = np.where(table.checkpointing > 0, underway * layers * kept + layer, underway * layers * layer)
    logits = tokens * shape.vocabulary / table.tensor * _LOGIT_BYTES
    # The last stage has the logits and only one micro batch under way.
    last = np.where(table.checkpointing > 0, layers * kept + layer, layers * layer) + logits
    return np.maximum(held, last)


def _single(micro_batch: float, *, checkpointing: bool) -> LayoutTable:
    import numpy as np

    one = np.ones(1)
    return LayoutTable(one, one, one, one, one, one * 0, one * micro_batch, one, one * checkpointing)


def _total(parts: Sequence[Part], end: str, fragmentation: float) -> Any:
    total: Any = 0.0
    for part in parts:
        total = total + part.share * getattr(part.whole, end) * (fragmentation if part.fragmented else 1.0)
    return total


def _extra(held: Sequence[Range], share: Range) -> Range:
    """What the allocator holds above live tensors."""
    above_one = Range(low=share.low - 1, mid=share.mid - 1, high=share.high - 1)
    return Range.total(held).times(above_one)
