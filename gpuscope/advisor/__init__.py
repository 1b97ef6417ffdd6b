"""From a footprint to a ranked recommendation."""
