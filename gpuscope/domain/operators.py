"""What PyTorch's operators are: which of them do work of their own, and of which class.

A profile holds whole call chains (`aten::linear` calls `aten::addmm`, `aten::conv2d` ends in
`aten::mkldnn_convolution`). Work is counted once, at one operator of each chain:

- `KINDS` lists the operators at which work is counted;
- `TIME_ONLY` lists operators that run the kernel of a counted one: their time belongs to its class, their work not;
- `CALLS_WHEN_THERE` lists operators that are a kernel on one device and a call of another operator elsewhere.

Everything else moves no data (views, allocation, bookkeeping) or is unknown here: class `other`, time only.
Names and call chains as in PyTorch 2.x's ATen; checked by tests against a real profile.
"""

from __future__ import annotations

from typing import NamedTuple


class OperatorKind(NamedTuple):
    """Where an operator belongs in the footprint."""

    kind: str
    class_: str


_GEMM = OperatorKind("gemm", "gemm")
_RNN = OperatorKind("rnn", "gemm")
_CONVOLUTION = OperatorKind("conv_kxk", "convolution")
_ATTENTION = OperatorKind("attention", "attention")
_SOFTMAX = OperatorKind("softmax", "reduction")
_POOLING = OperatorKind("pooling", "reduction")
_REDUCTION = OperatorKind("reduction", "reduction")
_EMBEDDING = OperatorKind("embedding", "embedding")
_ELEMENTWISE = OperatorKind("elementwise", "elementwise")
_COPY = OperatorKind("copy", "copy")
OPTIMIZER = OperatorKind("optimizer", "optimizer")
OTHER = OperatorKind("other", "other")


def _table(groups: dict[OperatorKind, str]) -> dict[str, OperatorKind]:
    return {name: kind for kind, names in groups.items() for name in names.split()}


KINDS: dict[str, OperatorKind] = _table(
    {
        _GEMM: "mm addmm bmm baddbmm mv addmv addbmm _addmm_activation _int_mm _scaled_mm",
        _RNN: "mkldnn_rnn_layer mkldnn_rnn_layer_backward",
        _CONVOLUTION: "convolution convolution_backward",
        _ATTENTION: "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_backward "
        "_scaled_dot_product_efficient_attention _scaled_dot_product_efficient_attention_backward "
        "_scaled_dot_product_cudnn_attention _scaled_dot_product_cudnn_attention_backward "
        "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward",
        OperatorKind("layer_norm", "normalization"): "native_layer_norm native_layer_norm_backward _fused_rms_norm "
        "_fused_rms_norm_backward",
        OperatorKind("batch_norm", "normalization"): "native_batch_norm native_batch_norm_backward cudnn_batch_norm "
        "cudnn_batch_norm_backward miopen_batch_norm miopen_batch_norm_backward _batch_norm_with_update "
        "batch_norm_backward",
        OperatorKind("group_norm", "normalization"): "native_group_norm native_group_norm_backward",
        _SOFTMAX: "_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data _masked_softmax "
        "_masked_softmax_backward",
        _POOLING: "max_pool2d_with_indices max_pool2d_with_indices_backward max_pool3d_with_indices "
        "max_pool3d_with_indices_backward avg_pool2d avg_pool2d_backward avg_pool3d avg_pool3d_backward "
        "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward",
        _REDUCTION: "sum mean amax amin max min argmax argmin prod var std var_mean norm linalg_vector_norm cumsum "
        "logsumexp any all topk sort nll_loss_forward nll_loss2d_forward mse_loss l1_loss smooth_l1_loss huber_loss "
        "binary_cross_entropy",
        _EMBEDDING: "embedding index_select gather embedding_dense_backward index_add_ scatter_add_ _embedding_bag "
        "_embedding_bag_dense_backward",
        _COPY: "copy_ cat fill_ zero_ index index_put_ _index_put_impl_ scatter_ masked_scatter_ masked_fill_ roll "
        "flip constant_pad_nd reflection_pad2d upsample_nearest2d upsample_nearest2d_backward upsample_bilinear2d "
        "upsample_bilinear2d_backward im2col col2im",
        _ELEMENTWISE: "add sub mul div neg abs sign pow sqrt rsqrt exp exp2 log log1p log2 sin cos tanh sigmoid relu "
        "gelu silu mish elu leaky_relu hardtanh hardswish hardsigmoid softplus log_sigmoid_forward clamp clamp_min "
        "clamp_max where eq ne lt le gt ge logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not "
        "maximum minimum reciprocal erf floor ceil round remainder fmod lerp addcmul addcdiv bernoulli_ normal_ "
        "uniform_ native_dropout native_dropout_backward threshold_backward gelu_backward silu_backward tanh_backward "
        "sigmoid_backward leaky_relu_backward hardtanh_backward hardswish_backward elu_backward softplus_backward "
        "log_sigmoid_backward mish_backward nll_loss_backward nll_loss2d_backward mse_loss_backward "
        "smooth_l1_loss_backward binary_cross_entropy_backward glu glu_backward tril triu",
    }
)

TIME_ONLY: dict[str, OperatorKind] = _table(
    {
        _CONVOLUTION: "conv1d conv2d conv3d _convolution mkldnn_convolution cudnn_convolution "
        "cudnn_convolution_transpose miopen_convolution miopen_depthwise_convolution _slow_conv2d_forward "
        "_slow_conv2d_backward slow_conv3d_forward slow_conv_dilated2d _conv_depthwise2d conv_depthwise3d "
        "thnn_conv2d mkldnn_convolution_backward _nnpack_spatial_convolution",
        _ATTENTION: "scaled_dot_product_attention _flash_attention_forward _flash_attention_backward "
        "_efficient_attention_forward _efficient_attention_backward _cudnn_attention_forward "
        "_cudnn_attention_backward",
        OperatorKind(
            "batch_norm", "normalization"
        ): "batch_norm _batch_norm_impl_index _batch_norm_impl_index_backward",
    }
)

CALLS_WHEN_THERE: dict[str, str] = {
    # Operator → the one that it calls where it has no kernel of its own; counted there when the profile shows it.
    "relu": "clamp_min",
    "mean": "sum",
    "zero_": "fill_",
    "embedding": "index_select",
    "max": "amax",
    "min": "amin",
}

_OPTIMIZER_PREFIXES = ("_foreach_", "_fused_adam", "_fused_adamw", "_fused_sgd", "_fused_adagrad")

# Multiply-add updates that the single-tensor optimizers apply to each parameter and hardly anything else uses.
OPTIMIZER_MARKS = frozenset({"addcdiv_", "addcmul_", "lerp_"})

# Their companions on the same shapes in the same optimizers (scalars as the other operand).
OPTIMIZER_COMPANIONS = frozenset({"mul_", "add_", "sqrt", "div", "div_", "addcdiv_", "addcmul_", "lerp_", "maximum"})

# Operators that start more than one kernel: a gradient each for the inputs, or a pass more over the data.
KERNELS_PER_CALL: dict[str, int] = {
    "convolution_backward": 2,
    "native_layer_norm_backward": 2,
    "native_batch_norm_backward": 2,
    "cudnn_batch_norm_backward": 2,
    "native_group_norm_backward": 2,
    "_scaled_dot_product_flash_attention_backward": 2,
    "_scaled_dot_product_efficient_attention_backward": 2,
    "_scaled_dot_product_flash_attention_for_cpu_backward": 2,
}

# Operators that only write: nothing of their first input is read.
WRITE_ONLY = frozenset({"fill_", "zero_", "bernoulli_", "normal_", "uniform_"})


def counted_kind(name: str) -> OperatorKind | None:
    """Kind of an operator at which work is counted (`aten::` already taken off); None: not counted here."""
    if name.startswith(_OPTIMIZER_PREFIXES):
        return OPTIMIZER
    found = KINDS.get(name)
    if found is None and name.endswith("_") and not name.endswith("__"):
        found = KINDS.get(name[:-1])
    return found


def time_kind(name: str) -> OperatorKind:
    """Kind to which the time of an operator belongs that is not counted."""
    return TIME_ONLY.get(name, OTHER)
