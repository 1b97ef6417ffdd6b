"""How long a step takes on a device that the job may never have run on."""
