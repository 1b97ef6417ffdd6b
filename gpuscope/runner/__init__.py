"""Find interpreters, build the command, start a workload, drain its output, stop its process tree."""
