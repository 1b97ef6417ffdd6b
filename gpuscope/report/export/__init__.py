"""The recorded figures themselves, for other programs: CSV, Prometheus' text format, Parquet."""
