"""The answer: candidates, figures and reasons."""
