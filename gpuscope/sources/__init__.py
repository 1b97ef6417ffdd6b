"""Where live numbers come from."""
