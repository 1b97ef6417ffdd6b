"""The long report of nvidia-smi as text and as XML, drivers 352 to 595."""

from __future__ import annotations

import time

import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.errors import UsageError
from gpuscope.importers.recognise import read
from tests.unit.importers.smi_logs import FOLDER, codes, mib, only, read_case


def test_text_with_the_same_keys_in_several_sections() -> None:
    reading = read_case("q-text-545-two-processes.txt")
    track = only(reading)
    assert track.known("power_w") == [191.43]  # not the N/A of the module's section
    assert track.known("power_limit_w") == [250]
    assert [mib(track, f"memory_{name}_bytes") for name in ("total", "reserved", "used", "free")] == [
        [11264], [252], [10081], [929],
    ]  # fmt: skip
    assert track.known("clock_sm_mhz") == [1485]
    assert track.device.clock_sm_max_mhz == 2100
    assert track.known("pcie_tx_bytes_per_s") == [3058e6]
    assert track.known("clock_event_reasons") == [0x20]
    assert (track.device.driver_version, track.device.cuda_version) == ("545.23.08", "12.3")
    assert [(process.pid, process.memory_bytes) for process in reading.processes] == [
        (2620449, 9876 * 1024**2), (3066537, 202 * 1024**2),
    ]  # fmt: skip
    sentences = " ".join(note.sentence for note in reading.notes)
    assert "Only 1 of 4 GPUs" in sentences
    assert "thermal slowdown by software" in sentences


def test_a_document_type_inside_the_file_is_no_reason_to_refuse_it() -> None:
    track = only(read_case("xml-352-embedded-dtd.xml"))
    assert (track.device.name, track.device.driver_version) == ("GRID K520", "352.99")
    assert track.known("power_w") == [17.95]
    assert track.known("performance_state") == [8]
    assert track.known("pcie_generation") == [1]
    assert track.device.pcie_generation_max == 3
    assert track.reasons["fan_percent"] is Reason.NOT_SUPPORTED


def test_mig_instances_are_devices_of_their_own() -> None:
    tracks = read_case("xml-510-a100-two-mig-instances.xml").tracks
    card, first, second = tracks.values()
    assert mib(card, "memory_total_bytes") == [40960]
    assert mib(card, "memory_used_bytes") == [38]
    assert card.reasons["utilization_gpu_percent"] is Reason.MIG_MODE
    for instance in (first, second):
        assert instance.device.kind == "mig"
        assert instance.device.parent_uuid == card.device.uuid
        assert mib(instance, "memory_total_bytes") == [19968]
        assert instance.known("power_w") == []


def test_a_report_that_ends_early_gives_what_was_before() -> None:
    reading = read_case("xml-515-cut-in-processes.xml")
    track = only(reading)
    assert mib(track, "memory_used_bytes") == [1032]
    assert track.known("power_w") == [26.78]
    assert [process.pid for process in reading.processes] == [675]
    assert codes(reading) == ["lost"]


def test_average_and_instant_power_and_sentences_for_values() -> None:
    reading = read_case("xml-595-average-and-instant-power.xml")
    track = only(reading)
    assert (track.known("power_w"), track.known("power_instant_w")) == ([8.81], [8.44])
    assert track.known("power_limit_w") == [70]
    assert track.known("utilization_memory_percent") == [37]
    assert track.known("clock_event_reasons") == [1]
    assert [(process.pid, process.kind) for process in reading.processes] == [
        (1842, "graphics"), (3190, "graphics"), (4937, "compute"), (34626, "both"),
    ]  # fmt: skip


def test_reports_of_a_loop_are_one_series() -> None:
    text = (FOLDER / "xml-352-embedded-dtd.xml").read_text(encoding="utf-8")
    later = text.replace("23:35:08", "23:36:08").replace("17.95 W", "20.00 W")
    track = only(read((text + later).encode(), "x"))
    assert track.known("power_w") == [17.95, 20]
    assert track.wall_s[1] - track.wall_s[0] == 60


def test_text_reports_of_a_loop_are_one_series() -> None:
    text = (FOLDER / "q-text-545-two-processes.txt").read_text(encoding="utf-8")
    track = only(read((text + text.replace("10:23:11", "10:23:16").replace("70 %", "71 %")).encode(), "x"))
    assert track.known("utilization_gpu_percent") == [70, 71]
    assert track.wall_s[1] - track.wall_s[0] == 5


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY file SYSTEM "file:///etc/passwd">',
        '<!ENTITY % remote SYSTEM "http://example.invalid/x.dtd">',
    ],
)
def test_entities_are_refused(declaration: str) -> None:
    text = (
        f"<?xml version='1.0'?><!DOCTYPE nvidia_smi_log [{declaration}]><nvidia_smi_log><gpu id='0'/></nvidia_smi_log>"
    )
    with pytest.raises(UsageError, match="declares the entity"):
        read(text.encode(), "x.xml")


def test_an_external_document_type_is_not_opened() -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE nvidia_smi_log SYSTEM "file:///nowhere/nvsmi.dtd"><nvidia_smi_log>'
        "<gpu id='00000000:01:00.0'><product_name>T4</product_name><fan_speed>30 %</fan_speed></gpu></nvidia_smi_log>"
    )
    assert only(read(text.encode(), "x")).known("fan_percent") == [30]


def test_deep_nesting_ends_in_a_sentence_within_a_moment() -> None:
    start = time.monotonic()
    with pytest.raises(UsageError, match="nested deeper"):
        read(b"<nvidia_smi_log>" + b"<a>" * 200_000, "x.xml")
    assert time.monotonic() - start < 5
