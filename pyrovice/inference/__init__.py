"""From judgments to a posterior, one file per algorithm."""
