"""A recording of eight GPUs: every value in the session is the scenario's at its time, through the real binding."""

from __future__ import annotations

from pathlib import Path

from gpuscope.domain.reasons import Reason
from gpuscope.store.reader import SessionReader
from tests.integration.jobs import environment, gpuscope
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, RTX_4090, Scenario
from tests.unit.sources.expected import PLAIN, assert_same

SECONDS = 4.0
READING_LATENCY_S = 0.15
"""A value may have been read this much before its frame's end."""


def eight_gpus() -> Scenario:
    scenario = Scenario()
    for index in range(8):
        model = H100 if index < 6 else RTX_4090
        changing = [(t / 2, 10 * index + t) for t in range(40)]
        scenario.add_gpu(
            model, utilization_gpu=changing, power_mw=[(t / 3, 100_000 + 999 * t + index) for t in range(60)]
        )
    del scenario.gpus[2].values["temperature_c"]
    scenario.gpus[3].values["utilization_gpu"] = 0
    del scenario.gpus[4].values["energy_mj"]
    return scenario


def test_every_value_is_the_scenarios(tmp_path: Path, nvml_scenario: MakeWorld) -> None:
    scenario = eight_gpus()
    world = nvml_scenario(scenario)
    path = tmp_path / "eight.gpuscope"
    arguments = ("record", "-o", path, "--seconds", str(SECONDS), "--interval", "0.1")
    done = gpuscope(*arguments, cwd=tmp_path, env=environment(tmp_path, world.variables))
    assert done.returncode == 0, done.stderr
    scopes = {gpu.values["uuid"]: gpu for gpu in scenario.gpus}
    seen: dict[str, set[str]] = {uuid: set() for uuid in scopes}
    reasons: dict[str, dict[str, Reason]] = {uuid: {} for uuid in scopes}
    frames = 0
    with SessionReader(path) as reader:
        devices = reader.devices()
        for _, frame in reader.frames():
            end_s = frame.monotonic_s - scenario.start_s
            frames += frame.gpus is not None
            for sample in frame.gpus or ():
                scope = scopes[sample.uuid]
                seen[sample.uuid] |= assert_same(sample, scope, end_s - READING_LATENCY_S, end_s + READING_LATENCY_S)
                reasons[sample.uuid] |= sample.unavailable
    assert frames > SECONDS / 0.1 * 0.5, "ten a second, on a busy machine at least half of them"
    assert [device.name for device in devices] == [gpu.values["name"] for gpu in scenario.gpus]
    for index, gpu in enumerate(scenario.gpus):
        uuid = gpu.values["uuid"]
        missing = {name for name, (key, _) in PLAIN.items() if gpu.at(key, 0) is None}
        assert seen[uuid] == set(PLAIN) - missing, index
        assert missing <= set(reasons[uuid])
        assert {reasons[uuid][name] for name in missing} <= {Reason.NOT_SUPPORTED}
