"""Plain values and pure functions."""
