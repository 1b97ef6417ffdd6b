"""Made-up frames of a server with eight busy GPUs, as the sampler sends them: for measuring, never shown to anybody.

How they are made: a training job of 0.5 s steps. Utilisation is 100% with dips at the steps' ends; power and
temperature follow the load as first-order lags (0.5 s, 20 s) with Gaussian noise of 6 W (instant: 15 W) and readings
in milliwatts and whole degrees; clocks move in steps of 15 MHz with the power limit; memory changes at the beginning
and then now and then by some 2 MiB pages; PCIe rates and hardware counters are log-normal. Fast figures are in every
frame, medium ones once a second, slow ones (fans, ECC, process lists) every 5 s; the host has 128 threads, once a
second. Each call of the driver takes 8 µs with Gaussian jitter of 1 µs, each tick starts up to 0.3 ms late.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import (
    DiskSample,
    Frame,
    GpuSample,
    HostSample,
    NetworkSample,
    ProcessSample,
    SamplerSample,
)

GPUS = 8
CORES = 128
INTERVAL_S = 0.1
_MIB = 1024**2
_ABSENT = {"encoder_percent": Reason.NOT_SUPPORTED, "fan_percent": Reason.NOT_SUPPORTED}
_CALL_S = 8e-6
_CALLS = 7
_CHUNK = 1000


def frames(seconds: float, zero_s: float, wall_zero_s: float, seed: int = 1) -> Iterator[Frame]:
    """Frames of so many seconds, each once it is asked for; the host's come between those of the GPUs."""
    generator = np.random.default_rng(seed)
    gpus = [_Gpu(index, generator) for index in range(GPUS)]
    count = round(seconds / INTERVAL_S)
    for start in range(0, count, _CHUNK):
        for gpu in gpus:
            gpu.prepare(start)
        late = generator.uniform(0, 3e-4, _CHUNK).tolist()
        for number in range(start, min(start + _CHUNK, count)):
            at_s = number * INTERVAL_S + late[number - start]
            samples = tuple(gpu.sample(number, zero_s + at_s) for gpu in gpus)
            yield Frame(monotonic_s=zero_s + at_s, wall_s=wall_zero_s + at_s, gpus=samples)
            if number % 10 == 0:
                yield _host_frame(number, zero_s + at_s + 0.02, wall_zero_s + at_s + 0.02, generator)


class _Gpu:
    def __init__(self, index: int, generator: np.random.Generator) -> None:
        self.uuid = f"GPU-{index:08x}-0000-4000-8000-000000000000"
        self._index = index
        self._random = generator
        self._power_w = 120.0
        self._temperature_c = 40.0
        self._energy_j = 1e6 * index
        self._used = 60_000 * _MIB

    def prepare(self, start: int) -> None:
        """Draw what the next frames need at once: drawing one by one would be most of the work."""
        draw = self._random
        self._start = start
        phase = np.arange(start, start + _CHUNK) % 5
        load = np.where(phase == 4, draw.uniform(0.2, 0.7, _CHUNK), 1.0)
        powers, temperatures = np.empty(_CHUNK), np.empty(_CHUNK)
        for number in range(_CHUNK):
            self._power_w += (130 + 550 * load[number] - self._power_w) * 0.2
            self._temperature_c += (30 + self._power_w / 18 - self._temperature_c) * 0.005
            powers[number], temperatures[number] = self._power_w, self._temperature_c
        self._utilization = np.where(phase == 4, np.round(100 * load), 100.0).tolist()
        self._controller = np.round(np.clip(draw.normal(45, 6, _CHUNK) * load, 0, 100)).tolist()
        self._power = np.round(powers + draw.normal(0, 6, _CHUNK), 3).tolist()
        self._instant = np.round(powers + draw.normal(0, 15, _CHUNK), 3).tolist()
        self._heat = np.round(temperatures).tolist()
        self._clock = (1980 - 15 * np.round(np.clip(powers + draw.normal(0, 6, _CHUNK) - 640, 0, 90) / 15)).tolist()
        self._calls = np.cumsum(_CALL_S + np.abs(draw.normal(0, 1e-6, (_CHUNK, 1 + _CALLS))), axis=1)
        self._rates = draw.lognormal(20, 0.8, (_CHUNK // 10 + 1, 4)).tolist()
        self._shares = np.clip(draw.lognormal(3.7, 0.1, (_CHUNK // 10 + 1, 8)), 0, 100).tolist()
        self._moves = draw.random(_CHUNK) < 0.002

    def sample(self, number: int, frame_s: float) -> GpuSample:
        place = number - self._start
        if self._moves[place]:
            self._used += 2 * _MIB * (number % 7 - 3)
        self._energy_j += self._power[place] * INTERVAL_S
        began_s = frame_s + self._index * (1 + _CALLS) * _CALL_S
        further = {
            **(self._medium(place) if number % 10 == 0 else {}),
            **(self._slow(number) if number % 50 == 0 else {}),
        }
        return GpuSample(
            uuid=self.uuid, utilization_gpu_percent=self._utilization[place],
            utilization_memory_percent=self._controller[place], memory_total_bytes=81_559 * _MIB,
            memory_used_bytes=self._used, memory_reserved_bytes=614 * _MIB,
            memory_free_bytes=(81_559 - 614) * _MIB - self._used, power_w=self._power[place],
            power_instant_w=self._instant[place], clock_sm_mhz=self._clock[place],
            clock_graphics_mhz=self._clock[place], clock_memory_mhz=2619.0,
            clock_event_reasons=4 if self._clock[place] < 1980 else 0, performance_state=0,
            read_start_s=began_s + float(self._calls[place, 0]), read_end_s=began_s + float(self._calls[place, -1]),
            unavailable=_ABSENT, **further,
        )  # fmt: skip

    def _medium(self, place: int) -> dict[str, float]:
        rates, shares = self._rates[place // 10], self._shares[place // 10]
        return {
            "energy_j": round(self._energy_j, 3), "temperature_c": self._heat[place],
            "temperature_memory_c": self._heat[place] + 12, "power_limit_w": 700.0,
            "pcie_rx_bytes_per_s": rates[0], "pcie_tx_bytes_per_s": rates[1], "nvlink_rx_bytes_per_s": rates[2],
            "nvlink_tx_bytes_per_s": rates[3], "throttle_power_s": round(self._energy_j / 1e5, 6),
            "sm_activity_percent": shares[0], "sm_occupancy_percent": shares[1], "tensor_activity_percent": shares[2],
            "dram_bandwidth_percent": shares[3], "fp16_activity_percent": shares[4],
            "fp32_activity_percent": shares[5], "fp64_activity_percent": shares[6], "gpm_graphics_percent": shares[7],
        }  # fmt: skip

    def _slow(self, number: int) -> dict[str, object]:
        process = ProcessSample(
            pid=4000 + self._index, name="python3", user="trainer", kind="compute", gpu_memory_bytes=self._used
        )
        return {
            "processes": (process,), "pcie_generation": 5, "pcie_width": 16, "ecc_corrected_volatile": 0,
            "ecc_uncorrected_volatile": 0, "pcie_replays": number // 100_000,
        }  # fmt: skip


def _host_frame(number: int, at_s: float, wall_s: float, draw: np.random.Generator) -> Frame:
    cores = np.round(np.clip(draw.gamma(2.0, 8.0, CORES), 0, 100), 1)
    rates = draw.lognormal(16, 1.0, 12).tolist()
    host = HostSample(
        cpu_percent=round(float(cores.mean()), 1), cpu_percent_per_core=tuple(cores.tolist()),
        load_1min=round(float(draw.normal(20, 0.2)), 2), memory_total_bytes=2048 * 1024 * _MIB,
        memory_used_bytes=int(draw.normal(3e11, 1e7)) // 4096 * 4096,
        memory_available_bytes=int(draw.normal(1.9e12, 1e7)) // 4096 * 4096, swap_total_bytes=0, swap_used_bytes=0,
        disk_read_bytes_per_s=sum(rates[:4]), disk_write_bytes_per_s=sum(rates[4:8]),
        network_receive_bytes_per_s=sum(rates[8:10]), network_send_bytes_per_s=sum(rates[10:]),
        disks=tuple(
            DiskSample(name=f"nvme{index}n1", read_bytes_per_s=rates[index], write_bytes_per_s=rates[4 + index])
            for index in range(4)
        ),
        networks=tuple(
            NetworkSample(name=f"eth{index}", receive_bytes_per_s=rates[8 + index], send_bytes_per_s=rates[10 + index])
            for index in range(2)
        ),
    )  # fmt: skip
    sampler = SamplerSample(cpu_percent=1.2, rss_bytes=30 * _MIB, driver_share_percent=0.6, driver_calls=600 * number)
    return Frame(monotonic_s=at_s, wall_s=wall_s, host=host, sampler=sampler)
