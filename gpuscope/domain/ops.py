"""From the profiler's operator rows to the classes of operators in a footprint.

The probe writes raw rows (names, shapes, dtypes, times: `domain/events.py`, kind `ops`); everything that is concluded
from them is concluded here, for a live run, an import and a dry run alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf, prod
from typing import Any, NamedTuple

from gpuscope.domain.flops import (
    Convolution,
    MatrixWork,
    Shape,
    attention_work,
    convolution_output,
    gemm_work,
    rnn_work,
)
from gpuscope.domain.footprint import Op
from gpuscope.domain.operators import (
    CALLS_WHEN_THERE,
    KERNELS_PER_CALL,
    OPTIMIZER,
    OPTIMIZER_COMPANIONS,
    OPTIMIZER_MARKS,
    WRITE_ONLY,
    OperatorKind,
    counted_kind,
    time_kind,
)

BACKWARD_SUFFIX = "_backward"

# The profiler prints C++ type names; a footprint uses the framework's.
_DTYPES = {
    "float": "float32", "double": "float64", "c10::half": "float16", "c10::bfloat16": "bfloat16", "half": "float16",
    "long int": "int64", "long": "int64", "int": "int32", "short int": "int16", "signed char": "int8",
    "unsigned char": "uint8", "c10::float8_e4m3fn": "float8_e4m3fn", "c10::float8_e5m2": "float8_e5m2",
}  # fmt: skip
_MOST_ELEMENTS = 2**63
"""PyTorch counts elements in 64 bits: a larger tensor is a mistake of whoever wrote the row."""
_DTYPE_BYTES = {
    "float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2, "int8": 1, "uint8": 1,
    "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip


class _Row(NamedTuple):
    """One operator row, its inputs told apart."""

    name: str
    shapes: tuple[Shape, ...]
    """One for each argument; () for what is not a tensor."""
    listed: tuple[Shape, ...]
    """Tensors inside lists of tensors."""
    dtype: str | None
    bytes_per_element: tuple[int, ...]
    calls: float
    time_s: float
    backward: bool
    phase: str
    """forward, backward, optimizer or data_loader; "" where the row does not say."""
    kernels: float
    """Kernels that the profiler saw on a GPU; 0 for a run on the CPU."""
    arguments: tuple[Any, ...]

    @property
    def first(self) -> Shape:
        """Shape of the first tensor."""
        return next((shape for shape in self.shapes if shape), ())


class _Work(NamedTuple):
    """What one call does."""

    kind: OperatorKind
    flops: float | None
    bytes_read: float | None
    bytes_written: float | None
    n: int | None = None
    k: int | None = None


def classify(rows: Sequence[Mapping[str, Any]]) -> tuple[Op, ...]:
    """Add up operator rows by kind, dtype and matrix widths: flops, bytes, kernels and time of one step.

    FLOPs are counted for matrix work (see `domain/flops.py`) and None elsewhere; bytes are what the operator's inputs
    and result hold, each touched once. Kinds of the backward pass end in `_backward`. Times are device times where the
    profile has any, else CPU times; time of operators that do no work of their own is in the class `other`.

    Args:
        rows: the `rows` of an `ops` event. Rows that are not understood count as `other`.

    Returns:
        The classes in descending order of time, then by name.
    """
    on_device = any(_number(row.get("device_time_s")) > 0 for row in rows)
    parsed = [_parse(row, on_device=on_device) for row in rows]
    kernels_seen = any(row.kernels for row in parsed)
    profile = _Profile(parsed)
    sums: dict[tuple[Any, ...], _Sum] = defaultdict(_Sum)
    for row in parsed:
        work = profile.work(row)
        kernels = row.kernels if kernels_seen else _usual_kernels(row, work)
        key = (work.kind.class_, _kind_name(row, work.kind), row.dtype, work.n, work.k)
        sums[key].add(row, work, kernels)
    ops = [total.op(*key) for key, total in sums.items()]
    return tuple(
        sorted(ops, key=lambda op: (-(op.time_s or 0.0), op.class_, op.kind, op.dtype or "", op.n or 0, op.k or 0))
    )


def dtype_bytes(name: str | None) -> int | None:
    """Bytes of one element of a dtype by the framework's name (`float32`); None: unknown."""
    return _DTYPE_BYTES.get(name or "")


class _Sum:
    """Adds up the calls of one class."""

    def __init__(self) -> None:
        self.flops: float | None = None
        self.read: float | None = None
        self.written: float | None = None
        self.kernels = 0.0
        self.time_s = 0.0

    def add(self, row: _Row, work: _Work, kernels: float) -> None:
        self.flops = _plus(self.flops, work.flops, row.calls)
        self.read = _plus(self.read, work.bytes_read, row.calls)
        self.written = _plus(self.written, work.bytes_written, row.calls)
        self.kernels += kernels
        self.time_s += row.time_s

    def op(self, class_: str, kind: str, dtype: str | None, n: int | None, k: int | None) -> Op:
        return Op(
            kind=kind, class_=class_, dtype=dtype, flops=self.flops, bytes_read=self.read, bytes_written=self.written,
            kernels=self.kernels, time_s=self.time_s, n=n, k=k,
        )  # fmt: skip


class _Profile:
    """What has to be known of all rows to judge one of them."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self._first_shapes: dict[str, set[Shape]] = defaultdict(set)
        self._optimizer_shapes: set[Shape] = set()
        self._gradient_of: dict[tuple[Shape, Shape], Shape] = {}
        for row in rows:
            self._first_shapes[row.name].add(row.first)
            if row.name in OPTIMIZER_MARKS and not row.backward:
                self._optimizer_shapes.add(row.first)
            if row.name == "convolution_backward" and len(row.shapes) >= 3:
                self._gradient_of[row.shapes[1], row.shapes[2]] = row.shapes[0]

    def work(self, row: _Row) -> _Work:
        kind = self._kind(row)
        if kind is None:
            return _Work(time_kind(row.name), None, None, None)
        if kind.class_ == "convolution":
            return self._convolution(row, kind)
        matrix = _matrix_work(row, kind)
        if matrix is not None:
            return _matrix(row, kind, matrix)
        return _Work(kind, None, *_moved(row))

    def _kind(self, row: _Row) -> OperatorKind | None:
        called = CALLS_WHEN_THERE.get(row.name)
        if called is not None and self._calls(row, called):
            return None
        if row.phase == "data_loader":
            return None
        counted = counted_kind(row.name)
        if row.phase:
            return OPTIMIZER if row.phase == "optimizer" and counted is not None else counted
        return OPTIMIZER if self._updates_a_parameter(row) else counted

    def _updates_a_parameter(self, row: _Row) -> bool:
        """Whether a row that does not tell its phase looks like a single-tensor optimizer's."""
        return (
            row.name in OPTIMIZER_COMPANIONS
            and not row.backward
            and row.first in self._optimizer_shapes
            and (row.name in OPTIMIZER_MARKS or not any(row.shapes[1:]))
        )

    def _calls(self, row: _Row, called: str) -> bool:
        return row.first in self._first_shapes[called] if called in self._first_shapes else False

    def _convolution(self, row: _Row, kind: OperatorKind) -> _Work:
        backward = row.name == "convolution_backward"
        tensors = row.shapes[1:3] if backward else row.shapes[:2]
        image, weight = tensors if len(tensors) == 2 else ((), ())
        if not 3 <= len(image) == len(weight) or not all(weight):
            return _Work(kind, None, None, None)
        call = Convolution(image, weight, *self._output(row, image, weight))
        gradients = _wanted_gradients(row.arguments) if backward else None
        class_ = "depthwise_convolution" if call.kind == "depthwise" else "convolution"
        return _matrix(row, OperatorKind(call.kind, class_), call.work(gradients))

    def _output(self, row: _Row, image: Shape, weight: Shape) -> tuple[Shape, bool]:
        """Spatial shape of the result and whether transposed: as told by the gradient, else by the arguments, else
        assumed to be that of the input (stride 1, padded), which is the largest that is usual."""
        gradient = row.shapes[0] if row.name == "convolution_backward" else self._gradient_of.get((image, weight))
        if gradient and len(gradient) == len(weight):
            return gradient[2:], gradient[1] != weight[0]
        return convolution_output(image, weight, row.arguments) or (image[2:], False)


def _wanted_gradients(arguments: Sequence[Any]) -> int:
    """How many of the two costly gradients (input, weight) a backward convolution computes: its last argument says."""
    mask = arguments[-1] if arguments else None
    if isinstance(mask, Sequence) and len(mask) == 3 and all(isinstance(flag, bool) for flag in mask):
        return max(1, int(mask[0]) + int(mask[1]))
    return 2


def _matrix_work(row: _Row, kind: OperatorKind) -> MatrixWork | None:
    backward = row.name.endswith(BACKWARD_SUFFIX)
    if kind.kind == "gemm":
        return gemm_work(row.name, row.shapes)
    if kind.kind == "rnn":
        return rnn_work(row.shapes, backward=backward)
    if kind.kind == "attention":
        return attention_work(row.shapes, backward=backward)
    return None


def _matrix(row: _Row, kind: OperatorKind, work: MatrixWork) -> _Work:
    size = dtype_bytes(row.dtype) or 4
    return _Work(kind, work.flops, _read(row), work.written_elements * size, work.n, work.k)


def _read(row: _Row) -> float:
    return float(sum(prod(shape) * size for shape, size in _tensors(row)))


def _moved(row: _Row) -> tuple[float | None, float | None]:
    """Bytes read and written by an operator that touches each element once; None when shapes are not known."""
    tensors = list(_tensors(row))
    if not tensors:
        return None, None
    sizes = [float(prod(shape) * size) for shape, size in tensors]
    if row.name in WRITE_ONLY:
        return 0.0, sizes[0]
    kind = counted_kind(row.name)
    if row.name == "index_select" and len(row.shapes) >= 3:
        rows_taken = prod(row.shapes[2]) * prod(row.shapes[0][1:]) * tensors[0][1]
        return float(rows_taken), float(rows_taken)
    if kind is not None and kind.kind == "reduction":
        return sum(sizes), 0.0
    if row.listed:
        return _moved_lists(row, sizes)
    if row.name == "copy_":
        return sizes[-1], sizes[0]
    return sum(sizes), max(sizes)


def _moved_lists(row: _Row, sizes: list[float]) -> tuple[float, float]:
    """A multi-tensor operator reads all its lists and writes one as large as the first; `cat` writes what it reads."""
    if row.name == "cat":
        return sum(sizes), sum(sizes)
    largest: dict[Shape, float] = defaultdict(float)
    for shape, size in _tensors(row):
        largest[shape] = max(largest[shape], float(prod(shape) * size))
    return sum(sizes), sum(largest.values())


def _tensors(row: _Row) -> Iterator[tuple[Shape, int]]:
    for shape, size in zip(row.shapes, row.bytes_per_element, strict=True):
        if shape:
            yield shape, size
    for shape in row.listed:
        yield shape, dtype_bytes(row.dtype) or 4


def _usual_kernels(row: _Row, work: _Work) -> float:
    """Kernels that a GPU would start for a row of a CPU run. Operators on scalars alone are the host's bookkeeping
    (step counters of optimizers)."""
    if work.kind.class_ == "other" or counted_kind(row.name) is None:
        return 0.0
    if work.bytes_read is None and work.kind is not OPTIMIZER and row.name != "cat":
        return 0.0
    return row.calls * KERNELS_PER_CALL.get(row.name, 1)


def _kind_name(row: _Row, kind: OperatorKind) -> str:
    backward = row.backward or row.name.endswith((BACKWARD_SUFFIX, "_backward_data"))
    return kind.kind + BACKWARD_SUFFIX if backward and kind.class_ not in {"other", "optimizer"} else kind.kind


def _parse(row: Mapping[str, Any], *, on_device: bool) -> _Row:
    shapes, listed = _shapes(row.get("shapes"))
    raw = row.get("dtypes")
    names = [_dtype(name) for name in raw] if isinstance(raw, list | tuple) else []
    names += [None] * (len(shapes) - len(names))
    floating = [name for name, shape in zip(names, shapes, strict=False) if shape and "float" in (name or "")]
    known = [name for name in names if name in _DTYPE_BYTES]
    arguments = row.get("args")
    return _Row(
        name=str(row.get("name", "")).removeprefix("aten::"),
        shapes=shapes,
        listed=listed,
        dtype=next(iter(floating or known), None),
        bytes_per_element=tuple(dtype_bytes(name) or 4 for name in names[: len(shapes)]),
        calls=_number(row.get("count")),
        time_s=_number(row.get("device_time_s" if on_device else "cpu_time_s")),
        backward=bool(row.get("backward")),
        phase=str(row.get("phase") or ""),
        kernels=_number(row.get("kernels")),
        arguments=tuple(arguments) if isinstance(arguments, list | tuple) else (),
    )


def _shapes(value: Any) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Shapes of the arguments, and those inside lists of tensors."""
    shapes: list[Shape] = []
    listed: list[Shape] = []
    for entry in value if isinstance(value, list | tuple) else ():
        if isinstance(entry, list | tuple) and entry and isinstance(entry[0], list | tuple):
            shapes.append(())
            listed += [_dimensions(inner) for inner in entry]
        else:
            shapes.append(_dimensions(entry))
    return tuple(shapes), tuple(shape for shape in listed if shape)


def _dimensions(value: Any) -> Shape:
    if isinstance(value, list | tuple) and all(isinstance(size, int) and size >= 0 for size in value):
        return tuple(value) if prod(value) < _MOST_ELEMENTS else ()
    return ()


def _dtype(name: Any) -> str | None:
    text = str(name or "").removeprefix("torch.").strip()
    found = _DTYPES.get(text.lower(), text)
    return found if found in _DTYPE_BYTES else None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        return 0.0
    return float(value)


def _plus(total: float | None, each: float | None, count: float) -> float | None:
    return total if each is None else (total or 0.0) + each * count
