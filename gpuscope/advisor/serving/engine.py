"""How long the steps of an inference engine take: reading prompts, and writing a token for each request in work."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuscope.advisor.serving.device import Device
from gpuscope.advisor.serving.model import ServedModel, cache_split

_HALVINGS = 16
"""A batch of up to 1024 to within two hundredths of a request."""


class Request(NamedTuple):
    """A usual request."""

    prompt_tokens: float
    output_tokens: float

    @property
    def longest(self) -> float:
        """Tokens of its sequence at the end."""
        return self.prompt_tokens + self.output_tokens

    @property
    def mean_context(self) -> float:
        """Tokens that its cache holds on average while it is answered."""
        return self.prompt_tokens + self.output_tokens / 2


class StepParts(NamedTuple):
    """Where the time of one step goes."""

    weights_s: float
    products_s: float
    cache_s: float
    starts_s: float
    messages_s: float

    @property
    def seconds(self) -> float:
        """√(weights² + products²) + cache + starts + messages: reading weights and multiplying overlap in part."""
        return math.hypot(self.weights_s, self.products_s) + self.cache_s + self.starts_s + self.messages_s


class Point(NamedTuple):
    """One way of running a replica: so many requests in the batch, always replaced by the next one."""

    batch: float
    step: StepParts
    """A decode step without prompts in between."""
    prefill: StepParts
    """One request's prompt, alone."""
    waiting_s: float
    """Of a prompt, until it is read."""
    inter_token_s: float
    first_token_s: float
    latency_s: float
    requests_per_s: float
    tokens_per_request: float
    """Of the answer."""


def prefill(model: ServedModel, device: Device, tokens: float) -> StepParts:
    """Read a prompt: 2 FLOPs for each active weight and token, and attention over what came before."""
    architecture, count = model.architecture, device.split.tensor
    flops = tokens * model.flops_per_token + model.attention_flops(tokens)
    return StepParts(
        weights_s=model.read_bytes(tokens) / count / device.weights_bytes_per_s,
        products_s=flops / count / _rate(model, device),
        cache_s=0.0,
        starts_s=architecture.layers * device.prompt_layer_s,
        messages_s=device.messages_s(tokens, architecture.hidden_size, architecture.layers),
    )


def _rate(model: ServedModel, device: Device) -> float:
    """FLOP/s of a GPU, less where products are cut into those of experts."""
    share = 1.0 if model.architecture.experts is None else device.mixture_share
    return device.products_flops_per_s * share


class Prompt(NamedTuple):
    """What reading a request's prompt takes: the same for any batch."""

    own: StepParts
    """Alone."""
    among_s: float
    """In a step in which weights are read and kernels started anyway."""


def prompt_of(model: ServedModel, device: Device, request: Request) -> Prompt:
    """The prompt of a usual request."""
    own = prefill(model, device, request.prompt_tokens)
    starts = device.messages_s(0.0, model.architecture.hidden_size, model.architecture.layers)
    return Prompt(own, own.products_s + own.messages_s - starts)


def decode(model: ServedModel, device: Device, batch: float, context: float) -> StepParts:
    """One token for each of `batch` sequences that are `context` long: weights are read once, caches for each.

    Where the layers lie on several machines, the tokens pass through them one after the other.
    """
    architecture, count = model.architecture, device.split.tensor
    return StepParts(
        weights_s=model.read_bytes(batch) / count / device.weights_bytes_per_s,
        products_s=batch * model.flops_per_token / count / _rate(model, device),
        cache_s=batch * model.cache_bytes(context) / cache_split(model, count) / device.cache_bytes_per_s,
        starts_s=architecture.layers * device.layer_s,
        messages_s=device.messages_s(batch, architecture.hidden_size, architecture.layers),
    )


def operate(model: ServedModel, device: Device, batch: float, request: Request, prompt: Prompt | None = None) -> Point:
    """Continuous batching at a steady load that keeps `batch` requests in work.

    While one request is answered (its output's decode steps), every other one is replaced once, so that a
    cycle of its own prefill, its decode steps and the others' prefills answers `batch` requests. A prompt waits
    for the running step (half of it on average) and for other prompts, as in a queue with fixed service times
    (Pollaczek-Khinchine: ρ/(2(1−ρ)) of a service, ρ the share of time spent on prompts).

    Args:
        model: what is served.
        device: one GPU of the replica.
        batch: requests in work.
        request: the usual one.
        prompt: of `prompt_of`, for who asks for many batches.
    """
    # Stages on several machines work on a group of the requests each, at the same time.
    group = max(1.0, batch / device.split.stages)
    step = decode(model, device, group, request.mean_context)
    own, among_s = prompt or prompt_of(model, device, request)
    steps = max(0.0, request.output_tokens - 1)
    own_s, step_s = own.seconds, step.seconds
    others = (group - 1) * among_s
    cycle = own_s + steps * step_s + others
    busy = others / cycle
    waiting = 0.0 if group <= 1 else step_s / 2 + busy / (2 * (1 - busy)) * own_s
    return Point(
        batch=batch,
        step=step,
        prefill=own,
        waiting_s=waiting,
        inter_token_s=step_s + (others / steps if steps else 0.0),
        first_token_s=own_s + waiting + device.request_s,
        latency_s=cycle + waiting + device.request_s,
        requests_per_s=batch / cycle,
        tokens_per_request=request.output_tokens,
    )


def operate_at_rate(
    model: ServedModel, device: Device, requests_per_s: float, request: Request, most: float
) -> Point | None:
    """Continuous batching at a given load: the batch that Little's law leads to; None where the load is too high.

    Args:
        model: what is served.
        device: one GPU of the replica.
        requests_per_s: of this replica.
        request: the usual one.
        most: requests that it takes into one batch.
    """
    prompt = prompt_of(model, device, request)
    if operate(model, device, most, request, prompt).requests_per_s < requests_per_s:
        return None
    low, high = 1.0, max(1.0, most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if operate(model, device, middle, request, prompt).requests_per_s < requests_per_s:
            low = middle
        else:
            high = middle
    return operate(model, device, low, request, prompt)
