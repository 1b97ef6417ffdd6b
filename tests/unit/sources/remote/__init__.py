"""Machines that are reached by ssh."""
