"""What is read of CUDA, against a stand-in for torch: nothing before the script has a context, little afterwards."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpuscope.probe.recorder.devices import (
    MemoryWatch,
    device_event_fields,
    framework_fields,
    tf32_allowed,
)

STATS = {
    "allocated_bytes.all.current": 10,
    "reserved_bytes.all.current": 20,
    "allocated_bytes.all.peak": 30,
    "reserved_bytes.all.peak": 40,
    "num_alloc_retries": 1,
    "num_ooms": 2,
}


class FakeCuda:
    """Fails where a call would create a context that the script does not have yet."""

    def __init__(self) -> None:
        self.initialized = False
        self.reads: list[int] = []

    def is_initialized(self) -> bool:
        return self.initialized

    def _need_context(self) -> None:
        assert self.initialized, "this call would initialise CUDA"

    def device_count(self) -> int:
        self._need_context()
        return 2

    def current_device(self) -> int:
        self._need_context()
        return 0

    def get_device_properties(self, index: int) -> Any:
        self._need_context()
        return SimpleNamespace(name="Card", uuid=f"00000000-{index}", total_memory=64)

    def memory_stats(self, index: int) -> dict[str, int]:
        self._need_context()
        self.reads.append(index)
        return STATS


@pytest.fixture
def torch() -> Any:
    return SimpleNamespace(
        __version__="2.9",
        version=SimpleNamespace(cuda="12.8"),
        cuda=FakeCuda(),
        get_float32_matmul_precision=lambda: "high",
    )


def _parameter(index: int | None) -> Any:
    return SimpleNamespace(device=SimpleNamespace(type="cpu" if index is None else "cuda", index=index))


def test_nothing_is_touched_before_the_script_uses_cuda(torch: Any) -> None:
    watch = MemoryWatch(torch)
    assert framework_fields(torch)["devices"] == []
    assert watch.due(1.0) == []
    assert watch.read() == []
    assert tf32_allowed(torch) is None


def test_counters_of_the_devices_in_use_at_most_twice_a_second(torch: Any) -> None:
    torch.cuda.initialized = True
    watch = MemoryWatch(torch)
    watch.use([_parameter(1), _parameter(None)])
    first = watch.due(100.0)
    assert [fields["device"] for fields in first] == ["cuda:0", "cuda:1"]
    assert first[0] == {
        "device": "cuda:0",
        "allocated_bytes": 10,
        "reserved_bytes": 20,
        "peak_allocated_bytes": 30,
        "peak_reserved_bytes": 40,
        "alloc_retries": 1,
        "ooms": 2,
    }
    assert watch.due(100.4) == []
    assert len(watch.due(100.6)) == 2
    assert torch.cuda.reads == [0, 1, 0, 1]


def test_devices_are_named_as_the_driver_names_them(torch: Any) -> None:
    torch.cuda.initialized = True
    assert framework_fields(torch)["devices"][1] == {"name": "Card", "uuid": "GPU-00000000-1", "memory_bytes": 64}
    fields = device_event_fields(torch, [_parameter(1)])
    assert fields == {"type": "cuda", "index": 1, "name": "Card", "uuid": "GPU-00000000-1"}
    assert tf32_allowed(torch) is True
