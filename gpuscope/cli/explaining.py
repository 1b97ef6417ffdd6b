"""`gpuscope explain-oom`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from gpuscope.cli.streams import print_document, shown
from gpuscope.domain.out_of_memory import OutOfMemoryExplanation, OutOfMemoryMessage, OutOfMemoryVerdict
from gpuscope.domain.units import format_bytes
from gpuscope.engine.explain_oom import explain, read_text
from gpuscope.errors import UsageError


def add_commands(commands: Any) -> None:
    """Add `explain-oom`."""
    parser = commands.add_parser(
        "explain-oom",
        help="why memory ran out, from the error message",
        description="Read out-of-memory messages (PyTorch, TensorFlow, JAX, Paddle, MXNet, CuPy, vLLM, SGLang, "
        "llama.cpp, Ollama, MLX, ONNX Runtime, the system) in a file or a paste: the cause in plain words, what to try "
        "in which order, what GPU would do.",
    )
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="a text or a whole log (default -: paste)")
    parser.add_argument("--json", action="store_true", help="print the document")
    parser.set_defaults(run=_explain)


def _explain(options: argparse.Namespace) -> int:
    if options.file == "-" and sys.stdin.isatty():
        print("Paste the message, then press Ctrl-D.", file=sys.stderr)
    explanation = explain(read_text(options.file))
    if options.json:
        print_document(explanation, sys.stdout)
    elif not explanation.messages:
        raise UsageError(
            "No out-of-memory message was found in the text: give the lines of the error itself, or the whole log."
        )
    else:
        print(shown(explanation_text(explanation)))
    return 0


def explanation_text(explanation: OutOfMemoryExplanation) -> str:
    """The verdicts for a terminal."""
    pairs = zip(explanation.messages, explanation.verdicts, strict=True)
    return "\n\n".join(_one(message, verdict) for message, verdict in pairs)


def _one(message: OutOfMemoryMessage, verdict: OutOfMemoryVerdict) -> str:
    device = "" if message.device is None else f" device {message.device}"
    version = "" if message.version is None else f" (as version {message.version} writes it)"
    times = "" if message.count == 1 else f", {message.count} times"
    backend = "" if message.backend is None else f" on {message.backend}{device}"
    lines = [f"Line {message.line}{times}: {message.framework}{backend}{version}", verdict.sentence]
    if verdict.evidence:
        lines.append(verdict.evidence)
    if verdict.remedies:
        lines.append("Try, in this order:")
        lines += [f"  {number}. {remedy}" for number, remedy in enumerate(verdict.remedies, 1)]
    if verdict.needed_bytes is not None:
        cards = f"; smallest GPUs: {', '.join(verdict.cards)}" if verdict.cards else "; no single GPU on sale has that"
        lines.append(f"It needs at least {format_bytes(verdict.needed_bytes)} for itself on a device{cards}.")
    return "\n".join(lines)
