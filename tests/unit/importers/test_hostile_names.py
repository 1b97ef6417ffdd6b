"""Names that are made to act: terminal escapes, markup, marks that turn the order of reading, lines of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.device import Device
from gpuscope.domain.plain_names import MOST_CHARACTERS, STEERING, plain_name
from gpuscope.importers.recognise import read
from tests.unit.importers.hostile import gpuscope

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x1b[31m"
MARKUP = "<img src='file:///etc/passwd'><b>bold</b><script>alert(1)</script>"
TURNED = "\u202egnp.exe\u202c\u2066x\u2069\u200b\ufeff"
LINES = "one\ntwo\r\x85\u2028three"
HOSTILE = f"{MARKUP}{ESCAPE}{TURNED}{LINES}"


def _gpustat(name: str) -> bytes:
    process = {"username": name, "command": name, "gpu_memory_usage": 900, "pid": 7}
    gpu = {"index": 0, "uuid": f"GPU-{name}", "name": name, "utilization.gpu": 97, "memory.used": 1000}
    return json.dumps(
        {
            "query_time": "2026-11-02T10:20:30",
            "driver_version": name,
            "gpus": [{**gpu, "memory.total": 20000, "processes": [process]}],
        }
    ).encode()


FILES = {
    "gpustat": _gpustat(HOSTILE),
    "nvtop": json.dumps([{"device_name": HOSTILE, "gpu_util": "97%", "mem_used": "1000"}]).encode(),
    "rocm-smi": json.dumps({"card0": {"Card Series": HOSTILE, "PCI Bus": HOSTILE, "GPU use (%)": "3"}}).encode(),
    "prometheus": json.dumps(
        {
            "status": "success",
            "data": {
                "resultType": "vector",
                "result": [
                    {
                        "metric": {
                            "__name__": "DCGM_FI_DEV_GPU_UTIL",
                            "gpu": "0",
                            "UUID": HOSTILE,
                            "modelName": HOSTILE,
                        },
                        "value": [1761990000, "97"],
                    }
                ],
            },
        }
    ).encode(),
    "table": f"time,{MARKUP}{ESCAPE} gpu util,gpu temp\n2026-11-02T10:20:30Z,97,50\n".encode(),
    "query log": f"index, name, utilization.gpu [%]\n0, {MARKUP}{ESCAPE}{TURNED}, 5 %\n".encode(),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES.keys())
def test_what_a_reading_names_steers_nothing(data: bytes) -> None:
    reading = read(data, "file")
    assert reading.tracks
    texts = [note.sentence for note in reading.notes]
    texts += [process.name or "" for process in reading.processes]
    for track in reading.tracks.values():
        device = track.device
        texts += [device.name, device.uuid, device.pci_bus_id or "", device.driver_version or ""]
    for text in texts:
        assert STEERING.search(text) is None, repr(text)
        assert "\n" not in text


def test_the_commands_print_nothing_that_steers(tmp_path: Path) -> None:
    path, session = tmp_path / f"{MARKUP.replace('/', '_')}{ESCAPE}{TURNED}.json", tmp_path / "s.gpuscope"
    path.write_bytes(FILES["gpustat"])
    report = tmp_path / "report.pdf"
    commands = (("import", path, "-o", session), ("footprint", session), ("report", session, "-o", report))
    for command in commands:
        ended = gpuscope(*command, home=tmp_path)
        assert ended.status == 0, ended.errors
        assert STEERING.search(ended.output + ended.errors) is None
    text = "".join(page.extract_text() for page in pypdf.PdfReader(report).pages)
    assert STEERING.search(text) is None


def test_what_was_said_of_memory_is_printed_plainly(tmp_path: Path) -> None:
    message = f"CUDA out of memory. Tried to allocate 2.00 GiB {ESCAPE}{TURNED} (GPU 0; 8.00 GiB total capacity)"
    ended = gpuscope("explain-oom", home=tmp_path, stdin=message.encode())
    assert ended.status == 0
    assert STEERING.search(ended.output) is None


@given(st.text())
def test_a_plain_name_steers_nothing_and_stays_what_it_is(text: str) -> None:
    plain = plain_name(text)
    assert STEERING.search(plain) is None
    assert len(plain) <= MOST_CHARACTERS
    assert plain_name(plain) == plain
    if text.isascii() and text.isprintable() and len(text) <= MOST_CHARACTERS:
        assert plain == text.strip()


def test_ordinary_names_are_left_alone() -> None:
    for name in (
        "NVIDIA H100 80GB HBM3",
        "GPU-5a2c-11",
        "学習.py",
        "C:\\Program Files\\x.exe",
        "Tesla V100-SXM2 (Ünïx)",
    ):
        assert plain_name(name) == name
        assert Device(uuid=name, index=0, name=name).name == plain_name(name)
