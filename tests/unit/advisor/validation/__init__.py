"""Tests of the comparison with published measurements."""
