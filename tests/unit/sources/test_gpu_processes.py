"""Who is on the GPU, and with how much of it."""

from __future__ import annotations

import getpass
import os
from typing import Any

import psutil
import pytest

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import ProcessSample
from gpuscope.sources import process_facts, process_lists, surroundings
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.process_facts import ProcessFacts
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import DESKTOP, H100_SXM
from tests.nvml.scenario import GIB, NvmlError, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import Everything


@pytest.fixture(autouse=True)
def _host_pids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_facts, "sees_host_pids", lambda: True)


@pytest.fixture
def open_one(nvml_in_process: MakeWorld, open_source: OpenSource) -> Any:
    def make(profile: dict[str, Any] = DESKTOP, **changes: Any) -> NvmlSource:
        scenario = Scenario()
        scenario.add_gpu(profile, **changes)
        nvml_in_process(scenario)
        return open_source()

    return make


def processes(source: NvmlSource) -> dict[int, ProcessSample]:
    (sample,) = Everything(source).twice().values()
    return {process.pid: process for process in sample.processes or ()}


def refusal(source: NvmlSource) -> Reason | None:
    (sample,) = Everything(source).read().values()
    assert sample.processes is None
    return sample.unavailable["processes"]


def test_names_users_times_memory_and_kinds(open_one: Any) -> None:
    own = os.getpid()
    found = processes(
        open_one(
            compute_processes=((own, 3 * GIB),),
            graphics_processes=((own, 3 * GIB), (4_000_000, 5)),
            process_utilization=((own, 64),),
        )
    )
    assert set(found) == {own, 4_000_000}, "a process in both lists is one process"
    me = found[own]
    assert (me.kind, me.gpu_memory_bytes, me.sm_percent) == ("compute", 3 * GIB, 64)
    assert me.name == psutil.Process().name()
    assert me.user == getpass.getuser()
    assert me.started_wall_s == pytest.approx(psutil.Process().create_time())
    assert me.unavailable == {}
    gone = found[4_000_000]
    assert (gone.kind, gone.sm_percent) == ("graphics", 0)
    assert set(gone.unavailable.values()) == {Reason.PROCESS_ENDED}


def test_processes_behind_mps_compute(open_one: Any) -> None:
    found = processes(open_one(mps_processes=((70, GIB),), compute_processes=((71, GIB),), graphics_processes=()))
    assert {pid: process.kind for pid, process in found.items()} == {70: "compute", 71: "compute"}


@pytest.mark.parametrize(
    ("system", "wsl", "reason"),
    [("win32", False, Reason.WDDM), ("linux", True, Reason.WSL), ("linux", False, Reason.NO_DATA)],
)
def test_hidden_memory_is_not_zero(
    system: str, wsl: bool, reason: Reason, open_one: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_one(compute_processes=((os.getpid(), None),))
    monkeypatch.setattr(surroundings, "under_wsl", lambda: wsl)
    monkeypatch.setattr(surroundings.sys, "platform", system)
    process = processes(source)[os.getpid()]
    assert process.gpu_memory_bytes is None
    assert process.unavailable["gpu_memory_bytes"] is reason


def test_half_a_list_is_not_shown_as_a_whole_one(open_one: Any) -> None:
    assert refusal(open_one(compute_processes=NvmlError(999), graphics_processes=((1, 2),))) is Reason.UNKNOWN_ERROR


def test_a_card_without_graphics_still_lists_compute(open_one: Any) -> None:
    assert set(processes(open_one(compute_processes=((7, 8),), graphics_processes=NvmlError(3)))) == {7}


def test_no_lists_at_all_is_no_empty_list(open_one: Any) -> None:
    assert refusal(open_one(compute_processes=NvmlError(3), graphics_processes=NvmlError(3))) is Reason.NOT_SUPPORTED


def test_no_processes_is_an_empty_list(open_one: Any) -> None:
    (sample,) = Everything(open_one(compute_processes=(), graphics_processes=())).read().values()
    assert sample.processes == ()


def test_more_processes_than_there_was_room_for(open_one: Any) -> None:
    many = tuple((1000 + number, number + 1) for number in range(2 * process_lists.ROOM + 5))
    found = processes(open_one(compute_processes=many, graphics_processes=(), process_utilization=()))
    assert {pid: process.gpu_memory_bytes for pid, process in found.items()} == dict(many)


@pytest.mark.parametrize("stride", [16, 20, 32])
def test_a_list_that_library_and_driver_lay_out_differently(stride: int, open_one: Any) -> None:
    """As between drivers of 2023 and their libraries: every number after the first is a part of another."""
    listed = tuple((900_000 + number, GIB + number) for number in range(6))
    source = open_one(process_stride=stride, compute_processes=listed, graphics_processes=())
    assert refusal(source) is Reason.SCRAMBLED


def test_a_process_with_more_memory_than_the_gpu(open_one: Any) -> None:
    assert refusal(open_one(compute_processes=((5, 500 * GIB),))) is Reason.SCRAMBLED


def test_shares_that_this_user_may_not_see(open_one: Any) -> None:
    found = processes(open_one(compute_processes=((5, 6),), process_utilization=NvmlError(4)))
    assert found[5].sm_percent is None
    assert found[5].unavailable["sm_percent"] is Reason.NO_PERMISSION


def test_shares_on_a_split_gpu(open_one: Any) -> None:
    found = processes(open_one(H100_SXM, mig_mode=1, compute_processes=((5, 6),), process_utilization=NvmlError(3)))
    assert found[5].unavailable["sm_percent"] is Reason.MIG_MODE


class TestProcessFacts:
    """What the system says of a process."""

    def test_a_number_that_was_given_again_is_looked_up_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        facts = ProcessFacts()
        before = facts.of(os.getpid())
        monkeypatch.setattr(psutil.Process, "is_running", lambda _: False)
        monkeypatch.setattr(psutil.Process, "name", lambda _: "another")
        assert facts.of(os.getpid())["name"] == "another"
        assert before["name"] != "another"

    def test_facts_that_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(_: psutil.Process) -> str:
            raise psutil.AccessDenied

        monkeypatch.setattr(psutil.Process, "username", refuse)
        found = ProcessFacts().of(os.getpid())
        assert found["user"] is Reason.NO_PERMISSION
        assert isinstance(found["name"], str)

    def test_what_is_no_longer_there_is_forgotten(self) -> None:
        facts = ProcessFacts()
        facts.of(os.getpid())
        facts.forget_all_but(set())
        assert facts._known == {}
