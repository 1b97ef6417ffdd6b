"""Several jobs that come again and again: the table of them, and what to get for all."""
