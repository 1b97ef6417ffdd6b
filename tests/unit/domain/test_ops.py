"""Operator rows become classes with the right work: by hand, and for real models against torch's own FLOP counter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import classify

Row = dict[str, Any]


def row(name: str, shapes: list[Any], *, count: float = 1, backward: bool = False, **more: Any) -> Row:
    dtypes = ["float" if shape else "Scalar" for shape in shapes]
    return {
        "name": f"aten::{name}", "shapes": shapes, "dtypes": dtypes, "count": count, "cpu_time_s": 1e-3 * count,
        "device_time_s": 0.0, "backward": backward, **more,
    }  # fmt: skip


def only(rows: list[Row], class_: str) -> Op:
    found = [op for op in classify(rows) if op.class_ == class_ and (op.flops or op.bytes_read is not None)]
    assert len(found) == 1, found
    return found[0]


def total(ops: tuple[Op, ...]) -> float:
    return sum(op.flops or 0.0 for op in ops)


def test_linear_is_counted_at_its_matrix_product_alone() -> None:
    rows = [row("linear", [[8, 64], [32, 64], [32]]), row("addmm", [[32], [8, 64], [64, 32], [], []], count=3)]
    op = only(rows, "gemm")
    assert op.flops == 3 * 2 * 8 * 64 * 32
    assert (op.n, op.k, op.kernels, op.dtype) == (32, 64, 3, "float32")
    assert op.bytes_read == 3 * 4 * (32 + 8 * 64 + 64 * 32)
    assert op.bytes_written == 3 * 4 * 8 * 32


def test_sixteen_bit_types_count_two_bytes() -> None:
    found = row("mm", [[4, 8], [8, 16]])
    found["dtypes"] = ["c10::BFloat16", "c10::BFloat16"]
    op = only([found], "gemm")
    assert (op.dtype, op.bytes_written) == ("bfloat16", 2 * 4 * 16)


def test_time_of_a_call_chain_adds_up_and_work_does_not() -> None:
    shapes = [[2, 3, 8, 8], [6, 3, 3, 3], []]
    args = [None, None, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1]
    rows = [row(name, shapes) for name in ("conv2d", "_convolution", "mkldnn_convolution")]
    rows.append(row("convolution", shapes, args=args))
    ops = [op for op in classify(rows) if op.class_ == "convolution"]
    assert sum(op.time_s or 0 for op in ops) == pytest.approx(4e-3)
    assert sum(op.flops or 0 for op in ops) == 2 * 2 * 4 * 4 * 6 * 3 * 9
    assert sum(op.kernels or 0 for op in ops) == 1


def test_convolution_size_is_told_by_its_gradient_when_arguments_are_missing() -> None:
    rows = [
        row("convolution", [[2, 3, 8, 8], [6, 3, 3, 3], []]),
        row("convolution_backward", [[2, 6, 4, 4], [2, 3, 8, 8], [6, 3, 3, 3]], backward=True),
    ]
    forward, backward = sorted((op for op in classify(rows)), key=lambda op: op.kind)
    assert forward.flops == 2 * 2 * 4 * 4 * 6 * 3 * 9
    assert backward.flops == 2 * forward.flops
    assert backward.kind == "conv_kxk_backward"


@pytest.mark.parametrize(
    "strange",
    [
        row("convolution", [[2, 3, 8, 8], [6, 0, 3, 3], []]),
        row("convolution", [[2, 3, 8], [6, 3, 3, 3], []]),
        row("convolution", [[2, 3, 8, 8], [6, 3, 3, 3], []], args=[None, None, None, [0], [], ["x"], "s", None]),
        row("convolution", [[2, 3, 8, 8], [6, 3, 3, 3], []], args=[None, None, None, [1, 1, 1], [1], [1], False, [0]]),
        row("convolution_backward", [[7], [2, 3, 8, 8], [6, 3, 3, 3]], args=["mask"]),
        row("mm", [[2**62, 2**62], [2**62, 8]]),
        row("add", [[10**200] * 3], count=1e400),
    ],
)
def test_rows_of_a_strange_file_do_no_harm(strange: Row) -> None:
    ops = classify([strange, row("mm", [[4, 5], [5, 6]])])
    assert total(ops) >= 2 * 4 * 5 * 6
    assert sum(op.time_s or 0.0 for op in ops) < 1


def test_depthwise_convolution_is_a_class_of_its_own() -> None:
    op = only([row("convolution", [[2, 8, 5, 5], [8, 1, 3, 3], []])], "depthwise_convolution")
    assert op.kind == "depthwise"


def test_relu_is_counted_once_where_it_calls_clamp_min() -> None:
    once = classify([row("relu", [[10, 10]])])
    both = classify([row("relu", [[10, 10]]), row("clamp_min", [[10, 10], []])])
    assert sum(op.bytes_read or 0 for op in once) == sum(op.bytes_read or 0 for op in both) == 400


def test_single_tensor_adam_is_the_optimizer() -> None:
    rows = [
        row("lerp_", [[64, 64], [64, 64], []]),
        row("mul_", [[64, 64], []]),
        row("addcdiv_", [[64, 64], [64, 64], [64, 64]]),
        row("mul_", [[5, 5], []]),
    ]
    by_class = {op.class_: op.kernels for op in classify(rows)}
    assert by_class == {"optimizer": 3, "elementwise": 1}


def test_phases_of_the_probe_say_what_an_operator_is_for() -> None:
    rows = [
        row("add_", [[7], [7]], phase="optimizer"),
        row("add_", [[7], [7]], phase="forward"),
        row("stack", [[[7], [7]]], phase="data_loader"),
        row("mul", [[7], [7]], phase="data_loader"),
    ]
    assert {op.class_: op.kernels for op in classify(rows)} == {"optimizer": 1, "elementwise": 1, "other": 0}


def test_kernels_are_those_that_the_profiler_saw() -> None:
    rows = [
        row("convolution", [[2, 3, 8, 8], [6, 3, 3, 3], []], kernels=0),
        row("cudnn_convolution", [[2, 3, 8, 8], [6, 3, 3, 3]], kernels=3, device_time_s=1e-4),
    ]
    assert sum(op.kernels or 0 for op in classify(rows)) == 3


def test_multi_tensor_operators_read_all_their_lists() -> None:
    lists = [[[10, 10], [20]], [[10, 10], [20]], []]
    op = only([row("_foreach_add_", lists)], "optimizer")
    assert op.bytes_read == 2 * 120 * 4
    assert op.bytes_written == 120 * 4


def test_device_times_count_where_there_are_any() -> None:
    rows = [row("mm", [[4, 8], [8, 16]], device_time_s=5e-6), row("add", [[4], [4]])]
    assert [op.time_s for op in classify(rows)] == [5e-6, 0.0]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{}],
        [{"name": None, "shapes": "x", "dtypes": 3, "count": None, "cpu_time_s": "soon"}],
        [row("mm", [[4, 8]]), row("mm", [[], []]), row("convolution", [[4]]), row("unheard_of", [[3, 3]])],
        [row("mm", [["a", 8], [8, 2]]), row("addmm", [[2], [4, 8], [9, 2]])],
    ],
)
def test_rows_that_are_not_understood_do_no_harm(rows: list[Row]) -> None:
    assert total(classify(rows)) == 0


def profiled_rows(step: Callable[[], None]) -> list[Row]:
    """One step as the probe reports it."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        step()
    rows = []
    for event in recorded.events():
        parent, backward = event, False
        while parent is not None:
            backward = backward or parent.name.startswith("autograd::engine::evaluate_function")
            parent = parent.cpu_parent
        rows.append(
            {
                "name": event.name, "shapes": event.structured_input_shapes or event.input_shapes,
                "dtypes": event.input_dtypes, "count": 1, "cpu_time_s": event.self_cpu_time_total * 1e-6,
                "device_time_s": 0.0, "backward": backward,
                "args": event.concrete_inputs if "convolution" in event.name else None,
            }
        )  # fmt: skip
    return rows


def small_cnn() -> tuple[nn.Module, torch.Tensor]:
    model = nn.Sequential(
        nn.Conv2d(3, 16, 7, stride=2, padding=3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 1), nn.ConvTranspose2d(32, 8, 2, stride=2),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip
    return model, torch.randn(2, 3, 48, 48)


def small_mlp() -> tuple[nn.Module, torch.Tensor]:
    model = nn.Sequential(
        nn.Linear(40, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 5)
    )
    return model, torch.randn(16, 40)


class SmallGpt(nn.Module):
    """One block of a GPT; attention by plain products, which torch's counter knows on the CPU."""

    def __init__(self, *, fused: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.qkv, self.out, self.head = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, 50)
        self.fused = fused

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.embedding(tokens)
        batch, length, width = hidden.shape
        query, key, value = (
            part.view(batch, length, 4, 8).transpose(1, 2) for part in self.qkv(hidden).split(width, dim=2)
        )
        if self.fused:
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            mixed = torch.softmax(query @ key.transpose(2, 3) / 8**0.5, dim=-1) @ value
        return self.head(self.out(mixed.transpose(1, 2).reshape(batch, length, width)))


def small_gpt() -> tuple[nn.Module, torch.Tensor]:
    return SmallGpt(), torch.randint(0, 50, (3, 12))


@pytest.mark.parametrize("make", [small_cnn, small_mlp, small_gpt])
@pytest.mark.parametrize("training", [True, False])
def test_flops_are_those_of_torch(make: Callable[[], tuple[nn.Module, torch.Tensor]], training: bool) -> None:
    model, data = make()

    def step() -> None:
        if not training:
            with torch.no_grad():
                model(data)
            return
        model.zero_grad()
        model(data).square().mean().backward()

    step()
    with FlopCounterMode(display=False) as counter:
        step()
    assert counter.get_total_flops() > 0
    assert total(classify(profiled_rows(step))) == counter.get_total_flops()


def test_fused_attention_counts_two_products_forward_and_five_backward() -> None:
    model, data = SmallGpt(fused=True), torch.randint(0, 50, (3, 12))
    ops = classify(profiled_rows(lambda: model(data).square().mean().backward()))
    product = 2 * 3 * 4 * 12 * 12 * 8
    attention = {op.kind: op.flops for op in ops if op.class_ == "attention" and op.flops}
    assert attention == {"attention": 2 * product, "attention_backward": 5 * product}


def test_training_step_names_its_parts() -> None:
    model, data = small_cnn()
    optimizer = torch.optim.AdamW(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        model(data).square().mean().backward()
        optimizer.step()

    step()
    ops = classify(profiled_rows(step))
    classes = {op.class_ for op in ops}
    assert {"convolution", "gemm", "normalization", "elementwise", "reduction", "optimizer", "copy"} <= classes
    parameter_bytes = 4 * sum(parameter.numel() for parameter in model.parameters())
    written = sum(op.bytes_written or 0 for op in ops if op.class_ == "optimizer")
    assert 5 * parameter_bytes < written < 12 * parameter_bytes
    assert all(op.kernels for op in ops if op.flops)


@pytest.mark.parametrize("name", ["im2col", "col2im"])
def test_windows_that_are_cut_out_and_put_back_are_copies(name: str) -> None:
    assert only([row(name, [[2, 8, 16, 16], [], [], [], []])], "copy").bytes_read is not None
