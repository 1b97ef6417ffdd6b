"""GPUs, CPUs, offers and systems: the facts that advice starts from."""
