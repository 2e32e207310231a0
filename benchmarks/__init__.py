"""Measurements, each as ratios within one run; see ``python -m benchmarks --help``."""
