"""A made-up cluster that the fake server answers for: two hosts with two GPUs each, one of which changes its job."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from tests.unit.sources.prometheus.fake import Query, result, vector

SCRAPE_S = 15.0
GPUS = (
    {
        "UUID": "GPU-a0",
        "gpu": "0",
        "Hostname": "alpha",
        "instance": "alpha:9400",
        "modelName": "NVIDIA L40S",
        "rack": "r1",
    },
    {
        "UUID": "GPU-a1",
        "gpu": "1",
        "Hostname": "alpha",
        "instance": "alpha:9400",
        "modelName": "NVIDIA L40S",
        "rack": "r1",
    },
    {
        "UUID": "GPU-b0",
        "gpu": "0",
        "Hostname": "beta",
        "instance": "beta:9400",
        "modelName": "NVIDIA L40S",
        "rack": "r2",
    },
    {
        "UUID": "GPU-b0",
        "gpu": "0",
        "GPU_I_ID": "3",
        "Hostname": "beta",
        "instance": "beta:9400",
        "modelName": "NVIDIA L40S",
    },
)
JOBS = ("train-7b", "train-7b", "serve", "serve")
METRICS = {
    "DCGM_FI_DEV_GPU_UTIL": "50",
    "DCGM_FI_DEV_FB_USED": "1024",
    "DCGM_FI_DEV_MEMORY_TEMP": "9223372036854775794",
}
HOST_VALUE = "42"


def answer(gpus: Callable[[dict[str, str]], bool] = lambda _labels: True) -> Any:
    """The answers of a server that knows the cluster, for `answering`; `gpus` chooses those that are there."""
    now_s = time.time()

    def found(endpoint: str, query: Query) -> Any:
        if endpoint == "series":
            return [{"__name__": "DCGM_FI_DEV_GPU_UTIL", **labels} for labels in _chosen(query["match[]"][0], gpus)]
        expression = query["query"][0]
        if endpoint == "query":
            return _instant(expression, gpus, now_s)
        grid = _grid(query)
        if "node_" in expression:
            return result(
                *(({"instance": f"{host}:9100"}, [(t, HOST_VALUE) for t in grid]) for host in ("alpha", "gamma"))
            )
        name = next(metric for metric in METRICS if metric in expression)
        series = [(labels, [(t, METRICS[name]) for t in grid]) for labels in _chosen(expression, gpus)]
        return result(*series)

    return found


def _instant(expression: str, gpus: Callable[[dict[str, str]], bool], now_s: float) -> Any:
    chosen = _chosen(expression, gpus)
    if expression.startswith("topk"):
        return vector(*(({"__name__": "DCGM_FI_DEV_GPU_UTIL", **labels}, (now_s, "50")) for labels in chosen[:1]))
    if expression.endswith("[10m]"):
        return result((chosen[0], [(now_s - place * SCRAPE_S, "50") for place in reversed(range(8))]))
    if expression.startswith("count"):
        return vector(*(({"__name__": name}, (now_s, "4")) for name in METRICS))
    if "timestamp(" in expression:
        return vector(
            *(({"instance": host}, (now_s, str(now_s))) for host in {labels["instance"] for labels in chosen})
        )
    if "avg_over_time(" in expression:
        return vector(*((labels, (now_s, METRICS["DCGM_FI_DEV_GPU_UTIL"])) for labels in chosen))
    if "node_" in expression:
        return vector(({"instance": "alpha:9100"}, (now_s, HOST_VALUE)))
    return vector(
        *(({"__name__": name, **labels}, (now_s, value)) for labels in chosen for name, value in METRICS.items())
    )


def _chosen(expression: str, gpus: Callable[[dict[str, str]], bool]) -> list[dict[str, str]]:
    wanted = dict(re.findall(r'(hpc_job|Hostname|UUID)="([^"]*)"', expression))
    labelled = [{**labels, "hpc_job": job} for labels, job in zip(GPUS, JOBS, strict=True) if gpus(labels)]
    return [labels for labels in labelled if all(labels.get(name) == value for name, value in wanted.items())]


def _grid(query: Query) -> list[float]:
    start, end, step = (float(query[name][0]) for name in ("start", "end", "step"))
    return [start + place * step for place in range(int((end - start) / step + 1e-9) + 1)]
