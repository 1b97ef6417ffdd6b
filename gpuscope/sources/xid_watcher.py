"""Listens for Xid errors: the driver reports them once, to those who wait."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

from gpuscope.domain.device import Device
from gpuscope.domain.sample import SourceEvent
from gpuscope.sources.device_facts import XID_EVENT
from gpuscope.sources.driver import TIMEOUT, Driver, DriverError
from gpuscope.sources.figures import Handle
from gpuscope.sources.nvml_devices import Found
from gpuscope.sources.structures import EventData
from gpuscope.sources.xid import xid_sentence

WAIT_MS = 250
"""How long the driver is asked to wait: as long as its end may have to be waited for."""
AFTER_ERROR_S = 5.0
NO_INSTANCE = 0xFFFFFFFF
"""What the driver puts in place of an instance's number."""


class XidWatcher:
    """Waits for events in a thread of its own, with an account of driver calls of its own: they wait by design."""

    def __init__(self, driver: Driver, tell: Callable[[SourceEvent], None]) -> None:
        """`tell` is called from this thread for each event."""
        self._driver = driver
        self._tell = tell
        self._state = threading.Condition()
        self._set: Any = None
        self._heard: dict[int, Device] = {}
        self._waiting = self._stopping = False
        self._thread = threading.Thread(target=self._run, name="xid", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def watch(self, gpus: list[Found]) -> None:
        """Listen to these GPUs from now on; called by the thread that has initialised the driver."""
        self.pause()
        if not gpus:
            return
        events = ctypes.c_void_p()
        heard: dict[int, Device] = {}
        with contextlib.suppress(DriverError):
            self._driver.raw("nvmlEventSetCreate", ctypes.byref(events))
            for gpu in gpus:
                with contextlib.suppress(DriverError):  # the others can be listened to all the same
                    self._driver.raw("nvmlDeviceRegisterEvents", gpu.handle, ctypes.c_ulonglong(XID_EVENT), events)
                    heard[_address(gpu.handle)] = gpu.device
        with self._state:
            self._set, self._heard = (events if heard else None), heard
            self._state.notify_all()

    def pause(self) -> None:
        """Stop listening before the driver is shut down; waits for the driver's own wait to end, but not for ever."""
        with self._state:
            events, self._set = self._set, None
            self._state.wait_for(lambda: not self._waiting, timeout=4 * WAIT_MS / 1000)
        if events is not None:
            with contextlib.suppress(DriverError):
                self._driver.raw("nvmlEventSetFree", events)

    def stop(self) -> None:
        """End the thread; a wait that hangs in the driver is left behind."""
        with self._state:
            self._stopping = True
            self._state.notify_all()

    def join(self, timeout_s: float) -> bool:
        """True when the thread has ended."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        data = EventData()
        while True:
            with self._state:
                self._state.wait_for(lambda: self._stopping or self._set is not None)
                if self._stopping:
                    return
                events, self._waiting = self._set, True
            try:
                self._driver.raw("nvmlEventSetWait_v2", events, ctypes.byref(data), WAIT_MS)
                code = 0
            except DriverError as error:
                code = error.code
            with self._state:
                self._waiting = False
                self._state.notify_all()
                device = self._heard.get(data.device or 0) if code == 0 else None
                if code not in {0, TIMEOUT}:  # a lost GPU answers at once, again and again
                    self._state.wait_for(lambda: self._stopping, timeout=AFTER_ERROR_S)
            if code == 0 and data.eventType & XID_EVENT:
                self._tell(_event(data, device))


def _event(data: EventData, device: Device | None) -> SourceEvent:
    code = int(data.eventData)
    of_instance = device is not None and device.mig_enabled and data.gpuInstanceId != NO_INSTANCE
    return SourceEvent(
        monotonic_s=time.monotonic(),
        kind="xid",
        uuid=None if device is None else device.uuid,
        code=code,
        sentence=xid_sentence(code),
        gpu_instance=int(data.gpuInstanceId) if of_instance else None,
    )


def _address(handle: Handle) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0
