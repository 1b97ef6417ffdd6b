"""The session file: one SQLite file that one process writes and everything else reads."""
