"""The version of pyrovice, which every file that it writes is stamped with."""

__version__ = "0.1.0"
