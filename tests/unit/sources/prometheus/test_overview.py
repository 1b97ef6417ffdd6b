"""A quick look at a cluster."""

from __future__ import annotations

import pytest

from gpuscope.errors import SourceError
from gpuscope.sources.prometheus.overview import look_around
from gpuscope.sources.prometheus.selection import Selection, jobs_in
from gpuscope.sources.prometheus.server import Server
from tests.unit.sources.prometheus import cluster
from tests.unit.sources.prometheus.fake import answering


def test_gpus_utilisation_and_jobs_in_two_questions() -> None:
    with answering(cluster.answer()) as fake:
        seen = look_around(Server(fake.url), Selection(), 0.0, 1000.0)
    assert {device.uuid for device in seen.devices} == {"GPU-a0", "GPU-a1", "GPU-b0", "GPU-b0 MIG 3"}
    assert seen.utilization_percent == {device.uuid: 50.0 for device in seen.devices}
    assert seen.jobs == ("serve", "train-7b")
    assert len(fake.asked) == 2


def test_no_gpus() -> None:
    with answering(cluster.answer(lambda _labels: False)) as fake, pytest.raises(SourceError, match="dcgm-exporter"):
        look_around(Server(fake.url), Selection(), 0.0, 1000.0)


def test_the_most_telling_label_of_a_job_counts() -> None:
    sets = [{"namespace": "a", "pod": "b"}, {"pod": "a"}, {"namespace": "c", "hpc_job": "", "pod": "b"}]
    assert jobs_in(sets) == {"a": "pod", "b": "pod", "c": "namespace"}
