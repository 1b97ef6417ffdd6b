"""From predictions to a decision: candidates, constraints, ranking, reasons."""
