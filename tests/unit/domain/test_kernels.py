"""What kernels do, by names as profilers write them."""

from __future__ import annotations

import pytest

from gpuscope.domain.kernels import kernel_work
from gpuscope.domain.operators import KINDS, TIME_ONLY, counted_kind


@pytest.mark.parametrize(
    ("name", "operator", "dtype"),
    [
        ("ampere_sgemm_128x64_tn", "mm", "float32"),
        ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", "mm", "float16"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", "mm", "bfloat16"),
        ("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", "mm", None),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4>(T1::Params)", "mm", "float32"),
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", "mm", "float16"),
        ("triton_tem_fused_mm_3", "mm", None),
        ("void flash_fwd_kernel<Flash_fwd_kernel_traits<64,128,128>>", "_scaled_dot_product_flash_attention", None),
        ("void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<x>",
         "_scaled_dot_product_flash_attention_backward", None),
        ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", "conv2d", "float32"),
        ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>", "native_batch_norm", None),
        ("void cudnn::ops::nchwToNhwcKernel<float, float, float>", "copy_", None),
        ("triton_red_fused_native_layer_norm_1", "native_layer_norm", None),
        ("triton_poi_fused_add_cos_sin_0", "mul", None),
        ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<T>", "_fused_adam_", None),
        ("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>", "copy_", None),
        ("void at::native::indexSelectLargeIndex<float>", "embedding", None),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", None, None),
        ("my_kernel", None, None),
    ],
)  # fmt: skip
def test_known_names(name: str, operator: str | None, dtype: str | None) -> None:
    assert kernel_work(name) == (operator, dtype)
    if operator is not None:
        assert counted_kind(operator) is not None or operator in {**KINDS, **TIME_ONLY}
