"""Machines that are reached by ssh: what runs there, and what follows it from here."""
