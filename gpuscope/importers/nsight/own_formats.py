"""Reports in formats that only NVIDIA's own tools read: what to do with them instead."""

from __future__ import annotations

_SYSTEMS = (
    "{0} is a report in Nsight Systems' own format: write `nsys export --type sqlite -o report.sqlite {0}` and give "
    "report.sqlite."
)
_UNFINISHED = (
    "{0} is an unfinished recording of Nsight Systems: turn it into a report with its QdstrmImporter, then write "
    "`nsys export --type sqlite` of that."
)
_COMPUTE = (
    "{0} is a report of Nsight Compute, on single kernels: record the whole job with `nsys profile --trace=cuda,nvtx`, "
    "then write `nsys export --type sqlite` of that."
)
_SENTENCES = {".nsys-rep": _SYSTEMS, ".qdrep": _SYSTEMS, ".qdstrm": _UNFINISHED, ".ncu-rep": _COMPUTE}
"""By the ending of the name: their first bytes are documented nowhere."""


def what_to_do(name: str) -> str | None:
    """The sentence for a file of this name; None: it is no such report.

    Args:
        name: of a file that no reader knew by its content.
    """
    sentence = next((words for ending, words in _SENTENCES.items() if name.lower().endswith(ending)), None)
    return None if sentence is None else sentence.format(name)
