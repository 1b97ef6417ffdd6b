"""What a configuration is called in a sentence."""

from __future__ import annotations

from gpuscope.advisor.cost.purchase import QUOTE
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount
from gpuscope.domain.recommendation import Candidate
from gpuscope.domain.serving import Serving
from gpuscope.domain.units import format_duration_range


def title(candidate: Candidate) -> str:
    """`2× L4 from aws (g6.12xlarge, us-east-1)`; of several machines how many there are."""
    if candidate.count == 0:
        name = f"the CPU instance {candidate.offer.instance_type}" if candidate.offer is not None else "the CPU at hand"
    else:
        name = hardware(candidate)
    if candidate.offer is None:
        return f"{name} in {candidate.nodes} machines" if candidate.nodes > 1 else name
    place = "" if candidate.offer.region in {"", "not stated"} else f", {candidate.offer.region}"
    if candidate.count == 0:
        return f"{name} from {candidate.offer.provider}{place}"
    machines = f"{candidate.nodes} × " if candidate.nodes > 1 else ""
    return f"{name} from {candidate.offer.provider} ({machines}{candidate.offer.instance_type}{place})"


def hardware(candidate: Candidate) -> str:
    """`2× L4`."""
    return f"{candidate.count}× {candidate.gpu_name or candidate.gpu or 'unknown GPU'}"


def short_title(candidate: Candidate) -> str:
    """`renting 2× L4 from aws`, `buying 2× L4`."""
    name = hardware(candidate) if candidate.count else title(candidate)
    if candidate.acquisition == "rent" and candidate.offer is not None:
        return f"renting {name}" if candidate.count == 0 else f"renting {name} from {candidate.offer.provider}"
    return f"buying {name}" if candidate.acquisition == "buy" else name


def purchase_words(candidate: Candidate, economics: Economics) -> str:
    """What is known of a purchase price: `about $2,249 with the machine by its launch price, so ask for a quote`."""
    if candidate.cost_usd is None:
        costs = candidate.cost_over_years
        worth = None if costs is None else costs.worth_below_usd
        if not worth:
            return "it needs a quote"
        return f"it needs a quote, and is worth it below {format_amount(worth, economics)}"
    price = format_amount(candidate.cost_usd.mid, economics)
    if candidate.price_kind == QUOTE:
        return f"{price} by your quote"
    return f"about {price} with the machine by its {candidate.price_kind}, so ask for a quote"


def service_words(serving: Serving) -> str:
    """`3 copies, first token in 80–120 ms, 15–20 ms a token, 12–18 requests/s`."""
    parts = [f"{serving.replicas} {'copy' if serving.replicas == 1 else 'copies'}"]
    if serving.time_to_first_token_s is not None:
        parts.append(f"first token in {format_duration_range(serving.time_to_first_token_s)}")
    if serving.inter_token_latency_s is not None:
        parts.append(f"{format_duration_range(serving.inter_token_latency_s)} a token")
    elif serving.latency_s is not None:
        parts.append(f"answers in {format_duration_range(serving.latency_s)}")
    rate = serving.requests_per_second
    if rate is not None:
        parts.append(f"up to {rate.low:.3g}–{rate.high:.3g} requests/s")
    return ", ".join(parts)
