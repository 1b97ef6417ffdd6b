"""Whole files from which damaged ones are made: those of tests/data, and small ones of the kinds that it lacks."""

from __future__ import annotations

import json
import tempfile
from functools import lru_cache
from pathlib import Path

from gpuscope.domain.base import to_json
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.import_files import import_files
from gpuscope.store.reader import SessionReader
from tests.builders import build_footprint, build_session
from tests.unit.importers.nsight_exports import training

DATA = Path(__file__).parents[1] / "data"

GPUSTAT_JSON = json.dumps(
    {
        "hostname": "node7",
        "driver_version": "550.54.15",
        "query_time": "2026-11-02T10:20:30.123456",
        "gpus": [
            {
                "index": 0,
                "uuid": "GPU-0f5",
                "name": "NVIDIA L4",
                "temperature.gpu": 61,
                "fan.speed": None,
                "utilization.gpu": 97,
                "power.draw": 71,
                "enforced.power.limit": 72,
                "memory.used": 20100,
                "memory.total": 23034,
                "processes": [
                    {
                        "username": "ada",
                        "command": "python",
                        "gpu_memory_usage": 19000,
                        "pid": 4711,
                        "cpu_percent": 99.1,
                    }
                ],
            }
        ],
    }
).encode()
PROMETHEUS_API = json.dumps(
    {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {
                    "metric": {
                        "__name__": "DCGM_FI_DEV_GPU_UTIL",
                        "gpu": "0",
                        "UUID": "GPU-0f5",
                        "modelName": "NVIDIA L4",
                    },
                    "values": [[1761990000, "98"], [1761990015.5, "100"], [1761990030, "NaN"]],
                },
                {
                    "metric": {"__name__": "DCGM_FI_DEV_FB_USED", "gpu": "0", "UUID": "GPU-0f5"},
                    "values": [[1761990000, "20100"], [1761990015.5, "20100"]],
                },
            ],
        },
    }
).encode()
NVTOP = json.dumps(
    [
        {
            "device_name": "NVIDIA L4",
            "gpu_clock": "2040MHz",
            "mem_clock": "6251MHz",
            "temp": "61C",
            "fan_speed": None,
            "power_draw": "71W",
            "gpu_util": "97%",
            "mem_util": "87%",
            "mem_total": "24152899584",
            "mem_used": "21076377600",
            "mem_free": "3076521984",
        }
    ],
    indent=1,
).encode()
AMD_SMI = json.dumps(
    [
        {
            "gpu": 0,
            "usage": {"gfx_activity": {"value": 99, "unit": "%"}, "umc_activity": {"value": 40, "unit": "%"}},
            "power": {"socket_power": {"value": 720, "unit": "W"}, "gfx_voltage": "N/A"},
            "clock": {
                "gfx_0": {"clk": {"value": 2100, "unit": "MHz"}},
                "mem_0": {"clk": {"value": 900, "unit": "MHz"}},
            },
            "temperature": {"edge": "N/A", "hotspot": {"value": 71, "unit": "C"}, "mem": {"value": 55, "unit": "C"}},
            "mem_usage": {"total_vram": {"value": 196288, "unit": "MB"}, "used_vram": {"value": 150000, "unit": "MB"}},
            "energy": {"total_energy_consumption": {"value": 123456.7, "unit": "J"}},
        }
    ]
).encode()
UNKNOWN_TABLE = b"""time,gpu_0_util,gpu_0_mem_gb,gpu_0_temp,gpu_1_util,cpu
2026-11-02T10:20:30Z,97.5,20.1,61,3,12
2026-11-02T10:20:31Z,99,20.2,62,4,13
"""
MADE = (GPUSTAT_JSON, PROMETHEUS_API, NVTOP, AMD_SMI, UNKNOWN_TABLE)
"""Written for these tests after the documentation of each program's output."""

QUOTES = (
    b'h100-sxm5-80gb x8 buy 250000 USD 2026-11-01 vendor="ACME Ltd" until=2026-12-31',
    b"l4 rent 0.55 EUR bare region=eu-west-1 note=x",
)
_QUOTES_FILE = (
    b"gpu,count,kind,price,currency,date,valid_until,vendor\nl4,1,rent,0.55,EUR,2026-11-01,,ACME\n"
    b"h100-sxm5-80gb,8,buy,250000,USD,2026-11-01,2026-12-31,ACME\n"
)
_SKYPILOT = (
    b"InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone,GpuInfo\n"
    b"g6.xlarge,L4,1,4,16,0.8048,0.24,us-east-1,us-east-1a,\"{'Gpus': [{'Name': 'L4', 'MemoryInfo': "
    b"{'SizeInMiB': 22888}}]}\"\np5.48xlarge,H100,8,192,2048,55.04,,us-east-1,us-east-1b,\n"
)
PRICES = (_QUOTES_FILE, _SKYPILOT)
RATES = (
    json.dumps(
        {
            "schema": "gpuscope.rates/1",
            "gpu": "rtx-4090",
            "gpu_name": "NVIDIA GeForce RTX 4090",
            "memory_bytes": 25757220864,
            "when": "2026-11-02T10:20:30+00:00",
            "torch_version": "2.9.1",
            "figures": [
                {"figure": "matmul", "precision": "bfloat16", "value": 172.0, "unit": "TFLOP/s", "how": "8192 x 8192"},
                {"figure": "vector", "value": 930.0, "unit": "GB/s"},
            ],
        }
    ).encode(),
)


@lru_cache(maxsize=1)
def logs() -> tuple[bytes, ...]:
    """Files of other programs."""
    folder = DATA / "imports"
    shipped = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".md"]
    return (*shipped, *MADE, training(steps=3).data)


@lru_cache(maxsize=1)
def out_of_memory_texts() -> tuple[bytes, ...]:
    """Out-of-memory messages."""
    messages = json.loads((DATA / "out_of_memory" / "messages.json").read_text(encoding="utf-8"))
    return tuple(str(case["text"]).encode() for case in messages.values())


@lru_cache(maxsize=1)
def sessions() -> tuple[bytes, ...]:
    """Small sessions: of runs, of an interrupted one, of an import."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_session(folder / "run", steps=20, interval_s=0.5)
        build_session(folder / "two", gpus=2, steps=5, interval_s=0.5, close=False)
        import_files([DATA / "imports" / "nvidia_smi" / "two-gpu-interleaved.csv"], folder / "import")
        return tuple((folder / part).read_bytes() for part in ("run", "two", "import"))


@lru_cache(maxsize=1)
def footprints() -> tuple[bytes, ...]:
    """Footprint documents: a whole one, and one of an imported log."""
    with tempfile.TemporaryDirectory() as name:
        session = Path(name) / "import"
        import_files([DATA / "imports" / "nvidia_smi" / "two-gpu-interleaved.csv"], session)
        with SessionReader(session) as reader:
            imported = footprint_of(reader)
    return to_json(build_footprint()), to_json(imported)
