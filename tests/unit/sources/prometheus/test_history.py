"""The past of chosen GPUs out of a server."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.units import MIB
from gpuscope.errors import SourceError, UsageError
from gpuscope.sources.prometheus.history import MOST_MOMENTS, MOST_ROWS, default_step_s, read_history
from gpuscope.sources.prometheus.selection import Selection, of_job, parse_matcher
from gpuscope.sources.prometheus.server import Server
from tests.unit.sources.prometheus import cluster
from tests.unit.sources.prometheus.fake import answering

START_S, END_S = 400.0, 1000.0


def test_all_gpus_with_their_hosts_and_figures() -> None:
    shares: list[float] = []
    with answering(cluster.answer()) as fake:
        history = read_history(Server(fake.url), Selection(), START_S, END_S, progress=shares.append)
    assert set(history.devices) == {"GPU-a0", "GPU-a1", "GPU-b0", "GPU-b0 MIG 3"}
    device = history.devices["GPU-a1"]
    assert (device.hostname, device.rack, device.index, device.name) == ("alpha", "r1", 1, "NVIDIA L40S")
    assert history.devices["GPU-b0 MIG 3"].kind == "mig"
    assert history.scrape_interval_s == history.step_s == cluster.SCRAPE_S
    table = history.gpus["GPU-a0"]
    assert table.wall_s.tolist() == np.arange(START_S, END_S + 1, 15.0).tolist()
    assert set(table.columns["memory_used_bytes"]) == {1024 * MIB}
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_numbers_that_mean_no_value_are_none() -> None:
    with answering(cluster.answer()) as fake:
        history = read_history(Server(fake.url), Selection(), START_S, END_S)
    assert all("temperature_memory_c" not in table.columns for table in history.gpus.values())


def test_hosts_without_a_chosen_gpu_are_left_out() -> None:
    with answering(cluster.answer()) as fake:
        history = read_history(Server(fake.url), Selection(), START_S, END_S)
    assert set(history.hosts) == {"alpha"}  # gamma is watched, too, but has no GPU; of beta nothing is known
    assert set(history.hosts["alpha"].columns["cpu_percent"]) == {42.0}


def test_the_gpus_of_a_job() -> None:
    with answering(cluster.answer()) as fake:
        server = Server(fake.url)
        selection = of_job(server, "train-7b", START_S, END_S)
        history = read_history(server, selection, START_S, END_S)
    assert selection.matchers == ('hpc_job="train-7b"',)
    assert set(history.devices) == {"GPU-a0", "GPU-a1"}


def test_a_job_that_is_not_there_names_those_that_are() -> None:
    with answering(cluster.answer()) as fake, pytest.raises(UsageError, match="there are serve, train-7b"):
        of_job(Server(fake.url), "other", START_S, END_S)


def test_a_server_without_gpus() -> None:
    with answering(cluster.answer(lambda _labels: False)) as fake, pytest.raises(SourceError, match="dcgm-exporter"):
        read_history(Server(fake.url), Selection(), START_S, END_S)


def test_an_end_before_the_start() -> None:
    with pytest.raises(UsageError, match="exchange --from and --to"):
        read_history(Server("http://localhost:1"), Selection(), END_S, START_S)


@pytest.mark.parametrize(
    ("typed", "matcher"),
    [
        ("Hostname=node7", 'Hostname="node7"'),
        ("pod=~train-.*", 'pod=~"train-.*"'),
        ('pod!="a"', 'pod!="a"'),
        ('job=x"} or vector(1)', 'job="x\\"} or vector(1)"'),
    ],
)
def test_matchers_as_typed(typed: str, matcher: str) -> None:
    assert parse_matcher(typed) == matcher


@pytest.mark.parametrize("typed", ["", "node7", "=x", "9a=b"])
def test_what_is_no_matcher(typed: str) -> None:
    with pytest.raises(UsageError, match="is no label matcher"):
        parse_matcher(typed)


@given(
    st.floats(min_value=60, max_value=1e7),
    st.floats(min_value=1, max_value=300),
    st.integers(min_value=1, max_value=20_000),
)
def test_the_step_is_whole_scrapes_and_keeps_the_table_small(span_s: float, scrape_s: float, gpus: int) -> None:
    step_s = default_step_s(span_s, scrape_s, gpus)
    assert step_s / scrape_s == pytest.approx(round(step_s / scrape_s))
    assert span_s / step_s <= MOST_MOMENTS + 1e-6
    assert gpus * span_s / step_s <= max(MOST_ROWS, gpus) * (1 + 1e-6)
