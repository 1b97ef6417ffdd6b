"""How much of the time the machines of a service work, and the power of its GPUs."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.cost.configuration import Use, use_of
from gpuscope.advisor.cost.power import Load, mean_watts
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.serving import HOURS_OF_A_DAY, Serving, ServingTarget


def working_share(serving: Serving) -> float:
    """Share of all replicas' hours in which they run: 1 without a load curve."""
    if serving.replica_hours_per_day is None:
        return 1.0
    return min(1.0, serving.replica_hours_per_day / (serving.replicas * HOURS_OF_A_DAY))


def use_of_service(serving: Serving, economics: Economics) -> Use:
    """Hours in which the machines of a service work: as the person said, else as autoscaling leaves them on."""
    if economics.hours_per_month is not None:
        return use_of(economics, None)
    return Use(hours_per_month=HOURS_PER_MONTH * working_share(serving))


def service_watts(
    serving: Serving, target: ServingTarget, gpu: GpuSpec, gpus_per_replica: int, precision: str, parameters: float
) -> tuple[Range | None, str]:
    """Mean power of all GPUs of a generative service with its batches full, and where it comes from.

    Each output token takes 2 operations a parameter, and so does each token of a prompt; the weights are read once
    for each token of a batch, and the caches of all its requests with them.

    Args:
        serving: what the service does.
        target: with the lengths of prompt and output.
        gpu: where it runs.
        gpus_per_replica: over which a replica is spread.
        precision: compute precision.
        parameters: that work on each token: of a mixture of experts, those of the chosen ones.
    """
    requests, batch = serving.requests_per_second, serving.concurrent_per_replica
    if requests is None or not batch or serving.weights_bytes is None or target.output_tokens is None:
        return None, "it is not known how many tokens it works on"
    prompt = target.prompt_tokens or 0.0
    each_per_s = requests.mid / serving.replicas
    context = prompt + target.output_tokens / 2
    cache_bytes = batch * context * (serving.cache_bytes_per_token or 0.0)
    steps_per_s = each_per_s * target.output_tokens / batch
    load = Load(
        busy=1.0,
        flops_per_s=2 * parameters * each_per_s * (prompt + target.output_tokens) / gpus_per_replica,
        bytes_per_s=(serving.weights_bytes + cache_bytes) * steps_per_s / gpus_per_replica,
        precision=precision,
    )
    watts = mean_watts(load, gpu)
    if watts is None:
        return None, "the catalogue does not know its board power or rates"
    gpus = serving.replicas * gpus_per_replica
    return watts.scaled(gpus), f"from the weights and caches that it reads on boards of {gpu.tdp_w:g} W, × {gpus}"
