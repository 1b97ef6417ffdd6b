"""Where a recording's frames come from: the sampler of this machine, or a server that knows many."""

from __future__ import annotations

from typing import Any, Protocol

from gpuscope.domain.sample import Frame


class FrameSource(Protocol):
    """Used from one thread; `sources.client` and `sources.prometheus.live` have one each."""

    def start(self) -> None:
        """Begin.

        Raises:
            SourceError: it cannot.
        """

    def poll(self) -> list[Frame]:
        """The frames that have come since the last call; never blocks."""

    def notes(self) -> list[tuple[str, dict[str, Any]]]:
        """Drain what happened to it, as kinds and data of events."""

    def stop(self) -> None:
        """End; harmless when done twice."""
