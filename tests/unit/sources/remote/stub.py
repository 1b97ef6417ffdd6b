"""The far side without ssh: a bare Python of this machine behind the same pipes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from gpuscope.domain.sample import Frame
from gpuscope.sources.remote.client import RemoteClient
from gpuscope.sources.remote.hosts import RemoteHost
from gpuscope.sources.remote.parcel import START

PATIENCE_S = 30.0


def far_command(python: str = sys.executable, before: str = "") -> list[str]:
    """The command; `before` is code that runs first."""
    return [python, "-I", "-S", "-c", before + START]


def client(name: str = "box", command: list[str] | None = None) -> RemoteClient:
    """A client that reads every 0.1 s and the host every 0.2 s."""
    return RemoteClient(RemoteHost(f"me@{name}", name), 0.1, 0.2, command=command or far_command())


def collect(source: RemoteClient, enough: Callable[[list[Frame]], bool]) -> list[Frame]:
    """Poll until the frames so far are enough."""
    frames: list[Frame] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while not enough(frames):
        assert time.monotonic() < deadline_s, "in vain"
        frames += source.poll()
        time.sleep(0.01)
    return frames


def old_python() -> str | None:
    """The oldest Python that the far side may have, where there is one."""
    paths = [Path("/usr/bin/python3.9"), *(Path.home() / ".pyenv" / "versions").glob("3.9.*/bin/python3.9")]
    return next((str(path) for path in paths if path.exists()), None)
