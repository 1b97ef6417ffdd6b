"""Several jobs that come again and again: one purchase serves many."""
