"""gpuscope: what a deep-learning job really uses, and which GPU configuration to buy or rent for it."""

__version__ = "0.1.0"
