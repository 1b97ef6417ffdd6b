"""What to get: the second of the two documents that everything exchanges (docs/json.md)."""

from __future__ import annotations

from enum import StrEnum

from gpuscope.domain.base import Range, Value
from gpuscope.domain.economics import CostOverYears, Economics
from gpuscope.domain.serving import Serving, ServingTarget

SCHEMA = "gpuscope.recommendation/1"


class Verdict(StrEnum):
    """The answer in a word."""

    RENT = "rent"
    BUY = "buy"
    NEEDS_QUOTE = "needs_quote"
    KEEP = "keep"
    CPU_IS_ENOUGH = "cpu_is_enough"
    FIX_FIRST = "fix_first"
    IMPOSSIBLE = "impossible"


class Constraints(Value, frozen=True, kw_only=True):
    """What the person allows. None is "no limit"; empty tuples are "any"."""

    stage: str | None = None
    """training or inference; None: as in the footprint."""
    deadline_s: float | None = None
    """The whole work has to be done within this time."""
    total_samples: float | None = None
    total_steps: float | None = None
    total_epochs: float | None = None
    samples_per_epoch: float | None = None
    """Needed with total_epochs."""
    budget_usd: float | None = None
    budget_usd_per_hour: float | None = None
    acquisition: str | None = None
    """rent, buy, or None for both"""
    regions: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    """Catalogue ids."""
    counts: tuple[int, ...] = ()
    power_limit_w: float | None = None
    """Of all GPUs together."""
    precision: str | None = None
    """float32, tf32, float16, bfloat16; None: as in the footprint."""
    precisions: tuple[str, ...] = ()
    """Compute precisions that the person allows besides: each is tried; empty: only `precision`."""
    compiled: bool | None = None
    """Whether the job will run compiled; None: as in the footprint."""
    keep_global_batch: bool = False
    """Strong scaling: more GPUs share the batch. Otherwise each GPU keeps its batch and more is done in a step."""
    max_nodes: int | None = None
    minimum_memory_bytes: int | None = None
    """Of each GPU."""
    minimum_throughput: float | None = None
    """In samples (or tokens, or steps) a second, as the footprint counts."""
    interconnects: tuple[str, ...] = ()
    """Links inside a machine that will do: pcie, nvlink, nvswitch."""
    networks: tuple[str, ...] = ()
    """Links between machines that will do: ethernet, roce, infiniband."""
    form_factors: tuple[str, ...] = ()
    """Beginnings of the catalogue's form factors, such as PCIe or SXM."""
    rack_power_w: float | None = None
    """Of one machine, all in."""
    ecc: bool = False
    """Only GPUs with error-correcting memory."""
    residency: tuple[str, ...] = ()
    """Countries or parts of the world where the data may be; rules out other offers and those without a place."""
    datacenter_licence: bool = False
    """The machine stands in a data centre, where the GeForce driver licence forbids GeForce cards."""
    serving: ServingTarget | None = None
    economics: Economics = Economics()


class Offer(Value, frozen=True, kw_only=True):
    """A price that someone published, with its date and source."""

    provider: str
    instance_type: str
    region: str
    price_date: str | None = None
    """ISO date; None: undated."""
    source: str = ""
    source_url: str = ""
    on_demand_usd_per_hour: float | None = None
    """Of the whole instance."""
    spot_usd_per_hour: float | None = None
    stale: bool = False
    """Older than 30 days at the time of advice, or undated."""
    status: str = ""
    """list, from, promo, per-GPU list, undated, ... as the catalogue says."""
    virtual_cpus: float | None = None
    memory_gib: float | None = None


class Layout(Value, frozen=True, kw_only=True):
    """How the job is spread over the GPUs."""

    data_parallel: int = 1
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    context_parallel: int = 1
    expert_parallel: int = 1
    zero_stage: int = 0
    micro_batch: float | None = None
    gradient_accumulation: int = 1
    activation_checkpointing: bool = False


class CandidateMemory(Value, frozen=True, kw_only=True):
    """Per GPU."""

    needed_bytes: Range | None = None
    available_bytes: int | None = None


class Explanation(Value, frozen=True, kw_only=True):
    """A figure unfolded into its parts."""

    name: str
    value: str
    formula: str = ""
    provenance: str = ""
    """measured, derived, assumed or catalogue, with the source"""
    inputs: tuple[Explanation, ...] = ()


class Candidate(Value, frozen=True, kw_only=True):
    """One configuration with everything predicted for it; null is unknown."""

    gpu: str | None
    """Catalogue id; null: CPU only."""
    gpu_name: str | None = None
    cpu: str | None = None
    count: int
    """GPUs in all."""
    nodes: int = 1
    system: str | None = None
    acquisition: str
    """rent, buy or keep (the machine at hand)"""
    offer: Offer | None = None
    precision: str | None = None
    layout: Layout = Layout()
    fits: bool | None = None
    memory: CandidateMemory = CandidateMemory()
    step_time_s: Range | None = None
    throughput: Range | None = None
    """In `throughput_unit`."""
    throughput_unit: str | None = None
    time_to_finish_s: Range | None = None
    cost_usd: Range | None = None
    """Rent: of the whole work. Buy: purchase price, with the machine around the GPUs. Both with the person's tax."""
    cost_usd_per_hour: Range | None = None
    price_kind: str = ""
    """on demand, spot, quote, system price or launch price; empty: there is none."""
    energy_kwh: Range | None = None
    confidence: str = "specification"
    """measured, calibrated or specification"""
    reason: str = ""
    """One sentence."""
    interconnect: str = ""
    network: str = ""
    """Between machines; empty with one."""
    serving: Serving | None = None
    cost_over_years: CostOverYears | None = None
    pareto: bool | None = None
    """No other candidate is better in time, cost and energy together."""
    explanation: Explanation | None = None


class Rejected(Value, frozen=True, kw_only=True):
    """A configuration that is out, and why."""

    gpu: str | None
    gpu_name: str | None = None
    count: int
    reason_code: str
    """memory, deadline, budget, budget_per_hour, power, vendor, provider, region, no_offer, precision, unknown_memory,
    dominated, fewer_gpus, ..."""
    reason: str


class Sensitivity(Value, frozen=True, kw_only=True):
    """How far one input may move before the choice changes."""

    input: str
    sentence: str


class Improvement(Value, frozen=True, kw_only=True):
    """Something that would make a prediction for the recommended configuration surer."""

    input: str
    """time, memory, price or work"""
    action: str
    """What to do, as an imperative: `run 50 steps in bfloat16`."""
    sentence: str
    """The same with its effect."""
    width_now: float | None = None
    """Factor from the middle of the range to its end, now; null: nothing is known."""
    width_then: float | None = None


class Recommendation(Value, frozen=True, kw_only=True):
    """The document `gpuscope.recommendation/1`."""

    schema: str = SCHEMA
    verdict: Verdict
    sentence: str
    """The decision in a sentence."""
    constraints: Constraints
    recommended: int | None = None
    """Index into `candidates`."""
    alternates: tuple[int, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """Best first; with the verdict fix_first as they are without the wait for data."""
    before_mending: Candidate | None = None
    """With the verdict fix_first: the recommended configuration with today's wait for data; null: not known."""
    rejected: tuple[Rejected, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    would_be_surer: tuple[Improvement, ...] = ()
    """What to measure or ask for, the most telling first."""
    assumptions: tuple[str, ...] = ()
    prices_as_of: str | None = None
    """Oldest and newest price date among the candidates, as `2026-07-20 to 2026-10-06`."""
