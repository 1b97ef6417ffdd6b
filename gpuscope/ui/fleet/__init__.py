"""Hundreds of GPUs at a glance: a map of them by machine and rack, with what stands out on top."""
