"""NVML's structures as nvml.h lays them out.

The binding has them, too, but converts every member in Python at every access, which costs more than the call itself.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_longlong, c_uint, c_ulong, c_ulonglong, c_ushort, c_void_p

GPM_METRICS_MAX = 477
"""NVML_GPM_METRIC_MAX of API 13."""


def version_of(structure: type[ctypes.Structure], version: int) -> int:
    """NVML_STRUCT_VERSION: the size, and the version in the highest byte."""
    return ctypes.sizeof(structure) | version << 24


class Utilization(ctypes.Structure):
    """nvmlUtilization_t."""

    _fields_ = (("gpu", c_uint), ("memory", c_uint))


class MemoryV1(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = (("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong))


class MemoryV2(ctypes.Structure):
    """nvmlMemory_v2_t."""

    _fields_ = (
        ("version", c_uint),
        ("total", c_ulonglong),
        ("reserved", c_ulonglong),
        ("free", c_ulonglong),
        ("used", c_ulonglong),
    )


class Temperature(ctypes.Structure):
    """nvmlTemperature_v1_t."""

    _fields_ = (("version", c_uint), ("sensorType", c_uint), ("temperature", c_int))


class MarginTemperature(ctypes.Structure):
    """nvmlMarginTemperature_v1_t."""

    _fields_ = (("version", c_uint), ("marginTemperature", c_int))


class Value(ctypes.Union):
    """nvmlValue_t."""

    _fields_ = (
        ("dVal", c_double),
        ("uiVal", c_uint),
        ("ulVal", c_ulong),
        ("ullVal", c_ulonglong),
        ("sllVal", c_longlong),
        ("siVal", c_int),
        ("usVal", c_ushort),
    )


class FieldValue(ctypes.Structure):
    """nvmlFieldValue_t."""

    _fields_ = (
        ("fieldId", c_uint),
        ("scopeId", c_uint),
        ("timestamp", c_longlong),
        ("latencyUsec", c_longlong),
        ("valueType", c_uint),
        ("nvmlReturn", c_uint),
        ("value", Value),
    )


class ProcessV1(ctypes.Structure):
    """nvmlProcessInfo_v1_t: drivers before 470."""

    _fields_ = (("pid", c_uint), ("usedGpuMemory", c_ulonglong))


class Process(ctypes.Structure):
    """nvmlProcessInfo_v2_t; version 3 has the same form."""

    _fields_ = (
        ("pid", c_uint),
        ("usedGpuMemory", c_ulonglong),
        ("gpuInstanceId", c_uint),
        ("computeInstanceId", c_uint),
    )


class ProcessShare(ctypes.Structure):
    """nvmlProcessUtilizationSample_t."""

    _fields_ = (
        ("pid", c_uint),
        ("timeStamp", c_ulonglong),
        ("smUtil", c_uint),
        ("memUtil", c_uint),
        ("encUtil", c_uint),
        ("decUtil", c_uint),
    )


class GpmSupport(ctypes.Structure):
    """nvmlGpmSupport_t."""

    _fields_ = (("version", c_uint), ("isSupportedDevice", c_uint))


class GpmMetric(ctypes.Structure):
    """nvmlGpmMetric_t; the last three are the names of metric and unit."""

    _fields_ = (
        ("metricId", c_uint),
        ("nvmlReturn", c_uint),
        ("value", c_double),
        ("shortName", c_void_p),
        ("longName", c_void_p),
        ("unit", c_void_p),
    )


class GpmMetricsGet(ctypes.Structure):
    """nvmlGpmMetricsGet_t."""

    _fields_ = (
        ("version", c_uint),
        ("numMetrics", c_uint),
        ("sample1", c_void_p),
        ("sample2", c_void_p),
        ("metrics", GpmMetric * GPM_METRICS_MAX),
    )


class EventData(ctypes.Structure):
    """nvmlEventData_t."""

    _fields_ = (
        ("device", c_void_p),
        ("eventType", c_ulonglong),
        ("eventData", c_ulonglong),
        ("gpuInstanceId", c_uint),
        ("computeInstanceId", c_uint),
    )
