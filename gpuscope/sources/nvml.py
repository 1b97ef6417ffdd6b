"""NVIDIA GPUs through NVML, kept going: starts the driver again when it or a GPU goes away and comes back."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample, SourceState
from gpuscope.errors import SourceError
from gpuscope.sources.binding import load_binding
from gpuscope.sources.device_reader import DeviceReader, missing_sample
from gpuscope.sources.driver import (
    DRIVER_GONE,
    SOURCE,
    Driver,
    DriverError,
    lost_state,
    no_gpu_state,
    state_of,
)
from gpuscope.sources.nvml_devices import Found, mig_layout, read_devices
from gpuscope.sources.nvml_fields import Tier
from gpuscope.sources.ticker import BackOff

LAYOUT_INTERVAL_S = 10.0
"""MIG instances are created and removed while the driver runs: looked for this often."""
SETTLED_S = 30.0
"""A GPU that needs a reset can be opened and then fails: only after so long has a start really worked."""


class NvmlSource:
    """All GPUs of this machine. Used by one thread, because driver calls serialise anyway.

    Attributes:
        driver: None when there is no usable binding.
        generation: how often the driver was initialised again.
        state: whether GPUs can be read, and what to do if not.
    """

    def __init__(self, sysfs: Path = Path("/sys")) -> None:
        self.generation = 0
        self.driver: Driver | None = None
        self.state = SourceState(source=SOURCE, ok=True)
        self._sysfs = sysfs
        self._readers: dict[str, DeviceReader] = {}
        self._found: list[Found] = []
        self._gone: dict[str, Reason] = {}
        self._known: dict[str, Device] = {}
        self._initialised = False
        self._told_state: SourceState | None = None
        self._told_devices: tuple[Device, ...] | None = None
        self._started_s = 0.0
        self._next_attempt_s = 0.0
        self._next_layout_s = 0.0
        self._back_off = BackOff()
        self._turn = 0
        try:
            self.driver = Driver(load_binding())
        except SourceError as error:
            self.state = SourceState(source=SOURCE, ok=False, code="wrong_binding", sentence=str(error))
            self._next_attempt_s = float("inf")  # what was imported stays imported

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices as last read, GPUs in NVML's order, each followed by its MIG instances."""
        return tuple(found.device for found in self._found)

    def read(self, tier: Tier) -> Frame | None:
        """Read one tier of all devices (of one device in turn for PCIe); None when there is nothing to say.

        Starts the driver when it is time to try. Never raises: what goes wrong is in the frame.
        """
        if self._needs_start() and time.monotonic() >= self._next_attempt_s:
            self._start()
        if tier is Tier.SLOW and self._initialised:
            self._check_layout(time.monotonic())
        start_s, wall_s = time.monotonic(), time.time()
        if self.state.ok and start_s - self._started_s > SETTLED_S:
            self._back_off.reset()
        gpus = self._read_one() if tier is Tier.PCIE else self._read_all(tier)
        devices, states = self._news()
        if not gpus and devices is None and states is None:
            return None
        return Frame(monotonic_s=start_s, wall_s=wall_s, gpus=gpus or None, devices=devices, states=states)

    def close(self) -> None:
        """Let go of the driver."""
        if self.driver is not None and self._initialised:
            self.driver.shut_down()
            self._initialised = False

    def _needs_start(self) -> bool:
        return not self._initialised or not self.state.ok

    def _start(self) -> None:
        """Initialise the driver (again), find the devices, and match them by UUID with those known before."""
        driver = self.driver
        if driver is None:
            return
        again = bool(self._known)
        self.close()
        try:
            driver.initialise()
            self._initialised = True
            self.generation += 1 if again else 0
            self._adopt(*read_devices(driver, self.generation))
        except DriverError as error:
            self._driver_failed(error)
            return
        self._started_s = time.monotonic()
        if not self.state.ok:
            self._next_attempt_s = self._started_s + self._back_off.next_s()

    def _adopt(self, found: list[Found], refused: dict[int, Reason]) -> None:
        driver = self.driver
        if driver is None:
            return
        self._found = found
        self._readers = {item.device.uuid: DeviceReader(driver, item, self._sysfs) for item in found}
        reason = next(iter(refused.values()), Reason.GPU_LOST)
        present = set(self._readers)  # an instance that was removed from a present GPU is not gone: it is no more
        vanished = [item for item in self._known.values() if not present & {item.uuid, item.parent_uuid}]
        self._gone = {device.uuid: reason for device in vanished}
        self._known = {device.uuid: device for device in (*vanished, *(item.device for item in found))}
        self._next_layout_s = time.monotonic() + LAYOUT_INTERVAL_S
        self.state = self._state_after_start(refused)

    def _state_after_start(self, refused: dict[int, Reason]) -> SourceState:
        if self._gone:
            return self._gone_state()
        if refused:
            reason = next(iter(refused.values()))
            return lost_state([f"GPU {index}" for index in refused], reason, self.generation)
        if not self._found:
            return no_gpu_state(self.generation)
        return SourceState(source=SOURCE, ok=True, generation=self.generation)

    def _gone_state(self) -> SourceState:
        gone = [self._known[uuid] for uuid in self._gone]
        names = [f"GPU {device.index} ({device.name})" for device in gone if device.kind == "gpu"]
        names = names or [f"MIG instance {device.uuid}" for device in gone]
        return lost_state(names, next(iter(self._gone.values())), self.generation)

    def _driver_failed(self, error: DriverError) -> None:
        """The driver as a whole: every device that was there is missing until it has been started again."""
        self.state = state_of(error, self.generation)
        self._gone = dict.fromkeys(self._known, error.reason)
        self._readers = {}
        self._next_attempt_s = time.monotonic() + self._back_off.next_s()

    def _device_failed(self, uuid: str, error: DriverError) -> None:
        self._gone[uuid] = error.reason
        self._readers.pop(uuid, None)
        self.state = self._gone_state()
        now_s = time.monotonic()
        if self._next_attempt_s <= now_s:  # several GPUs may go in the same moment: one attempt for all
            self._next_attempt_s = now_s + self._back_off.next_s()

    def _read_all(self, tier: Tier) -> tuple[GpuSample, ...]:
        samples = [self._read_device(uuid, reader, tier) for uuid, reader in list(self._readers.items())]
        if tier is Tier.MEDIUM:  # often enough to repeat that a device cannot be read
            told = {sample.uuid for sample in samples if sample is not None}
            samples += [missing_sample(uuid, reason) for uuid, reason in self._gone.items() if uuid not in told]
        return tuple(sample for sample in samples if sample is not None)

    def _read_one(self) -> tuple[GpuSample, ...]:
        """The next GPU in turn; instances have no PCIe link of their own."""
        uuids = [uuid for uuid, reader in self._readers.items() if reader.device.kind == "gpu"]
        if not uuids:
            return ()
        self._turn = (self._turn + 1) % len(uuids)
        uuid = uuids[self._turn]
        sample = self._read_device(uuid, self._readers[uuid], Tier.PCIE)
        return (sample,) if sample is not None else ()

    def _read_device(self, uuid: str, reader: DeviceReader, tier: Tier) -> GpuSample | None:
        """One device; None while it sleeps or once the driver has gone, but for the sample that says so."""
        if uuid not in self._readers:
            return missing_sample(uuid, self._gone.get(uuid, Reason.GPU_LOST))
        if reader.asleep():
            return missing_sample(uuid, Reason.SUSPENDED) if tier is Tier.MEDIUM else None
        try:
            return reader.read(tier)
        except DriverError as error:
            if error.reason in DRIVER_GONE:
                self._driver_failed(error)
            else:
                self._device_failed(uuid, error)
            return missing_sample(uuid, error.reason)

    def _check_layout(self, now_s: float) -> None:
        """Look for created and removed MIG instances."""
        if self.driver is None or now_s < self._next_layout_s:
            return
        self._next_layout_s = now_s + LAYOUT_INTERVAL_S
        gpus = [found for found in self._found if found.device.kind == "gpu" and found.device.uuid in self._readers]
        try:
            if mig_layout(self.driver, gpus) != self._layout(gpus):
                self._adopt(*read_devices(self.driver, self.generation))
        except DriverError as error:
            if error.reason in DRIVER_GONE:
                self._driver_failed(error)  # a GPU that has gone shows at its next reading

    def _layout(self, gpus: list[Found]) -> tuple[tuple[str, ...], ...]:
        instances = [found.device for found in self._found if found.device.kind == "mig"]
        return tuple(
            tuple(device.uuid for device in instances if device.parent_uuid == gpu.device.uuid) for gpu in gpus
        )

    def _news(self) -> tuple[tuple[Device, ...] | None, tuple[SourceState, ...] | None]:
        """What has changed since it was last said."""
        state = self.state if self.state != self._told_state else None
        comparable = tuple(msgspec.structs.replace(device, generation=0) for device in self.devices)
        devices = self.devices if comparable != (self._told_devices or ()) else None
        self._told_state, self._told_devices = self.state, comparable
        return devices, (state,) if state is not None else None
