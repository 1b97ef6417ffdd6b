"""Which GPUs of a cluster are meant, and what the server knows of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpuscope.domain.device import Device
from gpuscope.domain.gpu_labels import JOB_LABELS, gpu_device, gpu_key
from gpuscope.domain.gpu_metrics import METRICS
from gpuscope.errors import SourceError, UsageError
from gpuscope.sources.prometheus.server import Server

UTILIZATION_METRICS = tuple(name for name, metric in METRICS.items() if metric.field == "utilization_gpu_percent")
"""Every exporter has one of these for each of its GPUs."""
_MATCHER = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)(=~|!~|!=|=)(.*)", re.DOTALL)
_LISTED = 10


@dataclass(frozen=True, slots=True)
class Selection:
    """Label matchers of PromQL that choose the GPUs; none: all."""

    matchers: tuple[str, ...] = ()

    def selector(self, metric_pattern: str) -> str:
        """A selector of all metrics whose name matches a regular expression."""
        return "{" + ",".join([f'__name__=~"{metric_pattern}"', *self.matchers]) + "}"


def parse_matcher(text: str) -> str:
    """A matcher as typed (`Hostname=node7`, `pod=~train-.*`) in PromQL's form.

    Raises:
        UsageError: it is none.
    """
    match = _MATCHER.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no label matcher: give one like Hostname=node7 or 'pod=~train-.*'.")
    label, operator, value = match.groups()
    return f"{label}{operator}{_quoted(value.strip().strip(chr(34)))}"


def of_job(server: Server, job: str, start_s: float, end_s: float, matchers: Sequence[str] = ()) -> Selection:
    """The GPUs that a job had between two moments: those where any label of jobs has its name.

    Raises:
        UsageError: no GPU has; the sentence names jobs that are there.
        SourceError: see `Server`.
    """
    jobs = jobs_in(gpu_labels(server, Selection(tuple(matchers)), start_s, end_s))
    label = jobs.get(job)
    if label is not None:
        return Selection((*matchers, f"{label}={_quoted(job)}"))
    known = ", ".join(sorted(jobs)[:_LISTED]) + (", …" if len(jobs) > _LISTED else "")
    hint = f"there are {known}" if jobs else "no GPU has a label of a job"
    raise UsageError(f"No GPU worked for a job {job!r} in that time: {hint}.")


def jobs_in(label_sets: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Names of jobs, each with the label that has it: the most telling one, in the order of `JOB_LABELS`."""
    found: dict[str, str] = {}
    for labels in label_sets:
        for label in JOB_LABELS:
            name = labels.get(label)
            if name and JOB_LABELS.index(found.get(name, label)) >= JOB_LABELS.index(label):
                found[name] = label
    return found


def find_gpus(server: Server, selection: Selection, start_s: float, end_s: float) -> dict[str, Device]:
    """The chosen GPUs that had figures between two moments, by the key of their series.

    Raises:
        SourceError: there are none, or see `Server`.
    """
    return devices_in(server, gpu_labels(server, selection, start_s, end_s))


def devices_in(server: Server, label_sets: Iterable[Mapping[str, str]]) -> dict[str, Device]:
    """The GPUs that label sets are about, by the key of their series.

    Raises:
        SourceError: there are none.
    """
    labels: dict[str, dict[str, str]] = {}
    for found in label_sets:
        labels.setdefault(gpu_key(found), {}).update(found)
    if not labels:
        raise SourceError(
            f"{server.url} has no figures of GPUs for this choice and time: check that it scrapes dcgm-exporter."
        )
    return {key: gpu_device(labels[key], position) for position, key in enumerate(sorted(labels))}


def gpu_labels(server: Server, selection: Selection, start_s: float, end_s: float) -> list[dict[str, str]]:
    """Labels of every series of the chosen GPUs' utilisation that has a point between two moments.

    Raises:
        SourceError: see `Server`.
    """
    return server.label_sets([selection.selector("|".join(UTILIZATION_METRICS))], start_s, end_s)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
