"""The errors that reach a person: each is one clear sentence that says what to do."""

from __future__ import annotations


class GpuscopeError(Exception):
    """An expected failure; its text is shown to the person as it is.

    Attributes:
        exit_code: status with which the command line ends.
    """

    exit_code = 1


class UsageError(GpuscopeError):
    """What was asked for makes no sense or names something that does not exist."""

    exit_code = 2


class SessionError(GpuscopeError):
    """A session file cannot be created, opened or written."""


class SourceError(GpuscopeError):
    """A source of live numbers (driver, library, process) is not available."""


class RunError(GpuscopeError):
    """A workload cannot be started."""


class CatalogueError(GpuscopeError):
    """A catalogue file is damaged or does not hold what was asked for."""


class ReportError(GpuscopeError):
    """A report cannot be written."""
