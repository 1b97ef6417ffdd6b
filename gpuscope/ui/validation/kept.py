"""The last whole comparison, kept between starts: it takes minutes, and changes only with gpuscope itself."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gpuscope import __version__, paths
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.summary import figures_of
from gpuscope.domain.base import Value
from gpuscope.engine.validate import ValidationReport
from gpuscope.ui.validation.work import StudyRows

FILE_NAME = "validation.msgpack"


class KeptValidation(Value, frozen=True, kw_only=True):
    """A finished comparison with the rows behind it."""

    day: str
    """ISO date on which it was made."""
    version: str = __version__
    """Of the gpuscope that made it."""
    report: ValidationReport
    outcomes: tuple[tuple[Outcome, ...], ...]
    """Of each study, in the order in which they were made."""

    def studies(self) -> list[StudyRows]:
        """The studies as the page shows them."""
        return [StudyRows(rows[0].study, figures_of(rows), rows) for rows in self.outcomes if rows]


class ValidationStore:
    """One file in the state folder."""

    def __init__(self, path: Path | None = None) -> None:
        """Nothing is read yet; None: in the state folder."""
        self._path = path

    def read(self) -> KeptValidation | None:
        """What was kept; None when there is nothing, or a file that is damaged or of another gpuscope's shape."""
        try:
            return msgspec.msgpack.decode(self._file().read_bytes(), type=KeptValidation)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, kept: KeptValidation) -> None:
        """Keep a comparison in place of the last one; a folder that cannot be written keeps nothing."""
        part = self._file().with_suffix(".part")
        try:
            part.write_bytes(msgspec.msgpack.encode(kept))
            part.replace(self._file())
        except OSError:
            part.unlink(missing_ok=True)

    def _file(self) -> Path:
        return self._path or paths.state_dir() / FILE_NAME
