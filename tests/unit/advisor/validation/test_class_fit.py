"""The fit of class constants: the same arithmetic as the roofline, and constants that rows can tell."""

from __future__ import annotations

import numpy as np
import pytest

from gpuscope import paths
from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.catalogue.loading import load_catalogue
from gpuscope.advisor.job.stage import to_stage
from gpuscope.advisor.timing.device_rates import DeviceRates, cpu_rates, gpu_rates
from gpuscope.advisor.timing.roofline import ops_seconds
from gpuscope.advisor.validation.class_fit import Constants, Rows, Sample, fit
from gpuscope.advisor.validation.op_tables import ModelTable, load_op_tables
from gpuscope.advisor.validation.widths import conformal_quantile
from gpuscope.errors import CatalogueError

RESOURCES = paths.resources_dir()


@pytest.fixture(scope="module")
def tables() -> list[ModelTable]:
    return list(load_op_tables(RESOURCES / "calibration").values())[::25]


@pytest.fixture(scope="module")
def gpu_device() -> DeviceRates:
    spec = load_catalogue(RESOURCES / "catalogue").gpu("rtx-3090")
    assert spec is not None
    found = gpu_rates(spec, "float16", EMPTY)
    assert found is not None
    return found


def predicted(samples: list[Sample], constants: Constants) -> list[float]:
    names = list(constants.values)
    values = np.array([constants.values[name] for name in names])
    seconds: list[float] = np.exp(Rows(samples, names).log_seconds(values)).tolist()
    return seconds


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_fit_and_roofline_agree(tables: list[ModelTable], gpu_device: DeviceRates, compiled: bool, layout: str) -> None:
    for mode in ("amp", "training"):
        ops = [table.ops(mode, 32, layout) for table in tables if mode in table.modes]
        samples = [Sample(each, gpu_device, 1.0, compiled=compiled) for each in ops]
        expected = [ops_seconds(each, gpu_device, EMPTY, compiled=compiled) for each in ops]
        assert predicted(samples, Constants(EMPTY)) == pytest.approx(expected)


def test_fit_and_roofline_agree_on_training_from_inference(tables: list[ModelTable], gpu_device: DeviceRates) -> None:
    # Without a cache, which sees larger tensors where the work of several kernels is counted as one kind.
    device = gpu_device._replace(cache_bytes=0.0)
    ops = tables[0].ops("amp", 32, "nhwc")
    kernels_alone = sum(2 * (op.kernels or 0.0) for op in ops) * device.kernel_latency_s
    expected = ops_seconds(to_stage(ops, "inference", "training")[0], device)
    got = predicted([Sample(ops, device, 1.0, training=True)], Constants(EMPTY))[0]
    assert got == pytest.approx(expected - kernels_alone)


@pytest.mark.parametrize("cpu_id", ["core-i9-10940x", "core-i7-12700h"])
def test_fit_and_roofline_agree_on_a_cpu(tables: list[ModelTable], cpu_id: str) -> None:
    spec = load_catalogue(RESOURCES / "catalogue").cpu(cpu_id)
    assert spec is not None
    device = cpu_rates(spec)
    assert device is not None
    ops = [table.ops("float32", 1) for table in tables]
    expected = [ops_seconds(each, device, EMPTY, compiled=True) for each in ops]
    samples = [Sample(each, device, 1.0, compiled=True) for each in ops]
    assert predicted(samples, Constants(EMPTY)) == pytest.approx(expected)


def test_slopes_are_those_of_the_arithmetic(tables: list[ModelTable], gpu_device: DeviceRates) -> None:
    constants = Constants(EMPTY)
    names = list(constants.values)
    values = np.array([constants.values[name] for name in names])
    samples = [Sample(table.ops("amp", 64), gpu_device, 1.0, compiled=True, training=True) for table in tables]
    rows = Rows(samples, names)
    now, slopes = rows.slopes(values)
    for name in (
        "rate/conv_1x1/half_k",
        "rate/gemm/compute",
        "factor/compiled/elementwise",
        "factor/training/conv_kxk",
    ):
        index = names.index(name)
        moved = values.copy()
        moved[index] *= np.exp(1e-5)
        assert slopes[:, index] == pytest.approx((rows.log_seconds(moved) - now) / 1e-5, abs=1e-4)


def test_constants_behind_made_up_rows_are_found(tables: list[ModelTable], gpu_device: DeviceRates) -> None:
    truth = Constants(EMPTY)
    truth.values["rate/elementwise/bandwidth"] *= 0.8
    truth.values["rate/conv_kxk/compute"] *= 1.2
    ops = [table.ops("amp", 128) for table in tables]
    measured = predicted([Sample(each, gpu_device, 1.0) for each in ops], truth)
    samples = [Sample(each, gpu_device, seconds) for each, seconds in zip(ops, measured, strict=True)]
    found = Constants(EMPTY)
    before = predicted(samples, found)
    fit(found, samples, ["rate/"])
    after = predicted(samples, found)
    off = [np.abs(np.log(np.array(each) / measured)).mean() for each in (before, after)]
    assert off[1] < 0.15 * off[0]


def test_without_rows_nothing_moves(gpu_device: DeviceRates) -> None:
    constants = Constants(EMPTY)
    before = dict(constants.values)
    fit(constants, [], ["rate/"])
    assert constants.values == before


def test_constants_round_trip_through_a_calibration() -> None:
    calibration = Constants(EMPTY).calibration(Calibration())
    assert Constants(calibration).values == Constants(EMPTY).values


def test_conformal_quantile_is_an_error_that_was_seen() -> None:
    assert conformal_quantile([float(i) for i in range(1, 100)]) == 90
    assert conformal_quantile([1.0, 2.0]) == 2.0
    with pytest.raises(ValueError, match="needs errors"):
        conformal_quantile([])


def test_damaged_operator_tables_are_told(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    with pytest.raises(CatalogueError, match="Reinstall"):
        load_op_tables(folder)
    (folder / "op_tables.jsonl.gz").write_bytes(b"\x1f\x8bnot really")
    with pytest.raises(CatalogueError, match="Reinstall"):
        load_op_tables(folder)
