"""What a person typed into the guided form, field by field: what is remembered, undone and kept as a preset."""

from __future__ import annotations

from gpuscope.domain.base import Value

STEPS, SAMPLES, EPOCHS = "steps", "samples", "epochs"
TRAINING, INFERENCE = "training", "inference"
OWN_LOAD = "own"
"""The load over the day is typed in, hour by hour."""


class QuoteTexts(Value, frozen=True, kw_only=True):
    """One line of the table of quotes, as typed."""

    gpu: str = ""
    """Catalogue id."""
    count: str = "1"
    kind: str = "buy"
    price: str = ""
    currency: str = "USD"
    date: str = ""
    valid_until: str = ""
    vendor: str = ""
    region: str = ""
    bare: bool = False
    """A purchase price of the bare GPUs, without the machine around them."""
    note: str = ""


class ConstraintTexts(Value, frozen=True, kw_only=True):
    """The form's fields; empty means no limit, "as in the run", or the assumption that the hover names."""

    # What for, how much, by when
    stage: str = ""
    deadline: str = ""
    total: str = ""
    total_unit: str = STEPS
    samples_per_epoch: str = ""
    keep_global_batch: bool = False
    # A service
    prompt_tokens: str = ""
    output_tokens: str = ""
    time_to_first_token: str = ""
    inter_token_latency: str = ""
    latency: str = ""
    requests_per_second: str = ""
    concurrent_users: str = ""
    load_shape: str = ""
    hourly_load: str = ""
    weight_dtypes: tuple[str, ...] = ()
    cache_dtype: str = ""
    # Memory, speed, machines
    minimum_memory: str = ""
    minimum_throughput: str = ""
    precision: str = ""
    precisions: tuple[str, ...] = ()
    compiled: str = ""
    counts: str = ""
    max_nodes: str = ""
    interconnects: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    # Budget
    acquisition: str = ""
    budget: str = ""
    budget_per_hour: str = ""
    # Free constraints
    gpus: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    residency: str = ""
    form_factors: tuple[str, ...] = ()
    power_limit: str = ""
    rack_power: str = ""
    ecc: bool = False
    datacenter_licence: bool = False
    # Money
    currency: str = ""
    currency_per_usd: str = ""
    tax: str = ""
    electricity: str = ""
    power_usage_effectiveness: str = ""
    hosting: str = ""
    support: str = ""
    staff: str = ""
    finance: str = ""
    residual: str = ""
    machine: str = ""
    hours_per_month: str = ""
    years: str = ""
    reserved_discount: str = ""
    use_spot: bool = False
    spot_interruptions: str = ""
    spot_restart: str = ""
    checkpoint_interval: str = ""
    quotes: tuple[QuoteTexts, ...] = ()


class ModelTexts(Value, frozen=True, kw_only=True):
    """The fields of a model that is typed in; empty means not given, or the first choice."""

    parameters: str = ""
    dtype: str = ""
    stage: str = ""
    optimizer: str = ""
    batch: str = ""
    sequence_length: str = ""
    # Dimensions of a transformer
    layers: str = ""
    hidden_size: str = ""
    attention_heads: str = ""
    key_value_heads: str = ""
    feed_forward_size: str = ""
    vocabulary_size: str = ""
    experts: str = ""
    experts_per_token: str = ""
