"""Tests of readers of other programs' recordings."""
