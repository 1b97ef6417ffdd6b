"""The first page of a new session."""

from __future__ import annotations

import time
import uuid
from datetime import datetime
from pathlib import Path

from gpuscope import __version__
from gpuscope.domain.run import Manifest, RunSpec
from gpuscope.sources.host import read_host
from gpuscope.store.schema import SUFFIX


def new_manifest(
    kind: str,
    interval_s: float,
    run: RunSpec | None = None,
    followed_pid: int | None = None,
    keep_s: float | None = None,
) -> Manifest:
    """A manifest for a session that begins now."""
    return Manifest(
        session_id=uuid.uuid4().hex,
        kind=kind,
        created_wall_s=time.time(),
        created_monotonic_s=time.monotonic(),
        gpuscope_version=__version__,
        host=read_host(),
        interval_s=interval_s,
        run=run,
        followed_pid=followed_pid,
        keep_s=keep_s,
    )


def default_session_name(folder: Path, stem: str) -> Path:
    """A file name that is not taken yet: `train-20261130-154512.gpuscope`."""
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in stem)[:60] or "session"
    path = folder / f"{safe}-{stamp}{SUFFIX}"
    number = 2
    while path.exists():
        path = folder / f"{safe}-{stamp}-{number}{SUFFIX}"
        number += 1
    return path
