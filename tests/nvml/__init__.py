"""A stand-in for NVIDIA's management library, answering from scenario files: a test part, never shipped."""
