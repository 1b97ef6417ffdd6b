"""How good the predictions are: against published measurements and this machine's own runs."""
