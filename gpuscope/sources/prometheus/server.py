"""Questions to a Prometheus server through its HTTP API (v1), which Thanos, Mimir and VictoriaMetrics speak as well."""

from __future__ import annotations

import base64
import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from gpuscope.domain.series import FloatArray
from gpuscope.errors import SourceError, UsageError

TIMEOUT_S = 60.0
MOST_ANSWER_BYTES = 512 * 1024**2
MOST_POINTS = 11_000
"""A server refuses a range query with more points than this in a series (web/api/v1/api.go of Prometheus)."""


class Series(NamedTuple):
    """One series of an answer: its labels, Unix times in seconds, and values (NaN where the server says NaN)."""

    labels: dict[str, str]
    wall_s: FloatArray
    values: FloatArray


class _Result(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = []
    value: tuple[float, str] | None = None


class _Data(msgspec.Struct):
    result: list[_Result]


class _Answer(msgspec.Struct):
    status: str
    error: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")


class Server:
    """A Prometheus server.

    Attributes:
        url: its address without credentials, for messages and manifests.
    """

    def __init__(self, url: str, token: str | None = None, timeout_s: float = TIMEOUT_S) -> None:
        """Nothing is asked yet.

        Args:
            url: `http://host:9090`, a path before `/api` included; `user:password@` becomes basic authentication.
            token: for bearer authentication.
            timeout_s: longest wait for one answer.

        Raises:
            UsageError: it is no such address.
        """
        parts = _checked(url)
        host = parts.hostname or ""
        netloc = f"[{host}]" if ":" in host else host
        self.url = parts._replace(netloc=netloc + (f":{parts.port}" if parts.port else "")).geturl().rstrip("/")
        self._timeout_s = timeout_s
        self._headers = {"Accept": "application/json", "User-Agent": "gpuscope"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        elif parts.username is not None:
            pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
            self._headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        self._opener = urllib.request.build_opener(_SameServer)

    def instant(self, expression: str, wall_s: float | None = None) -> list[Series]:
        """Values of an expression at one moment, by default now. A range selector gives the raw points in it.

        Raises:
            SourceError: the server cannot be reached, refuses, or answers something else.
        """
        return _series(self._get("query", _without_none({"query": expression, "time": wall_s})))

    def over(self, expression: str, start_s: float, end_s: float, step_s: float) -> list[Series]:
        """Values of an expression every `step_s` from `start_s` to `end_s`, Unix seconds, ends included.

        Asked in as many pieces as the server's limit of points needs; a series may come once for each piece.

        Raises:
            SourceError: see `instant`.
        """
        found: list[Series] = []
        piece_s = step_s * (MOST_POINTS - 1)
        while start_s <= end_s:
            last_s = min(end_s, start_s + piece_s)
            query = {"query": expression, "start": start_s, "end": last_s, "step": step_s}
            found += _series(self._get("query_range", query))
            start_s += step_s * MOST_POINTS
        return found

    def label_sets(self, selectors: Iterable[str], start_s: float, end_s: float) -> list[dict[str, str]]:
        """Labels of all series that match any selector and have a point between two moments.

        Raises:
            SourceError: see `instant`.
        """
        pairs = [*(("match[]", selector) for selector in selectors), ("start", start_s), ("end", end_s)]
        try:
            return msgspec.json.decode(self._get("series", pairs), type=list[dict[str, str]])
        except msgspec.MsgspecError as error:
            raise SourceError(self._strange()) from error

    def _get(self, endpoint: str, query: Mapping[str, Any] | list[tuple[str, Any]]) -> msgspec.Raw:
        url = f"{self.url}/api/v1/{endpoint}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, headers=self._headers)  # noqa: S310 - http and https only, see _checked
        try:
            with self._opener.open(request, timeout=self._timeout_s) as response:
                body = response.read(MOST_ANSWER_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise SourceError(self._refusal(error)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            cause = getattr(error, "reason", error)
            why = getattr(cause, "strerror", None) or cause
            sentence = f"The Prometheus server at {self.url} cannot be reached ({why}): check the address."
            raise SourceError(sentence) from error
        if len(body) > MOST_ANSWER_BYTES:
            raise SourceError(
                f"The answer of {self.url} is over 512 MiB: ask for less time, fewer GPUs or a longer step."
            )
        return self._data(body)

    def _data(self, body: bytes) -> msgspec.Raw:
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except msgspec.MsgspecError as error:
            raise SourceError(self._strange()) from error
        if answer.status != "success":
            raise SourceError(f"The Prometheus server at {self.url} says: {answer.error[:300] or 'no result'}.")
        return answer.data

    def _refusal(self, error: urllib.error.HTTPError) -> str:
        if error.code in {401, 403}:
            return f"{self.url} wants to know who asks (HTTP {error.code}): give a token with --token-file."
        said = ""
        try:
            said = msgspec.json.decode(error.read(100_000), type=_Answer).error
        except (OSError, msgspec.MsgspecError):
            said = str(error.reason)
        return f"The Prometheus server at {self.url} refused (HTTP {error.code}): {said[:300]}."

    def _strange(self) -> str:
        return f"What answers at {self.url} is no Prometheus server: give the address that its web page has."


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one host only, so that a token never travels to another."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The request to go on with; None ends in the redirect's own status."""
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if old.hostname != new.hostname or (old.scheme == "https" and new.scheme != "https"):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _checked(url: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(url)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        known = False
    if not known:
        raise UsageError(f"{url!r} is no address of a Prometheus server: give one like http://prometheus:9090.")
    return parts._replace(query="", fragment="")


def _series(data: msgspec.Raw) -> list[Series]:
    try:
        results = msgspec.json.decode(data, type=_Data).result
        return [_one(result) for result in results]
    except (msgspec.MsgspecError, ValueError) as error:
        raise SourceError(
            "The Prometheus server gave an answer of another form than expected: is it up to date?"
        ) from error


def _one(result: _Result) -> Series:
    points = result.values or ([result.value] if result.value is not None else [])
    wall_s = np.array([point[0] for point in points], dtype=np.float64)
    values = np.array([float(point[1]) for point in points], dtype=np.float64)
    return Series(result.metric, wall_s, values)


def _without_none(query: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}
