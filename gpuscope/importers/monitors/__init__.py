"""What other monitors write: exporters, dashboards, vendors' tools."""
