"""Use cases: what a session turns into."""
