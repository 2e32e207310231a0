"""A page about a fit that needs nothing but a browser."""

from pyrovice.report.page import render, write

__all__ = ["render", "write"]
