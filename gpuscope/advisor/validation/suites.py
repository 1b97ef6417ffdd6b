"""What is known of the published training suites besides their rows."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import FLOAT16, FLOAT32, TF32

LAMBDA_SOURCE = "lambdal/deeplearning-benchmark"
DLE_SOURCE = "NVIDIA/DeepLearningExamples"
LAMBDA_FAMILIES = {
    "resnet50": "resnet",
    "ssd": "ssd",
    "bert_base_squad": "bert",
    "bert_large_squad": "bert",
    "gnmt": "gnmt",
    "ncf": "ncf",
    "tacotron2": "tacotron2",
    "waveglow": "waveglow",
    "transformerxlbase": "transformer-xl",
    "transformerxllarge": "transformer-xl",
}
"""Family of models of each task."""


def suite_precision(named: str, gpu: GpuSpec) -> str:
    """The precision in which a GPU computes what the Lambda suite calls fp16 or fp32.

    Its containers switch TF32 on, so that fp32 is TF32 on GPUs that have it.
    """
    if named == "fp16":
        return FLOAT16
    return TF32 if gpu.tf32_tensor_tflops else FLOAT32
