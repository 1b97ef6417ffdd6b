"""Prepared machines: the files of /proc and /sys that the readers of host figures look at, below a folder."""

from __future__ import annotations

import os
from pathlib import Path

GIB = 1 << 30
UNLIMITED_V1 = 9223372036854771712
"""What version 1 of control groups says where there is no limit: PAGE_COUNTER_MAX of 4 KiB pages."""


class Machine:
    """A root folder to be filled."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, text: str | int) -> Machine:
        """Write a file, with its folders; numbers as text with a newline, as the kernel does."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n" if isinstance(text, int) else text, encoding="utf-8")
        return self

    def folder(self, path: str) -> Machine:
        """Make a folder."""
        (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        return self

    def link(self, path: str, target: str) -> Machine:
        """Make a symbolic link to another path of the machine."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(os.path.relpath(self.root / target.lstrip("/"), file.parent))
        return self

    def remove(self, path: str) -> Machine:
        """Take a file away."""
        (self.root / path.lstrip("/")).unlink()
        return self


def stat_text(*cores: tuple[int, ...]) -> str:
    """/proc/stat of cores with these times."""
    total = [sum(column) for column in zip(*cores, strict=True)]
    lines = [f"cpu  {' '.join(map(str, total))}"]
    lines += [f"cpu{number} {' '.join(map(str, core))}" for number, core in enumerate(cores)]
    return "\n".join([*lines, "intr 123456 0 0 1", "ctxt 987", "btime 1700000000", "processes 555", ""])


def meminfo_text(total: int = 64 * GIB, available: int = 48 * GIB, **more: int) -> str:
    """/proc/meminfo; `more` in bytes."""
    amounts = {"MemTotal": total, "MemFree": 4 * GIB, "MemAvailable": available, **more}
    lines = [f"{name}:{amount // 1024:>16} kB" for name, amount in amounts.items()]
    return "\n".join([*lines, "HugePages_Total:     8", "HugePages_Free:      5", "Hugepagesize:       2048 kB", ""])


def pressure_text(some_us: int, full_us: int = 0, some_avg10: float = 0.0, full_avg10: float = 0.0) -> str:
    """A file of /proc/pressure."""
    return (
        f"some avg10={some_avg10:.2f} avg60=0.00 avg300=0.00 total={some_us}\n"
        f"full avg10={full_avg10:.2f} avg60=0.00 avg300=0.00 total={full_us}\n"
    )


def plain_server(root: Path, threads: int = 8) -> Machine:
    """What every Linux has, with nothing behind it: no sensors, no control groups, no disks."""
    machine = Machine(root)
    machine.put("proc/stat", stat_text(*[(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)] * threads))
    machine.put("proc/loadavg", "0.50 0.75 1.25 2/345 6789\n")
    machine.put("proc/meminfo", meminfo_text())
    machine.put("sys/devices/system/cpu/online", f"0-{threads - 1}\n")
    return machine


def container_v2(root: Path, own: str = "/") -> Machine:
    """A Docker container with a namespace of its own: its group is the top of what it sees."""
    machine = plain_server(root)
    machine.put("proc/self/cgroup", f"0::{own}\n")
    machine.put(
        "proc/self/mountinfo",
        "600 500 0:50 / / rw,relatime - overlay overlay rw\n"
        "610 600 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate\n",
    )
    return machine


def container_v1(root: Path) -> Machine:
    """A Docker container under version 1, where paths are the host's and the mounts show a part of them."""
    machine = plain_server(root)
    group = "/docker/4f1c"
    machine.put(
        "proc/self/cgroup",
        f"12:memory:{group}\n5:cpu,cpuacct:{group}\n3:cpuset:{group}\n1:name=systemd:{group}\n0::/system.slice\n",
    )
    machine.put(
        "proc/self/mountinfo",
        f"700 600 0:30 {group} /sys/fs/cgroup/memory ro master:9 - cgroup cgroup rw,memory\n"
        f"701 600 0:31 {group} /sys/fs/cgroup/cpu,cpuacct ro master:9 - cgroup cgroup rw,cpu,cpuacct\n"
        f"702 600 0:32 {group} /sys/fs/cgroup/cpuset ro master:9 - cgroup cgroup rw,cpuset\n",
    )
    return machine


def wsl2(root: Path) -> Machine:
    """The Windows Subsystem for Linux: a virtual machine without sensors, pressure or frequencies."""
    machine = plain_server(root)
    machine.put("proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2\n")
    machine.put("proc/self/cgroup", "0::/\n")
    machine.put("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    machine.put("proc/net/dev", "head\nhead\n  eth0: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0\n")
    machine.folder("sys/class/net/eth0/device").put("sys/class/net/eth0/speed", 10000)
    return machine.folder("sys/class/hwmon").folder("sys/class/thermal")


def laptop(root: Path) -> Machine:
    """A laptop whose second graphics card, which has a sensor of its own, sleeps."""
    machine = plain_server(root)
    for core, khz in enumerate((800_000, 1_200_000, 3_000_000, 3_000_000)):
        policy = f"sys/devices/system/cpu/cpufreq/policy{core}"
        machine.put(f"{policy}/scaling_cur_freq", khz).put(f"{policy}/scaling_max_freq", 4_000_000)
        machine.put(f"{policy}/affected_cpus", core)
    cpu, card, disk = (f"sys/class/hwmon/hwmon{number}" for number in range(3))
    machine.put(f"{cpu}/name", "coretemp\n").put(f"{cpu}/temp1_label", "Package id 0\n")
    machine.put(f"{cpu}/temp1_input", 61000).put(f"{cpu}/temp1_crit", 100000)
    machine.put(f"{cpu}/temp2_label", "Core 0\n").put(f"{cpu}/temp2_input", 63500)
    machine.put(f"{card}/name", "nouveau\n").put(f"{card}/temp1_input", 40000)
    machine.put(f"{card}/device/power/runtime_status", "suspended\n")
    machine.put(f"{disk}/name", "nvme\n").put(f"{disk}/temp1_input", 38850)
    machine.put(f"{disk}/device/power/runtime_status", "active\n")
    return machine


def arm_board(root: Path) -> Machine:
    """A board in the manner of a Raspberry Pi: one thermal zone, one policy for all cores, a name in /proc/cpuinfo."""
    machine = plain_server(root, threads=4)
    machine.put("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\n\nModel\t\t: Raspberry Pi 5 Model B Rev 1.0\n")
    machine.put("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
    machine.put("sys/class/thermal/thermal_zone0/temp", 48312)
    machine.put("sys/class/thermal/cooling_device0/type", "pwm-fan\n")
    policy = "sys/devices/system/cpu/cpufreq/policy0"
    machine.put(f"{policy}/scaling_cur_freq", 1_500_000).put(f"{policy}/scaling_max_freq", 2_400_000)
    return machine.put(f"{policy}/affected_cpus", "0 1 2 3\n")


def eight_gpu_server(root: Path) -> Machine:
    """Two sockets, two host bridges each; at every bridge a switch with two GPUs and a card for InfiniBand.

    At the first bridge of the second socket a second switch hangs below the first, with one of the GPUs.
    """
    machine = plain_server(root, threads=64)
    for node in range(2):
        folder = f"sys/devices/system/node/node{node}"
        machine.put(f"{folder}/cpulist", f"{32 * node}-{32 * node + 31}\n")
        machine.put(f"{folder}/distance", "10 21\n" if node == 0 else "21 10\n")
        machine.put(f"{folder}/meminfo", f"Node {node} MemTotal:       {512 * GIB // 1024} kB\n")
    for bridge in range(4):
        bus = 0x10 * (bridge + 1)
        up = f"sys/devices/pci0000:{bus:02x}/0000:{bus:02x}:01.0/0000:{bus + 1:02x}:00.0"
        for port in range(3):
            down = f"{up}/0000:{bus + 2:02x}:{port:02x}.0"
            if bridge == 2 and port == 1:
                down += f"/0000:{bus + 8:02x}:00.0/0000:{bus + 9:02x}:00.0"
            bus_id = f"0000:{bus + 3 + port:02x}:00.0"
            _pci_device(machine, f"{down}/{bus_id}", bridge // 2)
            if port == 2:
                machine.link(f"sys/class/infiniband/mlx5_{bridge}/device", f"{down}/{bus_id}")
                machine.link(f"sys/class/net/ib{bridge}/device", f"{down}/{bus_id}")
    _pci_device(machine, "sys/devices/pci0000:10/0000:10:1f.0", 0)
    machine.link("sys/class/net/eno1/device", "sys/devices/pci0000:10/0000:10:1f.0")
    return machine.folder("sys/devices/virtual/net/docker0").folder("sys/class/net/docker0")


EIGHT_BUS_IDS = tuple(f"00000000:{0x10 * (gpu // 2 + 1) + 3 + gpu % 2:02X}:00.0" for gpu in range(8))
"""As NVML writes them."""


def cloud_machine(root: Path, gpus: int = 2) -> Machine:
    """A virtual machine: one flat bus, no NUMA node named, a network card behind virtio."""
    machine = plain_server(root)
    machine.put("sys/devices/system/node/node0/cpulist", "0-7\n")
    for gpu in range(gpus):
        _pci_device(machine, f"sys/devices/pci0000:00/0000:00:{4 + gpu:02x}.0", -1)
    card = "sys/devices/pci0000:00/0000:00:03.0"
    _pci_device(machine, card, -1)
    machine.folder(f"{card}/virtio0").link("sys/class/net/eth0/device", f"{card}/virtio0")
    return machine


def _pci_device(machine: Machine, folder: str, numa_node: int) -> None:
    machine.put(f"{folder}/numa_node", numa_node)
    machine.put(f"{folder}/local_cpulist", "0-31\n" if numa_node <= 0 else "32-63\n")
    machine.link(f"sys/bus/pci/devices/{folder.rpartition('/')[2]}", folder)
