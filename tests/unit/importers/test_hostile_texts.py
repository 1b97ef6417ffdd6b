"""Texts that swell, nest without end, never end a line, or want files and addresses to be opened."""

from __future__ import annotations

import contextlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.hostile import gpuscope, readings, refusal
from tests.unit.importers.smi_logs import FOLDER

XML = (FOLDER / "xml-595-average-and-instant-power.xml").read_bytes()
XML_BODY = XML[XML.index(b"<nvidia_smi_log>") :]
MIB = 1024**2
DEEP = 100_000
HEADS = {
    "trace": b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": %s}]}',
    "trace facts": b'{"schemaVersion": 1, "deviceProperties": %s, "traceEvents": []}',
    "gpustat": b'{"hostname": "h", "gpus": [{"utilization.gpu": %s, "index": 0}]}',
    "prometheus": b'{"status": "success", "data": {"resultType": "matrix", "result": %s}}',
    "nvtop": b'[{"device_name": "x", "temp": %s}]',
    "rocm-smi": b'{"card0": {"GPU use (%%)": %s}}',
    "amd-smi": b'[{"gpu": 0, "usage": %s}]',
    "other": b'{"temperature": 1, "power": %s}',
    "nobody's": b"%s",
}
"""What JSON of each kind begins with, and a place in it."""


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS.keys())
@pytest.mark.parametrize("deep", [b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b"[" * DEEP])
def test_json_that_is_nested_a_hundred_thousand_deep(head: bytes, deep: bytes) -> None:
    with contextlib.suppress(UsageError):  # of a trace, what is before or behind it may be readable
        assert read(head % deep, "deep.json").rows <= 1


def test_one_text_of_half_a_gigabyte(tmp_path: Path) -> None:
    files = [tmp_path / "trace", tmp_path / "other"]
    for path in files:
        before, after = HEADS[path.name].split(b"%s")
        _write(path, before + b'"', b"x" * MIB, 500, b'"' + after)
    told = readings(files, tmp_path)
    assert "goes on for more than 32 MiB" in told[0]
    assert "larger than 64 MiB" in told[1]


LINES = {
    "query log": (b"timestamp, index, utilization.gpu [%]\n2024/11/23 12:23:29.950, 0, ", 1000),
    "dmon": (b"# gpu pwr sm\n# Idx W %\n 0 ", 1000),
    "pmon": (b"# gpu pid sm command\n# Idx # % name\n 0 ", 30),
    "plain table": (b"| NVIDIA-SMI 550 Driver Version: 1 CUDA Version: 1\n| 0 ", 30),
    "text report": (b"==============NVSMI LOG==============\n" + b"=" * 60_000, 30),
    "XML": (b"<nvidia_smi_log><gpu>", 30),
    "memory summary": (b"| PyTorch CUDA memory summary, device ID 0 |\n|", 30),
    "tegrastats": (b"RAM 1/2MB CPU [", 30),
    "gpustat": (b"[0] NVIDIA L4 | 61'C,  97 % | 20100 / 23034 MB |", 30),
    "metrics": (b'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 1\n', 30),
    "no kind": (b"a,gpu,", 30),
}
"""What each kind begins with, and the mebibytes of the line that follows: beyond that, most refuse it by its size."""


def test_lines_without_an_end(tmp_path: Path) -> None:
    files = []
    for name, (start, mebibytes) in LINES.items():
        files.append(tmp_path / name)
        _write(files[-1], start, b"1, 2, 3," * (MIB // 8), mebibytes)
    for name, told in zip(LINES, readings(files, tmp_path), strict=True):
        assert re.match(r"[01] rows|.*(larger than|no kind|no figures|ends early)", told), f"{name}: {told}"


def _write(path: Path, start: bytes, part: bytes, count: int, end: bytes = b"") -> None:
    with path.open("wb") as file:
        file.write(start)
        for _ in range(count):
            file.write(part)
        file.write(end)


def test_ten_million_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes(b"gpu," * 10_000_000 + b"\n" + b"1," * 10_000_000 + b"\n")
    refusal(path, tmp_path)


def test_half_a_million_columns_in_a_short_line(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes(b"gpu %," + b"a," * 450_000 + b"\n" + b"1,1," + b"2," * 450_000 + b"\n")
    assert "columns" in refusal(path, tmp_path)


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """An address that may be opened, and what was."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_port}", asked
        finally:
            running.shutdown()
            thread.join()


LAUGHS = b"<!DOCTYPE nvidia_smi_log [<!ENTITY a0 'lol'>" + b"".join(
    f"<!ENTITY a{number} '{f'&a{number - 1};' * 10}'>".encode() for number in range(1, 30)
)
BLOWN = b"<!DOCTYPE nvidia_smi_log [<!ENTITY a '" + b"x" * 100_000 + b"'>"


@pytest.mark.parametrize(
    "declaration",
    [
        LAUGHS + b"]>",
        BLOWN + b"]>",
        b"<!DOCTYPE nvidia_smi_log [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>",
        b"<!DOCTYPE nvidia_smi_log [<!ENTITY a SYSTEM '%s/a'>]>",
        b"<!DOCTYPE nvidia_smi_log [<!ENTITY %% p SYSTEM '%s/p'> %%p;]>",
        b"<!DOCTYPE nvidia_smi_log [<!ENTITY a 'x'>]>",
    ],
    ids=["billion laughs", "quadratic", "file", "address", "parameter", "harmless"],
)
def test_xml_that_declares_entities_is_refused(declaration: bytes, server: tuple[str, list[str]]) -> None:
    address, asked = server
    if b"%s" in declaration:
        declaration = declaration % address.encode()
    report = declaration + XML_BODY.replace(b">N/A<", b">" + b"&a29;&a;" * 1000 + b"<", 3)
    with pytest.raises(UsageError, match="declares the entity"):
        read(report, "report.xml")
    assert asked == []


def test_a_billion_laughs_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_bytes(LAUGHS + b"]>" + XML_BODY.replace(b">N/A<", b">&a29;<"))
    assert "declares the entity" in refusal(path, tmp_path, most_bytes=200_000_000)


@pytest.mark.parametrize("identifier", ["SYSTEM '{0}/x.dtd'", "PUBLIC 'x' '{0}/x.dtd'", "SYSTEM 'file:///dev/zero'"])
def test_an_external_document_type_is_not_opened(identifier: str, server: tuple[str, list[str]]) -> None:
    address, asked = server
    declaration = f"<!DOCTYPE nvidia_smi_log {identifier.format(address)}>".encode()
    included = XML_BODY.replace(
        b"<gpu ", b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/><gpu ', 1
    )
    reading = read(b"<?xml version='1.0'?>" + declaration + included, "report.xml")
    assert reading.rows == read(XML, "report.xml").rows
    assert asked == []


def test_attributes_and_tags_without_number(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    many = b" ".join(b'a%d="1"' % number for number in range(50_000))
    path.write_bytes(b"<nvidia_smi_log><gpu " + many + b">" + b"<a>1</a>" * 100_000 + b"</gpu></nvidia_smi_log>")
    gpuscope("import", path, "-o", tmp_path / "s.gpuscope", home=tmp_path)


def test_numbers_of_ten_thousand_digits_are_missing_not_wrong() -> None:
    digits = "9" * 10_000
    text = f"index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n0, {digits} %, {digits} MiB, 1e308 W\n"
    reading = read(text.encode(), "log.csv")
    (track,) = reading.tracks.values()
    assert set(track.reasons) >= {"utilization_gpu_percent", "memory_used_bytes", "power_w"}


def test_a_trace_of_a_hundred_thousand_keys(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = {
        "ph": "X",
        "name": "aten::add",
        "ts": 1,
        "dur": 1,
        "args": {f"k{number}": number for number in range(100_000)},
    }
    path.write_text(json.dumps({"traceEvents": [event] * 3}))
    ended = gpuscope("import", path, "-o", tmp_path / "s.gpuscope", home=tmp_path)
    assert ended.status in {0, 2}, ended.errors
