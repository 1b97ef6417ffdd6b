"""One running ssh and its pipes."""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import subprocess
import threading
import time
from collections import deque

from gpuscope.errors import SourceError
from gpuscope.sources.remote.messages import MOST_LINE_BYTES, Message, read_message

POLITE_S = 3.0
"""What ssh gets to end after its input has ended, and again after it was killed."""
MOST_ERROR_LINES = 40
MOST_GREETING_LINES = 1000
"""Start-up files of shells print things: what comes before the first message is passed over."""


class Connection:
    """Sends the parcel and takes messages. Pipes cannot be read without blocking everywhere, so threads do."""

    def __init__(self, command: list[str], parcel: bytes) -> None:
        """Start it; the parcel goes out in the background.

        Raises:
            SourceError: there is no ssh here, or it cannot be started.
        """
        try:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl+C in a terminal is gpuscope's alone: it ends the far side in order
            )
        except OSError as error:
            raise SourceError(
                f"{command[0]} cannot be started ({error.strerror or error}): install OpenSSH's client."
            ) from error
        self._queue: queue.SimpleQueue[tuple[float, Message]] = queue.SimpleQueue()
        self._errors: deque[str] = deque(maxlen=MOST_ERROR_LINES)
        self._parcel = parcel
        self.damage: str | None = None
        """What was wrong with the stream."""
        self._threads = [
            threading.Thread(target=work, name="remote", daemon=True) for work in (self._read, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    def messages(self) -> list[tuple[float, Message]]:
        """What has come, each with the monotonic time at which it did; never blocks."""
        found: list[tuple[float, Message]] = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._queue.get_nowait())
        return found

    def ping(self) -> None:
        """Ask for the far clock; lost when the connection has just ended, which `ended` then shows."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._child.stdin.write(json.dumps(time.monotonic()).encode() + b"\n")
                self._child.stdin.flush()

    def ended(self) -> bool:
        """True once nothing more will come."""
        return not any(thread.is_alive() for thread in self._threads) and self._queue.empty()

    def last_words(self) -> tuple[str, int | None]:
        """The end of what came through standard error, and ssh's exit status."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(0.2)  # its output has ended: it is about to be gone
        return "\n".join(self._errors), self._child.returncode

    def close(self) -> None:
        """End it: the far side ends with its input; what hangs is killed."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        try:
            self._child.wait(POLITE_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(POLITE_S)
        for thread in self._threads:
            thread.join(POLITE_S)
        for stream in (self._child.stdout, self._child.stderr):
            if stream is not None and not any(thread.is_alive() for thread in self._threads):
                stream.close()

    def _read(self) -> None:
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            return
        try:
            stdin.write(self._parcel)
            stdin.flush()
            lines = iter(lambda: stdout.readline(MOST_LINE_BYTES), b"")
            greeting = itertools.islice(lines, MOST_GREETING_LINES)
            hello = next((line for line in greeting if line.startswith(b'{"hello"')), None)
            if hello is None:
                return
            for line in itertools.chain([hello], lines):
                self._queue.put((time.monotonic(), read_message(line)))
        except ValueError as error:
            self.damage = str(error)
            self._child.kill()
        except OSError:
            return  # the connection has ended; the reason is in its errors

    def _read_errors(self) -> None:
        stderr = self._child.stderr
        if stderr is None:
            return
        with contextlib.suppress(OSError, ValueError):
            while line := stderr.readline(MOST_LINE_BYTES):
                self._errors.append(line.decode("utf-8", errors="replace")[:1000].rstrip())
