"""What to ask next: triplets chosen by what their answers are expected to tell."""

from pyrovice.criticism.asking.choosing import next_triplets

__all__ = ["next_triplets"]
