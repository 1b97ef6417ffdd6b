"""Plain values and pure functions: what every other part of gpuscope talks in."""
