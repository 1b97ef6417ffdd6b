"""`nvidia-smi -q` as text: sections by indentation, the same key names in several of them."""

from __future__ import annotations

import re

from gpuscope.importers.reading import Reading
from gpuscope.importers.smi.report import GpuNode, Head, add_report
from gpuscope.importers.text import decode

KIND = "smi_q_text"
DESCRIPTION = "nvidia-smi -q, text"

_BEGIN = re.compile(r"(?<!=)=++NVSMI LOG=+")
_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")
_PAIR = re.compile(r"(.*?\S)\s*:(?: (.*))?$")
_MOST_LINE = 10_000
"""Characters; even the command line of a process is shorter."""
_PROCESS_KEYS = {"type": "type", "name": "process_name", "used_gpu_memory": "used_memory"}


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a report."""
    return _BEGIN.search(head) is not None


def read(data: bytes) -> Reading:
    """Read every report of a file."""
    text, _ = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    line = 1 + text.count("\n", 0, _first_start(text))
    for number, report in enumerate(_BEGIN.split(text)[1:]):
        head, gpus = _parse(report, line)
        add_report(reading, head, gpus, number)
        line += report.count("\n")
    return reading


def _first_start(text: str) -> int:
    match = _BEGIN.search(text)
    return 0 if match is None else match.start()


def _parse(text: str, first_line: int) -> tuple[Head, list[GpuNode]]:
    head, gpus = Head(), list[GpuNode]()
    section = _Sections()
    for number, line in enumerate(text.split("\n"), first_line):
        if len(line) > _MOST_LINE:
            continue
        gpu = _GPU.match(line)
        if gpu is not None:
            gpus.append(GpuNode(number, gpu.group(1)))
            section = _Sections()
            continue
        pair = _PAIR.match(line)
        if pair is None:
            if line.strip():
                section.open(line)
        elif gpus:
            path = section.path_of(line, pair.group(1))
            gpus[-1].values.setdefault(path, (pair.group(2) or "").strip())
        else:
            head.values[_key(pair.group(1))] = (pair.group(2) or "").strip()
    # A loop's or a list's last GPU may be a heading without anything below it.
    return head, [gpu for gpu in gpus if gpu.values]


class _Sections:
    """The open sections, by their indentation."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._counts: dict[str, int] = {}
        self._process = -1

    def open(self, line: str) -> None:
        """A line without a value begins a section."""
        indent = self._close(line)
        name = _key(line)
        if name == "mig_device":
            number = self._counts[name] = self._counts.get(name, -1) + 1
            name = f"mig_device.{number}"
        self._open.append((indent, name))

    def path_of(self, line: str, key: str) -> str:
        """Path of a key by where its line stands; a process's keys get the process's number."""
        name = _key(key)
        self._close(line)
        names = [section for _, section in self._open]
        if "processes" not in names:
            return "/".join([*names, name])
        if name == "process_id":
            self._process += 1
            name = "pid"
        if name in _PROCESS_KEYS or name == "pid":
            return f"processes/process_info.{self._process}/{_PROCESS_KEYS.get(name, name)}"
        return f"processes/before.{self._process + 1}/{name}"

    def _close(self, line: str) -> int:
        """Close the sections that do not hold the line; its indentation."""
        indent = len(line) - len(line.lstrip())
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()
        return indent


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.strip().lower()).strip("_")
