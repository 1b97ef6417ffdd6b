"""`gpuscope estimate`: a footprint typed in instead of recorded."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from gpuscope.advisor.job.estimate import Requests, estimate
from gpuscope.advisor.job.estimate_words import estimate_sentence
from gpuscope.advisor.job.number_formats import DTYPES
from gpuscope.advisor.job.optimizers import OPTIMIZERS
from gpuscope.cli.arguments import count
from gpuscope.cli.streams import print_document
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Footprint
from gpuscope.errors import UsageError

_DIMENSIONS: tuple[tuple[str, str, str], ...] = (
    ("layers", "layers", "transformer layers"),
    ("hidden", "hidden_size", "width of a layer"),
    ("heads", "attention_heads", "attention heads"),
    ("kv-heads", "key_value_heads", "key-value heads (grouped-query attention)"),
    ("head-size", "head_size", "width of a head"),
    ("feed-forward", "feed_forward_size", "width inside the feed-forward part"),
    ("vocabulary", "vocabulary_size", "tokens that the model knows"),
    ("experts", "experts", "experts of a mixture"),
    ("experts-per-token", "experts_per_token", "experts that each token passes through"),
    ("window", "sliding_window", "tokens that a layer with a window looks back"),
    ("full-layers", "full_attention_layers", "layers without that window"),
    ("latent", "key_value_latent_size", "cached values of a token and layer, with multi-head latent attention"),
)
"""Option, field of the architecture, and help."""


def add_commands(commands: Any) -> None:
    """Add `estimate`."""
    parser = commands.add_parser(
        "estimate",
        help="memory from a parameter count or a model's dimensions, by formula",
        description="What a model of this size needs, from formulas alone; no run, no GPU.",
    )
    parser.add_argument("--params", metavar="N", type=count, help="such as 7B or 350M; default: as the dimensions say")
    parser.add_argument("--dtype", default="fp32", help=f"one of {', '.join(DTYPES)} (default fp32)")
    parser.add_argument(
        "--stage", "--task", choices=["training", "inference"], default="inference", help="default: inference"
    )
    parser.add_argument("--optimizer", default="adamw", help=f"one of {', '.join(OPTIMIZERS)} (default adamw)")
    parser.add_argument("--batch", metavar="N", type=count, help="sequences in a step; then activations are counted")
    parser.add_argument("--sequence-length", metavar="N", type=count, help="tokens of a sequence")
    _add_dimensions(parser)
    _add_requests(parser)
    parser.add_argument("--json", action="store_true", help="print the footprint document")
    parser.set_defaults(run=_estimate)


def _add_dimensions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("dimensions", "of a transformer, as its configuration file has them")
    for option, field, text in _DIMENSIONS:
        group.add_argument(f"--{option}", metavar="N", type=count, dest=field, help=text)
    group.add_argument(
        "--gated", action=argparse.BooleanOptionalAction, dest="gated_feed_forward", help="three matrices (SwiGLU)"
    )
    group.add_argument(
        "--tied", action=argparse.BooleanOptionalAction, dest="tied_embeddings", help="one table for input and output"
    )


def _add_requests(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("serving", "requests whose KV cache is counted")
    group.add_argument("--prompt-tokens", metavar="N", type=count, help="of a usual request")
    group.add_argument("--output-tokens", metavar="N", type=count, help="of its answer")
    group.add_argument("--concurrent", metavar="N", type=count, help="requests in work at the same time (default 1)")
    group.add_argument("--engine", metavar="NAME", help="what serves the model, such as vllm or llama.cpp")


def _estimate(options: argparse.Namespace) -> int:
    footprint: Footprint = estimate(
        options.params,
        options.dtype,
        options.stage,
        options.optimizer,
        batch=options.batch,
        sequence_length=options.sequence_length,
        architecture=_architecture(options),
        requests=_requests(options),
        engine=options.engine,
    )
    if options.json:
        print_document(footprint, sys.stdout)
    else:
        print(estimate_sentence(footprint))
    return 0


def _architecture(options: argparse.Namespace) -> Architecture | None:
    """The dimensions as typed; None: none of them.

    Raises:
        UsageError: some are given, and not the two that everything else needs.
    """
    names = [field for _, field, _ in _DIMENSIONS] + ["gated_feed_forward", "tied_embeddings"]
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if not given:
        return None
    if "layers" not in given or "hidden_size" not in given:
        raise UsageError("The dimensions of a model start with its layers and its width: give --layers and --hidden.")
    return Architecture(**given)


def _requests(options: argparse.Namespace) -> Requests | None:
    """The requests as typed; None: none.

    Raises:
        UsageError: only one of prompt and answer is given.
    """
    prompt, output = options.prompt_tokens, options.output_tokens
    if prompt is None and output is None and options.concurrent is None:
        return None
    if prompt is None or output is None:
        raise UsageError("A request has a prompt and an answer: give --prompt-tokens and --output-tokens.")
    return Requests(float(prompt), float(output), float(options.concurrent or 1))
