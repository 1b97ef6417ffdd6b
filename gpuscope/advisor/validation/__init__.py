"""Predictions of the product's own functions against measurements that others published."""
