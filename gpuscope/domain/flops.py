"""Floating-point operations of matrix work, from shapes. A multiply-add counts as two.

The counts are those of `torch.utils.flop_counter` (a causal mask is not taken into account; backward attention is
five matrix products because the scores are computed again), against which the tests compare them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

Shape = tuple[int, ...]


class MatrixWork(NamedTuple):
    """FLOPs of one call, elements of its result, and the widths that decide how well a GPU's tiles are filled."""

    flops: float
    written_elements: float
    n: int
    k: int


def gemm_work(name: str, shapes: Sequence[Shape]) -> MatrixWork | None:
    """`mm`, `addmm`, `bmm`, `baddbmm`, `mv` and their like; None when the shapes do not tell."""
    operands = [shape for shape in shapes if shape]
    first = 1 if name.startswith(("add", "_addmm", "baddbmm")) else 0
    if len(operands) < first + 2:
        return None
    left, right = operands[first], operands[first + 1]
    if len(left) < 2 or left[-1] != right[0 if len(right) == 1 else -2]:
        return None
    columns = right[-1] if len(right) > 1 else 1
    rows = prod(left[:-1])
    return MatrixWork(2.0 * rows * left[-1] * columns, float(rows * columns), columns, left[-1])


def rnn_work(shapes: Sequence[Shape], *, backward: bool) -> MatrixWork | None:
    """One layer of an LSTM or GRU over all time steps: input (time, batch, features) and its two weight matrices."""
    if len(shapes) < 3 or len(shapes[0]) != 3 or len(shapes[1]) != 2 or len(shapes[2]) != 2:
        return None
    positions = shapes[0][0] * shapes[0][1]
    flops = 2.0 * positions * (prod(shapes[1]) + prod(shapes[2])) * (2 if backward else 1)
    # Besides its output a fused layer keeps the gates of every time step, several times over, for the backward pass.
    return MatrixWork(flops, 4.0 * positions * shapes[2][0], shapes[2][0], shapes[2][1])


def attention_work(shapes: Sequence[Shape], *, backward: bool) -> MatrixWork | None:
    """Fused scaled-dot-product attention on (batch, heads, positions, width) tensors."""
    operands = shapes[1:4] if backward else shapes[:3]
    if len(operands) < 3 or any(len(shape) != 4 for shape in operands):
        return None
    query, key, value = operands
    scores = query[0] * query[1] * query[2] * key[2]
    forward_products = (query[3], value[3])
    backward_products = (query[3], value[3], value[3], query[3], query[3])
    flops = 2.0 * scores * sum(backward_products if backward else forward_products)
    written = prod(query) + prod(key) + prod(value) if backward else prod(query[:3]) * value[3]
    return MatrixWork(flops, float(written), key[2], query[3])


class Convolution(NamedTuple):
    """One convolution call, with everything that its cost depends on."""

    input: Shape
    weight: Shape
    output_spatial: Shape
    transposed: bool

    @property
    def groups(self) -> int:
        """Number of groups; as many as channels is depthwise."""
        return 1 if self.transposed else max(1, self.input[1] // self.weight[1])

    @property
    def kind(self) -> str:
        """conv_1x1, conv_kxk, grouped or depthwise: they reach different shares of a GPU's rates."""
        if self.groups > 1:
            return "depthwise" if self.weight[1] == 1 else "grouped"
        return "conv_1x1" if prod(self.weight[2:]) == 1 else "conv_kxk"

    @property
    def output_elements(self) -> int:
        """Elements of the result."""
        channels = self.weight[1] if self.transposed else self.weight[0]
        return self.input[0] * channels * prod(self.output_spatial)

    def work(self, gradients: int | None = None) -> MatrixWork:
        """The forward pass, or with `gradients` that many of the two products of the backward pass."""
        positions = prod(self.input[2:]) if self.transposed else prod(self.output_spatial)
        flops = 2.0 * self.input[0] * positions * prod(self.weight)
        k = self.weight[1] * prod(self.weight[2:])
        n = self.weight[0] // self.groups
        if gradients is None:
            return MatrixWork(flops, float(self.output_elements), n, k)
        written = prod(self.weight) + (prod(self.input) if gradients > 1 else 0)
        return MatrixWork(flops * gradients, float(written), n, k)


def convolution_output(image: Shape, weight: Shape, arguments: Sequence[Any]) -> tuple[Shape, bool] | None:
    """Spatial output shape and whether the convolution is transposed, from the arguments of `aten::convolution`
    (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups); None when they do not tell."""
    settings = [_one_per_axis(arguments[i], len(weight) - 2) for i in (3, 4, 5, 7)] if len(arguments) >= 8 else []
    known = [numbers for numbers in settings if numbers is not None]
    if len(known) < 4:
        return None
    transposed = bool(arguments[6])
    spatial = []
    for size, kernel, (stride, padding, dilation, extra) in zip(
        image[2:], weight[2:], zip(*known, strict=True), strict=True
    ):
        reach = dilation * (kernel - 1)
        if transposed:
            spatial.append((size - 1) * stride - 2 * padding + reach + extra + 1)
        else:
            spatial.append((size + 2 * padding - reach - 1) // max(1, stride) + 1)
    return (tuple(spatial), transposed) if min(spatial) >= 0 else None


def _one_per_axis(values: Any, axes: int) -> list[int] | None:
    """The numbers of a setting such as the stride, of which one stands for all axes; None when it is no such thing."""
    if not isinstance(values, list | tuple) or not all(isinstance(value, int) for value in values):
        return None
    numbers = list(values) * axes if len(values) == 1 else list(values)
    return numbers if len(numbers) == axes else None
