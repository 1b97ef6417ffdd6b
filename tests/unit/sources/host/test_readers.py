"""The host's figures on prepared machines: right numbers where there are some, a reason and never 0 where not."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import HostSample
from gpuscope.sources.host import HostSource, read_host
from gpuscope.sources.host_reader import HostReader
from gpuscope.sources.memory import Memory
from gpuscope.sources.memory_bandwidth import MemoryBandwidth
from gpuscope.sources.pressure import Pressure
from gpuscope.sources.processors import ProcessorShares, read_frequencies
from gpuscope.sources.system_files import KeptFile, count_of_list
from gpuscope.sources.temperatures import Temperatures
from tests.unit.sources.host.trees import (
    GIB,
    Machine,
    arm_board,
    container_v2,
    laptop,
    meminfo_text,
    plain_server,
    pressure_text,
    stat_text,
    wsl2,
)


class TestProcessors:
    """/proc/stat and /proc/loadavg."""

    def test_shares_are_of_the_time_between(self, tmp_path: Path) -> None:
        machine = plain_server(tmp_path, threads=2)
        shares = ProcessorShares(tmp_path / "proc")
        assert shares.read()["cpu_percent"] is Reason.FIRST_READING
        # user, nice, system, idle, iowait, irq, softirq, steal, guest (which is in user already)
        machine.put("proc/stat", stat_text((30, 0, 10, 40, 20, 0, 0, 0, 30, 0), (0, 0, 0, 90, 0, 0, 0, 10, 0, 0)))
        figures = shares.read()
        assert figures["cpu_percent_per_core"] == (40, 10)
        assert figures["cpu_percent"] == 25
        assert figures["cpu_iowait_percent"] == 10
        assert figures["cpu_steal_percent"] == 5
        assert (figures["load_1min"], figures["load_5min"], figures["load_15min"]) == (0.5, 0.75, 1.25)

    def test_a_core_that_comes_back_has_no_share_yet(self, tmp_path: Path) -> None:
        machine = plain_server(tmp_path, threads=1)
        shares = ProcessorShares(tmp_path / "proc")
        shares.read()
        machine.put("proc/stat", stat_text((50, 0, 0, 50, 0, 0, 0, 0), (900, 0, 0, 0, 0, 0, 0, 0)))
        assert shares.read()["cpu_percent_per_core"] is Reason.FIRST_READING

    @given(st.binary(max_size=60))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_garbage_is_no_figure(self, tmp_path: Path, garbage: bytes) -> None:
        proc = plain_server(tmp_path).root / "proc"
        shares, memory, pressure = ProcessorShares(proc), Memory(proc), Pressure(proc)
        for name in ("stat", "meminfo", "vmstat", "loadavg"):
            (proc / name).write_bytes(b"cpu " + garbage)
        (proc / "pressure").mkdir(exist_ok=True)
        (proc / "pressure" / "io").write_bytes(b"some avg10=" + garbage)
        figures = shares.read() | memory.read(1.0) | pressure.read(1.0)
        assert all(isinstance(value, Reason) for name, value in figures.items() if not name.startswith("load_"))

    def test_frequency_is_the_mean_of_all_cores(self, tmp_path: Path) -> None:
        sysfs = laptop(tmp_path).root / "sys"
        assert read_frequencies(sysfs) == {"cpu_frequency_mhz": 2000, "cpu_frequency_limit_mhz": 4000}

    def test_clusters_of_different_size_weigh_by_their_cores(self, tmp_path: Path) -> None:
        machine = arm_board(tmp_path)
        policy = "sys/devices/system/cpu/cpufreq/policy4"
        machine.put(f"{policy}/scaling_cur_freq", 2_500_000).put(f"{policy}/scaling_max_freq", 3_000_000)
        machine.put(f"{policy}/affected_cpus", "4\n")
        assert read_frequencies(tmp_path / "sys")["cpu_frequency_mhz"] == pytest.approx((4 * 1500 + 2500) / 5)

    def test_where_frequencies_are_the_hosts_business(self, tmp_path: Path) -> None:
        assert set(read_frequencies(wsl2(tmp_path).root / "sys").values()) == {Reason.NOT_OFFERED}


class TestPressure:
    """/proc/pressure."""

    def test_shares_from_counters_and_the_kernels_average(self, tmp_path: Path) -> None:
        machine = plain_server(tmp_path)
        for name in ("cpu", "memory", "io"):
            machine.put(f"proc/pressure/{name}", pressure_text(1_000_000, 500_000))
        pressure = Pressure(tmp_path / "proc")
        assert pressure.read(10.0)["io_pressure_full_percent"] is Reason.FIRST_READING
        machine.put("proc/pressure/io", pressure_text(1_400_000, 600_000, 12.5, 3.0))
        figures = pressure.read(12.0)
        assert figures["io_pressure_some_percent"] == pytest.approx(20)
        assert figures["io_pressure_full_percent"] == pytest.approx(5)
        assert figures["io_pressure_some_avg10_percent"] == 12.5
        assert figures["memory_pressure_full_percent"] == 0, "measured, and there was none"
        assert not any(name.startswith("cpu_pressure_full") for name in figures), "not defined for a machine"

    def test_a_kernel_without_it(self, tmp_path: Path) -> None:
        assert set(Pressure(wsl2(tmp_path).root / "proc").read(1.0).values()) == {Reason.NOT_OFFERED}


class TestMemory:
    """/proc/meminfo and /proc/vmstat."""

    def test_amounts(self, tmp_path: Path) -> None:
        more = {"Cached": 3 * GIB, "SReclaimable": GIB, "Dirty": 4096, "SwapTotal": 8 * GIB, "SwapFree": 6 * GIB}
        plain_server(tmp_path).put("proc/meminfo", meminfo_text(**more))
        figures = Memory(tmp_path / "proc").amounts()
        assert figures == {
            "memory_total_bytes": 64 * GIB,
            "memory_available_bytes": 48 * GIB,
            "memory_used_bytes": 16 * GIB,
            "memory_cached_bytes": 4 * GIB,
            "memory_dirty_bytes": 4096,
            "swap_total_bytes": 8 * GIB,
            "swap_used_bytes": 2 * GIB,
            "huge_page_bytes": 2 << 20,
            "huge_pages_total": 8,
            "huge_pages_free": 5,
        }

    def test_swap_traffic(self, tmp_path: Path) -> None:
        machine = plain_server(tmp_path).put("proc/vmstat", "nr_free_pages 9\npswpin 100\npswpout 7\npgfault 3\n")
        memory = Memory(tmp_path / "proc")
        memory.read(1.0)
        machine.put("proc/vmstat", "nr_free_pages 9\npswpin 300\npswpout 7\npgfault 3\n")
        figures = memory.read(3.0)
        assert figures["swap_in_bytes_per_s"] == 100 * 4096
        assert figures["swap_out_bytes_per_s"] == 0

    def test_an_old_kernel_without_available(self, tmp_path: Path) -> None:
        plain_server(tmp_path).put("proc/meminfo", "MemTotal: 1024 kB\nMemFree: 512 kB\n")
        figures = Memory(tmp_path / "proc").read(1.0)
        assert figures["memory_total_bytes"] == 1 << 20
        assert figures["memory_used_bytes"] is Reason.NOT_OFFERED
        assert figures["swap_in_bytes_per_s"] is Reason.NOT_OFFERED


class TestTemperatures:
    """Sensors, which are slow and of all kinds."""

    def test_the_hottest_of_the_processor_and_a_card_that_is_left_asleep(self, tmp_path: Path) -> None:
        figures = Temperatures(laptop(tmp_path).root / "sys").read()
        assert figures["cpu_temperature_c"] == 63.5
        assert figures["temperatures"] == [
            {"name": "coretemp Package id 0", "limit_c": 100, "celsius": 61},
            {"name": "coretemp Core 0", "celsius": 63.5},
            {"name": "nouveau temp1", "unavailable": {"celsius": Reason.SUSPENDED}},
            {"name": "nvme temp1", "celsius": 38.85},
        ]

    def test_a_board_has_a_zone(self, tmp_path: Path) -> None:
        figures = Temperatures(arm_board(tmp_path).root / "sys").read()
        assert figures["cpu_temperature_c"] == pytest.approx(48.312)
        assert [row["name"] for row in figures["temperatures"]] == ["cpu-thermal"]

    def test_a_processor_that_adds_an_offset_for_its_fans(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path).put("sys/class/hwmon/hwmon0/name", "k10temp\n")
        for number, (label, celsius) in enumerate({"Tctl": 87, "Tdie": 60, "Tccd1": 58}.items(), 1):
            machine.put(f"sys/class/hwmon/hwmon0/temp{number}_label", f"{label}\n")
            machine.put(f"sys/class/hwmon/hwmon0/temp{number}_input", celsius * 1000)
        assert Temperatures(tmp_path / "sys").read()["cpu_temperature_c"] == 60
        machine.remove("sys/class/hwmon/hwmon0/temp2_input")
        assert Temperatures(tmp_path / "sys").read()["cpu_temperature_c"] == 87

    def test_none(self, tmp_path: Path) -> None:
        assert Temperatures(wsl2(tmp_path).root / "sys").read() == {"cpu_temperature_c": Reason.NOT_OFFERED}

    @pytest.mark.parametrize("value", ["-273150", "127500", "-128000"])
    def test_sensors_that_nothing_is_connected_to(self, tmp_path: Path, value: str) -> None:
        machine = laptop(tmp_path)
        for number in (1, 2):
            machine.put(f"sys/class/hwmon/hwmon0/temp{number}_input", value)
        assert Temperatures(tmp_path / "sys").read()["cpu_temperature_c"] is Reason.IMPLAUSIBLE


class TestMemoryBandwidth:
    """resctrl, on prepared folders only."""

    COUNTER = "sys/fs/resctrl/mon_data/mon_L3_0{}/mbm_total_bytes"

    def test_sockets_and_groups_add_up(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path)
        group = "sys/fs/resctrl/batch/mon_data/mon_L3_00/mbm_total_bytes"
        machine.put(self.COUNTER.format(0), 1000).put(self.COUNTER.format(1), 0).put(group, 50)
        machine.put("sys/fs/resctrl/info/L3_MON/num_rmids", 256)
        bandwidth = MemoryBandwidth(tmp_path)
        bandwidth.find()
        assert bandwidth.read(1.0) == {"memory_bandwidth_bytes_per_s": Reason.FIRST_READING}
        machine.put(self.COUNTER.format(0), 5000).put(self.COUNTER.format(1), 2000).put(group, 2050)
        assert bandwidth.read(3.0) == {"memory_bandwidth_bytes_per_s": 4000}
        machine.put(self.COUNTER.format(1), "Unavailable\n")
        assert bandwidth.read(4.0) == {"memory_bandwidth_bytes_per_s": Reason.NOT_READY}

    def test_a_group_that_is_removed_makes_no_negative_rate(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path).put(self.COUNTER.format(0), 1000).put(self.COUNTER.format(1), 900)
        bandwidth = MemoryBandwidth(tmp_path)
        bandwidth.find()
        bandwidth.read(1.0)
        machine.remove(self.COUNTER.format(1))
        assert bandwidth.read(2.0) == {"memory_bandwidth_bytes_per_s": Reason.NOT_READY}
        bandwidth.find()
        assert bandwidth.read(3.0) == {"memory_bandwidth_bytes_per_s": Reason.FIRST_READING}

    @pytest.mark.parametrize(
        ("flags", "reason"),
        [
            ("fpu cqm cqm_mbm_total cqm_mbm_local", Reason.RESCTRL_NOT_MOUNTED),
            ("fpu hypervisor", Reason.MEMORY_TRAFFIC_UNCOUNTED),
        ],
    )
    def test_why_there_is_none(self, tmp_path: Path, flags: str, reason: Reason) -> None:
        Machine(tmp_path).put("proc/cpuinfo", f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\n")
        bandwidth = MemoryBandwidth(tmp_path)
        bandwidth.find()
        assert bandwidth.read(1.0) == {"memory_bandwidth_bytes_per_s": reason}


class TestWholeReading:
    """All of it together, as `HostSample`."""

    @pytest.mark.parametrize("make", [plain_server, container_v2, wsl2, laptop, arm_board])
    def test_every_figure_is_there_or_has_a_reason(self, tmp_path: Path, make: Any) -> None:
        make(tmp_path)
        reading = HostReader(tmp_path).read(1.0)
        sample = msgspec.convert(reading, HostSample)
        lists = {"disks", "networks", "rdma", "temperatures"}
        for field in msgspec.structs.fields(HostSample):
            if field.name not in lists | {"unavailable"} and not field.name.startswith("workload_"):
                missing = getattr(sample, field.name) is None
                assert missing == (field.name in sample.unavailable), field.name

    def test_slow_figures_come_now_and_then(self, tmp_path: Path) -> None:
        laptop(tmp_path)
        reader = HostReader(tmp_path)
        with_sensors = ["cpu_frequency_mhz" in reader.read(1.0 + second) for second in range(8)]
        assert with_sensors[0]
        assert not any(with_sensors[1:5])
        assert sum(with_sensors) <= 2

    def test_slow_sensors_are_read_less_often_and_it_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        laptop(tmp_path)
        source = HostSource(root=tmp_path)
        clock_s = itertools.count(0.0, 1000.0)
        thread_s = itertools.count(0.0, 0.025)  # of processor time for each reading of the sensors
        monkeypatch.setattr(time, "monotonic", lambda: next(clock_s))
        monkeypatch.setattr(time, "thread_time", lambda: next(thread_s))
        told = []
        for _ in range(6):
            source.sample()
            told += source.news() or ()
        assert [state.code for state in told] == ["ok", "stretched", "stretched"]
        assert "every 20 s" in told[-1].sentence, "25 ms are a fifth of a percent of 12.5 s"

    def test_a_machine_that_loses_everything(self, tmp_path: Path) -> None:
        machine = laptop(tmp_path)
        reader = HostReader(tmp_path)
        reader.read(1.0)
        for path in ("proc/stat", "proc/meminfo", "proc/loadavg"):
            machine.put(path, "")
        sample = msgspec.convert(reader.read(2.0), HostSample)
        assert sample.cpu_percent is None
        assert sample.memory_total_bytes is None
        assert sample.unavailable["cpu_percent"] is Reason.UNREADABLE

    def test_facts(self, tmp_path: Path) -> None:
        machine = arm_board(tmp_path).put("etc/os-release", 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n')
        for core in range(4):
            machine.put(f"sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list", f"{core // 2 * 2}-{core}")
        host = read_host(tmp_path)
        assert host.cpu_name == "Raspberry Pi 5 Model B Rev 1.0"
        assert host.os == "Debian GNU/Linux 12"
        assert host.threads == 4
        assert host.memory_total_bytes == 64 * GIB
        assert HostSource(root=tmp_path).sample().memory_total_bytes == 64 * GIB


class TestSystemFiles:
    """What all readers stand on."""

    def test_a_kept_file_shows_what_is_there_now(self, tmp_path: Path) -> None:
        path = tmp_path / "long"
        file = KeptFile(path)
        assert file.read() is Reason.NOT_OFFERED
        path.write_text("x" * 200_000)
        assert file.read() == KeptFile(path, in_one_piece=True).read() == b"x" * 200_000
        path.write_text("short")
        assert file.read() == b"short"

    def test_a_closed_folder(self, tmp_path: Path) -> None:
        assert KeptFile(tmp_path).read() is Reason.UNREADABLE, "a folder is no file"

    @pytest.mark.parametrize(
        ("text", "count"),
        [("0-3,8,10-11", 7), ("5", 1), ("", 0), ("0-", 1), ("a-b", Reason.UNREADABLE), ("0-4294967295", 8192)],
    )
    def test_lists_of_processors(self, text: str, count: object) -> None:
        assert count_of_list(text) == count
