"""`nvidia-smi -q -x`: XML of drivers 340 to 610, several reports in one file, with or without the DTD inside it.

Entities that a file declares are never expanded and nothing outside the file is opened; a file that declares any is
refused. A file that ends early gives what was read before.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from gpuscope.errors import UsageError
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.smi.report import GpuNode, Head, add_report
from gpuscope.importers.text import decode

KIND = "smi_q_xml"
DESCRIPTION = "nvidia-smi -q -x, XML"

_ROOT = "nvidia_smi_log"
_LISTS = frozenset({"mig_device", "process_info"})
_MOST_DEPTH = 50
_MOST_PARTS = 1000
_START = re.compile(r"<\?xml|<!DOCTYPE nvidia_smi_log|<nvidia_smi_log")


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a report."""
    return f"<{_ROOT}" in head or f"<!DOCTYPE {_ROOT}" in head


def read(data: bytes) -> Reading:
    """Read every report of a file.

    Raises:
        UsageError: it declares entities: no such report does, and they can make a small file take all memory.
    """
    text, _ = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    for number, document in enumerate(_documents(text)):
        report = _Report()
        report.parse(document)
        add_report(reading, report.head, report.gpus, number)
        if not report.complete and not any(not gpu.complete for gpu in report.gpus):
            reading.notes.append(Note(code="lost", sentence="The report ends early; what was read before is there."))
    return reading


def _documents(text: str) -> list[str]:
    """One text for each report: a loop appends whole documents to one file."""
    parts = re.split(rf"(?<=</{_ROOT}>)", text)
    starts = [(_START.search(part), part) for part in parts]
    return [part[match.start() :] for match, part in starts if match is not None]


class _Report:
    """One document while it is parsed."""

    def __init__(self) -> None:
        self.head = Head()
        self.gpus: list[GpuNode] = []
        self.complete = True
        self._path: list[str] = []
        self._counts: dict[str, int] = {}
        self._text: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add_text
        self._parser.EntityDeclHandler = self._refuse

    def parse(self, text: str) -> None:
        try:
            self._parser.Parse(text.encode("utf-8", errors="replace"))
            self._parser.Parse(b"", True)  # noqa: FBT003 - expat takes "this is the end" by position alone
        except expat.ExpatError:
            self.complete = False
            if self.gpus and len(self._path) > 1:
                self.gpus[-1].complete = False

    def _refuse(self, name: str, *_: object) -> None:
        raise UsageError(
            f"The XML file declares the entity {name[:40]!r}, which no report of nvidia-smi does: not read."
        )

    def _add_text(self, text: str) -> None:
        if len(self._text) < _MOST_PARTS:  # of a text, as the parser hands them over: lines and pieces of lines
            self._text.append(text)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._text.clear()
        if name == "gpu" and self._path == [_ROOT]:
            self.gpus.append(GpuNode(self._parser.CurrentLineNumber, attributes.get("id", f"GPU {len(self.gpus)}")))
            self._counts.clear()
        if name in _LISTS:
            place = "/".join([*self._path, name])
            number = self._counts[place] = self._counts.get(place, -1) + 1
            name = f"{name}.{number}"
        self._path.append(name.lower())
        if len(self._path) > _MOST_DEPTH:
            raise UsageError("The XML file is nested deeper than any report of nvidia-smi: not read.")

    def _end(self, _: str) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        if text and len(self._path) > 1:
            in_gpu = self._path[1] == "gpu" and bool(self.gpus)
            values = self.gpus[-1].values if in_gpu else self.head.values
            values["/".join(self._path[2:] if in_gpu else self._path[1:])] = text
        self._path.pop()
