"""From one GPU to many: how the job is spread, and what the GPUs say to each other."""
