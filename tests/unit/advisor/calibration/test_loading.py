"""The shipped calibration, and files that are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import FITTED, PUBLISHED, Calibration
from gpuscope.advisor.calibration.writing import write_intervals, write_mixes, write_rates, write_shares
from gpuscope.advisor.timing.uncertainty import codes
from gpuscope.errors import CatalogueError
from tests.unit.advisor.advisor_jobs import shipped

RATES_HEADER = "gpu_id,figure,precision,value,unit,kind,source\n"


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return load_calibration(paths.resources_dir() / "calibration")


def test_shipped_rates_are_of_known_gpus_and_below_what_silicon_can_do(calibration: Calibration) -> None:
    assert len(calibration.rates) > 15
    for gpu_id, rates in calibration.rates.items():
        gpu = shipped().gpu(gpu_id)
        assert gpu is not None, gpu_id
        if rates.vector_bytes_per_s is not None and gpu.memory_bandwidth_gbs is not None:
            assert 0.5 < rates.vector_bytes_per_s.value / (gpu.memory_bandwidth_gbs * 1e9) < 1
        measured = rates.matmul_flops_per_s.get("bfloat16")
        if measured is not None and gpu.bf16_tensor_tflops is not None:
            assert 0.4 < measured.value / (gpu.bf16_tensor_tflops * 1e12) < 1


def test_every_shipped_figure_says_where_it_comes_from(calibration: Calibration) -> None:
    figures = [*calibration.shares.values()]
    for rates in calibration.rates.values():
        figures += [*rates.matmul_flops_per_s.values(), *filter(None, [rates.vector_bytes_per_s])]
    assert all(figure.source and figure.kind in {PUBLISHED, FITTED} for figure in figures)


def test_shipped_intervals_belong_to_doubts_that_exist(calibration: Calibration) -> None:
    assert set(calibration.intervals) <= set(codes())


def test_what_is_written_is_read_again(calibration: Calibration, tmp_path: Path) -> None:
    write_rates(tmp_path / "gpu_rates.csv", calibration.rates)
    write_shares(tmp_path / "shares.csv", calibration.shares)
    write_mixes(tmp_path / "mixes.csv", calibration.mixes)
    write_intervals(tmp_path / "intervals.csv", calibration.intervals)
    again = load_calibration(tmp_path)
    assert again.rates == calibration.rates
    assert again.shares == calibration.shares
    assert again.mixes == calibration.mixes
    assert again.intervals == calibration.intervals


def test_an_empty_folder_is_an_empty_calibration(tmp_path: Path) -> None:
    empty = load_calibration(tmp_path)
    assert (empty.rates, empty.shares, empty.class_rates, empty.mixes, empty.intervals) == ({}, {}, {}, {}, {})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("t4,matmul,float32,4.1,GB,published,x", "the unit GB is none of"),
        ("t4,guess,float32,4.1,TFLOP/s,published,x", "the figure guess is none of"),
        ("t4,matmul,float31,4.1,TFLOP/s,published,x", "the precision float31 is none of"),
        ("t4,matmul,float32,0,TFLOP/s,published,x", "needs a number above zero"),
        ("t4,matmul,float32,4.1,TFLOP/s,hearsay,x", "the kind hearsay is none of"),
        ("t4,vector,,235,GB/s,published,x\nt4,vector,,235,GB/s,published,x", "is there twice"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "gpu_rates.csv").write_text(RATES_HEADER + line + "\n")
    with pytest.raises(CatalogueError, match=problem) as raised:
        load_calibration(tmp_path)
    assert "gpu_rates.csv, line" in str(raised.value)


def test_a_range_cannot_be_narrower_than_nothing(tmp_path: Path) -> None:
    (tmp_path / "intervals.csv").write_text("code,factor,rows,source\nmany_gpus,0.9,10,x\n")
    with pytest.raises(CatalogueError, match=r"the factor 0.9 has to be 1 or more"):
        load_calibration(tmp_path)
