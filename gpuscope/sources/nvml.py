"""NVIDIA GPUs through NVML, kept going: starts the driver again when it or a GPU goes away and comes back."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample, SourceState
from gpuscope.sources.device_reader import DeviceReader, missing_sample
from gpuscope.sources.device_set import DeviceSet
from gpuscope.sources.driver import DRIVER_GONE, SOURCE, Driver, DriverError, asleep_state, state_of
from gpuscope.sources.figures import Tier
from gpuscope.sources.gpu_links import machine_topology
from gpuscope.sources.nvml_devices import Found, mig_layout, read_devices
from gpuscope.sources.sleeping import all_asleep
from gpuscope.sources.ticker import BackOff
from gpuscope.sources.xid_watcher import XidWatcher

LAYOUT_INTERVAL_S = 10.0
"""MIG instances are created and removed while the driver runs, and handles go bad: looked for this often."""
ASLEEP_CHECK_S = 2.0
"""Sleeping GPUs are looked at this often, in sysfs."""
SETTLED_S = 30.0
"""A GPU that needs a reset can be opened and then fails: only after so long has a start really worked."""


class NvmlSource:
    """All GPUs of this machine. Used by one thread, because driver calls serialise anyway.

    Attributes:
        driver: NVML's functions, and account of their use.
        generation: how often the driver was initialised again.
        state: whether GPUs can be read, and what to do if not.
    """

    def __init__(self, driver: Driver, sysfs: Path = Path("/sys"), xid: XidWatcher | None = None) -> None:
        """Read through a driver; `xid` is told which GPUs to listen to."""
        self.driver = driver
        self._xid = xid
        self.generation = 0
        self.state = SourceState(source=SOURCE, ok=True)
        self._sysfs = sysfs
        self._set = DeviceSet()
        self._initialised = False
        self._back_off = BackOff()
        self._started_s = self._next_attempt_s = self._next_layout_s = 0.0
        self._turn = 0
        self._told_state: SourceState | None = None
        self._told_found: list[Found] = []
        self._told_devices: tuple[Device, ...] = ()

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices as last read, GPUs in NVML's order, each followed by its MIG instances."""
        return self._set.devices

    def read(self, tier: Tier) -> Frame | None:
        """Read one tier of all devices (of one GPU in turn for PCIe); None when there is nothing to say.

        Starts the driver when it is time to try. Never raises: what goes wrong is in the frame.
        """
        if time.monotonic() >= self._next_attempt_s and not (self._initialised and self.state.ok):
            self._start()
        if tier is Tier.SLOW and self._initialised:
            self._check_layout()
        start_s, wall_s = time.monotonic(), time.time()
        if self.state.ok and start_s - self._started_s > SETTLED_S:
            self._back_off.reset()
        gpus = self._read_one() if tier is Tier.PCIE else self._read_all(tier)
        devices, states = self._news_of_devices(), self._news_of_state()
        if not gpus and devices is None and states is None:
            return None
        topology = None if devices is None else machine_topology(self.driver, self._set.gpus, self._sysfs)
        return Frame(
            monotonic_s=start_s, wall_s=wall_s, gpus=gpus or None, devices=devices, topology=topology, states=states
        )

    def close(self) -> None:
        """Let go of the driver."""
        if self._initialised:
            if self._xid is not None:
                self._xid.pause()
            self._set.release()
            self.driver.shut_down()
            self._initialised = False

    def _start(self) -> None:
        """Initialise the driver (again) and find the devices."""
        if not self._initialised and all_asleep(self._sysfs):
            self.state = asleep_state(self.generation)
            self._next_attempt_s = time.monotonic() + ASLEEP_CHECK_S
            return
        again = bool(self._set.found)
        self.close()
        try:
            self.driver.initialise()
            self._initialised = True
            self.generation += 1 if again else 0
            self._find_devices()
        except DriverError as error:
            self._driver_failed(error)
            return
        self._started_s = time.monotonic()
        if not self.state.ok:
            self._next_attempt_s = self._started_s + self._back_off.next_s()

    def _find_devices(self) -> None:
        found, refused = read_devices(self.driver, self.generation)
        self._set.adopt(self.driver, found, refused, self._sysfs)
        self.state = self._set.state(self.generation)
        self._next_layout_s = time.monotonic() + LAYOUT_INTERVAL_S
        if self._xid is not None:
            self._xid.watch([gpu for gpu in self._set.gpus if gpu.device.xid_reported])

    def _driver_failed(self, error: DriverError) -> None:
        """The driver as a whole: every device that was there is missing until it has been started again."""
        self.state = state_of(error, self.generation)
        self._set.lose_all(error.reason)
        self._next_attempt_s = time.monotonic() + self._back_off.next_s()

    def _device_failed(self, uuid: str, error: DriverError) -> None:
        self._set.lose(uuid, error.reason)
        self.state = self._set.state(self.generation)
        now_s = time.monotonic()
        if self._next_attempt_s <= now_s:  # several GPUs may go in the same moment: one attempt for all
            self._next_attempt_s = now_s + self._back_off.next_s()

    def _read_all(self, tier: Tier) -> tuple[GpuSample, ...]:
        samples = [self._read_device(uuid, reader, tier) for uuid, reader in list(self._set.readers.items())]
        if tier is Tier.MEDIUM:  # often enough to repeat that a device cannot be read
            told = {sample.uuid for sample in samples if sample is not None}
            gone = self._set.gone.items()
            samples += [missing_sample(uuid, reason) for uuid, reason in gone if uuid not in told]
        return tuple(sample for sample in samples if sample is not None)

    def _read_one(self) -> tuple[GpuSample, ...]:
        """The next GPU in turn of those whose PCIe rates have to be measured."""
        gpus = [gpu for gpu in self._set.gpus if self._set.readers[gpu.device.uuid].measures_pcie]
        if not gpus:
            return ()
        self._turn = (self._turn + 1) % len(gpus)
        uuid = gpus[self._turn].device.uuid
        sample = self._read_device(uuid, self._set.readers[uuid], Tier.PCIE)
        return (sample,) if sample is not None else ()

    def _read_device(self, uuid: str, reader: DeviceReader, tier: Tier) -> GpuSample | None:
        """One device; None while it sleeps, but for the sample that says so."""
        if uuid not in self._set.readers:  # the driver has failed at a device before this one
            return missing_sample(uuid, self._set.gone[uuid])
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

    def _check_layout(self) -> None:
        """Look for created and removed MIG instances, and for devices again whose handles have gone bad."""
        now_s = time.monotonic()
        if now_s < self._next_layout_s:
            return
        self._next_layout_s = now_s + LAYOUT_INTERVAL_S
        try:
            silent = any(reader.silent for reader in self._set.readers.values())
            if silent or mig_layout(self.driver, self._set.gpus) != self._set.mig_layout():
                self._find_devices()
        except DriverError as error:
            if error.reason in DRIVER_GONE:
                self._driver_failed(error)  # a GPU that has gone shows at its next reading

    def _news_of_state(self) -> tuple[SourceState, ...] | None:
        if self.state == self._told_state:
            return None
        self._told_state = self.state
        return (self.state,)

    def _news_of_devices(self) -> tuple[Device, ...] | None:
        """The devices if they differ from those told last; being initialised again makes no difference."""
        if self._set.found is self._told_found:
            return None
        self._told_found = self._set.found
        devices = tuple(msgspec.structs.replace(device, generation=0) for device in self.devices)
        changed = devices != self._told_devices
        self._told_devices = devices
        return self.devices if changed else None
