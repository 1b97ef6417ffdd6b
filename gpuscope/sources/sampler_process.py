"""One sampler process and its pipes."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
from typing import Any

from gpuscope import paths
from gpuscope.domain.sample import Frame
from gpuscope.errors import SourceError
from gpuscope.sources.wire import Decoder, WireError

PIECE_BYTES = 65536
POLITE_S = 2.0
"""What a sampler gets to end after its input has ended, and again after it was killed."""


class SamplerProcess:
    """A running sampler. Pipes cannot be read without blocking on every system, so a thread does."""

    def __init__(self, arguments: list[str]) -> None:
        """Start it.

        Raises:
            SourceError: the operating system refuses.
        """
        try:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 # lives as long as the process
        except OSError as error:
            raise SourceError(f"The sampler cannot be started: no temporary file can be written ({error}).") from error
        try:
            self._child = subprocess.Popen(
                [*paths.app_command(), "_sampler", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=paths.app_environment(),
            )
        except OSError as error:
            self._errors.close()
            raise SourceError(f"The sampler cannot be started: {error.strerror or error}.") from error
        self._queue: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self._damage: str | None = None
        self._reader = threading.Thread(target=self._read, name="sampler-reader", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._child.pid

    def frames(self) -> list[Frame]:
        """What has come; never blocks."""
        frames: list[Frame] = []
        with contextlib.suppress(queue.Empty):
            while True:
                frames.append(self._queue.get_nowait())
        return frames

    def send(self, message: dict[str, Any]) -> None:
        """One line of control; lost when the sampler has just died, which `ended` then shows."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._child.stdin.write(json.dumps(message).encode() + b"\n")
                self._child.stdin.flush()

    def ended(self) -> bool:
        """True once nothing more will come: it has closed its output and everything has been taken."""
        return not self._reader.is_alive() and self._queue.empty()

    def epitaph(self) -> str:
        """Why it ended, in a few words."""
        if self._damage is not None:
            return f"its output was damaged: {self._damage}"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(0.2)  # its output has ended: it is about to be gone
        status = self._child.returncode
        if status is not None and status < 0:
            return f"it was ended by signal {-status}"
        last_line = self._last_error()
        return f"it ended with status {status}" + (f": {last_line}" if last_line else "")

    def kill(self) -> None:
        """End it without waiting; `reap` or `close` must follow."""
        self._child.kill()

    def reap(self) -> bool:
        """True once a killed process is gone and all it held is released; never blocks."""
        if self._child.poll() is None or self._reader.is_alive():
            return False
        self._release()
        return True

    def close(self) -> None:
        """End it politely, then by force; a process that hangs in the kernel is left to the system."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        try:
            self._child.wait(POLITE_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(POLITE_S)
        self._reader.join(POLITE_S)
        if not self._reader.is_alive():
            self._release()

    def _read(self) -> None:
        decoder = Decoder()
        stdout = self._child.stdout
        if stdout is None:
            return
        try:
            while piece := stdout.read1(PIECE_BYTES):  # type: ignore[attr-defined] # a BufferedReader, typed as IO
                for frame in decoder.feed(piece):
                    self._queue.put(frame)
        except WireError as error:
            self._damage = str(error)
        except (OSError, ValueError):
            return  # closed under us: the end all the same

    def _release(self) -> None:
        for stream in (self._child.stdin, self._child.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _last_error(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""
