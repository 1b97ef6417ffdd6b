"""What a GPU has to hold."""
