"""Which stretch of time all plots show: the newest so many seconds, a zoomed part, or a frozen moment."""

from __future__ import annotations

LEAST_SPAN_S = 0.5


class TimeView:
    """The one time axis that the plots share.

    Attributes:
        window_s: how much of the newest is shown; None shows all.
    """

    def __init__(self) -> None:
        """The last minute, moving."""
        self.window_s: float | None = 60.0
        self._frozen_end_s: float | None = None
        self._zoom: tuple[float, float] | None = None

    @property
    def paused(self) -> bool:
        """Whether the view stands still although time goes on."""
        return self._frozen_end_s is not None

    @property
    def zoomed(self) -> bool:
        """Whether a part was chosen by hand."""
        return self._zoom is not None

    def span(self, end_s: float) -> tuple[float, float]:
        """Session times of the left and right edge, when the newest frame is at `end_s`."""
        if self._zoom is not None:
            return self._zoom
        end_s = end_s if self._frozen_end_s is None else self._frozen_end_s
        if self.window_s is None:
            return 0.0, max(end_s, LEAST_SPAN_S)
        return end_s - self.window_s, end_s

    def pause(self, end_s: float) -> None:
        """Stand still with the right edge at `end_s`."""
        self._frozen_end_s = end_s

    def resume(self) -> None:
        """Move with time again; a zoom is given up."""
        self._frozen_end_s = None
        self._zoom = None

    def zoom_to(self, start_s: float, end_s: float) -> None:
        """Show this part and stay there."""
        if end_s - start_s < LEAST_SPAN_S:
            middle = (start_s + end_s) / 2
            start_s, end_s = middle - LEAST_SPAN_S / 2, middle + LEAST_SPAN_S / 2
        self._zoom = (start_s, end_s)

    def scale(self, factor: float, end_s: float, centre_s: float | None = None) -> None:
        """Zoom in (factor below 1) or out around a moment, by default the middle."""
        start, end = self.span(end_s)
        centre = (start + end) / 2 if centre_s is None else centre_s
        self.zoom_to(centre - (centre - start) * factor, centre + (end - centre) * factor)

    def move(self, share: float, end_s: float) -> None:
        """Go left (negative) or right by a share of what is shown."""
        start, end = self.span(end_s)
        shift = (end - start) * share
        self.zoom_to(start + shift, end + shift)

    def reset_zoom(self) -> None:
        """Back to the window; a pause stays."""
        self._zoom = None
