"""Out-of-memory messages of frameworks and systems: find them in a text, read their figures, say what they mean."""
