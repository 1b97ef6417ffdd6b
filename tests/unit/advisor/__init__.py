"""Tests of the advisor."""
