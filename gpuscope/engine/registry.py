"""Which sessions this user made: for "recent", and to find runs whose supervisor died."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import msgspec

from gpuscope import paths
from gpuscope.domain.base import Value, from_json, to_json
from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome
from gpuscope.errors import SessionError
from gpuscope.store.reader import SessionReader, SessionState

KEPT_SESSIONS = 200


class SessionEntry(Value, frozen=True, kw_only=True):
    """What is remembered of a session; the session file itself says the rest."""

    session_id: str
    path: str
    title: str
    kind: str
    created_wall_s: float


class SessionSummary(Value, frozen=True, kw_only=True):
    """A remembered session that still exists."""

    path: Path
    title: str
    kind: str
    created_wall_s: float
    state: SessionState
    outcome: OutcomeKind | None = None
    """How it ended, of one that has."""


def remember(path: Path, manifest: Manifest) -> None:
    """Note a new session; failing to do so harms nothing but the list of recent ones."""
    title = manifest.run.display if manifest.run else path.stem
    entry = SessionEntry(
        session_id=manifest.session_id,
        path=str(path.resolve()),
        title=title,
        kind=manifest.kind,
        created_wall_s=manifest.created_wall_s,
    )
    with contextlib.suppress(OSError):
        (_folder() / f"{manifest.session_id}.json").write_bytes(to_json(entry))
        _prune()


def sessions(kinds: tuple[str, ...] = ("run", "record"), limit: int = 50) -> list[SessionSummary]:
    """Remembered sessions whose file is still there, newest first."""
    found = []
    for entry in _entries():
        path = Path(entry.path)
        if entry.kind in kinds and path.is_file():
            with contextlib.suppress(SessionError), SessionReader(path) as reader:
                outcome = reader.document("outcome", RunOutcome)
                summary = SessionSummary(
                    path=path,
                    title=entry.title,
                    kind=entry.kind,
                    created_wall_s=entry.created_wall_s,
                    state=reader.state(),
                    outcome=None if outcome is None else outcome.kind,
                )
                found.append(summary)
        if len(found) >= limit:
            break
    return found


def _folder() -> Path:
    folder = paths.state_dir() / "sessions"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _entries() -> list[SessionEntry]:
    found = []
    files: list[Path] = []
    with contextlib.suppress(OSError):  # without a state folder nothing is remembered
        files = list(_folder().glob("*.json"))
    for file in files:
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            found.append(from_json(file.read_bytes(), SessionEntry))
    return sorted(found, key=lambda entry: entry.created_wall_s, reverse=True)


def _prune() -> None:
    week_s = 7 * 86400
    for number, entry in enumerate(_entries()):
        gone = not Path(entry.path).exists() and time.time() - entry.created_wall_s > week_s
        if number >= KEPT_SESSIONS or gone:
            (_folder() / f"{entry.session_id}.json").unlink(missing_ok=True)
