"""Find every out-of-memory message in a text (a line, a paste, a whole log) and read its figures."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from gpuscope.domain.base import to_json
from gpuscope.domain.out_of_memory import OutOfMemoryMessage, ProcessMemory
from gpuscope.importers.out_of_memory.forms import FORMS, Form
from gpuscope.importers.out_of_memory.sizes import SIZE, plausible_bytes, search_size, size_bytes

MOST_MESSAGES = 1000
"""Different messages that are kept of one text; repetitions only count."""
_MESSAGE_CHARACTERS = 4000
_CHARACTERS_BEFORE = 300
"""Characters before its first words in which a message may have begun: its exception's name and the like."""

_BACKENDS = {
    "cuda": "cuda", "gpu": "cuda", "hip": "rocm", "rocm": "rocm", "xpu": "xpu", "sycl": "xpu", "mps": "mps",
    "metal": "mps", "npu": "npu", "vulkan": "vulkan", "cpu": "cpu",
}  # fmt: skip
_DEVICE = re.compile(
    r"\b[GNX]PU +(\d{1,9})\b|device:[GX]PU:(\d{1,9})\b|device ordinal (\d{1,9})\b|on device (?:cuda:)?(\d{1,9})\b"
)
_DEVICE_NAME = re.compile(r"device:(GPU|XPU|CPU)\b")
_LINE_ENDS = re.compile(r"[ \t]*\n[ \t]*")
_PROCESS = re.compile(rf"Process (\d{{1,18}}) has {SIZE} memory in use")
_SHAPE = re.compile(r"shape ?[\[(]([0-9, ]+)[\])](?: and (?:data )?type (\w+))?")
_NODE_TYPE = re.compile(r"\bT=DT_(\w+)")
"""How TensorFlow before 1.5 names the type of what a node makes."""
_CHARACTERS_OF_STATISTICS = 2000
_STATISTICS = re.compile(r"\bLimit: +(\d{1,25})\s+InUse: +(\d{1,25})")
"""What TensorFlow's allocator prints before the failure itself."""
_ROCM_BUFFER = re.compile(r"\bROCm\d")
_OPERATOR = re.compile(r"\[\[(?:\{\{node |Node: )([\w/.:-]+)|requested by op ([\w/.:-]+)")
_HINT = re.compile(
    r"(PYTORCH_(?:CUDA_|HIP_|XPU_)?ALLOC_CONF=?[\w:]*|PYTORCH_MPS_HIGH_WATERMARK_RATIO=[\d.]+|max_split_size_mb"
    r"|FLAGS_fraction_of_gpu_memory_to_use is [\d.]+|TF_GPU_ALLOCATOR=\w+|gpu_memory_utilization|max_model_len)"
)
_MOST_DIGITS = 12
"""Of a tensor's side."""
_POOL = re.compile(r"on (private|shared) pool")
_KERNEL_VRAM = re.compile(r"amdgpu[^\n]{0,200}: (\d{1,12})M of VRAM memory ready")
_ELEMENT_BYTES = {
    "float": 4, "float32": 4, "double": 8, "float64": 8, "half": 2, "float16": 2, "bfloat16": 2, "int8": 1,
    "uint8": 1, "bool": 1, "int16": 2, "int32": 4, "int64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
_DTYPE_NAMES = {"float": "float32", "double": "float64", "half": "float16"}
_NO_FAILURE = "The caller indicates that this is not a failure"
"""XLA and TensorFlow try a faster way first, which needs more memory."""
_NARROWEST, _FEWEST_CUT = 20, 2
"""So many lines of one width, and not narrower, are no coincidence."""
_MOST_WRAPPED = 200_000
"""Characters of a paste in which words may be torn apart by a terminal's edge."""
_NOT_AVAILABLE = "the driver printed a number that stands for not available"


class _Place(NamedTuple):
    start: int
    match: re.Match[str]
    form: Form


def find_messages(text: str) -> tuple[OutOfMemoryMessage, ...]:
    """Every different message, in the order of the text; the same message again only counts up `count`.

    Bounded: a message's figures are looked for in its own few lines, so the time grows with the text's length alone.
    """
    found: dict[bytes, tuple[OutOfMemoryMessage, int]] = {}
    before: OutOfMemoryMessage | None = None
    for message in _all(text) or _wrapped(text):
        again, before = _says_again(before, message), message
        if again:
            continue
        key = to_json(msgspec.structs.replace(message, line=0))
        first, count = found.get(key, (message, 0))
        if count or len(found) < MOST_MESSAGES:
            found[key] = first, count + 1
    return tuple(msgspec.structs.replace(first, count=count) for first, count in found.values())


def _wrapped(text: str) -> list[OutOfMemoryMessage]:
    """Messages that a terminal's edge tore apart, within words or between them; their line is where they begin."""
    if len(text) > _MOST_WRAPPED:
        return []
    lengths = [len(line) for line in text.split("\n")]
    for between in ("", " "):
        found = _all(text.replace("\n", between))
        if found:
            ends = list(itertools.accumulate(length + len(between) for length in lengths))
            places = _places(text.replace("\n", between))
            return [
                msgspec.structs.replace(message, line=bisect.bisect_right(ends, place.start) + 1)
                for message, place in zip(found, places, strict=True)
            ]
    return []


def _all(text: str) -> list[OutOfMemoryMessage]:
    return list(_read_all(text, _places(text)))


def _read_all(text: str, places: list[_Place]) -> Iterator[OutOfMemoryMessage]:
    line, counted_to = 1, 0
    kernel_memory = _kernel_memory(text)
    for index, place in enumerate(places):
        line += text.count("\n", counted_to, place.start)
        counted_to = place.start
        end = _line_start(text, places[index + 1].start) if index + 1 < len(places) else len(text)
        end = max(end, place.match.end())
        begin = max(_line_start(text, place.start), place.start - _CHARACTERS_BEFORE)
        body = text[begin : min(end, place.start + _MESSAGE_CHARACTERS)]
        message = _read(place, body, line, kernel_memory if place.form.framework == "pytorch" else {})
        yield _with_neighbours(message, text, place)


def _with_neighbours(message: OutOfMemoryMessage, text: str, place: _Place) -> OutOfMemoryMessage:
    """What only the lines around a message say."""
    if message.framework == "tensorflow" and message.limit_bytes is None:
        before = _STATISTICS.findall(text[max(0, place.start - _CHARACTERS_OF_STATISTICS) : place.start])
        if before:
            limit, used = (plausible_bytes(float(figure)) for figure in before[-1])
            return msgspec.structs.replace(message, limit_bytes=limit, allocated_bytes=used)
    if message.framework == "llama.cpp" and message.backend == "cuda":
        # One source file serves both; what is compiled from it for AMD keeps the name cudaMalloc.
        after = text[place.start : place.start + _CHARACTERS_BEFORE]
        return msgspec.structs.replace(message, backend="rocm") if _ROCM_BUFFER.search(after) else message
    return message


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _places(text: str) -> list[_Place]:
    """Where messages begin. One place has one form; what a message quotes of its cause is not a second message."""
    found = sorted(
        (_Place(match.start(), match, form) for form in FORMS for match in form.begins.finditer(text)),
        key=lambda place: (place.start, FORMS.index(place.form)),
    )
    kept: list[_Place] = []
    for place in found:
        if _NO_FAILURE in text[place.start : place.start + _CHARACTERS_BEFORE].split("\n", 1)[0]:
            continue
        before = kept[-1] if kept else None
        if before is None or not _belongs_together(before, place, text):
            kept.append(place)
    return kept


def _belongs_together(before: _Place, place: _Place, text: str) -> bool:
    """Two forms on one line are the same failure in two words."""
    return before.form is not place.form and "\n" not in text[before.match.end() : place.start]


def _says_again(before: OutOfMemoryMessage | None, message: OutOfMemoryMessage) -> bool:
    """A framework's next line often repeats the failure of the line before, with fewer figures."""
    if before is None or message.framework != before.framework or message.line - before.line > 1:
        return False
    if message.framework == "tensorflow" and _less_than(message, before) and not message.shape:
        return True  # at its start it asks for less and less until it gets something
    if message.requested_bytes is None:
        return message.kind == before.kind and message != msgspec.structs.replace(before, line=message.line)
    return before.requested_bytes is not None and math.isclose(
        message.requested_bytes, before.requested_bytes, rel_tol=0.001
    )


def _less_than(message: OutOfMemoryMessage, before: OutOfMemoryMessage) -> bool:
    """Whether both name a size alone, and the later the smaller one."""
    known = (message.limit_bytes, before.limit_bytes, before.shape or None)
    return not any(known) and 0 < (message.requested_bytes or 0) < (before.requested_bytes or 0)


def _read(place: _Place, body: str, line: int, kernel_memory: dict[str, int]) -> OutOfMemoryMessage:
    form, groups = place.form, place.match.groupdict()
    figures: dict[str, Any] = {}
    unavailable: dict[str, str] = {}
    joined = _LINE_ENDS.sub(" ", _without_edges(body))
    for name, pattern in form.figures.items():
        there, value = search_size(pattern, joined)
        if there and value is None:
            unavailable[name] = _NOT_AVAILABLE
        elif there:
            figures[name] = value
    _complete(figures)
    shape, dtype = _shape(body)
    if shape and "requested_bytes" not in figures and dtype in _ELEMENT_BYTES:
        figures["requested_bytes"] = plausible_bytes(math.prod(shape) * _ELEMENT_BYTES[dtype])
    operator = _OPERATOR.search(body)
    hint = _HINT.search(body)
    pool = _POOL.search(body)
    return OutOfMemoryMessage(
        framework=form.framework,
        backend=_backend(form, groups.get("backend"), body),
        kind=form.kind,
        line=line,
        device=_device(groups.get("device"), body),
        processes=tuple(
            ProcessMemory(pid=int(pid), memory_bytes=size)
            for pid, number, unit in _PROCESS.findall(body)
            if (size := size_bytes(number, unit)) is not None
        ),
        parts={**_parts(form, body), **kernel_memory},
        shape=shape,
        dtype=_DTYPE_NAMES.get(dtype, dtype) or None,
        operator=next((group for group in operator.groups() if group), None) if operator else None,
        hint=hint.group(1).replace(" is ", "=") if hint else None,
        pool=pool.group(1) if pool else None,
        version=_version(form, body),
        unavailable=unavailable,
        **figures,
    )


def _without_edges(body: str) -> str:
    """The lines that a terminal's edge cut, which all have its width, put together again; other text as it is."""
    lines = body.split("\n")
    width = len(lines[0])
    cut = next((number for number, line in enumerate(lines) if len(line) != width), len(lines) - 1)
    if width < _NARROWEST or cut < _FEWEST_CUT:
        return body
    return "".join(lines[: cut + 1]) + "\n" + "\n".join(lines[cut + 1 :])


def _complete(figures: dict[str, Any]) -> None:
    """Reserved memory and its two parts: where two are printed, the third follows."""
    allocated, reserved = figures.get("allocated_bytes"), figures.get("reserved_bytes")
    rest = figures.get("reserved_unallocated_bytes")
    if allocated is None:
        return
    if reserved is None and rest is not None:
        figures["reserved_bytes"] = allocated + rest
    elif rest is None and reserved is not None:
        figures["reserved_unallocated_bytes"] = max(0, reserved - allocated)


def _parts(form: Form, body: str) -> dict[str, int]:
    found = {name: search_size(pattern, body)[1] for name, pattern in form.parts.items()}
    return {name: value for name, value in found.items() if value is not None}


def _kernel_memory(text: str) -> dict[str, int]:
    """What the Linux kernel says the AMD GPU has, where the log holds it: the framework may see less."""
    match = _KERNEL_VRAM.search(text)
    return {} if match is None else {"kernel_memory": int(match.group(1)) * 1024**2}


def _backend(form: Form, named: str | None, body: str) -> str | None:
    if form.backend is not None:
        return form.backend
    if named is not None:
        return _BACKENDS[named.lower()]
    named_there = _DEVICE_NAME.search(body)
    return None if named_there is None else _BACKENDS[named_there.group(1).lower()]


def _device(named: str | None, body: str) -> int | None:
    if named:
        return int(named)
    match = _DEVICE.search(body)
    return None if match is None else int(next(group for group in match.groups() if group))


def _shape(body: str) -> tuple[tuple[int, ...], str]:
    match = _SHAPE.search(body)
    if match is None:
        return (), ""
    sides = [part.strip() for part in match.group(1).split(",") if part.strip()]
    if any(len(side) > _MOST_DIGITS or not side.isdigit() for side in sides):
        return (), ""
    node_type = None if match.group(2) else _NODE_TYPE.search(body)
    named = node_type.group(1).lower() if node_type else ""
    return tuple(int(side) for side in sides), match.group(2) or named


_PYTORCH_VERSIONS = (
    (r"cuda runtime error \(2\)", "0.2 to 0.4"),
    (r"PYTORCH_ALLOC_CONF", "2.10 or later"),
    (r"would exceed allowed memory", "2.0 or later"),
    (r"MiB cached|GiB cached|bytes cached|KiB cached", "0.4 to 1.3"),
    (r"total capacty of", "2.1"),
    (r"torch\.cuda\.OutOfMemoryError.*total capacity of", "2.2 to 2.4"),
    (r"torch\.OutOfMemoryError", "2.5 or later"),
    (r"total capacity of", "2.2 or later"),
    (r"torch\.cuda\.OutOfMemoryError[\s\S]{0,400}total capacity;", "1.13 to 2.0"),
    (r"torch\.cuda\.OutOfMemoryError", "1.13 to 2.4"),
    (r"reserved in total by PyTorch\) If reserved memory is >>", "1.10 to 2.0"),
    (r"reserved in total by PyTorch", "1.4 to 2.0"),
)
"""How each version of PyTorch says it; the first that fits."""


def _version(form: Form, body: str) -> str | None:
    if form.framework != "pytorch" or "NPU out of memory" in body:  # Ascend's plugin keeps an old wording
        return None
    return next((version for pattern, version in _PYTORCH_VERSIONS if re.search(pattern, body)), None)
