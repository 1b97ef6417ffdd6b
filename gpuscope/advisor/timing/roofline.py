"""Time of operators on a device: the larger of computing and moving data, smoothly joined, plus a fixed time a kernel.

    t = √(compute² + bandwidth²) + latency × kernels
    compute = FLOPs / (matrix rate × share × N/(N+n₀) × K/(K+k₀)),  bandwidth = bytes / (vector rate × share)

Shares and widths by kind of operator are in `class_constants`, rates of devices in `device_rates`. This is a plain
roofline: it knows nothing of caches or of a library's tile choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.timing.class_constants import CPU, NHWC, class_rate, factor, is_light, known_kind, layout_variant
from gpuscope.advisor.timing.device_rates import DeviceRates
from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX

# Classes whose operators a compiler joins with their neighbours; the others run as they are.
JOINED_CLASSES = {
    "elementwise": "elementwise",
    "copy": "elementwise",
    "normalization": "normalization",
    "reduction": "reduction",
    "convolution": "convolution",
    "depthwise_convolution": "convolution",
}
FLOAT32_CLASSES = frozenset({"elementwise", "normalization"})
"""Classes limited by memory that have kinds with a share of their own in FP32."""
JOINED_KERNELS = frozenset({"elementwise", "copy", "normalization", "reduction"})


def op_seconds(op: Op, device: DeviceRates, calibration: Calibration = EMPTY, *, compiled: bool = False) -> float:
    """Time of one class of operators in one step.

    Args:
        op: the class, with FLOPs and bytes of a step as an eager run has them, in the precision of `device`.
        device: where it runs.
        calibration: fitted constants.
        compiled: whether a compiler joins operators.
    """
    seconds = _op_seconds(
        op, device, calibration, rate_variant(op, device), compute_rate(op, device), compiled=compiled
    )
    if not device.plain_float32 or op.class_ != "convolution":
        return seconds
    # cuDNN takes what is faster in FP32: tensor cores in TF32, or plain kernels, which take either layout as it is and
    # multiply less (Winograd's transform).
    gain = factor(calibration, "float32", known_kind(op)) or 1.0
    plain_rate = device.plain_flops_per_s * gain
    return min(seconds, _op_seconds(op, device, calibration, NHWC, plain_rate, compiled=compiled))


def _op_seconds(
    op: Op, device: DeviceRates, calibration: Calibration, variant: str | None, rate: float, *, compiled: bool
) -> float:
    share = class_rate(calibration, known_kind(op), variant)
    efficiency = _backward_efficiency(op, calibration, variant)
    scale = device.width_scale
    filled = share.compute * efficiency * _filled(op.n, share.half_n * scale) * _filled(op.k, share.half_k * scale)
    moved = memory_bytes(op, device)
    kernels = op.kernels or 0.0
    if compiled:
        moved *= _joined(op, calibration)
        kernels *= compiled_kernel_share(op, calibration)
    compute_s = (op.flops or 0.0) / (rate * filled)
    moved_per_s = device.bytes_per_s * share.bandwidth * efficiency * _float32_share(op, device, calibration, variant)
    bandwidth_s = moved / moved_per_s
    return math.hypot(compute_s, bandwidth_s) + kernels * _latency(op, device)


def ops_seconds(
    ops: Iterable[Op], device: DeviceRates, calibration: Calibration = EMPTY, *, compiled: bool = False
) -> float:
    """Time of all classes of a step, one after the other."""
    return sum(op_seconds(op, device, calibration, compiled=compiled) for op in ops)


def memory_bytes(op: Op, device: DeviceRates) -> float:
    """Bytes that a class of operators moves from and to memory, less what the cache spares it."""
    moved = (op.bytes_read or 0.0) + (op.bytes_written or 0.0)
    if not op.kernels or not device.cache_bytes:
        return moved
    held = device.cache_bytes / (device.cache_bytes + moved / op.kernels)
    return moved * (1 - device.cache_saving * held)


def rate_variant(op: Op, device: DeviceRates) -> str | None:
    """Which variant of a kind's rates counts on a device."""
    return CPU if device.is_cpu else layout_variant(op)


def compute_rate(op: Op, device: DeviceRates) -> float:
    """FLOP/s of the units that a class of operators runs on."""
    if op.class_ == "depthwise_convolution":
        return device.plain_flops_per_s
    return device.convolution_flops_per_s if op.class_ == "convolution" else device.matrix_flops_per_s


def compiled_kernel_share(op: Op, calibration: Calibration) -> float:
    """Kernels that are left of a class when operators are joined."""
    if op.class_ not in JOINED_KERNELS:
        return 1.0
    return factor(calibration, "compiled", "kernels") or 1.0


def _latency(op: Op, device: DeviceRates) -> float:
    light = device.light_kernel_latency_s
    return light if light is not None and is_light(op) else device.kernel_latency_s


def _joined(op: Op, calibration: Calibration) -> float:
    group = JOINED_CLASSES.get(op.class_)
    return 1.0 if group is None else factor(calibration, "compiled", group) or 1.0


def _backward_efficiency(op: Op, calibration: Calibration, variant: str | None) -> float:
    if not op.kind.endswith(BACKWARD_SUFFIX):
        return 1.0
    return factor(calibration, "backward", known_kind(op), variant) or factor(calibration, "backward", "other") or 1.0


def _float32_share(op: Op, device: DeviceRates, calibration: Calibration, variant: str | None) -> float:
    """How much of its share of the bandwidth in mixed precision, which is the fitted one, a kernel reaches in FP32."""
    if not device.plain_float32 or op.class_ not in FLOAT32_CLASSES:
        return 1.0
    return factor(calibration, "float32", known_kind(op), variant) or 1.0


def _filled(width: int | None, half: float) -> float:
    return width / (width + half) if width and half else 1.0
