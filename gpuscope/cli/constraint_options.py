"""Options that say what the person allows, shared by every command that advises."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from gpuscope.cli.arguments import count, duration, gpu_counts, names, numbers, rate
from gpuscope.cli.economics import add_economics, economics_from
from gpuscope.domain.money import to_usd
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.domain.units import GIB
from gpuscope.engine.advise import Own, target_run
from gpuscope.engine.footprint_files import footprint_in


class Asked(NamedTuple):
    """What the options ask for."""

    constraints: Constraints
    own: Own
    """Imported offers, measured rates, runs on GPUs that are considered."""
    notes: tuple[str, ...]
    """About files that were read."""


def add_constraints(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what the person allows."""
    _add_work(parser)
    _add_money(parser)
    _add_hardware(parser)
    _add_place(parser)
    _add_serving(parser)
    add_economics(parser)
    parser.add_argument(
        "--rates", metavar="FILE.json", type=Path, action="append", default=[],
        help="rates measured on a GPU (gpuscope.rates/1), which go before published ones",
    )  # fmt: skip
    parser.add_argument(
        "--target-run", metavar="FILE", type=Path, action="append", default=[],
        help="a run of yours (session or footprint) on a GPU that is considered: a handful corrects what is predicted "
        "for that card",
    )  # fmt: skip


def asked(options: argparse.Namespace) -> Asked:
    """The constraints as typed, with prices from the files that were named.

    Raises:
        UsageError: an option or a file of prices makes no sense.
    """
    money = economics_from(options)
    economics = money.economics
    memory = options.min_memory
    constraints = Constraints(
        stage=options.stage,
        deadline_s=options.deadline,
        total_samples=options.total_samples,
        total_steps=options.total_steps,
        total_epochs=options.total_epochs,
        samples_per_epoch=options.samples_per_epoch,
        minimum_throughput=options.min_throughput,
        precision=options.precision,
        precisions=options.precisions,
        compiled=options.compiled,
        keep_global_batch=options.keep_global_batch,
        budget_usd=None if options.budget is None else to_usd(options.budget, economics.currency, economics),
        budget_usd_per_hour=None
        if options.budget_per_hour is None
        else to_usd(options.budget_per_hour, economics.currency, economics),
        acquisition=options.acquisition,
        vendors=options.vendor,
        gpus=options.gpus,
        counts=options.counts,
        max_nodes=options.max_nodes,
        minimum_memory_bytes=None if memory is None else round(memory * GIB),
        interconnects=options.interconnect,
        networks=options.network,
        form_factors=options.form_factor,
        ecc=options.ecc,
        power_limit_w=options.power_limit,
        rack_power_w=options.rack_power,
        datacenter_licence=options.datacenter,
        regions=options.region,
        providers=options.provider,
        residency=options.residency,
        serving=_serving(options),
        economics=economics,
    )
    runs = tuple(target_run(footprint_in(path), path.name) for path in options.target_run)
    return Asked(constraints, Own(money.offers, tuple(options.rates), runs), money.notes)


def _add_work(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the work")
    group.add_argument("--stage", choices=["training", "inference"], help="default: as measured")
    group.add_argument(
        "--deadline", metavar="TIME", type=duration, help="the whole work done within, such as 36h or 3d"
    )
    group.add_argument("--total-samples", metavar="N", type=count, help="the whole work, in samples")
    group.add_argument("--total-steps", metavar="N", type=count, help="the whole work, in steps like those measured")
    group.add_argument(
        "--total-epochs", metavar="N", type=float, help="the whole work, in epochs (with --samples-per-epoch)"
    )
    group.add_argument("--samples-per-epoch", metavar="N", type=count)
    group.add_argument("--min-throughput", metavar="N", type=rate, help="samples (or tokens, or steps) a second")
    group.add_argument(
        "--precision", metavar="P", help="float32, tf32, float16, bfloat16, float8, int8; default: as measured"
    )
    group.add_argument("--precisions", metavar="P,...", type=names, default=(), help="tried besides, each by itself")
    group.add_argument("--compiled", action=argparse.BooleanOptionalAction, default=None, help="default: as measured")
    group.add_argument(
        "--keep-global-batch", action="store_true", help="more GPUs share the batch; else each keeps its own"
    )


def _add_money(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("budget")
    group.add_argument("--budget", metavar="AMOUNT", type=float, help="for the whole work, or for the purchase")
    group.add_argument("--budget-per-hour", metavar="AMOUNT", type=float)
    how = group.add_mutually_exclusive_group()
    how.add_argument("--buy", dest="acquisition", action="store_const", const="buy", help="only what can be bought")
    how.add_argument("--rent", dest="acquisition", action="store_const", const="rent", help="only what can be rented")


def _add_hardware(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("hardware")
    group.add_argument("--vendor", metavar="V,...", type=names, default=(), help="such as NVIDIA")
    group.add_argument("--gpus", metavar="ID,...", type=names, default=(), help="only these catalogue ids")
    group.add_argument("--counts", metavar="N,...", type=gpu_counts, default=(), help="only these numbers of GPUs")
    group.add_argument("--max-nodes", metavar="N", type=int, help="machines at most")
    group.add_argument("--min-memory", metavar="GIB", type=float, help="of each GPU")
    group.add_argument(
        "--interconnect", metavar="L,...", type=names, default=(),
        help="between GPUs of a machine: pcie, nvlink, nvswitch, infinity_fabric",
    )  # fmt: skip
    group.add_argument(
        "--network", metavar="N,...", type=names, default=(), help="between machines: ethernet, roce, infiniband, efa"
    )
    group.add_argument("--form-factor", metavar="F,...", type=names, default=(), help="such as PCIe or SXM")
    group.add_argument("--ecc", action="store_true", help="only error-correcting memory")
    group.add_argument("--power-limit", metavar="W", type=float, help="of all GPUs together")
    group.add_argument("--rack-power", metavar="W", type=float, help="of one machine, all in")
    group.add_argument(
        "--datacenter", action="store_true", help="it will stand in a data centre, where GeForce cards are not licensed"
    )


def _add_place(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("place")
    group.add_argument("--region", metavar="R,...", type=names, default=(), help="such as us-east-1,ap-northeast-1")
    group.add_argument("--provider", metavar="P,...", type=names, default=(), help="such as aws,lambda")
    group.add_argument(
        "--residency", metavar="C,...", type=names, default=(), help="where the data may be, such as japan or eu"
    )


def _add_serving(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("service", "Any of these asks for a service instead of one piece of work.")
    group.add_argument("--prompt-tokens", metavar="N", type=count, help="of a usual request")
    group.add_argument("--output-tokens", metavar="N", type=count)
    group.add_argument("--first-token", metavar="TIME", type=duration, help="at most, such as 500ms")
    group.add_argument("--inter-token", metavar="TIME", type=duration, help="at most, such as 50ms")
    group.add_argument("--latency", metavar="TIME", type=duration, help="of a whole request or batch, at most")
    group.add_argument("--requests-per-second", metavar="N", type=float, help="at the busiest hour")
    group.add_argument("--concurrent-users", metavar="N", type=float, help="requests in work at the same time")
    group.add_argument(
        "--load", metavar="N,...", type=numbers, default=(), help="of the 24 hours of a day, relative to each other"
    )
    group.add_argument(
        "--weights",
        metavar="F,...",
        type=names,
        default=(),
        help="allowed: float16, bfloat16, float8, int8, int4, float4",
    )
    group.add_argument("--cache-dtype", metavar="F", help="of the KV cache; default: as computed")


def _serving(options: argparse.Namespace) -> ServingTarget | None:
    target = ServingTarget(
        prompt_tokens=options.prompt_tokens,
        output_tokens=options.output_tokens,
        time_to_first_token_s=options.first_token,
        inter_token_latency_s=options.inter_token,
        latency_s=options.latency,
        requests_per_second=options.requests_per_second,
        concurrent_users=options.concurrent_users,
        hourly_load=options.load,
        weight_dtypes=options.weights,
        cache_dtype=options.cache_dtype,
    )
    return None if target == ServingTarget() else target
