"""The catalogue: the shipped files load, each kind of damage is named with file and line, names match or do not."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from gpuscope import paths
from gpuscope.advisor.catalogue.loading import load_catalogue
from gpuscope.errors import CatalogueError
from tests.unit.advisor.advisor_jobs import shipped

MIB = 1024**2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "catalogue"
    shutil.copytree(paths.resources_dir() / "catalogue", copy)
    for file in copy.iterdir():
        file.chmod(0o644)
    return copy


def test_shipped_catalogue_is_whole() -> None:
    catalogue = shipped()
    assert (len(catalogue.gpus), len(catalogue.cpus), len(catalogue.offers), len(catalogue.systems)) == (
        129,
        42,
        453,
        23,
    )
    t4 = catalogue.gpu("t4")
    assert t4 is not None
    assert (t4.memory_gb, t4.memory_bandwidth_gbs, t4.tdp_w, t4.bf16_tensor_tflops) == (16, 320, 70, None)


def test_every_price_has_a_source_and_a_date_or_says_undated() -> None:
    for offer in shipped().offers:
        assert offer.source
        if offer.price_date is None:
            assert "undated" in offer.price_status
        else:
            date.fromisoformat(offer.price_date)


def edit(path: Path, line: int, old: str, new: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "line", "old", "new", "words"),
    [
        ("gpus.csv", 1, "memory_gb", "memory", "the column memory_gb is missing"),
        ("gpus.csv", 3, ",192.3,", ",fast,", "'fast' in the column memory_bandwidth_gbs is not a number"),
        ("gpus.csv", 3, "p4,", "p100-pcie-16gb,", "the id p100-pcie-16gb is there twice"),
        ("gpus.csv", 3, ",8,GDDR5", ",0,GDDR5", "memory_gb needs a number above zero"),
        ("cpus.csv", 2, ",24,,,48,", ",24.5,,,48,", "24.5 in the column cores is not a whole number"),
        ("cloud_offers.csv", 2, "a100-sxm4-40gb", "a1000", "the gpu_id 'a1000' is not in the catalogue"),
        ("cloud_offers.csv", 2, "21.9576", "-21.9576", "must be a number that is not negative"),
        ("cloud_offers.csv", 2, "21.9576", "0", "the price in the column on_demand_usd_h is 0"),
        ("cloud_offers.csv", 2, "2026-07-20", "last summer", "is not a date like 2026-07-20"),
        ("cloud_offers.csv", 2, "a100-sxm4-40gb,8,", ",8,", "gpu_id and gpu_count do not agree"),
        ("cloud_offers.csv", 2, "aws,vm,", "aws,", "another number of cells"),
        ("systems.csv", 2, "a100-sxm4-80gb", "a1000", "the gpu_id 'a1000' is not in the catalogue"),
    ],
)
def test_damage_is_named_with_file_and_line(folder: Path, file: str, line: int, old: str, new: str, words: str) -> None:
    edit(folder / file, line, old, new)
    with pytest.raises(CatalogueError) as caught:
        load_catalogue(folder)
    assert words in str(caught.value)
    assert f"{file}, line {line}" in str(caught.value)


def test_missing_file_is_named(folder: Path) -> None:
    (folder / "cpus.csv").unlink()
    with pytest.raises(CatalogueError, match=r"cpus\.csv cannot be read"):
        load_catalogue(folder)


@pytest.mark.parametrize(
    ("name", "mib", "wanted"),
    [
        ("Tesla T4", 15360, "t4"),
        ("NVIDIA L4", 23034, "l4"),
        ("NVIDIA A100-SXM4-40GB", 40960, "a100-sxm4-40gb"),
        ("NVIDIA A100-SXM4-80GB", 81920, "a100-sxm4-80gb"),
        ("NVIDIA H100 80GB HBM3", 81559, "h100-sxm5-80gb"),
        ("NVIDIA H200", 143771, "h200-sxm5-141gb"),
        ("NVIDIA H200 NVL", 143771, "h200-nvl-141gb"),
        ("NVIDIA B300 SXM6 AC", 275040, "b300-sxm-288gb"),
        ("NVIDIA GeForce RTX 3080", 10240, "rtx-3080-10gb"),
        ("NVIDIA GeForce GTX 1060 6GB", 6144, "gtx-1060-6gb"),
        ("AMD Instinct MI300X", 196592, "mi300x"),
        # A variant that the catalogue lacks, one name for three cards, a laptop part, a stranger, nothing at all.
        ("NVIDIA GeForce RTX 3080", 12288, None),
        ("NVIDIA GeForce GTX 1650", 4096, None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16376, None),
        ("NVIDIA RTX 9999", 24576, None),
        ("", 24576, None),
    ],
)
def test_gpu_names_of_drivers(name: str, mib: int, wanted: str | None) -> None:
    found = shipped().match_gpu(name, mib * MIB)
    assert (found.id if found is not None else None) == wanted


def test_gpu_without_memory_size_matches_only_a_single_name() -> None:
    assert shipped().match_gpu("NVIDIA A10G", None) is not None
    assert shipped().match_gpu("NVIDIA GeForce GTX 1650", None) is None
    assert shipped().match_gpu(None, None) is None


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", "xeon-8259cl"),
        ("INTEL(R) XEON(R) PLATINUM 8592+", "xeon-8592plus"),
        ("INTEL(R) XEON(R) CPU MAX 9480", "xeon-max-9480"),
        ("AMD EPYC 7742 64-Core Processor", "epyc-7742"),
        ("AMD Ryzen Threadripper PRO 7995WX 96-Cores", "threadripper-pro-7995wx"),
        ("12th Gen Intel(R) Core(TM) i7-12700H", "core-i7-12700h"),
        ("Apple M2 Max", "apple-m2-max"),
        ("AMD EPYC", None),
        ("Intel(R) Xeon(R) Processor @ 2.3GHz", None),
        (None, None),
    ],
)
def test_cpu_names_of_operating_systems(name: str | None, wanted: str | None) -> None:
    found = shipped().match_cpu(name)
    assert (found.id if found is not None else None) == wanted
