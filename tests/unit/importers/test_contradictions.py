"""Figures that cannot be together are said, whatever the file; figures that can are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.importers.recognise import read
from tests.unit.importers.hostile import gpuscope
from tests.unit.importers.pytorch_files import sentences

HEAD = "timestamp, index, name, "


def _log(columns: str, *rows: str, times: tuple[int, ...] = (0, 1, 2, 3, 4)) -> bytes:
    lines = [
        f"2026/11/02 10:20:{30 + time:02}.000, 0, NVIDIA L4, {row}" for time, row in zip(times, rows, strict=False)
    ]
    return "\n".join([HEAD + columns, *lines, ""]).encode()


CASES = {
    "hot": (_log("temperature.gpu", "61", "140"), "140 °C cannot be"),
    "hot memory": (_log("temperature.memory", "61", "255"), "temperature of the memory of 255 °C cannot be"),
    "cold": (_log("temperature.gpu", "-80", "61"), "-80 °C cannot be"),
    "over 100%": (_log("utilization.gpu [%]", "50 %", "170 %"), "170% (utilization_gpu) cannot be"),
    "memory": (
        _log("memory.used [MiB], memory.total [MiB]", "100 MiB, 200 MiB", "300 MiB, 200 MiB"),
        "300 MiB in use are more than its 200 MiB",
    ),
    "back": (_log("utilization.gpu [%]", "1 %", "2 %", "3 %", times=(5, 9, 2)), "the time goes back by up to 7 s"),
    "energy": (
        _log("power.draw [W], total_energy_consumption [mJ]", *["247 W, 0 mJ"] * 5),
        "the energy stays at 0 J while 247 W are drawn (about 988 J)",
    ),
    "power": (_log("power.draw [W], power.limit [W]", "90 W, 72 W"), "90 W, above its limit of 72 W"),
    "no traffic": (
        _log("utilization.gpu [%], utilization.memory [%], pcie.rx, pcie.tx", *["100 %, 0 %, 0, 0"] * 4),
        "utilisation is 100% while the counters of memory and PCIe read 0",
    ),
}


@pytest.mark.parametrize(("data", "said"), CASES.values(), ids=CASES.keys())
def test_a_contradiction_is_said(data: bytes, said: str) -> None:
    found = sentences(read(data, "log.csv"), "contradiction")
    assert any(said in sentence for sentence in found), found


@pytest.mark.parametrize(
    "data",
    [
        _log("temperature.gpu, utilization.gpu [%]", "61, 0 %", "95, 100 %", "20, 50 %"),
        _log("memory.used [MiB], memory.total [MiB]", "200 MiB, 200 MiB"),
        _log("power.draw [W], total_energy_consumption [mJ]", "247 W, 1000 mJ", "247 W, 248000 mJ"),
        _log("power.draw [W], total_energy_consumption [mJ]", "[N/A], 0 mJ", "[N/A], 0 mJ"),
        _log("power.draw [W], total_energy_consumption [mJ]", "247 W, [N/A]", "247 W, [N/A]"),
        _log("utilization.gpu [%], utilization.memory [%], pcie.rx, pcie.tx", *["100 %, 0 %, 3, 0"] * 4),
        _log("utilization.gpu [%], utilization.memory [%]", *["100 %, 0 %"] * 4),
        _log("utilization.gpu [%], utilization.memory [%], pcie.rx, pcie.tx", "100 %, 0 %, 0, 0"),
    ],
)
def test_what_can_be_is_no_contradiction(data: bytes) -> None:
    assert sentences(read(data, "log.csv"), "contradiction") == []


def _table(used_mib: int, process_mib: int | None) -> bytes:
    process = (
        "No running processes found" if process_mib is None else f"  0   N/A  N/A  4711  C  python  {process_mib}MiB"
    )
    return (
        "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |\n"
        "|   0  NVIDIA L4      On  |   00000000:4A:00.0 Off |                    0 |\n"
        f"| N/A   61C    P0   70W /  72W |   {used_mib}MiB /  23034MiB |     97%      Default |\n"
        "+------+\n| Processes: |\n|==========|\n"
        f"| {process} |\n+------+\n"
    ).encode()


def test_memory_that_no_process_accounts_for() -> None:
    said = sentences(read(_table(20000, 12000), "table"), "contradiction")
    assert said == [
        "NVIDIA L4 0: unaccounted 8000 MiB of the 20000 MiB in use: the processes that are listed hold 12000 MiB."
    ]
    said = sentences(read(_table(20000, None), "table"), "contradiction")
    assert said == ["NVIDIA L4 0: unaccounted 20000 MiB of the 20000 MiB in use: no process is listed."]
    assert sentences(read(_table(12400, 12000), "table"), "contradiction") == []
    assert sentences(read(_table(300, None), "table"), "contradiction") == []


def test_clocks_above_their_highest() -> None:
    report = """<?xml version="1.0" ?><nvidia_smi_log><attached_gpus>1</attached_gpus><gpu id="00000000:4A:00.0">
    <product_name>NVIDIA L4</product_name><clocks><sm_clock>4000 MHz</sm_clock><mem_clock>6251 MHz</mem_clock></clocks>
    <max_clocks><sm_clock>2040 MHz</sm_clock><mem_clock>6251 MHz</mem_clock></max_clocks></gpu></nvidia_smi_log>"""
    assert sentences(read(report.encode(), "x.xml"), "contradiction") == [
        "NVIDIA L4 0: 4000 MHz (clock_sm) are above its highest, 2040 MHz."
    ]


def test_rows_of_another_millennium_are_left_out() -> None:
    answer = (
        '{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"__name__": '
        '"DCGM_FI_DEV_GPU_UTIL", "gpu": "0"}, "values": [[1761990000, "98"], [9e300, "1"], [1761990015, "97"]]}]}}'
    )
    reading = read(answer.encode(), "x.json")
    (track,) = reading.tracks.values()
    assert track.known("utilization_gpu_percent") == [98, 97]
    assert sentences(reading, "lost") == ["Rows whose time is missing or cannot be were left out."]


def test_the_command_tells_contradictions(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(CASES["hot"][0])
    ended = gpuscope("import", path, "-o", tmp_path / "s.gpuscope", home=tmp_path)
    assert "140 °C cannot be" in ended.errors
