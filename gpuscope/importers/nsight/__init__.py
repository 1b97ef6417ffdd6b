"""Recordings of NVIDIA's Nsight Systems, as its SQLite export holds them."""
