"""How far a fit can be trusted: checks, diagnosis, comparison, bounds."""
