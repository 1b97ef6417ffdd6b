"""Options about money, as they are typed."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from gpuscope.advisor.cost.terms import ASSUMPTIONS
from gpuscope.cli.economics import Money, add_economics, economics_from
from gpuscope.domain.economics import Economics, Quote
from gpuscope.errors import UsageError


def typed(*words: str) -> Money:
    parser = argparse.ArgumentParser()
    add_economics(parser)
    return economics_from(parser.parse_args(words))


def test_nothing_typed_leaves_everything_to_assumptions() -> None:
    assert typed() == Money(Economics())


def test_everything_typed() -> None:
    owning = (
        "--currency jpy --exchange-rate 150 --tax 10% --electricity 27 --pue 1.3 --hosting 15000 --support 5% "
        "--staff 3,000,000 --interest 0.02 --residual 10% --machine-share 120% --hours-per-month 200 --years 2,4"
    )
    renting = "--spot --reserved-discount 40% --interruptions-per-day 2 --restart-time 5min --checkpoint-interval 30min"
    quote = ("--quote", "l4 rent 90 JPY 2026-11-20")
    found = typed(*owning.split(), *renting.split(), *quote).economics
    assert found.electricity_usd_per_kwh == pytest.approx(0.18)
    assert found.hosting_usd_per_kw_month == pytest.approx(100)
    assert found.staff_usd_per_year == pytest.approx(20_000)
    assert (found.tax_share, found.machine_share, found.finance_rate_per_year) == (0.1, 1.2, 0.02)
    assert (found.years, found.use_spot, found.spot_restart_s) == ((2, 4), True, 300)
    assert found.quotes == (Quote(gpu="l4", kind="rent", price=90, currency="JPY", date="2026-11-20"),)


def test_files_of_prices(tmp_path: Path) -> None:
    folder = tmp_path / "lambda"
    folder.mkdir()
    skypilot = folder / "vms.csv"
    skypilot.write_text(
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region\n"
        "a,L4,1,8,30,0.5,,us\nb,K9,1,8,30,0.5,,us\n"
    )
    quotes = tmp_path / "quotes.csv"
    quotes.write_text("gpu,count,kind,price,currency,date\nl40s,8,buy,95000,,\n")
    found = typed("--prices", str(skypilot), "--prices", str(quotes), "--prices-date", "2026-11-30")
    assert [offer.price_date for offer in found.offers] == ["2026-11-30"]
    assert len(found.economics.quotes) == 1
    assert "K9" in found.notes[0]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--tax 10", "write shares like 10% or 0.1"),
        ("--electricity cheap", "'cheap' is not a number"),
        ("--pue -1", "must be a number that is not negative"),
        ("--pue nan", "must be a number that is not negative"),
        ("--currency euros", "use its three letters"),
        ("--years one", "write them like 1,3,5"),
        ("--prices-date yesterday", "write it like 2026-11-01"),
        ("--restart-time soon", "length of time"),
    ],
)
def test_a_wrong_option_is_named(words: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        typed(*words.split())
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--currency", "EUR"), "how many EUR one US dollar costs"),
        (("--quote", "l4 rent 5 SEK"), "how many SEK one US dollar costs"),
        (("--quote", "l4"), "Write one like"),
        (("--pue", "50"), "PUE"),
        (("--years", "0"), "whole numbers from 1 to 20"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UsageError) as raised:
        typed(*words)
    assert complaint in str(raised.value)


def test_the_help_can_be_written() -> None:
    parser = argparse.ArgumentParser()
    add_economics(parser)
    assert "--reserved-discount" in parser.format_help()


def test_the_document_has_every_assumption_with_its_option() -> None:
    document = (Path(__file__).parents[4] / "docs" / "money.md").read_text(encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_economics(parser)
    options = parser.format_help()
    for assumption in ASSUMPTIONS:
        row = next(line for line in document.splitlines() if f"| {assumption.words} | {assumption.why} |" in line)
        assert row.split("`")[1] in options
