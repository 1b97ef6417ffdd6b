"""The recommendation's part of a report: decision, candidates, configuration, rejections, prices."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope.domain.recommendation import Candidate, CandidateMemory, Offer, Recommendation, Rejected
from gpuscope.domain.units import GIB
from gpuscope.report.figures import figure
from gpuscope.report.format import DASH, number, spread
from gpuscope.report.model import Decision, Figure, Price, RankedCandidate, RejectionGroup
from gpuscope.report.text import Texts


def recommended(recommendation: Recommendation) -> Candidate | None:
    """The chosen candidate."""
    index = recommendation.recommended
    return None if index is None else recommendation.candidates[index]


def decision(recommendation: Recommendation, texts: Texts) -> Decision:
    """The first page: sentence, paragraph, how sure, key figures."""
    choice = recommended(recommendation)
    confidence = choice.confidence if choice else "none"
    confidence_sentence = texts.or_else(f"confidence.{confidence}", confidence)
    sentences = [recommendation.sentence]
    if choice is not None:
        sentences += [*_expectation(choice, recommendation.sentence, texts), texts("decision.ranges")]
    sentences += _price_sentences(recommendation, texts)
    return Decision(
        verdict=str(recommendation.verdict),
        sentence=recommendation.sentence,
        paragraph=" ".join(sentences),
        confidence=confidence,
        confidence_sentence=confidence_sentence,
        key_figures=_key_figures(choice, texts) if choice else (),
        prices_as_of=recommendation.prices_as_of,
    )


def _expectation(choice: Candidate, sentence: str, texts: Texts) -> Iterable[str]:
    """What to expect of the choice, as far as the advisor's sentence does not say it already."""
    if choice.time_to_finish_s is not None:
        time = spread(choice.time_to_finish_s, "s")
        if time not in sentence:
            yield texts("decision.finish", time=time)
    if choice.cost_usd is not None:
        cost = spread(choice.cost_usd, "usd")
        if cost not in sentence:
            yield texts("decision.price" if choice.acquisition == "buy" else "decision.cost", cost=cost)
    memory = choice.memory
    if choice.gpu is not None and memory.needed_bytes is not None and memory.available_bytes is not None:
        needed, available = spread(memory.needed_bytes, "bytes"), number(memory.available_bytes, "bytes")
        yield texts("decision.memory", needed=needed, available=available)


def _price_sentences(recommendation: Recommendation, texts: Texts) -> list[str]:
    choice = recommended(recommendation)
    if choice is None:
        return []
    if choice.acquisition == "buy" and choice.cost_usd is not None:
        return [texts("decision.launch_price")] if choice.price_kind in {"", LAUNCH_PRICE} else []
    if recommendation.prices_as_of is None:
        return [texts("decision.no_prices")]
    found = prices(recommendation)
    stale = sum(price.stale for price in found)
    sentences = [texts("decision.prices", dates=recommendation.prices_as_of)]
    which = texts("decision.all" if stale == len(found) > 1 else "decision.some", stale=stale, total=len(found))
    return [*sentences, texts("decision.stale", which=which)] if stale else sentences


LAUNCH_PRICE = "launch price"
"""`Candidate.price_kind` of what the vendor asked at first; quotes and prices of systems are what is to be paid."""
_KEY_FIGURES = 4


def _key_figures(choice: Candidate, texts: Texts) -> tuple[Figure, ...]:
    """The configuration and the first few figures that are known, in order of weight."""
    figures = {figure.key: figure for figure in (*_acquisition(choice, texts), *_prediction(choice, texts))}
    order = ("choice.time", _cost_key(choice), "choice.cost_per_hour", "choice.needed", "choice.step_time",
             "choice.throughput", "choice.energy")  # fmt: skip
    known = [figures[key] for key in order if figures[key].value is not None]
    return (figures["choice.configuration"], *known[: _KEY_FIGURES - 1])


def _cost_key(choice: Candidate) -> str:
    return "choice.purchase" if choice.acquisition == "buy" else "choice.cost"


def candidate_name(candidate: Candidate | Rejected, texts: Texts) -> str:
    """`2 × NVIDIA L40S`, or that it is a CPU."""
    if candidate.gpu is None:
        cpu = candidate.cpu if isinstance(candidate, Candidate) else None
        return f"{texts('candidate.cpu_only')}, {cpu}" if cpu else texts("candidate.cpu_only")
    return texts("candidate.name", count=candidate.count, gpu=candidate.gpu_name or candidate.gpu)


def ranked(recommendation: Recommendation, texts: Texts) -> tuple[RankedCandidate, ...]:
    """All candidates in the advisor's order, with the part that each plays."""
    roles = dict.fromkeys(recommendation.alternates, "alternate")
    if recommendation.recommended is not None:
        roles[recommendation.recommended] = "recommended"
    return tuple(
        RankedCandidate(
            rank=index + 1, role=roles.get(index, ""), name=candidate_name(candidate, texts), candidate=candidate
        )
        for index, candidate in enumerate(recommendation.candidates)
    )


def configuration(choice: Candidate | None, texts: Texts) -> tuple[Figure, ...]:
    """The recommended configuration down to its layout; empty when nothing is recommended."""
    if choice is None:
        return ()
    return (*_acquisition(choice, texts), *_prediction(choice, texts), *_layout(choice, texts))


def _no_price(choice: Candidate, texts: Texts) -> str:
    return texts("missing.at_hand" if choice.acquisition == "keep" else "missing.price")


def _acquisition(choice: Candidate, texts: Texts) -> tuple[Figure, ...]:
    offer = choice.offer
    no_offer, unknown = _no_price(choice, texts), texts("missing.catalogue")
    memory = None if offer is None or offer.memory_gib is None else offer.memory_gib * GIB
    return (
        figure("choice.configuration", candidate_name(choice, texts)),
        figure("choice.nodes", choice.nodes, "count"),
        figure("choice.system", choice.system, missing=unknown),
        figure("choice.acquisition", texts.or_else(f"acquisition.{choice.acquisition}", choice.acquisition)),
        figure("choice.offer", f"{offer.provider} {offer.instance_type}" if offer else None, missing=no_offer),
        figure("choice.region", offer.region if offer else None, missing=no_offer),
        figure("choice.cpu", choice.cpu, missing=unknown),
        figure("choice.virtual_cpus", offer.virtual_cpus if offer else None, "count", missing=unknown),
        figure("choice.memory", memory, "bytes", missing=unknown),
        figure("choice.interconnect", choice.interconnect, missing=unknown),
    )


def _prediction(choice: Candidate, texts: Texts) -> tuple[Figure, ...]:
    unknown, no_price, amount = texts("missing.recommendation"), _no_price(choice, texts), texts("missing.amount")
    no_time = unknown if choice.step_time_s is None else amount
    return (
        figure("choice.precision", choice.precision, missing=unknown),
        figure("choice.fits", choice.fits, missing=unknown),
        figure("choice.needed", choice.memory.needed_bytes, "bytes", missing=unknown),
        figure("choice.available", choice.memory.available_bytes, "bytes", missing=unknown),
        figure("choice.step_time", choice.step_time_s, "s_per_step", missing=unknown),
        figure("choice.throughput", choice.throughput, choice.throughput_unit or "count", missing=unknown),
        figure("choice.time", choice.time_to_finish_s, "s", missing=no_time),
        figure(
            _cost_key(choice), choice.cost_usd, "usd", missing=no_price if choice.cost_usd_per_hour is None else amount
        ),
        figure("choice.cost_per_hour", choice.cost_usd_per_hour, "usd_per_hour", missing=no_price),
        figure(
            "choice.energy", choice.energy_kwh, "kwh", missing=no_time if choice.time_to_finish_s is None else unknown
        ),
        figure("choice.confidence", choice.confidence),
        figure("choice.reason", choice.reason, missing=unknown),
    )


def _layout(choice: Candidate, texts: Texts) -> tuple[Figure, ...]:
    layout = choice.layout
    counts = tuple(
        figure(f"choice.{name}", getattr(layout, name), "count")
        for name in ("data_parallel", "tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel",
                     "zero_stage", "gradient_accumulation")
    )  # fmt: skip
    return (
        *counts,
        figure("choice.micro_batch", layout.micro_batch, "count", missing=texts("missing.recommendation")),
        figure("choice.activation_checkpointing", layout.activation_checkpointing),
    )


def rejections(recommendation: Recommendation) -> tuple[RejectionGroup, ...]:
    """The rejected configurations by kind of reason, the most frequent first."""
    groups: dict[str, list[Rejected]] = {}
    for rejected in recommendation.rejected:
        groups.setdefault(rejected.reason_code, []).append(rejected)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return tuple(RejectionGroup(reason_code=code, rejected=tuple(members)) for code, members in ordered)


def prices(recommendation: Recommendation) -> tuple[Price, ...]:
    """Each published price that a candidate rests on, once."""
    offers: dict[Offer, None] = dict.fromkeys(
        candidate.offer for candidate in recommendation.candidates if candidate.offer is not None
    )
    return tuple(
        Price(
            provider=offer.provider,
            instance_type=offer.instance_type,
            region=offer.region,
            usd_per_hour=offer.on_demand_usd_per_hour,
            spot_usd_per_hour=offer.spot_usd_per_hour,
            price_date=offer.price_date,
            status=offer.status,
            source=offer.source,
            source_url=offer.source_url,
            stale=offer.stale or offer.price_date is None,
        )
        for offer in offers
    )


def needs_quote(recommendation: Recommendation, texts: Texts) -> tuple[str, ...]:
    """Candidates to buy or rent that nobody published a price for, as `1, 2, 4 × NVIDIA L40S`."""
    unpriced = [
        candidate
        for candidate in recommendation.candidates
        if candidate.cost_usd is None and candidate.cost_usd_per_hour is None and candidate.acquisition != "keep"
    ]
    return tuple(counted_names(unpriced, texts))


def counted_names(configurations: Iterable[Candidate | Rejected], texts: Texts) -> list[str]:
    """One name a GPU with all its numbers."""
    counts: dict[str, set[int]] = {}
    for one in configurations:
        counts.setdefault(one.gpu_name or one.gpu or "", set()).add(one.count)
    return [
        texts("candidate.name", count=", ".join(map(str, sorted(numbers))), gpu=gpu)
        if gpu
        else texts("candidate.cpu_only")
        for gpu, numbers in counts.items()
    ]


def fit_text(candidate: Candidate, texts: Texts) -> str:
    """Memory needed of memory there, each GPU, and a word when it does not fit or nobody knows."""
    memory = candidate.memory
    if memory.needed_bytes is None and memory.available_bytes is None:
        return DASH
    text = texts("memory.needed_of", needed=_needed(memory), available=_available(memory))
    if candidate.fits is None:
        return f"{text}, {texts('candidate.fit_unknown')}"
    return text if candidate.fits else f"{text}, {texts('candidate.does_not_fit')}"


def _available(memory: CandidateMemory) -> str:
    return DASH if memory.available_bytes is None else number(memory.available_bytes, "bytes")


def _needed(memory: CandidateMemory) -> str:
    """In GiB without the unit when what is there is in GiB, so that the two compare at a glance."""
    if memory.needed_bytes is None:
        return DASH
    if not _available(memory).endswith("GiB"):
        return spread(memory.needed_bytes, "bytes")
    low, high = f"{memory.needed_bytes.low / GIB:.1f}", f"{memory.needed_bytes.high / GIB:.1f}"
    return low if low == high else f"{low}–{high}"
