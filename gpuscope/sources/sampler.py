"""The sampler: a disposable child process that reads the driver and the host and streams frames to its parent.

A driver call can hang for ever and cannot be interrupted; then the parent replaces this process. It ends when its
standard input ends, that is, with its parent.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from typing import Any

import psutil

from gpuscope.domain.sample import Frame, SamplerSample, SourceEvent, SourceState
from gpuscope.errors import SourceError
from gpuscope.sources.binding import load_binding
from gpuscope.sources.budget import DriverBudget, stretched_state
from gpuscope.sources.diagnose import print_report
from gpuscope.sources.driver import Driver, binding_state, wedged_state
from gpuscope.sources.figures import Tier
from gpuscope.sources.host import HostSource
from gpuscope.sources.nvml import NvmlSource
from gpuscope.sources.ticker import Ticker
from gpuscope.sources.wire import encode
from gpuscope.sources.xid_watcher import XidWatcher

WATCH_INTERVAL_S = 1.0
WEDGED_AFTER_S = 5.0
"""A driver call that takes longer will probably not come back; initialising many GPUs takes 1 to 3 s."""
ENDING_S = 0.5
"""How long the threads may take to end; a hanging driver call is left behind."""


class FramePipe:
    """Standard output, kept for frames alone: whatever a library prints goes to standard error instead."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fd = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(self, frame: Frame) -> None:
        """Write one frame whole; ends the process when nobody reads any more."""
        data = memoryview(encode(frame))
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._fd, data) :]
            except OSError:
                os._exit(0)  # the parent has gone, which is the ordinary end of a sampler


class Sampler:
    """The threads of the sampler and what they share."""

    def __init__(self, pipe: FramePipe, options: argparse.Namespace) -> None:
        self._pipe = pipe
        self._interval_s: float = options.interval
        self._host_interval_s: float = options.host_interval
        self._wedged_after_s: float = options.wedged_after
        self._root_pid: int | None = options.root_pid
        self._stopping = threading.Event()
        self._gpus_wake = threading.Event()
        self._intervals: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._root_pids: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._nvml: NvmlSource | None = None
        self._xid: XidWatcher | None = None
        self._gpu_tickers: dict[Tier, Ticker] = {}
        self._host_ticker = Ticker(self._host_interval_s, time.monotonic())
        self._wedged = False
        self._cost_before = (time.monotonic(), time.process_time(), 0.0)
        self._threads = [
            threading.Thread(target=self._watch_gpus, name="nvml", daemon=True),
            threading.Thread(target=self._watch_host, name="host", daemon=True),
        ]

    def start(self) -> None:
        """Start reading."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> bool:
        """End the threads; False when one hangs in the driver."""
        self._stopping.set()
        self._gpus_wake.set()
        for thread in self._threads:
            thread.join(ENDING_S)
        xid_ended = self._xid is None or self._end_xid(self._xid)
        return xid_ended and not any(thread.is_alive() for thread in self._threads)

    def _end_xid(self, watcher: XidWatcher) -> bool:
        watcher.stop()
        return watcher.join(ENDING_S)

    def control(self, line: bytes) -> None:
        """Obey one line from the parent; what is not understood is ignored."""
        try:
            message = json.loads(line)
        except ValueError:
            return
        if not isinstance(message, dict):
            return
        root_pid, interval_s = message.get("root_pid"), message.get("interval_s")
        if "root_pid" in message and (root_pid is None or isinstance(root_pid, int)):
            self._root_pids.put(root_pid)
        if isinstance(interval_s, (int, float)) and interval_s > 0:
            self._intervals.put(float(interval_s))
            self._gpus_wake.set()  # an interval of a minute must not have to pass first

    def _watch_gpus(self) -> None:
        try:
            binding = load_binding()
        except SourceError as error:
            self._tell(binding_state(error))
            return
        self._xid = XidWatcher(Driver(binding), self._tell_event)
        self._xid.start()
        source = self._nvml = NvmlSource(Driver(binding), xid=self._xid)
        start_s = time.monotonic()
        budget = DriverBudget(start_s)
        self._gpu_tickers = {tier: Ticker(budget.interval_s(tier, self._interval_s), start_s) for tier in Tier}
        while not self._stopping.is_set():
            self._take_interval(budget)
            for tier, ticker in self._gpu_tickers.items():
                if ticker.due(time.monotonic()):
                    frame = source.read(tier)
                    if frame is not None:
                        self._pipe.send(frame)
            self._keep_to(budget, source)
            next_s = min(ticker.next_s for ticker in self._gpu_tickers.values())
            if not self._stopping.is_set():  # its wake-up may have been cleared above
                self._gpus_wake.wait(max(0.0, next_s - time.monotonic()))
        source.close()

    def _take_interval(self, budget: DriverBudget) -> None:
        self._gpus_wake.clear()
        while not self._intervals.empty():
            self._interval_s = self._intervals.get()
            for tier, ticker in self._gpu_tickers.items():
                ticker.change(budget.interval_s(tier, self._interval_s), time.monotonic())

    def _keep_to(self, budget: DriverBudget, source: NvmlSource) -> None:
        """Read less often what can wait when driver calls take too much time, and say so."""
        now_s = time.monotonic()
        over = budget.check(source.driver.busy_s, now_s)
        if over is None:
            return
        tier, share = over
        interval_s = budget.interval_s(tier, self._interval_s)
        self._gpu_tickers[tier].change(interval_s, now_s)
        self._tell(stretched_state(tier, share, interval_s, source.generation))

    def _tell(self, state: SourceState) -> None:
        self._pipe.send(Frame(monotonic_s=time.monotonic(), wall_s=time.time(), states=(state,)))

    def _tell_event(self, event: SourceEvent) -> None:
        self._pipe.send(Frame(monotonic_s=event.monotonic_s, wall_s=time.time(), events=(event,)))

    def _watch_host(self) -> None:
        source = HostSource(self._root_pid)
        watch = Ticker(WATCH_INTERVAL_S, time.monotonic())
        while not self._stopping.is_set():
            while not self._root_pids.empty():
                source.follow(self._root_pids.get())
            if self._host_ticker.due(time.monotonic()):
                frame = Frame(
                    monotonic_s=time.monotonic(),
                    wall_s=time.time(),
                    host=source.sample(),
                    sampler=self._cost(),
                    states=source.news(),
                )
                self._pipe.send(frame)
            if watch.due(time.monotonic()):
                self._watch_driver()
            next_s = min(self._host_ticker.next_s, watch.next_s)
            self._stopping.wait(max(0.0, next_s - time.monotonic()))

    def _watch_driver(self) -> None:
        """Say it when a driver call hangs, and when it has come back after all."""
        source = self._nvml
        if source is None:
            return
        started_s, now_s = source.driver.call_started_s, time.monotonic()
        hanging_s = now_s - started_s if started_s is not None else 0.0
        wedged = hanging_s > self._wedged_after_s
        if wedged != self._wedged:
            self._wedged = wedged
            self._tell(wedged_state(hanging_s, source.generation) if wedged else source.state)

    def _cost(self) -> SamplerSample:
        """What this process itself uses, over the time since the last time."""
        driver = self._nvml.driver if self._nvml is not None else None
        now = (time.monotonic(), time.process_time(), driver.busy_s if driver is not None else 0.0)
        elapsed_s, cpu_s, driver_s = (after - before for after, before in zip(now, self._cost_before, strict=True))
        self._cost_before = now
        tickers = [*self._gpu_tickers.values(), self._host_ticker]
        figures: dict[str, Any] = {}
        if elapsed_s > 0:
            figures = {"cpu_percent": 100 * cpu_s / elapsed_s, "driver_share_percent": 100 * driver_s / elapsed_s}
        return SamplerSample(
            rss_bytes=psutil.Process().memory_info().rss,
            missed_ticks=sum(ticker.missed for ticker in tickers),
            driver_calls=driver.calls if driver is not None else 0,
            **figures,
        )


def main(argv: list[str]) -> int:
    """Run the sampler until standard input ends, or `--report` on the driver; returns the exit status."""
    if argv == ["--report"]:
        return print_report()
    options = _parser().parse_args(argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides when to end
    threading.excepthook = _end_with_traceback
    sampler = Sampler(FramePipe(), options)
    sampler.start()
    for line in sys.stdin.buffer:
        sampler.control(line)
    if not sampler.stop():
        os._exit(0)  # an ordinary end would wait for the driver's own clean-up
    return 0


def _end_with_traceback(arguments: threading.ExceptHookArgs) -> None:
    """A thread that died must not look like a quiet one: end, so that the parent starts another sampler."""
    traceback.print_exception(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
    sys.stderr.flush()
    os._exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gpuscope _sampler")
    parser.add_argument("--interval", type=float, required=True, help="seconds between fast GPU readings")
    parser.add_argument("--host-interval", type=float, default=1.0, help="seconds between host readings")
    parser.add_argument("--root-pid", type=int, default=None, help="process whose tree is watched")
    parser.add_argument(
        "--wedged-after", type=float, default=WEDGED_AFTER_S, help="seconds until a call counts as hung"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
