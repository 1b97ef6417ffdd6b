"""Say why: the reason of a candidate in a sentence, and its figures unfolded into their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.choice.naming import purchase_words, service_words, title
from gpuscope.advisor.choice.ways import Way
from gpuscope.advisor.cost.machine import MachinePower
from gpuscope.advisor.cost.purchase import Purchase
from gpuscope.advisor.job.work import Work, compared_cost
from gpuscope.advisor.memory.memory_model import MemoryNeed
from gpuscope.advisor.parallel.scaling import Scaled
from gpuscope.advisor.parallel.search import Plan
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.timing.time_model import StepTime
from gpuscope.advisor.timing.uncertainty import combined
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount, format_amount_range
from gpuscope.domain.recommendation import Candidate, Explanation
from gpuscope.domain.units import (
    format_bytes,
    format_bytes_range,
    format_count,
    format_duration_range,
    format_money,
    format_money_range,
)


class Parts(NamedTuple):
    """What the figures of a candidate were made of."""

    work: Work
    single: StepTime
    """A step on one of its GPUs."""
    scaled: Scaled
    plan: Plan | None
    """Layout and memory; None: not laid out, as on the machine at hand."""
    power_how: str
    gpu: GpuSpec | None = None
    way: Way | None = None
    """How it is got; None: it is at hand."""
    power: MachinePower | None = None
    """Of the whole machines."""
    purchase: Purchase | None = None
    """Before tax, where it is bought."""
    service: ServingPlan | None = None
    """Where requests are answered."""


def whole(candidate: Candidate, parts: Parts, owned: Explanation | None) -> Explanation:
    """Every figure of a candidate, unfolded.

    Args:
        candidate: complete but for this.
        parts: what its figures were made of.
        owned: owning and renting over years; None: not of interest.
    """
    trees: list[Explanation] = []
    available = candidate.memory.available_bytes or 0
    if parts.service is not None:
        trees.append(parts.service.explanation)
        if parts.service.need is not None:
            trees.append(memory_tree(parts.service.need, (), available))
    else:
        if parts.plan is not None:
            trees.append(memory_tree(parts.plan.need, parts.plan.passed_over, available))
        trees.append(time_tree(parts.single, parts.scaled, parts.work, candidate.time_to_finish_s))
    trees += [
        cost_tree(candidate, parts),
        energy_tree(candidate.energy_kwh, parts.power_how),
    ]
    if owned is not None:
        trees.append(owned)
    return Explanation(name=title(candidate), value=candidate.acquisition, inputs=tuple(trees))


def reason(
    candidate: Candidate, compared_usd: float | None, risks: Sequence[str], step_how: str, economics: Economics
) -> str:
    """One sentence (two when the speed is not known) for the table: memory, time, money, doubts."""
    parts = [_memory_words(candidate), _time_words(candidate), _money_words(candidate, compared_usd, economics)]
    text = ", ".join(part for part in parts if part)
    if risks:
        text += "; but " + ", and ".join(risks)
    text = text[:1].upper() + text[1:] + "."
    if candidate.step_time_s is None and candidate.serving is None:
        text += f" Its speed is not known: {step_how}."
    return text


def memory_tree(need: MemoryNeed, passed_over: Sequence[str], available_bytes: int) -> Explanation:
    """Needed and available memory of one GPU."""
    inputs = tuple(
        Explanation(name=name, value=format_bytes_range(value), provenance=how) for name, value, how in need.parts
    )
    needed = need.needed_bytes
    value = format_bytes_range(needed) if needed is not None else f"at least {format_bytes(need.surely_bytes)}"
    if passed_over:
        others = tuple(Explanation(name="Passed over", value=words) for words in passed_over)
        inputs += (Explanation(name="Layout", value="the fastest that fits", provenance="derived", inputs=others),)
    return Explanation(
        name="Memory of one GPU",
        value=f"{value} of {format_bytes(available_bytes)}",
        formula="sum of the parts",
        provenance="derived",
        inputs=inputs,
    )


def time_tree(single: StepTime, scaled: Scaled, work: Work, total: Range | None) -> Explanation:
    """Step time and time to finish."""
    if scaled.seconds is None:
        return Explanation(name="Time of a step", value="unknown", provenance=scaled.how)
    doubts = tuple(
        Explanation(name="Doubt", value=f"×/÷ {doubt.factor:.2f}", provenance=doubt.reason) for doubt in single.doubts
    )
    inputs = [
        Explanation(
            name="Step on one GPU",
            value=format_duration_range(single.seconds) if single.seconds is not None else "unknown",
            formula=f"range: ×/÷ {combined(single.doubts):.2f}, the doubts added up in the logarithm",
            provenance=f"{single.confidence}: {single.how}",
            inputs=(*single.unfolded(), *doubts),
        )
    ]
    if scaled.parts:
        inputs.append(
            Explanation(
                name="Step on all GPUs",
                value=format_duration_range(scaled.seconds),
                provenance=f"derived; {scaled.communication_how or 'no messages'}",
                inputs=scaled.parts,
            )
        )
    step = Explanation(
        name="Time of a step", value=format_duration_range(scaled.seconds), provenance="derived", inputs=tuple(inputs)
    )
    if total is None or work.batches is None:
        return step
    return Explanation(
        name="Time to finish",
        value=format_duration_range(total),
        formula=f"{format_count(work.batches)} batches ÷ {scaled.batches:g} at a time × time of a step",
        provenance="derived",
        inputs=(step,),
    )


def cost_tree(candidate: Candidate, parts: Parts) -> Explanation:
    """What it costs and where the price comes from."""
    offer = candidate.offer
    if candidate.acquisition == "keep":
        return Explanation(name="Cost", value="none: it is at hand", provenance="given")
    if offer is not None and candidate.cost_usd_per_hour is not None:
        machines = 1 if parts.way is None else parts.way.machines
        price = Explanation(
            name="Price an hour",
            value=format_money(candidate.cost_usd_per_hour.mid),
            formula=f"{machines} × the price of an instance, with tax" if machines > 1 else "",
            provenance=f"catalogue: {candidate.price_kind}, {offer.price_date or 'undated'}, {offer.source} "
            f"{offer.source_url}".rstrip(),
        )
        value = format_money_range(candidate.cost_usd) if candidate.cost_usd is not None else "by the hour"
        return Explanation(name="Cost", value=value, formula="time × price", provenance="derived", inputs=(price,))
    if candidate.cost_usd is not None and parts.purchase is not None:
        return Explanation(
            name="Cost",
            value=format_money(candidate.cost_usd.mid),
            formula=f"{parts.purchase.formula}, with tax",
            provenance=f"{parts.purchase.kind}: {parts.purchase.source}",
        )
    return Explanation(name="Cost", value="needs a quote", provenance="the catalogue has no price")


def energy_tree(energy: Range | None, power_how: str) -> Explanation:
    """Energy of the GPUs."""
    value = f"{_number_range(energy)} kWh" if energy is not None else "unknown"
    return Explanation(name="Energy of the GPUs", value=value, formula="time × power", provenance=power_how)


def _memory_words(candidate: Candidate) -> str:
    memory = candidate.memory
    if candidate.acquisition == "keep":
        return "it ran there"
    if memory.available_bytes is None:
        return ""
    have = format_bytes(memory.available_bytes)
    each = " for each GPU" if candidate.count else ""
    if memory.needed_bytes is None:
        return f"has {have}{each}"
    need = format_bytes_range(memory.needed_bytes)
    words = "fits" if candidate.fits else "is close to its limit"
    split = (
        ", sharded" if candidate.layout.zero_stage == 3 else ", split" if candidate.layout.tensor_parallel > 1 else ""
    )
    return f"{words}{split} ({need} of {have}{each})"


def _time_words(candidate: Candidate) -> str:
    if candidate.time_to_finish_s is not None:
        return f"done in {format_duration_range(candidate.time_to_finish_s)}"
    if candidate.step_time_s is not None:
        return f"{format_duration_range(candidate.step_time_s)} a step"
    return "" if candidate.serving is None else service_words(candidate.serving)


def _money_words(candidate: Candidate, compared_usd: float | None, economics: Economics) -> str:
    if candidate.acquisition == "keep":
        return "costs nothing more"
    if candidate.acquisition == "buy":
        return purchase_words(candidate, economics)
    offer, hourly = candidate.offer, candidate.cost_usd_per_hour
    if offer is None or hourly is None:
        return "price needs a quote"
    age = (
        "undated"
        if offer.price_date is None
        else f"of {offer.price_date}" + (", over 30 days old" if offer.stale else "")
    )
    rate = f"{format_amount(hourly.mid, economics)} an hour from {offer.provider} (price {age})"
    if candidate.cost_usd is not None:
        return f"{format_amount_range(candidate.cost_usd, economics)} at {rate}"
    if compared_usd is not None and candidate.serving is None:
        return f"about {compared_cost(compared_usd, economics)} at {rate}"
    return rate


def _number_range(value: Range) -> str:
    low, high = f"{value.low:.2g}", f"{value.high:.2g}"
    return low if low == high else f"{low}–{high}"
