"""Figures of many machines from a Prometheus server that scrapes dcgm-exporter and node-exporter: live and past."""
