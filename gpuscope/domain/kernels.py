"""What a GPU kernel does, told by its name, for recordings that do not say which operator started it.

Names are those of PyTorch's own kernels, cuBLAS, CUTLASS, cuDNN, FlashAttention, Triton (as torch.compile names them),
NCCL, MIOpen and rocBLAS. A name gives the kind of work and often the dtype, never shapes: FLOPs stay unknown.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class KernelWork(NamedTuple):
    """The operator that does such work, and the dtype of its matrix operands where the name tells."""

    operator: str | None
    """An operator of `domain/operators.py`; None: the name does not tell."""
    dtype: str | None = None


_OPERATORS = (
    # In this order: a fused or more special kernel has the words of the plain one in its name, too.
    (r"nccl|rccl|nvshmem|oneshot|twoshot|cross_device_reduce|all_?reduce|all_?gather|reduce_?scatter", None),
    (r"multi_?tensor_apply|fused_?adam|fused_?lamb|fused_?sgd|adam_|lamb_|foreach", "_fused_adam_"),
    (r"flash.*bwd|fmha.*(?:backward|bwd|dgrad)|attention.*(?:backward|bwd)|sdpa.*bwd",
     "_scaled_dot_product_flash_attention_backward"),
    (r"flash|fmha|attention|sdpa|mha_fwd|paged_|mla_", "_scaled_dot_product_flash_attention"),
    ((r"implicit_(?:con)?gemm|implicitgemm|fprop|dgrad|wgrad|winograd|conv(?:olution|olve|1d|2d|3d|_|\d)|depthwise"
      r"|miopen.*conv|igemm_(?:fwd|bwd|wrw)|scudnn_|cudnn.*(?:engines_precompiled|conv)"),
     "conv2d"),
    (r"triton_tem|gemm|gemv|cutlass.*(?:mma|kernel)|nvjet|splitk|dot_kernel|matmul|cijk_|wvsplitk|_scaled_mm|marlin",
     "mm"),
    (r"softmax", "_softmax"),
    (r"layer_?norm|rms_?norm|ln_(?:fwd|bwd)|gammabeta|groupnorm|group_norm", "native_layer_norm"),
    (r"batch_?norm|bn_(?:fw|bw)|batchnorm", "native_batch_norm"),
    (r"pool", "max_pool2d_with_indices"),
    (r"embedding|index_?select|gather|index_?add|scatter", "embedding"),
    (r"triton_(?:red|per)|reduce|sum|mean|argmax|topk|sort|scan|cumsum|norm|nll_loss", "sum"),
    ((r"copy|cat_?array|catarray|memcpy|memset|transpose|permute|nchwtonhwc|nhwctonchw|fill|im2col|col2im|upsample"
      r"|triton_.*_(?:cat|clone)_"),
     "copy_"),
    ((r"triton_(?:poi|unk)|elementwise|pointwise|dropout|gelu|silu|relu|activation|act_and_mul|rotary|rope|distribution"
      r"|(?:loop|wrapped)_\w+"),
     "mul"),
)  # fmt: skip
_OF_KERNEL = tuple((re.compile(pattern), operator) for pattern, operator in _OPERATORS)
_MATRIX = frozenset({"mm", "conv2d", "_scaled_dot_product_flash_attention",
                     "_scaled_dot_product_flash_attention_backward"})  # fmt: skip
_DTYPES = (
    (r"e4m3|fp8|f8f8|_f8_", "float8_e4m3fn"),
    (r"bf16|bfloat16|nv_bfloat|cutlass::bfloat16", "bfloat16"),
    (r"fp16|f16|half|h884|h1688|h16816|hgemm|hhs_|_hh[hs]_|s884|s1688gemm_f16|hhb", "float16"),
    (r"tf32|s1688gemm(?!_f16|_bf16)|sgemm|scudnn|fp32|f32f32|_ss?s?_bb?|simt_s", "float32"),
    (r"dgemm|d884|f64", "float64"),
    (r"imma|i8816|i16832|int8|s8s8", "int8"),
)
_OF_DTYPE = tuple((re.compile(pattern), dtype) for pattern, dtype in _DTYPES)


@lru_cache(maxsize=8192)
def kernel_work(name: str) -> KernelWork:
    """What the kernel of this name does; copies and sets of the driver are kernels in this sense, too."""
    lowered = name.lower()
    for pattern, operator in _OF_KERNEL:
        if pattern.search(lowered):
            return KernelWork(operator, _dtype(lowered) if operator in _MATRIX else None)
    return KernelWork(None)


def _dtype(lowered: str) -> str | None:
    return next((dtype for pattern, dtype in _OF_DTYPE if pattern.search(lowered)), None)
