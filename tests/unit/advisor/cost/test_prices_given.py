"""Prices that a person gives: typed quotes, files of quotes, offers and SkyPilot's catalogue; mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.advisor.choice.constraints import check
from gpuscope.advisor.cost.imports import read_prices
from gpuscope.advisor.cost.quotes import parse_quote
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import GpuscopeError, UsageError
from tests.unit.advisor.advisor_jobs import shipped

SKYPILOT = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone,GpuInfo\n"
)
QUOTES = "gpu,count,kind,price,currency,date,valid_until,vendor,includes_machine\n"


def gpu_info(mebibytes: int) -> str:
    return f"\"{{'Gpus': [{{'Name': 'X', 'MemoryInfo': {{'SizeInMiB': {mebibytes}}}}}]}}\""


def written(folder: Path, text: str, name: str = "lambda/vms.csv") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# Typed


def test_a_full_quote() -> None:
    text = 'h100-sxm5-80gb x8 buy 250,000 usd 2026-11-01 vendor="ACME Ltd" until=2026-12-31 note="with support"'
    assert parse_quote(text, shipped()) == Quote(
        gpu="h100-sxm5-80gb", count=8, kind="buy", price=250_000, currency="USD", date="2026-11-01",
        valid_until="2026-12-31", vendor="ACME Ltd", note="with support",
    )  # fmt: skip


def test_a_short_quote() -> None:
    assert parse_quote("l4 rent 0.55 EUR", shipped()) == Quote(gpu="l4", kind="rent", price=0.55, currency="EUR")
    assert not parse_quote("l4 x2 buy 5000 bare", shipped()).includes_machine


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l4", "too short"),
        ("l4 x2 rent", "no price"),
        ("l4 rent cheap", "'cheap' is not a price"),
        ("h100 x8 buy 250000", "did you mean h100-nvl-94gb, h100-pcie-80gb, h100-sxm5-80gb"),
        ("l4 lease 5", "'lease' is not one of buy, rent, spot, reserved"),
        ("l4 x0 rent 5", "0 GPUs make no sense"),
        ("l4 rent -1", "a price of -1 makes no sense"),
        ("l4 rent 0", "a price of 0 makes no sense"),
        ("l4 rent nan", "a price of nan makes no sense"),
        ("l4 rent inf", "makes no sense"),
        ("l4 rent 5000", "5,000 USD a GPU and hour is more than anybody asks"),
        ("l4 buy 5e9", "more than anybody asks"),
        ("l4 rent 1 2026-13-45", "no date like"),
        ("l4 rent 1 soon", "'soon' is not understood"),
        ("l4 rent 1 2026-11-02 until=2026-11-01", "before its own date"),
        ("l4 rent 1 vendor='A", "quotation mark"),
    ],
)
def test_a_wrong_quote_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_quote(text, shipped())
    assert words in str(raised.value)
    assert "Write one like: h100-sxm5-80gb x8 buy" in str(raised.value)


@given(st.text(max_size=60))
def test_no_text_breaks_the_reading_of_quotes(text: str) -> None:
    with pytest.raises(UsageError, match="Write one like"):
        parse_quote(f"{text} = of nothing", shipped())


# Files


def test_quotes_from_a_file(tmp_path: Path) -> None:
    rows = "l40s,8,buy,95000,EUR,2026-11-20,2026-12-20,ACME,no\nl4,1,rent,0.5,,,,,\n"
    found = read_prices(written(tmp_path, QUOTES + rows, "mine.csv"), shipped())
    assert found.quotes == (
        Quote(gpu="l40s", count=8, price=95_000, currency="EUR", date="2026-11-20", valid_until="2026-12-20",
              vendor="ACME", includes_machine=False),
        Quote(gpu="l4", kind="rent", price=0.5),
    )  # fmt: skip


def test_skypilot_rows(tmp_path: Path) -> None:
    rows = (
        f"gpu_8x_a100,A100,8.0,124,1800,10.32,,us-east-1,,{gpu_info(40960)}\n"
        f"gpu_8x_a100_80gb_sxm4,A100-80GB,8.0,240,1800,14.32,,us-east-1,,{gpu_info(81920)}\n"
        f"gpu_1x_h100_pcie,H100,1.0,26,225,2.49,1.10,us-west-1,a,{gpu_info(80)}\n"
        f"gpu_1x_h100_pcie,H100,1.0,26,225,2.39,1.20,us-west-1,b,{gpu_info(80)}\n"
        "cpu_4x_general,,,4,16,0.2,,us-east-1,,\n"
        "odd,M4000,1,8,30,0.45,,us-east-1,,\n"
    )
    found = read_prices(written(tmp_path, SKYPILOT + rows), shipped(), "2026-11-25")
    assert {
        (each.gpu_id, each.gpu_count, each.on_demand_usd_per_hour, each.spot_usd_per_hour) for each in found.offers
    } == {
        ("a100-sxm4-40gb", 8, 10.32, None),
        ("a100-sxm4-80gb", 8, 14.32, None),
        ("h100-pcie-80gb", 1, 2.39, 1.10),
    }
    assert {(each.provider, each.price_date) for each in found.offers} == {("lambda", "2026-11-25")}
    notes = " ".join(found.notes)
    assert "M4000 (1 row)" in notes
    assert "A100 was taken as a100-sxm4-40gb" in notes
    assert "1 row without an accelerator" in notes


def test_what_the_description_says_of_the_form_counts(tmp_path: Path) -> None:
    """RunPod's rows name the form in GpuInfo and the memory in GiB."""
    info = "\"{'Gpus': [{'Name': 'A100 PCIe', 'MemoryInfo': {'SizeInMiB': 80}}]}\""
    rows = f"1x_A100-80GB_SECURE,A100-80GB,1.0,8,117,1.59,1.59,CA,,{info}\n"
    found = read_prices(written(tmp_path, SKYPILOT + rows, "runpod/vms.csv"), shipped())
    assert [offer.gpu_id for offer in found.offers] == ["a100-pcie-80gb"]
    assert found.notes == ()


def test_the_sizes_of_a_tpu_are_one_name(tmp_path: Path) -> None:
    rows = "".join(f",tpu-v5p-{size},1,,,20412.0,10231.2,us-east1,us-east1-d,\n" for size in range(8, 4096, 8))
    found = read_prices(written(tmp_path, SKYPILOT + rows, "gcp/vms.csv"), shipped())
    assert found.offers == ()
    assert len(found.notes) == 1
    assert found.notes[0].endswith("without a machine and were left out: tpu-v5p.")


def test_hosts_and_gpus_that_are_priced_apart_are_added_up(tmp_path: Path) -> None:
    """Google Cloud's A100 machine costs the host and the GPU; the host alone looks four times too cheap."""
    rows = (
        "a2-highgpu-1g,,,12,85,0.94803,0.37928,asia-northeast1,asia-northeast1-a,\n"
        ",A100,1.0,,,2.933908,1.17354,asia-northeast1,asia-northeast1-a,\n"
        "n1-standard-8,,,8,30,0.4,0.1,asia-northeast1,asia-northeast1-a,\n"
        ",T4,1.0,,,0.37,0.11,asia-northeast1,asia-northeast1-a,\n"
    )
    found = read_prices(written(tmp_path, SKYPILOT + rows, "gcp/vms.csv"), shipped())
    (offer,) = found.offers
    assert (offer.gpu_id, offer.instance_type) == ("a100-sxm4-40gb", "a2-highgpu-1g")
    assert offer.on_demand_usd_per_hour == pytest.approx(3.881938)
    assert offer.spot_usd_per_hour == pytest.approx(1.55282)
    assert (offer.price_date, offer.price_status) == (None, "undated")
    assert any("priced without a machine and were left out: T4" in note for note in found.notes)


def test_the_catalogues_own_columns(tmp_path: Path) -> None:
    catalogue_file = Path(__file__).parents[4] / "resources" / "catalogue" / "cloud_offers.csv"
    head = "".join(catalogue_file.read_text(encoding="utf-8").splitlines(keepends=True)[:4])
    assert len(read_prices(written(tmp_path, "\ufeff" + head, "offers.csv"), shipped()).offers) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no file of prices"),
        ("a,b\n1,2\n", "is no file of prices"),
        (QUOTES + "l40s,8,buy,ninety,EUR,,,,\n", "line 2: 'ninety' in the column price is not a number"),
        (QUOTES + "l40s,8,buy,0,EUR,,,,\n", "line 2: the price in the column price is 0"),
        (QUOTES + "l40s,8,buy,9,EUR,yesterday,,,\n", "line 2: 'yesterday' in the column date is not a date"),
        (QUOTES + "l40s,8\n", "another number of cells"),
        (QUOTES + "h900,8,buy,9,EUR,,,,\n", "quote 1: the catalogue has no GPU 'h900'"),
        (SKYPILOT + "x,L4,-1,8,30,0.5,,r,,\n", "line 2: -1 in the column AcceleratorCount"),
        (SKYPILOT + "x,L4,1,8,30,1e400,,r,,\n", "line 2: 1e400 in the column Price"),
        ("gpu_id,on_demand_usd_h\nl4,1\n", "the column provider is missing"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(GpuscopeError) as raised:
        read_prices(written(tmp_path, text, "prices.csv"), shipped())
    assert words in str(raised.value)
    assert "Reinstall" not in str(raised.value)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00g", b"gpu\x00,count\n", b'gpu,count,kind,price,currency,date\n"' + b"x" * 200_000]
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "prices.csv"
    path.write_bytes(data)
    with pytest.raises(UsageError):
        read_prices(path, shipped())


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(UsageError, match="cannot be read"):
            read_prices(path, shipped())


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reading_of_files(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "prices.csv"
    path.write_bytes(data)
    with pytest.raises(GpuscopeError):
        read_prices(path, shipped())


# From elsewhere


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        (Quote(gpu="h900", price=1.0), "the catalogue has no GPU 'h900'"),
        (Quote(gpu="l4", price=0.0), "a price of 0 makes no sense"),
        (Quote(gpu="l4", price=1.0, date="soon"), "'soon' is no date"),
        (Quote(gpu="l4", price=1.0, valid_until="2026-02-30"), "'2026-02-30' is no date"),
        (Quote(gpu="l4", price=1.0, kind="lease"), "'lease' is not one of"),
        (Quote(gpu="l4", price=1.0, count=0), "0 GPUs make no sense"),
        (Quote(gpu="l4", price=1.0, currency="SEK"), "how many SEK one US dollar costs"),
    ],
)
def test_quotes_from_elsewhere_are_checked_with_the_constraints(quote: Quote, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        check(Constraints(economics=Economics(quotes=(quote,))), shipped())
    assert words in str(raised.value)
