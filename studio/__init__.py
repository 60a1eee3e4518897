"""Lantern Studio: train image classifiers by pointing and clicking, and see where the memory goes."""

__version__ = "0.1.0"
