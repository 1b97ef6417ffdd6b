"""Starting, watching and stopping workloads."""
