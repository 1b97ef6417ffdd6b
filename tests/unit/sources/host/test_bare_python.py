"""The readers of host figures work where there is nothing but Python, from 3.9 on."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpuscope.domain.base import from_json
from gpuscope.domain.device import Host
from gpuscope.domain.sample import HostSample

ROOT = Path(__file__).parents[4]
MODULES = (
    "domain/reasons", "sources/block_and_net", "sources/cgroup", "sources/cgroup_files", "sources/host_facts",
    "sources/host_reader", "sources/memory", "sources/memory_bandwidth", "sources/memory_controllers",
    "sources/numa", "sources/pci_places", "sources/pressure", "sources/process_tree", "sources/processors",
    "sources/rates", "sources/rdma", "sources/system_files", "sources/temperatures", "sources/topology",
)  # fmt: skip

SCRIPT = """
import json, sys, time
for name in ("msgspec", "psutil", "pynvml", "numpy"):
    sys.modules[name] = None
from gpuscope.sources.host_facts import read_facts
from gpuscope.sources.host_reader import HostReader
from gpuscope.sources.topology import read_topology
import os, pathlib
reader = HostReader(root_pid=os.getpid())
reader.read(time.monotonic())
read_topology(pathlib.Path("/sys"), [], {})
print(json.dumps([read_facts(), reader.read(time.monotonic() + 1), sorted(sys.modules)]))
"""


def test_readings_become_the_domains_values() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{SCRIPT}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    facts, reading, modules = json.loads(done.stdout)
    assert from_json(json.dumps(facts), Host).memory_total_bytes
    sample = from_json(json.dumps(reading), HostSample)
    assert sample.memory_available_bytes
    assert sample.workload_rss_bytes
    ours = {f"gpuscope.{name.replace('/', '.')}" for name in MODULES}
    packages = {"gpuscope", "gpuscope.sources", "gpuscope.domain"}
    assert {name for name in modules if name.startswith("gpuscope")} == ours | packages, "the list above is complete"


ELSEWHERE = """
import os, pathlib, psutil, sys
kept = {name: getattr(os, name) for name in ("pread", "sysconf", "O_CLOEXEC", "getuid")}
for name in kept:
    delattr(os, name)
from gpuscope.sources import gpu_links, host_portable, sampler
from gpuscope.sources.host import HostSource, read_host
os.sysconf = kept["sysconf"]  # psutil itself needs it on this system
nowhere = pathlib.Path("no such folder")
print(read_host(nowhere).memory_total_bytes, HostSource(os.getpid(), nowhere).sample().workload_rss_bytes)
"""


def test_systems_without_proc_and_without_what_only_posix_has() -> None:
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr
    total, rss = map(int, done.stdout.split())
    assert total > rss > 0


@pytest.mark.parametrize("name", MODULES)
def test_the_syntax_is_of_python_3_9(name: str) -> None:
    text = (ROOT / "gpuscope" / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    assert "from __future__ import annotations" in text
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Match), "match came with Python 3.10"
        if isinstance(node, ast.Call):
            newer = {keyword.arg for keyword in node.keywords} & {"strict", "slots"}
            assert not newer, f"line {node.lineno}: {newer} came with Python 3.10"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            assert not isinstance(node.args[1], ast.BinOp), f"line {node.lineno}: X | Y came with Python 3.10"
