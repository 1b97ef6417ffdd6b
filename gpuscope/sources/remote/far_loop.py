"""What runs on a far machine: reads its GPUs and its host and writes lines of JSON to standard output.

It ends when standard input ends, or when nothing has come through it for a minute: nothing of it stays.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
import traceback
from typing import Any

from gpuscope.sources.host_facts import read_facts
from gpuscope.sources.host_reader import HostReader
from gpuscope.sources.remote.far_gpus import FAST, MEDIUM, SLOW, FarGpu
from gpuscope.sources.ticker import BackOff, Ticker

MEDIUM_S, SLOW_S = 1.0, 2.0
FORGOTTEN_AFTER_S = 60.0
"""The near side sends something every few seconds: the connection has gone when nothing came for so long."""


class Pipe:
    """Standard output, kept for messages alone: whatever a library prints goes to standard error instead."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:
        """Write one message as a line; ends the process when nobody reads any more."""
        data = memoryview(json.dumps(message).encode() + b"\n")
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                os._exit(0)  # the near side has gone, which is the ordinary end


class FarSampler:
    """The threads of the far side and what they share."""

    def __init__(self, pipe: Pipe, interval_s: float, host_interval_s: float) -> None:
        """Nothing is read yet; intervals are seconds."""
        self._pipe = pipe
        self._intervals_s = {FAST: interval_s, MEDIUM: max(MEDIUM_S, interval_s), SLOW: max(SLOW_S, interval_s)}
        self._host_interval_s = host_interval_s
        self._driver_since_s: float | None = None
        self._heard_s = time.monotonic()

    def run(self) -> None:
        """Read until standard input ends."""
        self._pipe.send(hello=read_facts(), pid=os.getpid())
        for work in (self._watch_host, self._watch_gpus):
            threading.Thread(target=work, daemon=True).start()
        for line in sys.stdin.buffer:
            self._heard_s = time.monotonic()
            self._pipe.send(pong=json.loads(line), t=self._heard_s, wall_s=time.time())

    def _watch_host(self) -> None:
        reader = HostReader()
        ticker = Ticker(self._host_interval_s, time.monotonic())
        while time.monotonic() - self._heard_s < FORGOTTEN_AFTER_S:
            now_s = time.monotonic()
            if ticker.due(now_s):
                since_s = self._driver_since_s
                busy_s = 0.0 if since_s is None else now_s - since_s
                self._pipe.send(t=now_s, host=reader.read(now_s), driver_busy_s=busy_s)
            time.sleep(max(0.0, ticker.next_s - time.monotonic()))
        os._exit(0)

    def _watch_gpus(self) -> None:
        try:
            nvml = importlib.import_module("pynvml")
        except ImportError:
            self._pipe.send(t=time.monotonic(), no_binding=True)
            return
        back_off = BackOff()
        while True:
            started_s = time.monotonic()
            try:
                self._read_gpus(nvml)
            except nvml.NVMLError as error:
                self._pipe.send(t=time.monotonic(), nvml_code=int(error.value))
            self._driver_since_s = None
            if time.monotonic() - started_s > BackOff.LAST_S:
                back_off.reset()
            time.sleep(back_off.next_s())

    def _read_gpus(self, nvml: Any) -> None:
        """Read all GPUs until one of them or the driver goes, or for ever.

        Raises:
            NVMLError: it went.
        """
        self._driver_since_s = time.monotonic()
        nvml.nvmlInit()
        try:
            gpus = [FarGpu(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
            self._pipe.send(t=time.monotonic(), nvml_code=0, devices=[gpu.facts() for gpu in gpus])
            tickers = {tier: Ticker(seconds, time.monotonic()) for tier, seconds in self._intervals_s.items()}
            while True:
                for tier, ticker in tickers.items():
                    now_s = self._driver_since_s = time.monotonic()
                    if gpus and ticker.due(now_s):
                        self._pipe.send(t=now_s, gpus=[gpu.read(tier) for gpu in gpus])
                self._driver_since_s = None
                next_s = min(ticker.next_s for ticker in tickers.values()) if gpus else time.monotonic() + SLOW_S
                time.sleep(max(0.0, next_s - time.monotonic()))
        finally:
            nvml.nvmlShutdown()


def _end_with_traceback(arguments: threading.ExceptHookArgs) -> None:
    """A thread that died must not look like a quiet one: end, so that the near side starts again."""
    traceback.print_exception(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
    sys.stderr.flush()
    os._exit(1)


def main(options: dict[str, float]) -> None:
    """Run until standard input ends."""
    threading.excepthook = _end_with_traceback
    FarSampler(Pipe(), options["interval_s"], options["host_interval_s"]).run()
    os._exit(0)  # an ordinary end would wait for a driver call that hangs
