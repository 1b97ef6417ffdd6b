"""Recordings of other programs as sessions: the same views, footprint and advice as for what was measured here."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from gpuscope import __version__, paths
from gpuscope.domain.device import Host
from gpuscope.domain.imported import ImportedDetails, TraceDetails
from gpuscope.domain.run import IMPORT, Manifest, OutcomeKind, RunOutcome
from gpuscope.engine.footprint_framework import DETAILS
from gpuscope.engine.footprint_import import IMPORTED
from gpuscope.engine.import_clocks import on_one_clock
from gpuscope.engine.import_columns import remember, remembered
from gpuscope.engine.import_frames import devices_of, frames_of, start_of
from gpuscope.engine.import_together import hold_together
from gpuscope.engine.import_tracks import write_tracks
from gpuscope.engine.input_file import is_pipe, opened
from gpuscope.engine.manifest import default_session_name
from gpuscope.errors import UsageError
from gpuscope.importers.compressed import head_of
from gpuscope.importers.mapped_csv import heading as heading_of_table
from gpuscope.importers.reading import Progress, Reading, Track
from gpuscope.importers.recognise import read
from gpuscope.store.schema import SUFFIX, is_session_header
from gpuscope.store.writer import SessionWriter, delete_session

SESSION_HEADER_BYTES = 100
HEAD_BYTES = 100_000
"""Of a table; its heading is in them."""
MOST_BYTES = 8 * 1024**3
"""Of a file; what a reader does not read piece by piece has to be much smaller."""

ImportProgress = Callable[[Path | None, float], None]
"""Is told a file and the share of it that was read, then None and the share of the session that was written. To cancel,
it raises: nothing is left then."""


def read_file(path: Path, mapping: dict[str, str] | None = None, progress: Progress | None = None) -> Reading:
    """Read one file of another program, or standard input for `-`.

    Args:
        path: the file.
        mapping: what columns of an unknown table are, by name; it is remembered for tables with the same heading.
        progress: is told the share of a large file that was read; to cancel, it raises.

    Raises:
        UsageError: it cannot be read, is too large, or is of no known kind.
    """
    with opened(path, MOST_BYTES) as data:
        heading = heading_of_table(head_of(data, HEAD_BYTES))
        said = mapping or remembered(heading)
        reading = read(data, str(path), said, progress)
    if mapping:
        remember(heading, mapping)
    return reading


def is_session(path: Path) -> bool:
    """Whether a file is called a session, or is one by its first bytes, rather than some program's recording."""
    if path.suffix == SUFFIX:
        return True
    if is_pipe(path):
        return False
    try:
        with path.open("rb") as file:
            return is_session_header(file.read(SESSION_HEADER_BYTES))
    except OSError:
        return True  # that it cannot be opened is best said by who opens sessions


def import_to_sessions_folder(
    files: Sequence[Path], mapping: dict[str, str] | None = None, progress: ImportProgress | None = None
) -> tuple[Path, list[Reading]]:
    """Import files of one run under a name of their own in the sessions folder.

    Args:
        files: one or more.
        mapping: what columns of an unknown table are; see `read_file`.
        progress: see `ImportProgress`.

    Raises:
        UsageError, SessionError: see `import_files`.
    """
    folder = paths.sessions_dir()
    folder.mkdir(parents=True, exist_ok=True)
    output = default_session_name(folder, files[0].stem)
    return output, import_files(files, output, mapping, progress)


def import_files(
    files: Sequence[Path],
    output: Path,
    mapping: dict[str, str] | None = None,
    progress: ImportProgress | None = None,
) -> list[Reading]:
    """Read files of one run and write them as one session.

    Args:
        files: one or more; their clocks are taken to agree.
        output: the session, which must not exist.
        mapping: what columns of an unknown table are; see `read_file`.
        progress: see `ImportProgress`.

    Returns:
        What was read of each, with notes on what was lost or assumed.

    Raises:
        UsageError: a file cannot be read or holds no samples.
        SessionError: the session exists or cannot be written.
    """
    readings = [read_file(path, mapping, None if progress is None else partial(progress, path)) for path in files]
    on_one_clock(readings)
    hold_together(readings)
    start_s = start_of(readings)
    if start_s is None:
        raise UsageError(f"{', '.join(str(path) for path in files)}: no samples were found, so nothing was written.")
    writer = SessionWriter.create(output, _manifest(start_s, readings))
    try:
        _fill(writer, readings, (lambda _: None) if progress is None else partial(progress, None))
        writer.close()
    except BaseException:  # half an import is none
        with contextlib.suppress(Exception):
            writer.abandon()
        delete_session(output)
        raise
    return readings


def _manifest(start_s: float, readings: Sequence[Reading]) -> Manifest:
    tracks = [track for reading in readings for track in reading.tracks.values()]
    return Manifest(
        session_id=uuid.uuid4().hex,
        kind=IMPORT,
        created_wall_s=start_s,
        created_monotonic_s=0.0,
        gpuscope_version=__version__,
        host=Host(hostname="unknown", os="unknown"),
        interval_s=min((_interval_s(track) for track in tracks), default=1.0),
    )


def _interval_s(track: Track) -> float:
    """Usual time between samples; 1 s where there is only one."""
    gaps = np.sort(np.diff(track.times()))
    usual = float(gaps[len(gaps) // 2]) if len(gaps) else 1.0
    return usual if usual > 0 else 1.0


def _fill(writer: SessionWriter, readings: Sequence[Reading], progress: Progress) -> None:
    devices = devices_of(readings)
    for device in devices.values():
        writer.add_device(device)
    start_s = writer.manifest.created_wall_s
    end_s = write_tracks(writer, readings, start_s, progress)
    for frame in frames_of(readings, devices, start_s):
        writer.add_frame(frame)
        end_s = max(end_s, frame.monotonic_s)
    for number, reading in enumerate(readings):
        _add_job(writer, f"import:{number}", reading)
        writer.add_event(0.0, IMPORTED, {"file": reading.description, "row_count": reading.rows})
        for note in reading.notes:
            writer.add_event(0.0, "import_note", {"file": reading.description, **msgspec.to_builtins(note)})
    writer.put_document(DETAILS, _details(readings))
    kinds = ", ".join(dict.fromkeys(reading.description for reading in readings))
    writer.put_document(
        "outcome",
        RunOutcome(kind=OutcomeKind.RECORDED, sentence=f"Imported: {kinds}.", started_s=0.0, ended_s=end_s),
    )


def _add_job(writer: SessionWriter, source: str, reading: Reading) -> None:
    """What a file tells of the job itself, as events of a process."""
    start_s = writer.manifest.created_wall_s
    for event in reading.events:
        writer.add_event(max(0.0, event.wall_s - start_s), event.kind, event.data, source)


def _details(readings: Sequence[Reading]) -> ImportedDetails:
    details = [reading.details for reading in readings]
    return ImportedDetails(
        traces=tuple(told for told in details if isinstance(told, TraceDetails)),
        allocators=tuple(device for told in details if isinstance(told, tuple) for device in told),
    )
