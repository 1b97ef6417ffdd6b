"""The whole sampler as its parent sees it: a real child, the real binding, a scenario behind it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from gpuscope import paths
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, SourceState
from gpuscope.errors import UsageError
from gpuscope.sources.client import SamplerClient
from gpuscope.sources.device_reader import ALL_FIELDS
from tests.nvml.build import LIBRARY_NAME
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import GIB, H100, RTX_4090, Scenario
from tests.unit.sources.expected import PLAIN, assert_same, poll

INTERVAL_S = 0.1
StartClient = Callable[..., SamplerClient]


@pytest.fixture
def start_client() -> Iterator[StartClient]:
    clients: list[SamplerClient] = []

    def start(interval_s: float = INTERVAL_S, host_interval_s: float = 0.2, **options: object) -> SamplerClient:
        clients.append(SamplerClient(interval_s, host_interval_s, **options))
        clients[-1].start()
        return clients[-1]

    yield start
    for client in clients:
        client.stop()


def collect(client: SamplerClient, enough: Callable[[list[Frame]], bool], timeout_s: float = 20.0) -> list[Frame]:
    """Poll until the frames so far are enough."""
    frames: list[Frame] = []

    def look() -> bool:
        frames.extend(client.poll())
        return enough(frames)

    poll(look, timeout_s)
    return frames


def states(frames: list[Frame], source: str = "nvml") -> list[SourceState]:
    return [state for frame in frames for state in frame.states or () if state.source == source]


def sampler_pid(client: SamplerClient) -> int:
    return int(poll(client.notes)[0][1]["pid"])


def test_eight_gpus_over_time(use_nvml_scenario: MakeWorld, start_client: StartClient) -> None:
    """Every figure of every frame is the scenario's at its time; nothing is 0 that was not; gaps say why."""
    dice = random.Random(5)
    scenario = Scenario()
    changing = {key for key, _ in PLAIN.values()} - {"memory_total", "fan_percent"}
    for index in range(8):
        gpu = scenario.add_gpu(RTX_4090 if index == 7 else H100)
        for key in changing:
            base = int(gpu.values[key])
            gpu.values[key] = [(at_s / 10, max(1, base - dice.randrange(1, base + 2))) for at_s in range(0, 80, 5)]
    use_nvml_scenario(scenario)
    client = start_client()
    frames = collect(client, lambda _: time.monotonic() - scenario.start_s > 5)
    gpus = {gpu.values["uuid"]: gpu for gpu in scenario.gpus}
    seen: dict[str, set[str]] = {uuid: set() for uuid in gpus}
    samples = [sample for frame in frames for sample in frame.gpus or ()]
    for sample in samples:
        start_s, end_s = (at_s - scenario.start_s for at_s in (sample.read_start_s or 0, sample.read_end_s or 0))
        seen[sample.uuid] |= assert_same(sample, gpus[sample.uuid], start_s, end_s)
        assert 0 not in [getattr(sample, name) for name in PLAIN if name != "performance_state"]
    for uuid, gpu in gpus.items():
        assert set(PLAIN) - seen[uuid] == (set() if gpu is scenario.gpus[7] else {"fan_percent"})
    fast = [frame.monotonic_s for frame in frames if frame.gpus and frame.gpus[0].power_w is not None]
    assert len(fast) > 30
    assert [state.ok for state in states(frames)] == [True]
    assert [len(frame.devices) for frame in frames if frame.devices] == [8]


def test_what_the_sampler_costs_is_measured(use_nvml_scenario: MakeWorld, start_client: StartClient) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    use_nvml_scenario(scenario)
    frames = collect(start_client(), lambda frames: sum(frame.sampler is not None for frame in frames) > 3)
    cost = [frame.sampler for frame in frames if frame.sampler][-1]
    assert cost.cpu_percent is not None
    assert 0 < cost.cpu_percent < 100
    assert (cost.rss_bytes or 0) > 1e6
    assert cost.driver_calls > 20
    assert cost.driver_share_percent is not None
    assert 0 < cost.driver_share_percent < 100


def test_host_and_workload(start_client: StartClient) -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as workload:
        try:
            client = start_client()
            collect(client, lambda frames: any(frame.host for frame in frames))
            client.set_root_pid(workload.pid)
            frames = collect(client, lambda frames: any(f.host and f.host.workload_cpu_percent for f in frames))
            host = [frame.host for frame in frames if frame.host and frame.host.workload_cpu_percent][-1]
            assert [row.pid for row in host.workload_processes or ()] == [workload.pid]
            assert host.memory_total_bytes == psutil.virtual_memory().total
            assert states(frames, "host") == []
            client.set_root_pid(None)
            collect(client, lambda frames: any(f.host and f.host.workload_processes is None for f in frames))
        finally:
            workload.kill()


def test_the_interval_can_be_changed(use_nvml_scenario: MakeWorld, start_client: StartClient) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    use_nvml_scenario(scenario)
    client = start_client(60.0)
    collect(client, lambda frames: any(frame.gpus for frame in frames))
    client.set_interval(0.05)
    collect(client, lambda frames: sum(frame.gpus is not None for frame in frames) > 10)


def test_missed_readings_are_counted_and_left_out(use_nvml_scenario: MakeWorld, start_client: StartClient) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    scenario.rule("nvmlDeviceGetPowerUsage", delay_ms=350)
    use_nvml_scenario(scenario)
    frames = collect(start_client(), lambda frames: any(f.sampler and f.sampler.missed_ticks >= 6 for f in frames))
    times = [frame.monotonic_s for frame in frames if frame.gpus and frame.gpus[0].power_w is not None]
    assert all(after - before > 0.3 for before, after in pairwise(times))


def test_a_slow_driver_is_asked_less_often(use_nvml_scenario: MakeWorld, start_client: StartClient) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    scenario.rule("nvmlDeviceGetPowerUsage", delay_ms=60)
    use_nvml_scenario(scenario)
    frames = collect(start_client(), lambda frames: any(state.code == "stretched" for state in states(frames)))
    assert "are now read every 4 s" in states(frames)[-1].sentence


def test_a_lost_gpu_comes_back(use_nvml_scenario: MakeWorld, start_client: StartClient) -> None:
    scenario = Scenario()
    lost = scenario.add_gpu(H100, lost=[(1.5, 1), (2.2, 0)])
    scenario.add_gpu(RTX_4090)
    use_nvml_scenario(scenario)
    client, uuid = start_client(), lost.values["uuid"]
    frames = collect(client, lambda frames: [state.ok for state in states(frames)][-2:] == [False, True])
    samples = [sample for frame in frames for sample in frame.gpus or () if sample.uuid == uuid]
    assert any(sample.unavailable == dict.fromkeys(ALL_FIELDS, Reason.GPU_LOST) for sample in samples)
    assert states(frames)[-1].generation >= 1
    collect(
        client, lambda frames: any(gpu.uuid == uuid and gpu.power_w for frame in frames for gpu in frame.gpus or ())
    )


class TestHanging:
    """A driver call that does not return."""

    def hang(self, use_nvml_scenario: MakeWorld, **times: float) -> Scenario:
        scenario = Scenario()
        scenario.add_gpu(H100)
        scenario.rule("nvmlDeviceGetPowerUsage", **times)
        use_nvml_scenario(scenario)
        return scenario

    def test_the_host_goes_on_and_the_sampler_is_replaced(
        self, use_nvml_scenario: MakeWorld, start_client: StartClient
    ) -> None:
        scenario = self.hang(use_nvml_scenario, start_s=0.0, end_s=4.0)
        client = start_client(wedged_after_s=0.5, replace_wedged_after_s=1.0)
        first = sampler_pid(client)
        frames = collect(client, lambda frames: any(state.code == "wedged" for state in states(frames)))
        assert "has not answered" in states(frames)[-1].sentence
        frames = collect(client, lambda frames: sum(frame.host is not None for frame in frames) >= 3)
        assert not any(frame.gpus for frame in frames)
        collect(client, lambda _: not psutil.pid_exists(first))
        (kind, data), *_ = client.notes()
        assert kind == "sampler_replaced"
        assert "did not return" in data["reason"]
        assert scenario.start_s < data["gap_start_s"] < data["gap_end_s"] <= time.monotonic()
        collect(client, lambda frames: any(frame.gpus for frame in frames), 30)

    def test_a_call_that_returns_late_is_forgiven(
        self, use_nvml_scenario: MakeWorld, start_client: StartClient
    ) -> None:
        self.hang(use_nvml_scenario, start_s=0.0, end_s=2.5)
        client = start_client(wedged_after_s=0.5)
        first = sampler_pid(client)
        frames = collect(client, lambda frames: any(frame.gpus for frame in frames) and states(frames)[-1].ok)
        codes = [state.code for state in states(frames)]
        assert "wedged" in codes
        assert set(codes[codes.index("wedged") + 1 :]) == {"ok"}
        assert client.notes() == []
        assert psutil.pid_exists(first)

    def test_stopping_does_not_wait_for_the_driver(
        self, use_nvml_scenario: MakeWorld, start_client: StartClient
    ) -> None:
        self.hang(use_nvml_scenario)
        client = start_client(wedged_after_s=0.3)
        pid = sampler_pid(client)
        collect(client, lambda frames: any(state.code == "wedged" for state in states(frames)))
        start_s = time.monotonic()
        client.stop()
        assert time.monotonic() - start_s < 3
        assert not psutil.pid_exists(pid)


class TestWithoutGpus:
    """Machines on which there is nothing to read."""

    def test_no_driver(self, start_client: StartClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / LIBRARY_NAME).touch()  # hides a real driver: what cannot be loaded is not there
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
        frames = collect(
            start_client(), lambda frames: bool(states(frames)) and sum(f.host is not None for f in frames) > 2
        )
        (state,) = states(frames)
        assert (state.ok, state.code) == (False, "no_driver_library")
        assert "install NVIDIA's driver" in state.sentence
        assert not any(frame.gpus or frame.devices for frame in frames)
        assert frames[-1].host is not None

    def test_wrong_pynvml(self, start_client: StartClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "pynvml.py").write_text("def nvmlInit(): pass\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        frames = collect(
            start_client(), lambda frames: bool(states(frames)) and sum(f.host is not None for f in frames) > 2
        )
        (state,) = states(frames)
        assert (state.ok, state.code) == (False, "wrong_binding")
        assert str(tmp_path) in state.sentence
        assert "nvidia-ml-py" in state.sentence


class TestEnding:
    """Who dies with whom."""

    def test_a_killed_sampler_is_replaced_and_the_gap_is_noted(self, start_client: StartClient) -> None:
        client = start_client()
        first = sampler_pid(client)
        frames = collect(client, lambda frames: any(frame.host for frame in frames))
        os.kill(first, signal.SIGKILL)
        frames += collect(client, lambda frames: any(frame.states for frame in frames))
        ((kind, data),) = client.notes()
        assert kind == "sampler_replaced"
        assert data["reason"] == "it was ended by signal 9"
        assert max(f.monotonic_s for f in frames if f.monotonic_s < data["gap_end_s"]) == data["gap_start_s"]
        assert not psutil.pid_exists(first)

    def test_a_stopped_sampler_is_replaced(self, start_client: StartClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gpuscope.sources.client.SILENT_AFTER_S", 3.0)
        client = start_client()
        first = sampler_pid(client)
        collect(client, lambda frames: any(frame.host for frame in frames))
        os.kill(first, signal.SIGSTOP)
        collect(client, lambda _: not psutil.pid_exists(first))
        ((kind, data),) = client.notes()
        assert kind == "sampler_replaced"
        assert "sent nothing for" in data["reason"]

    def test_interrupts_are_the_parents_business(self, start_client: StartClient) -> None:
        client = start_client()
        pid = sampler_pid(client)
        collect(client, lambda frames: any(frame.host for frame in frames))
        os.kill(pid, signal.SIGINT)
        collect(client, lambda frames: sum(frame.host is not None for frame in frames) > 2)
        assert client.notes() == []

    def test_it_ends_with_its_parent(self) -> None:
        parent = (
            "import time\n"
            "from gpuscope.sources.client import SamplerClient\n"
            "client = SamplerClient(0.1)\n"
            "client.start()\n"
            "print(client.notes()[0][1]['pid'], flush=True)\n"
            "time.sleep(60)\n"
        )
        command = [sys.executable, "-c", parent]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=paths.app_environment()) as process:
            assert process.stdout is not None
            pid = int(process.stdout.readline())
            assert psutil.pid_exists(pid)
            process.kill()
        poll(lambda: not psutil.pid_exists(pid))

    def test_stopping_leaves_nothing(self, start_client: StartClient) -> None:
        before = psutil.Process().num_fds()
        client = start_client()
        pid = sampler_pid(client)
        client.stop()
        assert not psutil.pid_exists(pid)
        assert psutil.Process().num_fds() == before
        assert client.poll() == []
        client.stop()


class TestBadChildren:
    """Samplers that are none."""

    def test_damaged_output(self, start_client: StartClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(paths, "app_command", lambda: [sys.executable, "-c", "print('Hello, world!')"])
        client = start_client()
        client.notes()
        collect(client, lambda _: bool(client._notes))
        ((kind, data),) = client.notes()
        assert kind == "sampler_replaced"
        assert data["reason"].startswith("its output was damaged")

    def test_its_last_words_are_passed_on(self, start_client: StartClient, monkeypatch: pytest.MonkeyPatch) -> None:
        script = "import sys; sys.exit('no such luck')"
        monkeypatch.setattr(paths, "app_command", lambda: [sys.executable, "-c", script])
        client = start_client()
        client.notes()
        collect(client, lambda _: bool(client._notes))
        assert client.notes()[0][1]["reason"] == "it ended with status 1: no such luck"


@pytest.mark.parametrize("interval_s", [0, -1, float("nan"), float("inf")])
def test_intervals_that_make_no_sense(interval_s: float) -> None:
    with pytest.raises(UsageError, match="above 0"):
        SamplerClient(interval_s)
    with pytest.raises(UsageError, match="above 0"):
        SamplerClient(1.0, interval_s)


def test_memory_of_processes_is_in_the_frames(use_nvml_scenario: MakeWorld, start_client: StartClient) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100, compute_processes=((4_100_000, 3 * GIB), (4_100_001, None)))
    use_nvml_scenario(scenario)
    frames = collect(start_client(), lambda frames: any(f.gpus and f.gpus[0].processes for f in frames))
    processes = next(f.gpus[0].processes for f in frames if f.gpus and f.gpus[0].processes)
    assert [(process.pid, process.gpu_memory_bytes) for process in processes] == [
        (4_100_000, 3 * GIB),
        (4_100_001, None),
    ]
    assert "gpu_memory_bytes" in processes[1].unavailable
