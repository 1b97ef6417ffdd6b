"""What has to be done: a footprint put into the wanted stage and precision, or a job known by its size alone."""
