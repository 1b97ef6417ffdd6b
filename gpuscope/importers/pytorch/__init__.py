"""Readers of what PyTorch writes about itself: profiler traces, snapshots of its memory, printed memory statistics."""
