"""Answering requests: latency, throughput, memory of the caches, and how many copies of a model a load needs."""
