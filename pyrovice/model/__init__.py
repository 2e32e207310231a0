"""The generative story: priors, choices and the Pyro model that joins them."""
