"""Money and energy."""
