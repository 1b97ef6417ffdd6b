"""The far side and its client, with the stand-in NVML behind them."""

from __future__ import annotations

import ast
import sys
import time
from pathlib import Path

import psutil
import pytest

import gpuscope
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample
from gpuscope.errors import SourceError
from gpuscope.sources.remote.client import RemoteClient
from gpuscope.sources.remote.parcel import MODULES
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import GIB, H100, RTX_4090, Scenario
from tests.unit.sources.remote.stub import client, collect, far_command, old_python

WATCH = """
import sys,os
def hook(event,args):
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    makes = event in ("os.mkdir", "os.rename", "os.link", "os.symlink", "subprocess.Popen", "os.fork", "os.posix_spawn")
    talks = event in ("socket.bind", "socket.connect", "socket.sendto")
    if writes or makes or talks:
        os.write(2, f"forbidden: {event} {args}".encode())
        os._exit(9)
sys.addaudithook(hook)
"""


def _has_processes(frames: list[Frame]) -> bool:
    """Two readings of the host and one of the slowest tier."""
    busy = any(frame.host is not None and frame.host.cpu_percent is not None for frame in frames)
    return busy and any(gpu.processes is not None for gpu in _gpus(frames))


def _gpus(frames: list[Frame]) -> list[GpuSample]:
    return [gpu for frame in frames for gpu in frame.gpus or ()]


def _world() -> Scenario:
    scenario = Scenario()
    scenario.add_gpu(H100)
    scenario.add_gpu(RTX_4090)
    return scenario


@pytest.mark.parametrize("python", [sys.executable, old_python()], ids=["this", "3.9"])
def test_figures_come_from_a_bare_python(use_nvml_scenario: MakeWorld, python: str | None) -> None:
    if python is None:
        pytest.skip("there is no Python 3.9 here")
    use_nvml_scenario(_world())
    source = client(command=far_command(python))
    source.start()
    try:
        facts = source.await_hello()
        frames = collect(source, _has_processes)
    finally:
        source.stop()
    assert facts.threads
    devices = [device for frame in frames for device in frame.devices or ()]
    assert [(device.name, device.hostname) for device in devices] == [
        ("NVIDIA H100 80GB HBM3", "box"),
        (RTX_4090["name"], "box"),
    ]
    assert (devices[0].pcie_generation_max, devices[0].compute_capability) == (5, "9.0")
    h100 = {name: value for gpu in _gpus(frames) if gpu.uuid == devices[0].uuid for name, value in _known(gpu).items()}
    wanted = {
        "utilization_gpu_percent": 61,
        "memory_used_bytes": 30 * GIB,
        "memory_reserved_bytes": 567 * 1024**2,
        "power_w": 412.345,
        "power_limit_w": 700,
        "energy_j": 987_654.321,
        "temperature_c": 54,
        "clock_sm_mhz": 1755,
        "clock_memory_mhz": 2619,
        "clock_event_reasons": 4,
    }
    assert {name: h100[name] for name in wanted} == wanted
    assert [(process.pid, process.gpu_memory_bytes) for process in h100["processes"]] == [(4242, 29 * GIB)]
    assert any("fan_percent" in gpu.unavailable for gpu in _gpus(frames) if gpu.uuid == devices[0].uuid)


def _known(gpu: GpuSample) -> dict[str, object]:
    values = {name: getattr(gpu, name) for name in gpu.__struct_fields__}
    return {name: value for name, value in values.items() if value is not None}


def test_times_are_of_this_machines_clock(use_nvml_scenario: MakeWorld) -> None:
    use_nvml_scenario(_world())
    far = "import time; now = time.monotonic; time.monotonic = lambda: now() - 5000.0\n"  # booted later than this one
    source = client(command=far_command(before=far))
    source.start()
    try:
        source.await_hello()
        begun_s = time.monotonic()
        frames = collect(source, _has_processes)
        ended_s = time.monotonic()
        notes = dict(source.notes()) | dict(collect_notes(source, "remote_clock"))
    finally:
        source.stop()
    times = [frame.monotonic_s for frame in frames]
    assert times == sorted(times)
    assert begun_s - 5 < min(times) <= max(times) < ended_s + 0.1
    reading = _gpus(frames)[-1]
    assert reading.read_start_s is not None
    assert begun_s - 5 < reading.read_start_s < ended_s + 0.1
    assert 0 <= notes["remote_clock"]["uncertainty_s"] < 0.5
    assert abs(notes["remote_clock"]["wall_ahead_s"]) < 0.5


def collect_notes(source: RemoteClient, kind: str) -> list[tuple[str, dict[str, object]]]:
    """Poll until there is such a note."""
    found: list[tuple[str, dict[str, object]]] = []

    def there(_: list[Frame]) -> bool:
        found.extend(source.notes())
        return any(name == kind for name, _ in found)

    collect(source, there)
    return found


def test_it_writes_no_file_starts_nothing_and_opens_no_port(use_nvml_scenario: MakeWorld) -> None:
    use_nvml_scenario(_world())
    source = client(command=far_command(before=WATCH))
    source.start()
    try:
        source.await_hello()
        collect(source, _has_processes)
        assert all(frame.states is None or all(state.ok for state in frame.states) for frame in source.poll())
    finally:
        source.stop()


def test_the_watch_of_the_test_before_can_see_something() -> None:
    source = client(command=far_command(before=WATCH + "open('/tmp/never', 'w')\n"))
    source.start()
    with pytest.raises(SourceError, match="forbidden: open"):
        source.await_hello()
    source.stop()


def test_it_ends_with_its_input() -> None:
    source = client()
    source.start()
    source.await_hello()
    pid = dict(source.notes())["sampler_started"]["pid"]
    assert psutil.pid_exists(pid)
    source.stop()
    assert not psutil.pid_exists(pid)
    assert source.poll() == []


def test_a_cut_is_a_gap_and_not_an_end(use_nvml_scenario: MakeWorld) -> None:
    use_nvml_scenario(_world())
    source = client()
    source.start()
    try:
        source.await_hello()
        collect(source, lambda frames: bool(_gpus(frames)))
        psutil.Process(dict(source.notes())["sampler_started"]["pid"]).kill()
        cut = collect(source, lambda frames: any(not state.ok for frame in frames for state in frame.states or ()))
        back = collect(source, lambda frames: bool(_gpus(frames)))
        notes = dict(source.notes())
    finally:
        source.stop()
    sentence = next(state.sentence for frame in cut for state in frame.states or () if not state.ok)
    assert sentence.startswith("The connection to box ended")
    gap = notes["sampler_replaced"]
    assert 0.9 < gap["gap_end_s"] - gap["gap_start_s"] < 15
    assert any(state.source == "ssh" and state.ok for frame in back for state in frame.states or ())


def test_a_machine_without_a_driver() -> None:
    source = client()
    source.start()
    try:
        source.await_hello()
        frames = collect(source, lambda frames: any(frame.states for frame in frames))
    finally:
        source.stop()
    states = [state for frame in frames for state in frame.states or ()]
    assert [(state.source, state.code) for state in states] == [("nvml", "no_driver_library")]


def test_a_figure_that_the_driver_refuses_has_its_reason(use_nvml_scenario: MakeWorld) -> None:
    use_nvml_scenario(_world())
    source = client()
    source.start()
    try:
        source.await_hello()
        frames = collect(source, lambda frames: any("fan_percent" in gpu.unavailable for gpu in _gpus(frames)))
    finally:
        source.stop()
    assert {gpu.unavailable.get("fan_percent", Reason.NOT_SUPPORTED) for gpu in _gpus(frames)} == {Reason.NOT_SUPPORTED}


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["sh", "-c", "echo 'me@box: Permission denied (publickey).' >&2; exit 255"], "ssh-copy-id me@box"),
        (["sh", "-c", "echo 'Host key verification failed.' >&2; exit 255"], "compare its fingerprint"),
        (["sh", "-c", "echo 'sh: 1: exec: python3: not found' >&2; exit 127"], "box has no python3"),
        (["sh", "-c", "echo kaputt >&2; exit 3"], "The connection to box ended: kaputt"),
        (["sh", "-c", "exit 3"], "ssh ended with status 3"),
        (["sh", "-c", """echo '{"hello": 7}'; cat >/dev/null"""], "was damaged"),
        (["no-such-program"], "install OpenSSH's client"),
    ],
)
def test_what_prevents_a_connection_is_said(command: list[str], sentence: str) -> None:
    source = client(command=command)
    with pytest.raises(SourceError, match=sentence):
        _connect(source)
    source.stop()


def _connect(source: RemoteClient) -> None:
    source.start()
    source.await_hello()


def test_what_a_login_shell_prints_is_passed_over() -> None:
    source = client(command=["sh", "-c", 'echo "Welcome to box"; exec "$@"', "sh", *far_command()])
    source.start()
    try:
        assert source.await_hello().hostname
    finally:
        source.stop()


@pytest.mark.parametrize("name", [*MODULES, "gpuscope.sources.remote.far_start"])
def test_the_syntax_is_of_python_3_9(name: str) -> None:
    path = Path(gpuscope.__file__).parent.joinpath(*name.split(".")[1:])
    text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text, feature_version=(3, 9))):
        assert not isinstance(node, ast.Match), "match came with Python 3.10"
        if isinstance(node, ast.Call):
            assert not {keyword.arg for keyword in node.keywords} & {"strict", "slots"}, "they came with Python 3.10"
