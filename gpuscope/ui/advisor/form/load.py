"""Usual shapes of the load of a service over the day, to choose instead of typing 24 figures."""

from __future__ import annotations

# Relative to the busiest hour, from midnight on. Assumed shapes to start from, not measurements: whoever knows the own
# load types it in.
SHAPES: dict[str, tuple[float, ...]] = {
    "office": (
        0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.1, 0.3, 0.7, 0.95, 1.0, 1.0,
        0.8, 0.9, 1.0, 1.0, 0.95, 0.8, 0.4, 0.2, 0.1, 0.1, 0.05, 0.05,
    ),
    "evening": (
        0.45, 0.3, 0.2, 0.15, 0.1, 0.1, 0.15, 0.25, 0.35, 0.4, 0.45, 0.5,
        0.55, 0.55, 0.5, 0.5, 0.55, 0.65, 0.75, 0.9, 1.0, 1.0, 0.85, 0.65,
    ),
}  # fmt: skip
