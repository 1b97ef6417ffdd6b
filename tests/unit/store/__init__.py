"""The session file: whole, growing, torn, hostile."""
