"""How good fits are."""
