"""Published speeds of language models: the rows are known, the shipped constants describe them, and fits find them."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import median

import msgspec
import pytest

from gpuscope import paths
from gpuscope.advisor.calibration.engine_files import ENGINES_FILE, load_engines, write_engines
from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.serving.constants import Engines
from gpuscope.advisor.validation import decoding_fit
from gpuscope.advisor.validation.decoding_rows import BATCH, DECODE, SATURATED, Row, decoding_rows, predicted
from gpuscope.advisor.validation.tables import Tables
from gpuscope.errors import CatalogueError
from tests.unit.advisor.advisor_jobs import shipped


@cache
def _tables() -> Tables:
    return Tables(paths.resources_dir() / "calibration", shipped())


@cache
def _rows() -> tuple[Row, ...]:
    return decoding_rows(_tables())


def _calibration() -> Calibration:
    return _tables().calibration


def test_there_are_many_rows_of_many_gpus() -> None:
    rows = _rows()
    assert len(rows) > 600
    assert len({row.gpu.id for row in rows}) >= 20
    assert all(row.value > 0 for row in rows)


def test_the_shipped_constants_describe_the_rows() -> None:
    """No measure of accuracy, for they were fitted on these rows; the study leaves each GPU out."""
    engines = _calibration().engines
    errors: dict[str, list[float]] = defaultdict(list)
    for row in _rows():
        constants = engines.llama_cpp if row.llama_cpp else engines.graphs
        value, refusal = predicted(row, constants, shipped(), _calibration())
        assert value is not None, refusal
        errors[row.kind].append(abs(value / row.value - 1))
    for kind, found in errors.items():
        assert median(found) < 0.12, kind


def test_a_fit_finds_the_constants_that_made_the_rows() -> None:
    """Rows made up with known constants of llama.cpp, on GPUs with fast and slow memory."""
    true = msgspec.structs.replace(Engines().llama_cpp, bandwidth_share=0.8, layer_cycles=300e3, cache_share=0.5)
    made = []
    for row in _rows():
        if row.llama_cpp:
            value, _ = predicted(row, true, shipped(), _calibration())
            assert value is not None
            made.append(row._replace(value=value))
    fitted = decoding_fit.fitted_llama_cpp(made, shipped(), _calibration())
    for row in made:
        value, _ = predicted(row, fitted, shipped(), _calibration())
        assert value is not None
        assert value == pytest.approx(row.value, rel=0.08)
    assert fitted.token_spread < 1.08


def test_static_batches_of_an_older_release_are_not_fitted() -> None:
    rows = [row for row in _rows() if row.kind in {BATCH, DECODE} and not row.llama_cpp]
    spoiled = [row._replace(value=row.value * 5) if row.kind == BATCH else row for row in rows]
    fitted = decoding_fit.fitted_engines(rows, shipped(), _calibration())
    again = decoding_fit.fitted_engines(spoiled, shipped(), _calibration())
    assert fitted.bandwidth_share == again.bandwidth_share
    assert fitted.layer_cycles == again.layer_cycles
    assert again.throughput_spread > fitted.throughput_spread


def test_a_saturated_service_is_limited_by_its_memory() -> None:
    """Published: 70B in FP8 on one H100 answers far less than on an H200, for want of room for caches."""
    rates = {
        row.gpu.id: predicted(row, _calibration().engines.graphs, shipped(), _calibration())[0]
        for row in _rows()
        if row.kind == SATURATED and row.model_name == "llama-3-70b" and row.gpus == 1 and row.request == (500, 2000)
    }
    few, many = rates["h100-sxm5-80gb"], rates["h200-sxm5-141gb"]
    assert few is not None
    assert many is not None
    assert many > 3 * few


def test_constants_are_written_and_read(tmp_path: Path) -> None:
    engines = Engines(llama_cpp=msgspec.structs.replace(Engines().llama_cpp, layer_cycles=1.25e5))
    write_engines(tmp_path / ENGINES_FILE, engines, {"llama_cpp": ("layer_cycles",)}, "made up")
    found = load_engines(tmp_path)
    assert found.llama_cpp.layer_cycles == 1.25e5
    assert found == engines
    assert load_engines(tmp_path / "nowhere") == Engines()


@pytest.mark.parametrize(
    ("line", "words"), [("vllm,layer_cycles,1,x", "the engine vllm"), ("graphs,colour,1,x", "the constant colour")]
)
def test_damaged_constants_are_named(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / ENGINES_FILE).write_text(f"engine,name,value,source\n{line}\n", encoding="utf-8")
    with pytest.raises(CatalogueError, match=words):
        load_engines(tmp_path)
