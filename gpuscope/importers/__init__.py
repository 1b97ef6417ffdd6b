"""Readers of what people already have: logs, traces, snapshots, error messages."""
