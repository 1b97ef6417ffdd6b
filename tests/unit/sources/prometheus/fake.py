"""A Prometheus server of the test's own: answers with what it was given, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

Query = dict[str, list[str]]
Answer = tuple[int, bytes] | Any


class FakeServer:
    """Attributes: url, where it listens; asked, the endpoints and queries so far; headers of the last request."""

    def __init__(self, answer: Callable[[str, Query], Answer]) -> None:
        """`answer` gives the data of a successful answer, or (status, body)."""
        self.asked: list[tuple[str, Query]] = []
        self.headers: dict[str, str] = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.headers = dict(self.headers)
                parts = urllib.parse.urlsplit(self.path)
                query = urllib.parse.parse_qs(parts.query)
                outer.asked.append((parts.path, query))
                found = answer(parts.path.rpartition("/")[2], query)
                status, body = found if isinstance(found, tuple) else (200, _success(found))
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", body.decode())
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        """No longer answer."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def answering(answer: Callable[[str, Query], Answer]) -> Iterator[FakeServer]:
    """A server for the time of a with-block."""
    server = FakeServer(answer)
    try:
        yield server
    finally:
        server.close()


def result(*series: tuple[dict[str, str], list[tuple[float, str]]]) -> dict[str, Any]:
    """Data of a range answer."""
    return {"resultType": "matrix", "result": [{"metric": labels, "values": points} for labels, points in series]}


def vector(*series: tuple[dict[str, str], tuple[float, str]]) -> dict[str, Any]:
    """Data of an instant answer."""
    return {"resultType": "vector", "result": [{"metric": labels, "value": point} for labels, point in series]}


def _success(data: Any) -> bytes:
    return json.dumps({"status": "success", "data": data}).encode()
