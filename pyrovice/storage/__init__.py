"""Files: archives of arrays without pickle, written whole, and values that have a name in them.

This room knows no other. What can be saved registers itself, :func:`saved`, where it is defined.
"""

from pyrovice.storage.registry import saved

__all__ = ["saved"]
