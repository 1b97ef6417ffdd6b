"""Tests of gpuscope/sources."""
