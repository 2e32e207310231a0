"""The generative story: priors, choices and the Pyro model that joins them."""

from pyrovice.model import choices, priors

__all__ = ["choices", "priors"]
