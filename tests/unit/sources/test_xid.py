"""Xid errors: heard as they happen, said in a sentence, kept as events."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope.domain.sample import SourceEvent
from gpuscope.engine.record import record
from gpuscope.sources.binding import load_binding
from gpuscope.sources.driver import Driver
from gpuscope.sources.figures import Tier
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.ticker import BackOff
from gpuscope.sources.xid import xid_sentence
from gpuscope.sources.xid_watcher import XidWatcher
from gpuscope.store.reader import SessionReader
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import H100_SXM, MIG_GPU, VGPU, mig_instance
from tests.nvml.scenario import Scenario
from tests.unit.sources.expected import poll

Listen = Callable[[], tuple[NvmlSource, "queue.SimpleQueue[SourceEvent]"]]


@pytest.fixture
def listen(tmp_path: Path) -> Iterator[Listen]:
    """Opens a source with a watcher beside it; the events go to a queue."""
    opened: list[tuple[NvmlSource, XidWatcher]] = []

    def make() -> tuple[NvmlSource, queue.SimpleQueue[SourceEvent]]:
        events: queue.SimpleQueue[SourceEvent] = queue.SimpleQueue()
        watcher = XidWatcher(Driver(load_binding()), events.put)
        watcher.start()
        source = NvmlSource(Driver(load_binding()), tmp_path, watcher)
        opened.append((source, watcher))
        return source, events

    yield make
    for source, watcher in opened:
        source.close()
        watcher.stop()
        assert watcher.join(5.0)


def take(events: queue.SimpleQueue[SourceEvent]) -> SourceEvent:
    return events.get(timeout=10)


def test_an_error_is_heard_when_it_happens(nvml_in_process: MakeWorld, listen: Listen) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100_SXM)
    gpu = scenario.add_gpu(H100_SXM, xid=[(0.0, 13), (0.3, 31), (0.5, "94:0")])
    nvml_in_process(scenario)
    source, events = listen()
    source.read(Tier.FAST)
    page_fault, contained = take(events), take(events)
    assert (page_fault.kind, page_fault.code, page_fault.uuid) == ("xid", 31, gpu.values["uuid"])
    assert (contained.code, contained.gpu_instance) == (94, None), "a GPU that is not split has no instance 0"
    for event, at_s in ((page_fault, 0.3), (contained, 0.5)):
        assert 0 <= event.monotonic_s - scenario.start_s - at_s < 2
        assert event.sentence == xid_sentence(event.code or 0)
    assert events.empty(), "what was before is not repeated"


def test_an_error_of_an_instance(nvml_in_process: MakeWorld, listen: Listen) -> None:
    scenario = Scenario()
    gpu = scenario.add_gpu(MIG_GPU, xid=[(0.3, "94:5")])
    gpu.add_instance(**mig_instance(5, 20))
    nvml_in_process(scenario)
    source, events = listen()
    source.read(Tier.FAST)
    event = take(events)
    assert (event.uuid, event.gpu_instance) == (gpu.values["uuid"], 5)
    assert event.facts()["gpu_instance"] == 5


def test_listening_goes_on_after_the_driver_was_started_again(
    nvml_in_process: MakeWorld, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BackOff, "FIRST_S", 0.02)
    scenario = Scenario()
    gpu = scenario.add_gpu(H100_SXM, lost=[(0.3, 1), (0.6, 0)], xid=[(0.29, 79), (2.5, 45)])
    nvml_in_process(scenario)
    source, events = listen()
    source.read(Tier.FAST)
    assert take(events).code == 79
    poll(lambda: source.read(Tier.FAST) and source.generation > 0 and source.state.ok)
    event = take(events)
    assert (event.code, event.uuid) == (45, gpu.values["uuid"])


@pytest.mark.parametrize("function", ["nvmlEventSetCreate", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2"])
@pytest.mark.parametrize("code", [1, 2, 3, 13, 15, 999])
def test_a_driver_that_refuses_events_is_read_all_the_same(
    function: str, code: int, nvml_in_process: MakeWorld, listen: Listen
) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100_SXM, xid=[(0.1, 79)])
    scenario.rule(function, error=code)
    world = nvml_in_process(scenario)
    source, events = listen()
    frame = source.read(Tier.FAST)
    assert frame is not None
    assert frame.gpus is not None
    assert frame.gpus[0].power_w == 540
    poll(lambda: world.counts().get(function))
    assert events.empty()
    assert world.counts()[function] == 1, "not asked again and again"


def test_gpus_that_report_nothing_are_not_waited_for(nvml_in_process: MakeWorld, listen: Listen) -> None:
    scenario = Scenario()
    scenario.add_gpu(VGPU)
    world = nvml_in_process(scenario)
    source, _ = listen()
    source.read(Tier.FAST)
    assert source.devices[0].xid_reported is None
    assert "nvmlEventSetCreate" not in world.counts()


def test_a_wait_that_hangs_does_not_hold_up_the_end(
    nvml_in_process: MakeWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("gpuscope.sources.xid_watcher.WAIT_MS", 50)
    scenario = Scenario()
    scenario.add_gpu(H100_SXM)
    scenario.rule("nvmlEventSetWait_v2", end_s=1.5)
    world = nvml_in_process(scenario)
    watcher = XidWatcher(Driver(load_binding()), lambda _: None)
    watcher.start()
    source = NvmlSource(Driver(load_binding()), tmp_path, watcher)
    source.read(Tier.FAST)
    poll(lambda: world.counts().get("nvmlEventSetWait_v2"))
    start_s = time.monotonic()
    source.close()
    watcher.stop()
    assert time.monotonic() - start_s < 1.0
    assert watcher.join(5.0)


def test_errors_are_events_of_the_session(use_nvml_scenario: MakeWorld, tmp_path: Path) -> None:
    scenario = Scenario()
    gpu = scenario.add_gpu(H100_SXM, xid=[(1.5 + number / 10, 31) for number in range(30)])
    use_nvml_scenario(scenario)
    path = tmp_path / "xid.gpuscope"
    record(path, seconds=4.0, interval_s=0.2)
    reader = SessionReader(path)
    events = [event for event in reader.events() if event.kind == "xid"]
    reader.close()
    assert events
    assert events[0].data["code"] == 31
    assert events[0].data["uuid"] == gpu.values["uuid"]
    assert events[0].data["sentence"].startswith("Xid 31: A kernel touched memory")


@pytest.mark.parametrize("code", [8, 13, 31, 43, 45, 48, 62, 63, 64, 74, 79, 92, 94, 95, 109, 119, 120, 154])
def test_well_known_numbers_have_a_sentence_of_their_own(code: int) -> None:
    sentence = xid_sentence(code)
    assert sentence.startswith(f"Xid {code}: ")
    assert "catalogue" not in sentence
    assert sentence.endswith(".")


def test_other_numbers_lead_to_the_catalogue() -> None:
    assert xid_sentence(9999).startswith("Xid 9999: See NVIDIA's Xid catalogue")
