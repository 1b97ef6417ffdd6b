"""Recordings of other machines, each of them a bare Python of this one behind a pipe."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from gpuscope.domain.run import CLUSTER
from gpuscope.engine.listener import Listener
from gpuscope.engine.record_remote import record_remote
from gpuscope.engine.session import open_session
from gpuscope.errors import SourceError, UsageError
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, Scenario

FAKE_SSH = """#!/bin/sh
# Runs the last of its arguments here, as the machine before it in its own world of GPUs.
for word in "$@"; do machine=$last; last=$word; done
case $machine in
*down) echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255;;
*other) NVML_STANDIN_SCENARIO={other}; export NVML_STANDIN_SCENARIO;;
esac
eval "$last"
"""
SECONDS = 2.5


@pytest.fixture
def fake_ssh(tmp_path: Path, use_nvml_scenario: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines whose name ends with `other` have another GPU than all the others; `down` is down."""
    other, first = Scenario(), Scenario()
    other.add_gpu(H100, uuid="GPU-other", power_mw=100_000)
    first.add_gpu(H100)
    other_path = use_nvml_scenario(other).path
    use_nvml_scenario(first)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(FAKE_SSH.format(other=shlex.quote(str(other_path))), encoding="utf-8")
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{Path(sys.executable).parent}:/usr/bin:/bin")


@pytest.mark.usefixtures("fake_ssh")
def test_one_machine_is_the_sessions_own(tmp_path: Path) -> None:
    path = tmp_path / "one.gpuscope"
    outcome = record_remote(path, ["me@box"], seconds=SECONDS)
    assert outcome.sentence == "The recording of box ended."
    with open_session(path) as reader:
        timeline = reader.timeline()
        device = reader.devices()[0]
        events = {event.kind: event.data for event in reader.events()}
        assert reader.manifest.host.threads
        assert device.hostname == "box"
        assert len(timeline.get(device.uuid, "power_w").known) > 5
        assert len(timeline.get("host", "cpu_percent").known) >= 1
    assert events["sampler_started"]["host"] == "box"
    assert events["remote_clock"]["uncertainty_s"] < 0.5


@pytest.mark.usefixtures("fake_ssh")
def test_several_machines_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "two.gpuscope"
    record_remote(path, ["me@box", "other"], seconds=SECONDS)
    with open_session(path) as reader:
        timeline = reader.timeline()
        hosts = {device.hostname: device.uuid for device in reader.devices()}
        assert reader.manifest.kind == CLUSTER
        assert hosts.keys() == {"box", "other"}
        assert set(timeline.get(hosts["other"], "power_w").known) == {100.0}
        assert set(timeline.get(hosts["box"], "power_w").known) == {412.345}
        for name in hosts:
            assert len(timeline.get(f"host:{name}", "memory_used_bytes").known) >= 2
        assert len(timeline.get("host", "cpu_percent").t) == 0


@pytest.mark.usefixtures("fake_ssh")
def test_one_machine_under_two_names_is_recorded_once(tmp_path: Path) -> None:
    path, said = tmp_path / "same.gpuscope", []
    record_remote(path, ["box", "alias"], seconds=SECONDS, listener=Listener(on_notice=said.append))
    with open_session(path) as reader:
        (device,) = reader.devices()
        assert device.hostname in {"box", "alias"}  # whichever answered first
        assert all(len(frame.gpus or ()) <= 1 for _, frame in reader.frames())
    assert any("it is the same machine" in sentence for sentence in said)


@pytest.mark.usefixtures("fake_ssh")
def test_a_machine_that_is_down_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "none.gpuscope"
    with pytest.raises(SourceError, match="down takes no ssh connections"):
        record_remote(path, ["box", "me@down"], seconds=SECONDS)
    assert not path.exists()


@pytest.mark.parametrize("typed", [["-oProxyCommand=x"], ["a", "a"]])
def test_names_are_checked_before_anything_is_started(tmp_path: Path, typed: list[str]) -> None:
    with pytest.raises(UsageError):
        record_remote(tmp_path / "x.gpuscope", typed)
    assert not list(tmp_path.iterdir())
