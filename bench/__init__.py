"""Measurements of speed and memory: `make bench`."""
