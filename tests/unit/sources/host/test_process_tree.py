"""Whom a workload consists of and what its processes use, on prepared folders of /proc."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources import process_tree
from gpuscope.sources.process_tree import ProcessTree
from tests.unit.sources.host.trees import Machine, plain_server

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def process(
    machine: Machine,
    pid: int,
    parent: int = 1,
    name: str = "python",
    *,
    state: str = "S",
    ticks: int = 0,
    start: int = 1000,
    read_bytes: int = 0,
) -> None:
    """A process with a thread beside the first, 10 pages of memory, and as many ticks in the kernel as outside."""
    before_threads = f"{state} {parent} 9 9 0 -1 4194304 0 0 0 0 {ticks // 2} {ticks - ticks // 2} 0 0 20 0"
    machine.put(f"proc/{pid}/stat", f"{pid} ({name}) {before_threads} 2 0 {start} 5000 10 18446744073709551615 1 1\n")
    machine.put(f"proc/{pid}/io", f"rchar: 1\nwchar: 2\nread_bytes: {read_bytes}\nwrite_bytes: 0\n")


def end(machine: Machine, pid: int) -> None:
    """What a kept descriptor shows of a process that is no more."""
    machine.put(f"proc/{pid}/stat", "").remove(f"proc/{pid}/stat")


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def rows(figures: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {row["pid"]: row for row in figures["workload_processes"]}


def test_figures_of_members(tmp_path: Path) -> None:
    machine = plain_server(tmp_path)
    process(machine, 50, ticks=100, start=3 * TICKS_PER_S)
    tree = ProcessTree(50, tmp_path)
    tree.read(1.0)
    process(machine, 50, ticks=100 + TICKS_PER_S, start=3 * TICKS_PER_S, read_bytes=8000)
    figures = tree.read(3.0)
    assert figures["workload_cpu_percent"] == 50
    assert figures["workload_rss_bytes"] == 10 * PAGE_BYTES
    assert rows(figures)[50] == {
        "pid": 50,
        "name": "python",
        "kind": "workload",
        "threads": 2,
        "rss_bytes": 10 * PAGE_BYTES,
        "cpu_percent": 50,
        "read_bytes_per_s": 4000,
        "write_bytes_per_s": 0,
        "unavailable": {},
        "started_wall_s": 1_700_000_003,
    }


def test_descendants_are_found_whatever_the_order_and_strangers_are_not(tmp_path: Path) -> None:
    machine = plain_server(tmp_path)
    process(machine, 50)
    process(machine, 9, parent=70)
    process(machine, 70, parent=50)
    process(machine, 80, parent=1)
    tree = ProcessTree(50, tmp_path)
    assert set(rows(tree.read(1.0))) == {9, 50, 70}
    process(machine, 90, parent=9)
    assert set(rows(tree.read(2.0))) == {9, 50, 70, 90}


def test_a_number_that_is_given_again_is_another_process(tmp_path: Path) -> None:
    machine = plain_server(tmp_path)
    process(machine, 50)
    process(machine, 51, parent=50)
    tree = ProcessTree(50, tmp_path)
    tree.read(1.0)
    process(machine, 51, parent=1, start=7777)
    assert set(rows(tree.read(2.0))) == {50}


def test_the_dead_leave(tmp_path: Path) -> None:
    machine = plain_server(tmp_path)
    process(machine, 50)
    process(machine, 51, parent=50)
    tree = ProcessTree(50, tmp_path)
    tree.read(1.0)
    process(machine, 51, parent=50, state="Z")
    assert set(rows(tree.read(2.0))) == {50}
    end(machine, 50)
    end(machine, 51)
    assert tree.read(3.0)["workload_rss_bytes"] is Reason.PROCESS_ENDED


def test_names_with_brackets_and_names_that_the_kernel_cuts(tmp_path: Path) -> None:
    machine = plain_server(tmp_path)
    process(machine, 50, name="a) S 1 (b")
    process(machine, 51, parent=50, name="a_very_long_nam")
    machine.put("proc/51/cmdline", "/opt/bin/a_very_long_name\0--option\0")
    process(machine, 52, parent=50, name="another_long_na")
    machine.put("proc/52/cmdline", "something else\0")
    figures = rows(ProcessTree(50, tmp_path).read(1.0))
    assert [figures[pid]["name"] for pid in (50, 51, 52)] == ["a) S 1 (b", "a_very_long_name", "another_long_na"]


def test_input_and_output_that_are_not_told(tmp_path: Path) -> None:
    machine = plain_server(tmp_path)
    process(machine, 50)
    machine.remove("proc/50/io")
    row = rows(ProcessTree(50, tmp_path).read(1.0))[50]
    assert row["unavailable"]["read_bytes_per_s"] is Reason.NOT_OFFERED
    assert "read_bytes_per_s" not in row


def test_of_many_processes_the_files_do_not_stay_open(tmp_path: Path) -> None:
    machine = plain_server(tmp_path)
    process(machine, 50)
    for pid in range(1000, 1000 + process_tree.KEPT_MEMBERS + 20):
        process(machine, pid, parent=50)
    before = open_files()
    tree = ProcessTree(50, tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + process_tree.KEPT_MEMBERS + 10, limits[1]))
    try:
        assert len(rows(tree.read(1.0))) == process_tree.KEPT_MEMBERS + 21
        assert len(rows(tree.read(2.0))) == process_tree.KEPT_MEMBERS + 21
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert open_files() <= before
