"""What was asked for, as labelled figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuscope.domain.economics import Economics
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.report.figures import Raw, figure
from gpuscope.report.model import Figure
from gpuscope.report.text import Texts


def requirement(constraints: Constraints, stage: str, texts: Texts) -> tuple[Figure, ...]:
    """The usual questions, of which those left open say so, and of the rest what was asked for."""
    no_limit, not_given = texts("need.no_limit"), texts("need.not_given")

    def listed(values: Iterable[object]) -> str:
        return ", ".join(str(value) for value in values) or texts("need.any")

    def given(key: str, value: Raw, unit: str, otherwise: str) -> Figure:
        return figure(f"need.{key}", otherwise) if value is None else figure(f"need.{key}", value, unit)

    usual = (
        figure("need.stage", constraints.stage or stage),
        given("total_samples", constraints.total_samples, "count", not_given),
        given("total_steps", constraints.total_steps, "count", not_given),
        given("total_epochs", constraints.total_epochs, "count", not_given),
        given("samples_per_epoch", constraints.samples_per_epoch, "count", not_given),
        given("deadline", constraints.deadline_s, "s", no_limit),
        given("budget", constraints.budget_usd, "usd", no_limit),
        given("budget_per_hour", constraints.budget_usd_per_hour, "usd_per_hour", no_limit),
        figure("need.acquisition", constraints.acquisition or texts("need.both")),
        figure("need.regions", listed(constraints.regions)),
        figure("need.providers", listed(constraints.providers)),
        figure("need.vendors", listed(constraints.vendors)),
        figure("need.gpus", listed(constraints.gpus)),
        figure("need.counts", listed(constraints.counts)),
        given("power_limit", constraints.power_limit_w, "w", no_limit),
        figure("need.precision", constraints.precision or texts("need.as_measured")),
    )
    asked = (*_machine(constraints), *_service(constraints.serving, texts), *_money(constraints.economics))
    return (*usual, *(each for each in asked if each.value is not None and each.value is not False))


def _joined(values: tuple[str, ...]) -> str | None:
    return ", ".join(values) or None


def _machine(constraints: Constraints) -> Iterator[Figure]:
    yield figure("need.keep_global_batch", constraints.keep_global_batch)
    yield figure("need.precisions", _joined(constraints.precisions))
    yield figure("need.compiled", constraints.compiled)
    yield figure("need.max_nodes", constraints.max_nodes, "count")
    yield figure("need.minimum_memory", constraints.minimum_memory_bytes, "bytes")
    yield figure("need.minimum_throughput", constraints.minimum_throughput, "count")
    yield figure("need.interconnects", _joined(constraints.interconnects))
    yield figure("need.networks", _joined(constraints.networks))
    yield figure("need.form_factors", _joined(constraints.form_factors))
    yield figure("need.rack_power", constraints.rack_power_w, "w")
    yield figure("need.ecc", constraints.ecc)
    yield figure("need.residency", _joined(constraints.residency))
    yield figure("need.datacenter_licence", constraints.datacenter_licence)


def _service(target: ServingTarget | None, texts: Texts) -> Iterator[Figure]:
    if target is None:
        return
    yield figure("need.prompt_tokens", target.prompt_tokens, "count")
    yield figure("need.output_tokens", target.output_tokens, "count")
    yield figure("need.first_token", target.time_to_first_token_s, "s")
    yield figure("need.inter_token", target.inter_token_latency_s, "s")
    yield figure("need.latency", target.latency_s, "s")
    yield figure("need.requests", target.requests_per_second, "count")
    yield figure("need.users", target.concurrent_users, "count")
    yield figure("need.load", texts("need.load_curve") if target.hourly_load else None)
    yield figure("need.weight_dtypes", _joined(target.weight_dtypes))


def _money(economics: Economics) -> Iterator[Figure]:
    yield figure("need.hours_per_month", economics.hours_per_month, "count")
    yield figure("need.electricity", economics.electricity_usd_per_kwh, "count")
    yield figure("need.pue", economics.power_usage_effectiveness, "count")
    yield figure("need.tax", 100 * economics.tax_share or None, "percent")
    yield figure("need.currency", economics.currency if economics.currency != "USD" else None)
    yield figure("need.spot", economics.use_spot)
    yield figure("need.quotes", len(economics.quotes) or None, "count")
