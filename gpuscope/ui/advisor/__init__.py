"""What to get: the Advisor panel."""
