"""What the person asks for: the guided form."""
