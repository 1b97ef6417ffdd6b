"""The errors that reach a person: each is one clear sentence that says what to do."""

from __future__ import annotations

MOST_CHARACTERS = 2000
"""Of a sentence: a cell of a damaged file can hold megabytes."""


class GpuscopeError(Exception):
    """An expected failure; its text is shown to the person as it is.

    Attributes:
        exit_code: status with which the command line ends: 2 where the command line, or a file that it is to read,
            cannot be used; 1 where the work itself failed, such as writing its result.
    """

    exit_code = 1

    def __str__(self) -> str:
        """The sentence; what it quotes of a file or an option is cut where it would fill a screen."""
        text = super().__str__()
        if len(text) <= MOST_CHARACTERS:
            return text
        return f"{text[: MOST_CHARACTERS // 2]} … {text[-MOST_CHARACTERS // 2 :]}"


class UsageError(GpuscopeError):
    """What was asked for makes no sense or names something that does not exist."""

    exit_code = 2


class SessionError(GpuscopeError):
    """A session file cannot be created, opened or written."""


class UnusableSessionError(SessionError):
    """A file that was given is no session, or none that can be opened."""

    exit_code = 2


class SourceError(GpuscopeError):
    """A source of live numbers (driver, library, process) is not available."""


class RunError(GpuscopeError):
    """A workload cannot be started."""


class CatalogueError(GpuscopeError):
    """A catalogue file is damaged or does not hold what was asked for."""


class ReportError(GpuscopeError):
    """A report cannot be written."""


class ReportFormatError(ReportError):
    """There are no reports of the kind, or in the language, that was asked for."""

    exit_code = 2
