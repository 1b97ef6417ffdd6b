"""Traces published image models to tables of operator classes; run by hand, in an environment of its own.

    python3.11 -m venv /tmp/timm-venv
    /tmp/timm-venv/bin/pip install torch torchvision timm msgspec
    PYTHONPATH=. /tmp/timm-venv/bin/python tests/accuracy/trace_models.py PAIRS.csv OUT.jsonl [--training]

`PAIRS.csv` has columns `model,img_size` (those of the published tables that are to be traced); models already in
`OUT.jsonl` are skipped, so that a stopped run goes on. The shipped tables were made with timm 1.0.31 and torch 2.14.1.
`tests/accuracy/pack_models.py` makes resources/calibration/op_tables.jsonl.gz of them.

No weight is loaded and nothing is computed: tensors are fake (shapes only), on CUDA dispatch keys, so that the
operators are those of a GPU run. The operator rows have the form that the probe's recorder writes, and are classified
by the product's own `domain.ops.classify`. Each model is traced with a batch of 2 and of 4: what grows is of a sample,
what stays (reading parameters, kernels) is of a step.
"""

from __future__ import annotations

import csv
import json
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest import mock

import timm
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import classify

# What the profiler shows on a GPU for operators that the dispatcher names otherwise.
_PROFILED_NAMES = {
    "_to_copy": "copy_",
    "clone": "copy_",
    "_native_batch_norm_legit_no_training": "native_batch_norm",
    "_native_batch_norm_legit": "native_batch_norm",
    "_unsafe_index": "index",
}
_COPIES = {"_to_copy", "clone"}
_BATCHES = (2, 4)
_MODES = ("float32", "amp", "amp_unfused")
"""`amp_unfused` is what PyTorch 1 does: attention as products and a softmax."""


_INITIAL_VALUES = {"uniform_", "normal_", "erfinv_", "mul_", "add_", "clamp_", "trunc_normal_"}


class _WithoutInitialValues(TorchFunctionMode):
    """Leaves the memory of new parameters untouched: only their shapes are needed."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _INITIAL_VALUES and args and isinstance(args[0], torch.nn.Parameter):
            return args[0]
        return func(*args, **(kwargs or {}))


class OperatorRows(TorchDispatchMode):
    """Writes down every operator call as the probe's recorder would."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        self.phase = "forward"

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        values = list(args) + list((kwargs or {}).values())
        if name in _COPIES:
            values = [result, args[0]]
        self._add(_PROFILED_NAMES.get(name, name), values, [_plain(value) for value in args] if "conv" in name else [])
        if name == "convolution" and args[2] is not None and result.dtype == torch.float16:
            # cuDNN's convolution leaves its bias to an operator of its own, which a profile shows.
            self._add("add_", [result, args[2]], [])
        return result

    def _add(self, name: str, values: list[Any], settings: list[Any]) -> None:
        shapes = [_shape(value) for value in values]
        dtypes = [_dtype(value) for value in values]
        key = json.dumps([name, shapes, dtypes, settings, self.phase])
        row = self.rows.setdefault(
            key,
            {
                "name": f"aten::{name}", "shapes": shapes, "dtypes": dtypes,
                "args": settings, "phase": self.phase, "backward": self.phase == "backward", "count": 0,
            },
        )  # fmt: skip
        row["count"] += 1


def classified(recorder: OperatorRows) -> tuple[Op, ...]:
    """The recorder's rows as classes of operators."""
    return classify(list(recorder.rows.values()))


def _shape(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return list(value.shape)
    if isinstance(value, list | tuple) and value and all(isinstance(one, torch.Tensor) for one in value):
        return [list(one.shape) for one in value]
    return []


def _dtype(value: Any) -> str:
    if isinstance(value, list | tuple) and value:
        value = value[0]
    return str(value.dtype) if isinstance(value, torch.Tensor) else ""


def _plain(value: Any) -> Any:
    return None if isinstance(value, torch.Tensor) else value


def _fused_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, *_: Any, **__: Any) -> Any:
    """The fused attention that PyTorch 2 takes on a GPU; with fake tensors it would take none."""
    if torch.is_autocast_enabled("cuda"):
        query, key, value = (tensor.to(torch.float16) for tensor in (query, key, value))
    leading = query.shape[:-2]
    query, key, value = (tensor.reshape(-1, leading[-1], *tensor.shape[-2:]) for tensor in (query, key, value))
    if attn_mask is None and query.dtype == torch.float16:
        result = torch.ops.aten._scaled_dot_product_flash_attention(query, key, value)[0]
    else:
        result = torch.ops.aten._scaled_dot_product_efficient_attention(query, key, value, attn_mask, False)[0]
    return result.reshape(*leading, *result.shape[-2:])


_ATTENTION = mock.patch("torch.nn.functional.scaled_dot_product_attention", _fused_attention)


def trace(model: torch.nn.Module, image: tuple[int, ...], mode: str, batch: int) -> tuple[Op, ...]:
    """Operator classes of one forward pass, under the FakeTensorMode in which `model` was made."""
    images = torch.empty((batch, *image), device="cuda")
    recorder = OperatorRows()
    for module in model.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = mode != "amp_unfused"
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16, enabled="amp" in mode), _ATTENTION, recorder:
        model(images)
    return classified(recorder)


def trace_training(model: torch.nn.Module, image: tuple[int, ...], batch: int) -> tuple[Op, ...]:
    """Operator classes of a forward and a backward pass in float32; without the update of the parameters.

    On CPU dispatch keys: autograd on fake CUDA tensors aborts where there is no GPU.
    """
    images = torch.empty((batch, *image))
    recorder = OperatorRows()
    with _ATTENTION, recorder:
        loss = torch.nn.functional.cross_entropy(model(images), torch.empty((batch,), dtype=torch.int64))
        recorder.phase = "backward"
        loss.backward()
    return classified(recorder)


def per_sample(small: tuple[Op, ...], large: tuple[Op, ...]) -> list[list[Any]]:
    """Rows `kind, class, dtype, n, k, flops, read, written, read_fixed, written_fixed, kernels`, the first three
    figures of a sample."""
    tables = [{(op.kind, op.class_, op.dtype, op.n, op.k): op for op in ops} for ops in (small, large)]
    rows = []
    for key, op in tables[1].items():
        before = tables[0].get(key)
        figures: list[int] = []
        fixed: list[int] = []
        for name in ("flops", "bytes_read", "bytes_written"):
            much = getattr(op, name) or 0.0
            little = getattr(before, name) or 0.0 if before is not None else much * _BATCHES[0] / _BATCHES[1]
            each = (much - little) / (_BATCHES[1] - _BATCHES[0])
            if not 0 <= each * _BATCHES[1] <= much:  # widths that depend on the batch mix other operators in
                each = much / _BATCHES[1]
            figures.append(round(each))
            fixed.append(round(much - each * _BATCHES[1]))
        if any(figures) or any(fixed) or op.kernels:
            rows.append([*key, *figures, fixed[1], fixed[2], round(op.kernels or 0)])
    return sorted(rows, key=str)


def trace_model(name: str, img_size: int, *, training: bool) -> dict[str, Any]:
    """The tables of one model at one image size."""
    with _WithoutInitialValues():
        model = _created(name, img_size).train(training)
    with FakeTensorMode():
        _make_fake(model, "cpu" if training else "cuda")
        channels = model.pretrained_cfg.get("input_size", (3,))[0]
        image = (channels, img_size, img_size)
        table: dict[str, Any] = {
            "model": name,
            "img_size": img_size,
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "tensors": sum(1 for _ in model.parameters()),
        }
        if training:
            small, large = (trace_training(model, image, batch) for batch in _BATCHES)
            return {**table, "training": per_sample(small, large)}
        for mode in _MODES:
            if mode == "amp_unfused" and not any(row[0] == "attention" for row in table["amp"]):
                continue
            small, large = (trace(model, image, mode, batch) for batch in _BATCHES)
            table[mode] = per_sample(small, large)
    return table


def _make_fake(model: torch.nn.Module, device: str) -> None:
    """Replace parameters and buffers by fake ones of the same shape on a device."""
    for module in model.modules():
        for key, parameter in module._parameters.items():
            if parameter is not None:
                fake = torch.empty(parameter.shape, dtype=parameter.dtype, device=device)
                module._parameters[key] = torch.nn.Parameter(fake)
        for key, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[key] = torch.empty(buffer.shape, dtype=buffer.dtype, device=device)


def _created(name: str, img_size: int) -> Any:
    """The model, told of the image size where its layers depend on it."""
    usual = timm.get_pretrained_cfg(name)
    if usual is not None and usual.input_size[-1] == img_size:
        return timm.create_model(name)
    try:
        return timm.create_model(name, img_size=img_size)
    except TypeError:
        return timm.create_model(name)


def main() -> None:
    pairs_path, out_path, training = Path(sys.argv[1]), Path(sys.argv[2]), "--training" in sys.argv[3:]
    done: set[tuple[str, int]] = set()
    if out_path.exists():
        known = (json.loads(line) for line in out_path.read_text().splitlines())
        done = {(entry["model"], entry["img_size"]) for entry in known}
    failures: defaultdict[str, int] = defaultdict(int)
    with pairs_path.open() as pairs, out_path.open("a") as out:
        for pair in csv.DictReader(pairs):
            name, img_size = pair["model"], int(pair["img_size"])
            if (name, img_size) in done:
                continue
            began_s = time.perf_counter()
            try:
                table = trace_model(name, img_size, training=training)
            except Exception as error:  # noqa: BLE001 - whatever this release of timm or torch cannot make is left out
                failures[type(error).__name__] += 1
                print(f"{name} {img_size}: {type(error).__name__}: {str(error)[:150]}", file=sys.stderr, flush=True)
                continue
            out.write(json.dumps(table, separators=(",", ":")) + "\n")
            out.flush()
            print(f"{name} {img_size}: {time.perf_counter() - began_s:.1f} s", file=sys.stderr, flush=True)
    print(f"left out: {dict(failures)}", file=sys.stderr)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    # Autocast switches itself off where there is no GPU; fake tensors need none.
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    main()
