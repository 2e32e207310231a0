"""Judgments: how to make, read, split, describe, review and write them."""
