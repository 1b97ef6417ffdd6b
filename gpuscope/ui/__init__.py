"""The window: a viewer of session files."""
