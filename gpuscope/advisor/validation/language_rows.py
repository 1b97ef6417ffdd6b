"""Published steps of language models in FP32 (sitar-lab/NeuSight) with the work of each, as footprints."""

from __future__ import annotations

from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.job.transformer_ops import transformer_ops
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Batch, Footprint, FootprintSource, Precision, Workload


def _gpt(layers: int, hidden: int, heads: int, vocabulary: int | None) -> Architecture:
    return Architecture(
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        feed_forward_size=4 * hidden,
        vocabulary_size=vocabulary,
    )


# Dimensions as in the models' configuration files and papers. Rows of models of which the source does not say how wide
# they are (gpt3_xl, which GPT-3's paper gives heads that do not add up to its width, and the mixtures) are left out.
_MODELS = {
    "bert_large": _gpt(24, 1024, 16, None),
    "gpt2_large": _gpt(36, 1280, 20, 50257),
    "gpt3_27": _gpt(32, 2560, 32, 50257),
    "opt_13": _gpt(24, 2048, 32, 50272),
}


def language_rows(tables: Tables) -> tuple[Cells, ...]:
    """Rows of models with known dimensions on one GPU of the catalogue, without the source's fused variants."""
    return tuple(
        row
        for row in tables.rows("neusight_models")
        if tables.catalogue.gpu(row["gpu_id"]) is not None and row["model"] in _MODELS and not row["option"]
    )


def language_footprint(row: Cells) -> Footprint:
    """A footprint of the row's work from the model's dimensions; training has no optimizer."""
    architecture, training = _MODELS[row["model"]], row["mode"] == "train"
    batch, tokens = float(row["batch"]), int(row["seq_len"])
    return Footprint(
        source=FootprintSource(kind="estimated"),
        workload=Workload(
            stage="training" if training else "inference",
            model=row["model"],
            architecture=architecture,
            precision=Precision(compute=FLOAT32, parameters=FLOAT32),
            batch=Batch(per_device=batch, global_=batch, unit="samples"),
            sequence_length=tokens,
            compiled=False,
        ),
        ops=transformer_ops(architecture, batch, tokens, training=training),
    )


def language_seconds(row: Cells) -> float:
    """The published time of a step."""
    return float(row["e2e_ms"]) / 1e3
