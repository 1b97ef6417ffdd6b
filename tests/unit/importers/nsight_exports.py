"""Synthetic exports of Nsight Systems, in the schema that its documentation describes (SQLite Export Schema).

No recording of a real program is in them: every row is made up here.
"""

from __future__ import annotations

import sqlite3
from typing import Any

MS = 1_000_000
"""Nanoseconds."""
RECORDED_NS = 1_760_000_000 * 10**9
_PROCESS = 1 << 56

SCHEMA = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT,
  totalMemory INTEGER, memoryBandwidth INTEGER, smCount INTEGER, uuid TEXT, chipName TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
  globalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER, deviceId INTEGER NOT NULL,
  address INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL);
CREATE TABLE GPU_METRICS (timestamp INTEGER NOT NULL, typeId INTEGER NOT NULL, metricId INTEGER NOT NULL,
  value INTEGER NOT NULL);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER NOT NULL, sourceId INTEGER, typeName TEXT,
  metricId INTEGER NOT NULL, metricName TEXT);
"""


class Export:
    """Rows to put into an export; `data` are its bytes."""

    def __init__(self, schema: str = SCHEMA) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.connection.executescript(schema)
        self._strings: dict[str, int] = {}

    def string(self, text: str) -> int:
        """The number of a name."""
        if text not in self._strings:
            self._strings[text] = len(self._strings) + 1
            self.insert("StringIds", id=self._strings[text], value=text)
        return self._strings[text]

    def insert(self, table: str, **values: Any) -> None:
        """One row."""
        names, places = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(values.values()))

    def gpu(self, number: int, name: str = "NVIDIA A100-SXM4-80GB", memory_bytes: int = 85_031_714_816) -> None:
        """A GPU of the machine."""
        self.insert("TARGET_INFO_GPU", vmId=0, id=number, name=name, totalMemory=memory_bytes)

    def kernel(self, name: str, start: int, end: int, correlation: int = 0, *, pid: int = 7, device: int = 0) -> None:
        """A kernel."""
        number = self.string(name)
        self.insert(
            "CUPTI_ACTIVITY_KIND_KERNEL", start=start, end=end, deviceId=device, contextId=1, streamId=7,
            correlationId=correlation, globalPid=_PROCESS | pid << 24, demangledName=number, shortName=number,
        )  # fmt: skip

    def copy(self, start: int, end: int, size: int, kind: int = 1, *, pid: int = 7) -> None:
        """A copy; 1 is to the GPU."""
        self.insert(
            "CUPTI_ACTIVITY_KIND_MEMCPY", start=start, end=end, deviceId=0, streamId=7, correlationId=0,
            globalPid=_PROCESS | pid << 24, bytes=size, copyKind=kind,
        )  # fmt: skip

    def launch(self, start: int, correlation: int, *, pid: int = 7) -> None:
        """A call that launches a kernel."""
        self.insert(
            "CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=start + 5000, globalTid=_PROCESS | pid << 24 | pid,
            correlationId=correlation, nameId=self.string("cudaLaunchKernel_v7000"),
        )  # fmt: skip

    def marked(self, text: str, start: int, end: int | None, *, pid: int = 7) -> None:
        """An NVTX range (59: pushed and popped), or a mark without an end."""
        self.insert(
            "NVTX_EVENTS", start=start, end=end, eventType=59, textId=self.string(text),
            globalTid=_PROCESS | pid << 24 | pid,
        )  # fmt: skip

    def memory(self, start: int, size: int, *, freed: bool = False, kind: int = 2) -> None:
        """Memory taken from the driver or given back."""
        self.insert(
            "CUDA_GPU_MEMORY_USAGE_EVENTS", start=start, globalPid=_PROCESS | 7 << 24, deviceId=0, address=0,
            bytes=size, memKind=kind, memoryOperationType=int(freed),
        )  # fmt: skip

    def metric(self, number: int, name: str, values: dict[int, int], gpu: int = 0) -> None:
        """Samples of one metric by their moment."""
        kind = 0xA100 << 32 | gpu
        self.insert("TARGET_INFO_GPU_METRICS", typeId=kind, metricId=number, metricName=name, typeName="General")
        for moment, value in values.items():
            self.insert("GPU_METRICS", timestamp=moment, typeId=kind, metricId=number, value=value)

    @property
    def data(self) -> bytes:
        """The file."""
        self.connection.commit()
        return self.connection.serialize()


def training(steps: int = 6) -> Export:
    """A loop of 100 ms steps: a copy, two matrix products, attention and a reduction; 60 ms of work in each."""
    export = Export()
    export.gpu(0)
    export.insert("TARGET_INFO_SESSION_START_TIME", utcEpochNs=RECORDED_NS)
    for step in range(steps):
        start = (step + 1) * 100 * MS
        export.marked(f"step {step}", start, start + 99 * MS)
        export.marked("forward", start + MS, start + 40 * MS)
        export.copy(start + 2 * MS, start + 12 * MS, 64 * 1024**2)
        export.launch(start + MS, step + 1)
        export.kernel("ampere_bf16_s16816gemm_bf16_128x256", start + 12 * MS, start + 42 * MS, step + 1)
        export.kernel("void flash_fwd_kernel<traits>", start + 42 * MS, start + 52 * MS)
        export.kernel("void at::native::reduce_kernel<512, 1>", start + 52 * MS, start + 62 * MS)
    return export
