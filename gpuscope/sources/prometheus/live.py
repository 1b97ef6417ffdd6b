"""Figures of a cluster as they come: what the sampler is for one machine, Prometheus is for many."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import defaultdict
from typing import Any

import msgspec
import numpy as np

from gpuscope.domain.gpu_labels import gpu_device, gpu_key, host_of
from gpuscope.domain.gpu_metrics import METRICS
from gpuscope.domain.host_metrics import host_expressions
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample, HostSample, SourceState
from gpuscope.domain.sample_fields import GPU_FIGURES, is_whole
from gpuscope.domain.sentinels import is_blank
from gpuscope.errors import SourceError
from gpuscope.sources.prometheus.history import RATE_INTERVALS, scrape_interval_s
from gpuscope.sources.prometheus.selection import UTILIZATION_METRICS, Selection
from gpuscope.sources.prometheus.server import Series, Server

SOURCE = "prometheus"
STALE_INTERVALS = 3
"""A server goes on giving the last value for five minutes: what is older than so many scrapes counts as missing."""


class PrometheusClient:
    """A stream of frames with the newest figures of the chosen GPUs; goes on when the server is away for a while.

    Use it from one thread, as the sampler's client.
    """

    def __init__(self, server: Server, selection: Selection, interval_s: float | None = None) -> None:
        """Nothing is asked yet; `interval_s`: None takes the interval at which the server scrapes."""
        self._server = server
        self._selection = selection
        self._interval_s = interval_s
        self._scrape_s = interval_s or 0.0
        self._queue: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="prometheus", daemon=True)
        self._known: set[str] = set()
        self._sentence: str | None = None

    @property
    def interval_s(self) -> float:
        """Seconds between frames; known once `start` has returned."""
        return self._interval_s or self._scrape_s

    def start(self) -> None:
        """Ask for the first time and go on asking.

        Raises:
            SourceError: the server cannot be reached or has no such GPUs now.
        """
        self._scrape_s = scrape_interval_s(self._server, self._selection, time.time())
        frame = self._frame()
        if not frame.gpus:
            raise SourceError(
                f"{self._server.url} has no present figures of such GPUs: check that it scrapes dcgm-exporter."
            )
        self._queue.put(frame)
        self._thread.start()

    def poll(self) -> list[Frame]:
        """The frames that have come since the last call; never blocks."""
        frames: list[Frame] = []
        with contextlib.suppress(queue.Empty):
            while True:
                frames.append(self._queue.get_nowait())
        return frames

    def notes(self) -> list[tuple[str, dict[str, Any]]]:
        """Nothing ever happens to it that the session has an event for; its state comes with the frames."""
        return []

    def set_root_pid(self, pid: int | None) -> None:
        """No process of another machine can be followed."""

    def stop(self) -> None:
        """End; an answer that is being waited for is left to itself."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        next_s = time.monotonic()
        while True:
            next_s = max(next_s + self.interval_s, time.monotonic())  # what came too late is left out
            if self._stop.wait(next_s - time.monotonic()):
                return
            try:
                self._queue.put(self._frame())
            except SourceError as error:
                self._queue.put(self._silent_frame(str(error)))

    def _frame(self) -> Frame:
        now_s = time.time()
        samples, labels = self._gpus(now_s)
        new = sorted(labels.keys() - self._known)
        self._known.update(new)
        devices = tuple(gpu_device(labels[key], len(self._known) + place) for place, key in enumerate(new))
        return Frame(
            monotonic_s=time.monotonic(),
            wall_s=now_s,
            gpus=samples,
            host=self._only_host({host_of(found) or "" for found in labels.values()}, now_s),
            devices=devices or None,
            states=self._state(""),
        )

    def _silent_frame(self, sentence: str) -> Frame:
        return Frame(monotonic_s=time.monotonic(), wall_s=time.time(), states=self._state(sentence))

    def _state(self, sentence: str) -> tuple[SourceState, ...] | None:
        """Told when it changes only."""
        if sentence == self._sentence:
            return None
        self._sentence = sentence
        return (SourceState(source=SOURCE, ok=not sentence, code="error" if sentence else "ok", sentence=sentence),)

    def _gpus(self, now_s: float) -> tuple[tuple[GpuSample, ...], dict[str, dict[str, str]]]:
        """The newest figures of each GPU that is present, and its labels by the GPU's key."""
        fresh = self._fresh_exporters(now_s)
        figures: dict[str, dict[str, float]] = defaultdict(dict)
        labels: dict[str, dict[str, str]] = defaultdict(dict)
        for series in self._server.instant(self._selection.selector("|".join(METRICS)), now_s):
            metric = METRICS[series.labels["__name__"]]
            key = gpu_key(series.labels)
            labels[key].update(series.labels)
            if series.labels.get("instance") in fresh and metric.field in GPU_FIGURES and _is_value(series):
                figures[key].setdefault(metric.field, float(series.values[0]) * metric.scale)
        present = {key: found for key, found in labels.items() if found.get("instance") in fresh}
        return tuple(_sample(key, figures[key]) for key in sorted(present)), present

    def _fresh_exporters(self, now_s: float) -> set[str | None]:
        """The `instance` labels of exporters that the server has read lately."""
        newest = " or ".join(
            f"max by (instance) (timestamp({self._selection.selector(name)}))" for name in UTILIZATION_METRICS
        )
        oldest_s = now_s - STALE_INTERVALS * self._scrape_s
        read = self._server.instant(newest, now_s)
        return {series.labels.get("instance") for series in read if float(series.values[0]) >= oldest_s}

    def _only_host(self, names: set[str], now_s: float) -> HostSample | None:
        """Figures of the host, where all GPUs are in one machine that node-exporter watches."""
        if len(names) != 1:
            return None
        figures: dict[str, Any] = {}
        for name, expression in host_expressions(f"{max(1, round(RATE_INTERVALS * self._scrape_s))}s").items():
            for series in self._server.instant(expression, now_s):
                if (host_of(series.labels) or "") in names and _is_value(series):
                    value = float(series.values[0])
                    figures[name] = round(value) if is_whole(name) else value
        return HostSample(**figures) if figures else None


def _is_value(series: Series) -> bool:
    return bool(len(series.values)) and not np.isnan(series.values[0]) and not is_blank(series.values[0])


def _sample(key: str, figures: dict[str, float]) -> GpuSample:
    whole = {name: round(value) if is_whole(name) else value for name, value in figures.items()}
    missing = {} if "utilization_gpu_percent" in figures else {"utilization_gpu_percent": Reason.NO_DATA}
    return msgspec.structs.replace(GpuSample(uuid=key, unavailable=missing), **whole)
