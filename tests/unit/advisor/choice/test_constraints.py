"""Every constraint holds for every candidate, and what is out says why."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.footprint import FootprintDevice
from gpuscope.domain.recommendation import Candidate, Verdict
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import advise, best, cpu_footprint, gpu, gpu_footprint, offer, shipped, usd

HOUR = 3600.0
GB = 10**9


def spec(candidate: Candidate) -> Any:
    return shipped().gpu(candidate.gpu)


@pytest.mark.parametrize(
    ("limits", "check", "code"),
    [
        ({"minimum_memory_bytes": 80 * GB}, lambda each: spec(each).memory_gb >= 80, "minimum_memory"),
        ({"form_factors": ("sxm",)}, lambda each: spec(each).form_factor.startswith("SXM"), "form_factor"),
        ({"ecc": True}, lambda each: spec(each).ecc is True, "ecc"),
        (
            {"datacenter_licence": True},
            lambda each: not (spec(each).segment == "consumer" and spec(each).vendor == "NVIDIA"),
            "licence",
        ),
        (
            {"interconnects": ("nvswitch",)},
            lambda each: each.count == 1 or "NVSwitch" in each.interconnect or "NVLink" in each.interconnect,
            "interconnect",
        ),
        (
            {"acquisition": "rent", "residency": ("japan",)},
            lambda each: each.offer.region in {"ap-northeast-1", "asia-northeast1", "japaneast"},
            "residency",
        ),
        (
            {"acquisition": "rent", "residency": ("eu",)},
            lambda each: each.offer.region not in {"uksouth", "us-east-1", "not stated", "japaneast"},
            "residency",
        ),
        (
            {"acquisition": "buy", "rack_power_w": 1000},
            lambda each: spec(each).tdp_w * each.count <= 1000,
            "rack_power",
        ),
        ({"minimum_throughput": 400}, lambda each: each.throughput.mid >= 400, "throughput"),
        ({"precision": "float8"}, lambda each: each.precision == "float8", "precision"),
    ],
)
def test_constraint_holds_and_is_named(limits: dict[str, Any], check: Any, code: str) -> None:
    found = advise(cpu_footprint(), total_steps=1e6, **limits)
    judged = [each for each in found.candidates if each.gpu is not None]
    assert judged
    assert all(check(each) for each in judged)
    assert code in {entry.reason_code for entry in found.rejected}


def test_precisions_are_candidates_of_their_own() -> None:
    found = advise(cpu_footprint(), total_steps=1e6, precisions=("bf16", "tf32"))
    of_a_card = {each.precision for each in found.candidates if each.gpu == "l4" and each.count == 1}
    assert of_a_card == {"float32", "bfloat16", "tf32"}
    assert best(found).precision != "float32"
    # A card that lacks one of them is still there with the others.
    assert {each.precision for each in found.candidates if each.gpu == "t4"} == {"float32"}


def test_batch_that_is_kept_is_shared() -> None:
    footprint = gpu_footprint("l4", 1.0)
    limits: dict[str, Any] = {"gpus": ("l4",), "counts": (4,), "acquisition": "rent", "total_steps": 1e5}
    shared = best(advise(footprint, keep_global_batch=True, **limits))
    grown = best(advise(footprint, **limits))
    assert shared.step_time_s is not None
    assert grown.step_time_s is not None
    assert shared.step_time_s.mid < grown.step_time_s.mid


def test_machines_are_limited_and_asked_for() -> None:
    limits: dict[str, Any] = {"gpus": ("h100-sxm5-80gb",), "counts": (16,), "acquisition": "rent", "total_steps": 1e6}
    found = advise(cpu_footprint(), **limits)
    assert {(each.count, each.nodes) for each in found.candidates if each.gpu} == {(16, 2)}
    assert all(each.network for each in found.candidates if each.gpu)
    alone = advise(cpu_footprint(), max_nodes=1, **limits)
    assert alone.verdict is Verdict.IMPOSSIBLE
    assert "2 machines instead of 1" in alone.sentence


def test_networks_are_limited() -> None:
    limits: dict[str, Any] = {"counts": (16,), "acquisition": "rent", "total_steps": 1e6}
    found = advise(cpu_footprint(), networks=("infiniband",), **limits)
    networks = {each.network for each in found.candidates if each.gpu and each.nodes > 1}
    assert networks
    assert all("InfiniBand" in name or "Gb/s" in name for name in networks)
    assert "network" in {entry.reason_code for entry in found.rejected}


def test_counts_grow_when_the_deadline_needs_it() -> None:
    found = advise(cpu_footprint(), total_steps=1e9, deadline_s=24 * HOUR)
    chosen = best(found)
    assert chosen.count > 8
    assert chosen.nodes > 1
    assert chosen.time_to_finish_s is not None
    assert chosen.time_to_finish_s.mid <= 24 * HOUR


def test_counts_do_not_grow_for_nothing() -> None:
    assert max(each.count for each in advise(cpu_footprint(), total_steps=1e6).candidates) <= 8


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"minimum_memory_bytes": 0}, "least memory"),
        ({"minimum_throughput": -1}, "least throughput"),
        ({"max_nodes": 0}, "number of machines"),
        ({"counts": (100_000,)}, "at most"),
        ({"form_factors": ("brick",)}, "no form factor 'brick'"),
        ({"interconnects": ("string",)}, "no link between GPUs 'string'"),
        ({"networks": ("pigeon",)}, "no network between machines 'pigeon'"),
        ({"residency": ("atlantis",)}, "'atlantis'"),
        ({"precisions": ("fp3",)}, "use one of"),
        ({"economics": Economics(tax_share=3.0)}, "tax"),
        ({"economics": Economics(currency="EUR")}, "EUR"),
    ],
)
def test_nonsense_is_one_sentence(limits: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words) as error:
        advise(cpu_footprint(), **limits)
    assert str(error.value).endswith(".")


def test_absurd_work_is_refused() -> None:
    footprint = cpu_footprint()
    wrong = msgspec.structs.replace(footprint.ops[0], flops=-1.0)
    with pytest.raises(UsageError, match="conv_kxk"):
        advise(msgspec.structs.replace(footprint, ops=(wrong,)))


def test_gpu_that_the_catalogue_does_not_know_is_said() -> None:
    device = FootprintDevice(gpu=None, name="Voodoo 2", memory_bytes=8 * 2**30)
    found = advise(gpu_footprint(devices=(device,)), total_steps=1e6)
    assert any("Voodoo 2" in note for note in found.assumptions)


# Money


def test_quote_goes_before_the_catalogue() -> None:
    catalogue = Catalogue((gpu(),), offers=(offer(price=1.0),))
    quote = Quote(gpu="test-24", kind="rent", price=0.4, vendor="ACME", date="2026-11-20")
    chosen = best(advise(cpu_footprint(), catalogue, total_steps=1e6, economics=Economics(quotes=(quote,))))
    assert chosen.offer is not None
    assert (chosen.offer.provider, chosen.cost_usd_per_hour) == ("ACME", Range.exact(0.4))


def test_purchase_without_price_is_worth_a_figure_and_with_a_quote_is_bought() -> None:
    catalogue = Catalogue((gpu(),), offers=(offer(price=1.0),))
    limits: dict[str, Any] = {"acquisition": "buy", "economics": Economics(hours_per_month=600)}
    found = advise(cpu_footprint(), catalogue, total_steps=1e6, **limits)
    assert found.verdict is Verdict.NEEDS_QUOTE
    assert "worth it below $" in found.sentence
    quote = Quote(gpu="test-24", price=3000)
    limits["economics"] = Economics(hours_per_month=600, quotes=(quote,))
    quoted = advise(cpu_footprint(), catalogue, total_steps=1e6, **limits)
    assert quoted.verdict is Verdict.BUY
    assert usd(best(quoted)) == 3000


def test_spot_is_cheaper_and_slower_and_only_where_it_is_allowed() -> None:
    catalogue = Catalogue((gpu(),), offers=(offer(price=1.0, spot_usd_per_hour=0.3),))
    limits: dict[str, Any] = {"total_steps": 1e6, "acquisition": "rent"}
    demand = best(advise(cpu_footprint(), catalogue, **limits))
    spot = best(advise(cpu_footprint(), catalogue, **limits, economics=Economics(use_spot=True)))
    assert (demand.price_kind, spot.price_kind) == ("on demand", "spot")
    assert usd(spot) < usd(demand)
    assert spot.time_to_finish_s is not None
    assert demand.time_to_finish_s is not None
    assert spot.time_to_finish_s.mid > demand.time_to_finish_s.mid


def test_tax_is_in_every_price() -> None:
    limits: dict[str, Any] = {"total_steps": 1e6, "gpus": ("l4",)}
    without = advise(cpu_footprint(), **limits)
    taxed = advise(cpu_footprint(), **limits, economics=Economics(tax_share=0.1))
    for before, after in zip(without.candidates, taxed.candidates, strict=True):
        if before.cost_usd is not None and before.cost_usd.mid:
            assert usd(after) == pytest.approx(usd(before) * 1.1)


def test_use_over_years_decides_between_owning_and_renting() -> None:
    catalogue = Catalogue((gpu(launch_price_usd=2000.0),), offers=(offer(price=1.0),))
    busy, idle = (
        advise(cpu_footprint(), catalogue, total_steps=1e6, economics=Economics(hours_per_month=hours))
        for hours in (700, 5)
    )
    assert (busy.verdict, idle.verdict) == (Verdict.BUY, Verdict.RENT)
    assert "over 5 years" in busy.sentence
    names = {entry.input for entry in busy.sensitivity}
    assert {"electricity", "hours", "rent prices"} <= names
