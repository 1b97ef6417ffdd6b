"""From what was typed to the constraints it means, with a sentence for each field that could not be read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from PySide6.QtCore import QCoreApplication

from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.money import DOLLAR
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.domain.units import parse_duration, parse_money, parse_power
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form import parsing
from gpuscope.ui.advisor.form.load import SHAPES
from gpuscope.ui.advisor.form.texts import EPOCHS, OWN_LOAD, SAMPLES, STEPS, ConstraintTexts, QuoteTexts

T = TypeVar("T")

translate = QCoreApplication.translate


class _Reader:
    """Reads fields of a form and keeps a sentence for each that cannot be read."""

    def __init__(self, texts: ConstraintTexts) -> None:
        self._texts = texts
        self.problems: dict[str, str] = {}
        self.currency_per_usd: float | None = None
        """Of the amounts of money; None: they are in US dollars."""

    def __call__(self, field: str, parse: Callable[[str], T]) -> T | None:
        """The field's value; None when it is empty or wrong."""
        text: str = getattr(self._texts, field)
        if not text.strip():
            return None
        try:
            return parse(text)
        except UsageError as error:
            self.problems[field] = str(error)
            return None

    def usd(self, field: str, parse: Callable[[str], float] = parse_money) -> float | None:
        """An amount of the person's currency in US dollars."""
        amount = self(field, parse)
        return amount if amount is None or self.currency_per_usd is None else amount / self.currency_per_usd


def shown_currency(text: str) -> str:
    """What stands at amounts of money: `$`, or the letters of another currency as soon as they are one."""
    try:
        code = parsing.parse_currency(text)
    except UsageError:
        return "$"
    return "$" if code == DOLLAR else code


def understood(texts: ConstraintTexts, now: datetime) -> tuple[Constraints | None, dict[str, str]]:
    """The constraints, or None with a sentence for each field that could not be read, by field name.

    Args:
        texts: what was typed.
        now: the present moment with its zone; deadlines such as `Fri 18:00` are counted from it.
    """
    read = _Reader(texts)
    currency = _currency(texts, read)
    total = read("total", parsing.parse_positive_count)
    constraints = Constraints(
        stage=texts.stage or None,
        deadline_s=read("deadline", lambda text: parsing.parse_deadline(text, now)),
        total_steps=total if texts.total_unit == STEPS else None,
        total_samples=total if texts.total_unit == SAMPLES else None,
        total_epochs=total if texts.total_unit == EPOCHS else None,
        samples_per_epoch=_samples_per_epoch(texts, total, read),
        budget_usd=read.usd("budget"),
        budget_usd_per_hour=read.usd("budget_per_hour"),
        acquisition=texts.acquisition or None,
        regions=texts.regions,
        providers=texts.providers,
        vendors=texts.vendors,
        gpus=texts.gpus,
        counts=read("counts", parsing.parse_counts) or (),
        power_limit_w=read("power_limit", parse_power),
        precision=texts.precision or None,
        precisions=texts.precisions,
        compiled={"yes": True, "no": False}.get(texts.compiled),
        keep_global_batch=texts.keep_global_batch,
        max_nodes=read("max_nodes", parsing.parse_whole),
        minimum_memory_bytes=read("minimum_memory", parsing.parse_memory),
        minimum_throughput=read("minimum_throughput", parsing.parse_positive),
        interconnects=texts.interconnects,
        networks=texts.networks,
        form_factors=texts.form_factors,
        rack_power_w=read("rack_power", parse_power),
        ecc=texts.ecc,
        residency=parsing.parse_names(texts.residency),
        datacenter_licence=texts.datacenter_licence,
        serving=_serving(texts, read),
        economics=_economics(texts, currency, read),
    )
    return (None, read.problems) if read.problems else (constraints, {})


def _samples_per_epoch(texts: ConstraintTexts, total: float | None, read: _Reader) -> float | None:
    if texts.total_unit != EPOCHS or total is None:
        return None
    if not texts.samples_per_epoch.strip():
        read.problems["samples_per_epoch"] = translate("ConstraintTexts", "How many samples are one epoch?")
    return read("samples_per_epoch", parsing.parse_positive_count)


def _serving(texts: ConstraintTexts, read: _Reader) -> ServingTarget | None:
    """The targets of a service; None when none was given."""
    load: tuple[float, ...] = SHAPES.get(texts.load_shape, ())
    if texts.load_shape == OWN_LOAD:
        load = read("hourly_load", parsing.parse_load) or ()
        if not texts.hourly_load.strip():
            read.problems["hourly_load"] = translate("ConstraintTexts", "Write the load of the 24 hours.")
    target = ServingTarget(
        prompt_tokens=read("prompt_tokens", parsing.parse_positive_count),
        output_tokens=read("output_tokens", parsing.parse_positive_count),
        time_to_first_token_s=read("time_to_first_token", parsing.parse_latency),
        inter_token_latency_s=read("inter_token_latency", parsing.parse_latency),
        latency_s=read("latency", parsing.parse_latency),
        requests_per_second=read("requests_per_second", parsing.parse_positive),
        concurrent_users=read("concurrent_users", parsing.parse_positive_count),
        hourly_load=load,
        weight_dtypes=texts.weight_dtypes,
        cache_dtype=texts.cache_dtype or None,
    )
    return None if target == ServingTarget() or texts.stage == "training" else target


def _currency(texts: ConstraintTexts, read: _Reader) -> str:
    """The currency; from now on amounts are read in it."""
    currency = read("currency", parsing.parse_currency) or DOLLAR
    rate = read("currency_per_usd", parsing.parse_positive)
    if currency != DOLLAR:
        read.currency_per_usd = rate
        if not texts.currency_per_usd.strip():
            sentence = translate("ConstraintTexts", "How many {0} is one US dollar?").format(currency)
            read.problems["currency_per_usd"] = sentence
    return currency


def _economics(texts: ConstraintTexts, currency: str, read: _Reader) -> Economics:
    return Economics(
        currency=currency,
        currency_per_usd=read("currency_per_usd", parsing.parse_positive),
        tax_share=read("tax", parsing.parse_percent) or 0.0,
        electricity_usd_per_kwh=read.usd("electricity", parsing.parse_amount),
        power_usage_effectiveness=read("power_usage_effectiveness", _parse_effectiveness),
        hosting_usd_per_kw_month=read.usd("hosting"),
        support_share_per_year=read("support", parsing.parse_percent),
        staff_usd_per_year=read.usd("staff"),
        finance_rate_per_year=read("finance", parsing.parse_percent),
        residual_share=read("residual", parsing.parse_percent),
        machine_share=read("machine", parsing.parse_percent),
        hours_per_month=read("hours_per_month", _parse_hours_per_month),
        years=read("years", parsing.parse_years) or Economics().years,
        reserved_discount_share=read("reserved_discount", parsing.parse_percent),
        use_spot=texts.use_spot,
        spot_interruptions_per_day=read("spot_interruptions", parsing.parse_amount),
        spot_restart_s=read("spot_restart", parse_duration),
        checkpoint_interval_s=read("checkpoint_interval", parse_duration),
        quotes=_quotes(texts, read),
    )


def _parse_effectiveness(text: str) -> float:
    value = parsing.parse_amount(text)
    if not 1 <= value <= 3:
        raise UsageError(translate("ConstraintTexts", "Power usage effectiveness runs from 1.0 to 3.0, like 1.4."))
    return value


def _parse_hours_per_month(text: str) -> float:
    value = parsing.parse_positive(text)
    if value > 744:
        raise UsageError(translate("ConstraintTexts", "A month has at most 744 hours."))
    return value


def _quotes(texts: ConstraintTexts, read: _Reader) -> tuple[Quote, ...]:
    found = []
    for number, line in enumerate(texts.quotes, start=1):
        try:
            found.append(_quote(line))
        except UsageError as error:
            sentence = translate("ConstraintTexts", "Quote {0}: {1}")
            read.problems.setdefault("quotes", sentence.format(number, error))
    return tuple(found)


def _quote(line: QuoteTexts) -> Quote:
    if not line.gpu:
        raise UsageError(translate("ConstraintTexts", "Choose the GPU that it is for."))
    if not line.price.strip():
        raise UsageError(translate("ConstraintTexts", "Write its price."))
    date, valid_until = (parsing.parse_date(text) if text.strip() else None for text in (line.date, line.valid_until))
    if date is not None and valid_until is not None and valid_until < date:
        raise UsageError(translate("ConstraintTexts", "It is valid until a day before its own date."))
    return Quote(
        gpu=line.gpu,
        count=parsing.parse_whole(line.count or "1"),
        kind=line.kind,
        price=parsing.parse_price(line.price),
        currency=parsing.parse_currency(line.currency or DOLLAR),
        date=date,
        valid_until=valid_until,
        vendor=line.vendor.strip(),
        region=line.region.strip(),
        includes_machine=not line.bare,
        note=line.note.strip(),
    )
