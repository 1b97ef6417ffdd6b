"""NVML's structures: every member is where NVIDIA's own binding has it."""

from __future__ import annotations

import ctypes

import pynvml
import pytest

from gpuscope.sources import structures

PAIRS = [
    (structures.Utilization, pynvml.c_nvmlUtilization_t),
    (structures.MemoryV1, pynvml.c_nvmlMemory_t),
    (structures.MemoryV2, pynvml.c_nvmlMemory_v2_t),
    (structures.Temperature, pynvml.c_nvmlTemperature_v1_t),
    (structures.MarginTemperature, pynvml.c_nvmlMarginTemperature_v1_t),
    (structures.FieldValue, pynvml.c_nvmlFieldValue_t),
    (structures.Process, pynvml.c_nvmlProcessInfo_v3_t),
    (structures.ProcessShare, pynvml.c_nvmlProcessUtilizationSample_t),
    (structures.GpmSupport, pynvml.c_nvmlGpmSupport_t),
    (structures.GpmMetric, pynvml.c_nvmlGpmMetric_t),
    (structures.GpmMetricsGet, pynvml.c_nvmlGpmMetricsGet_t),
    (structures.EventData, pynvml.c_nvmlEventData_t),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=[ours.__name__ for ours, _ in PAIRS])
def test_size_and_members(ours: type[ctypes.Structure], theirs: type[ctypes.Structure]) -> None:
    assert ctypes.sizeof(ours) == ctypes.sizeof(theirs)
    names = {name for name, *_ in theirs._fields_} & {name for name, *_ in ours._fields_}
    assert len(names) >= len(theirs._fields_) - 1
    for name in names:
        assert getattr(ours, name).offset == getattr(theirs, name).offset
        assert getattr(ours, name).size == getattr(theirs, name).size


def test_values() -> None:
    assert ctypes.sizeof(structures.Value) == ctypes.sizeof(pynvml.c_nvmlValue_t)
    assert [name for name, _ in structures.Value._fields_] == [name for name, _ in pynvml.c_nvmlValue_t._fields_]


def test_versions() -> None:
    assert structures.version_of(structures.MemoryV2, 2) == pynvml.nvmlMemory_v2
    assert structures.version_of(structures.Temperature, 1) == pynvml.nvmlTemperature_v1
    assert structures.version_of(structures.MarginTemperature, 1) == pynvml.nvmlMarginTemperature_v1
