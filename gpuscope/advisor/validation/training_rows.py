"""Published training runs of language models, as the transformer model takes them."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.job.precision import BFLOAT16
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.parallel.transformer import Shape, shape_of
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.advisor.validation.transformer_fit import Trained
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.recommendation import Layout

_MPT_VOCABULARY, _MEGATRON_VOCABULARY = 50368, 51200
_MEGATRON_SEQUENCE = 2048
_A100 = "a100-sxm4-80gb"
SHARDED_EXPERIMENT = "ZeRO-3"
"""In published/megatron_multi_node.csv: runs with DeepSpeed, which the paper compares itself with."""
_INTERLEAVED = 2.0
"""Parts of a pipeline stage where the publication says only that the schedule was interleaved (assumed)."""


def llm_foundry(tables: Tables, precision: str = BFLOAT16) -> Iterator[tuple[Cells, Trained]]:
    """Published/llm_training.csv: MPT models, sharded, A100 and H100."""
    for row in tables.rows("llm_training"):
        gpu = tables.catalogue.gpu(row["gpu_id"])
        if gpu is None or row["precision"] != precision:
            continue
        sequence, micro, count = float(row["sequence"]), float(row["micro_batch"]), int(row["accumulation"])
        gpus = int(row["gpus"])
        yield (
            row,
            Trained(
                gpu=gpu,
                topology=topology_at_counts(gpu, gpus, "NVSwitch", gpus_per_node=8, network=row["inter_node"]),
                shape=_shape(row, _MPT_VOCABULARY, sequence, parameters=float(row["parameters"])),
                layout=Layout(
                    data_parallel=gpus,
                    zero_stage=int(row["zero_stage"]),
                    micro_batch=micro,
                    gradient_accumulation=count,
                    activation_checkpointing=row["checkpointing"] == "1",
                ),
                precision=row["precision"],
                gradient_bytes=float(row["gradient_bytes"]),
                measured_s=micro * count * sequence / float(row["tokens_per_s_per_gpu"]),
            ),
        )


def megatron_single_node(tables: Tables) -> Iterator[tuple[Cells, Trained]]:
    """Published/megatron_single_node.csv: small models on 2 to 8 A100 in one machine, unfused attention."""
    gpu = tables.catalogue.gpu(_A100)
    assert gpu is not None
    for row in tables.rows("megatron_single_node"):
        gpus, data, micro = int(row["gpus"]), int(row["data_parallel"]), float(row["micro_batch"])
        shape = _shape(row, _MEGATRON_VOCABULARY, float(row["sequence"]), fused=False)
        yield (
            row,
            Trained(
                gpu=gpu,
                topology=topology_at_counts(gpu, gpus, "NVSwitch"),
                shape=shape._replace(sequence_parallel=False),
                layout=Layout(
                    data_parallel=data,
                    tensor_parallel=int(row["tensor_parallel"]),
                    pipeline_parallel=int(row["pipeline_parallel"]),
                    micro_batch=micro,
                    gradient_accumulation=round(float(row["global_batch"]) / data / micro),
                ),
                precision=BFLOAT16,
                gradient_bytes=2.0,
                measured_s=float(row["iteration_s"]),
            ),
        )


def megatron_multi_node(tables: Tables) -> Iterator[tuple[Cells, Trained]]:
    """Published/megatron_multi_node.csv: 1.7 to 1008 billion parameters on 8 to 3072 A100, unfused attention."""
    gpu = tables.catalogue.gpu(_A100)
    assert gpu is not None
    for row in tables.rows("megatron_multi_node"):
        gpus, tensor, pipeline = int(row["gpus"]), int(row["tensor_parallel"]), int(row["pipeline_parallel"])
        data = gpus // (tensor * pipeline)
        micro = float(row["micro_batch"] or 1)
        shape = _shape(row, _MEGATRON_VOCABULARY, _MEGATRON_SEQUENCE, fused=False)
        interleaved = float(row["interleaved"] or _INTERLEAVED)
        zero = int(row["zero_stage"])
        yield (
            row,
            Trained(
                gpu=gpu,
                topology=topology_at_counts(
                    gpu, gpus, "NVSwitch", gpus_per_node=8, network="InfiniBand HDR 200 Gb/s per GPU"
                ),
                shape=shape._replace(sequence_parallel=row["sequence_parallel"] == "1"),
                layout=Layout(
                    data_parallel=data,
                    tensor_parallel=tensor,
                    pipeline_parallel=pipeline,
                    zero_stage=zero,
                    micro_batch=micro,
                    gradient_accumulation=max(1, round(float(row["global_batch"]) / data / micro)),
                    activation_checkpointing=row["recomputation"] == "full",
                ),
                precision=BFLOAT16,
                gradient_bytes=2.0 if zero else 4.0,
                measured_s=_megatron_seconds(row, shape),
                interleaved=interleaved if pipeline > 1 else 1.0,
            ),
        )


def _shape(
    row: Cells, vocabulary: int, sequence: float, *, parameters: float | None = None, fused: bool = True
) -> Shape:
    architecture = Architecture(
        layers=int(row["layers"]),
        hidden_size=int(row["hidden_size"]),
        attention_heads=int(row["attention_heads"]),
        vocabulary_size=vocabulary,
        tied_embeddings=True,
    )
    return shape_of(architecture, sequence, parameters, fused_attention=fused)


def _megatron_seconds(row: Cells, shape: Shape) -> float:
    """As published, or from TFLOPS a GPU by the publication's own count: 96·B·s·l·h²·(1 + s/6h + V/16lh)."""
    if row["iteration_s"]:
        return float(row["iteration_s"])
    hidden, sequence, layers = shape.hidden, shape.sequence, shape.layers
    once = 96.0 * float(row["global_batch"]) * sequence * layers * hidden**2
    flops = once * (1 + sequence / (6 * hidden) + shape.vocabulary / (16 * layers * hidden))
    return flops / (int(row["gpus"]) * float(row["tflops_per_gpu"]) * 1e12)


_NETWORK = {"a100": "InfiniBand HDR 200 Gb/s per GPU"}
_NEWER_NETWORK = "InfiniBand NDR 400 Gb/s per GPU"
_RACK_GPUS = {"gb200-186gb": 72, "gb300-288gb": 72}


def llm_layouts(tables: Tables) -> Iterator[tuple[Cells, Trained]]:
    """Published/llm_layouts.csv: dense models and mixtures in layouts that their publishers tuned, A100 to GB300."""
    for row in tables.rows("llm_layouts"):
        gpu = tables.catalogue.gpu(row["gpu_id"])
        if gpu is None:
            continue
        gpus = int(row["gpus"])
        degrees = [int(row[name]) for name in ("tensor_parallel", "pipeline_parallel", "context_parallel")]
        tensor, pipeline, context = degrees
        data, micro = gpus // (tensor * pipeline * context), float(row["micro_batch"])
        sequence, batch = float(row["sequence"]), float(row["global_batch"])
        network = _NETWORK.get(gpu.id[:4], _NEWER_NETWORK)
        each = min(gpus, _RACK_GPUS.get(gpu.id, 8))
        while gpus % each:
            each -= 1
        yield (
            row,
            Trained(
                gpu=gpu,
                topology=topology_at_counts(gpu, gpus, "NVSwitch", gpus_per_node=each, network=network),
                shape=shape_of(_architecture(row), sequence),
                layout=Layout(
                    data_parallel=data,
                    tensor_parallel=tensor,
                    pipeline_parallel=pipeline,
                    context_parallel=context,
                    expert_parallel=int(row["expert_parallel"]),
                    zero_stage=int(row["zero_stage"]),
                    micro_batch=micro,
                    gradient_accumulation=max(1, round(batch / data / micro)),
                    activation_checkpointing=row["checkpointing"] == "1",
                ),
                precision=row["precision"],
                gradient_bytes=4.0,
                measured_s=batch * sequence / gpus / float(row["tokens_per_s_per_gpu"]),
                interleaved=float(row["interleaved"]),
            ),
        )


def _architecture(row: Cells) -> Architecture:
    return Architecture(
        layers=int(row["layers"]),
        hidden_size=int(row["hidden_size"]),
        attention_heads=int(row["attention_heads"]),
        key_value_heads=int(row["key_value_heads"]),
        head_size=int(row["head_size"]),
        feed_forward_size=int(row["feed_forward"]),
        gated_feed_forward=row["gated"] == "1",
        vocabulary_size=int(row["vocabulary"]),
        tied_embeddings=row["tied"] == "1",
        experts=int(row["experts"]) if row["experts"] else None,
        experts_per_token=int(row["experts_per_token"]) if row["experts_per_token"] else None,
    )
