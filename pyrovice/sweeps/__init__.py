"""Many fits: priors by seeds, on any joblib backend, kept in a store."""
