"""The paper's experiments, redone."""
