"""From a session to a document that can be signed."""
