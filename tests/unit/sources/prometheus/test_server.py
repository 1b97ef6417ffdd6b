"""Questions to a server, and what can go wrong with them."""

from __future__ import annotations

import math

import pytest

from gpuscope.errors import SourceError, UsageError
from gpuscope.sources.prometheus.server import MOST_POINTS, Server
from tests.unit.sources.prometheus.fake import answering, result, vector


def test_values_at_a_moment() -> None:
    with answering(lambda *_: vector(({"gpu": "0"}, (12.5, "97")), ({"gpu": "1"}, (12.5, "NaN")))) as fake:
        first, second = Server(fake.url).instant("x", 12.5)
    assert (first.labels, first.wall_s.tolist(), first.values.tolist()) == ({"gpu": "0"}, [12.5], [97.0])
    assert math.isnan(second.values[0])
    assert fake.asked == [("/api/v1/query", {"query": ["x"], "time": ["12.5"]})]


def test_a_long_range_is_asked_in_pieces_that_the_server_allows() -> None:
    with answering(lambda *_: result()) as fake:
        Server(fake.url).over("x", 0.0, 25_000.0, 1.0)
    starts = [(float(query["start"][0]), float(query["end"][0])) for _, query in fake.asked]
    assert starts == [(0.0, 10_999.0), (11_000.0, 21_999.0), (22_000.0, 25_000.0)]
    assert all(end - start < MOST_POINTS for start, end in starts)


@pytest.mark.parametrize(
    "url", ["", "prometheus", "ftp://x", "http://", "http://x:99999", "file:///etc/passwd", "-oProxy"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is no address of a Prometheus server"):
        Server(url)


def test_a_path_before_the_api_and_a_trailing_slash() -> None:
    with answering(lambda *_: result()) as fake:
        Server(fake.url + "/select/0/prometheus/").instant("x")
    assert fake.asked[0][0] == "/select/0/prometheus/api/v1/query"


def test_credentials_are_sent_and_never_told() -> None:
    with answering(lambda *_: (401, b"")) as fake:
        server = Server(fake.url.replace("http://", "http://me:s%40cret@"))
        with pytest.raises(SourceError, match="--token-file") as caught:
            server.instant("x")
        assert fake.headers["Authorization"] == "Basic bWU6c0BjcmV0"
        Server(fake.url, token="abc")
    assert "cret" not in str(caught.value) + server.url


def test_a_redirect_to_another_host_is_not_followed() -> None:
    elsewhere = b"http://localhost:1/api/v1/query"
    with answering(lambda *_: (302, elsewhere)) as fake, pytest.raises(SourceError, match="HTTP 302"):
        Server(fake.url, token="secret").instant("x")


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (200, b"<html>Grafana</html>", "is no Prometheus server"),
        (200, b'{"status":"error","error":"query timed out"}', "query timed out"),
        (422, b'{"status":"error","error":"bad_data: parse error"}', "HTTP 422.*parse error"),
        (502, b"gateway", "HTTP 502"),
        (200, b'{"status":"success","data":{"result":[{"metric":7}]}}', "another form"),
        (200, b'{"status":"success","data":{"result":[{"metric":{},"value":[1,"many"]}]}}', "another form"),
    ],
)
def test_answers_that_are_none(status: int, body: bytes, sentence: str) -> None:
    with answering(lambda *_: (status, body)) as fake, pytest.raises(SourceError, match=sentence):
        Server(fake.url).instant("x")


def test_a_server_that_is_not_there() -> None:
    with answering(lambda *_: result()) as fake:
        url = fake.url
    with pytest.raises(SourceError, match="cannot be reached"):
        Server(url).instant("x")
