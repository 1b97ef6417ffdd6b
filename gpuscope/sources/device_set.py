"""Which devices are there and which have gone, matched by UUID from one initialisation of the driver to the next."""

from __future__ import annotations

from pathlib import Path

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import SourceState
from gpuscope.sources.device_reader import DeviceReader
from gpuscope.sources.driver import SOURCE, Driver, lost_state, no_gpu_state
from gpuscope.sources.nvml_devices import Found, Layout


class DeviceSet:
    """The GPUs and MIG instances of this machine.

    Attributes:
        found: what the driver showed at the last look; a new list at every look.
        readers: by UUID, the devices that can be read now.
        gone: by UUID, the devices that could be read before, and why they cannot be now.
    """

    def __init__(self) -> None:
        self.found: list[Found] = []
        self.readers: dict[str, DeviceReader] = {}
        self.gone: dict[str, Reason] = {}
        self._known: dict[str, Device] = {}
        self._refused: dict[int, Reason] = {}

    @property
    def devices(self) -> tuple[Device, ...]:
        """GPUs in NVML's order, each followed by its MIG instances."""
        return tuple(item.device for item in self.found)

    @property
    def gpus(self) -> list[Found]:
        """The whole GPUs that can be read now."""
        return [item for item in self.found if item.device.kind == "gpu" and item.device.uuid in self.readers]

    def adopt(self, driver: Driver, found: list[Found], refused: dict[int, Reason], sysfs: Path) -> None:
        """Take what the driver shows now; devices known before and missing now have gone.

        An instance that is missing from a GPU that is there was removed: it is not gone, it is no more.
        """
        self.found = found
        self.release()
        self.readers = {item.device.uuid: DeviceReader(driver, item, sysfs) for item in found}
        present = set(self.readers)
        vanished = [device for device in self._known.values() if not present & {device.uuid, device.parent_uuid}]
        self.gone = {device.uuid: refused.get(device.index, Reason.GPU_LOST) for device in vanished}
        self._known = {device.uuid: device for device in (*vanished, *self.devices)}
        self._refused = refused

    def lose(self, uuid: str, reason: Reason) -> None:
        """A device cannot be read any more."""
        self.gone[uuid] = reason
        self.readers.pop(uuid).close()

    def lose_all(self, reason: Reason) -> None:
        """No device can be read any more."""
        self.gone = dict.fromkeys(self._known, reason)
        self.release()

    def release(self) -> None:
        """Let go of all that the driver holds for the devices, before it is shut down."""
        for reader in self.readers.values():
            reader.close()
        self.readers = {}

    def state(self, generation: int) -> SourceState:
        """What is to be said about the devices while the driver itself works."""
        if self.gone:
            gone = [self._known[uuid] for uuid in self.gone]
            names = [f"GPU {device.index} ({device.name})" for device in gone if device.kind == "gpu"]
            names = names or [f"MIG instance {device.uuid}" for device in gone]
            return lost_state(names, next(iter(self.gone.values())), generation)
        if self._refused:
            reason = next(iter(self._refused.values()))
            return lost_state([f"GPU {index}" for index in self._refused], reason, generation)
        if not self.found:
            return no_gpu_state(generation)
        return SourceState(source=SOURCE, ok=True, generation=generation)

    def mig_layout(self) -> Layout:
        """The MIG layout of the readable GPUs as it was found."""
        instances = [device for device in self.devices if device.kind == "mig"]
        return tuple(
            (
                bool(gpu.device.mig_enabled),
                tuple(device.uuid for device in instances if device.parent_uuid == gpu.device.uuid),
            )
            for gpu in self.gpus
        )
