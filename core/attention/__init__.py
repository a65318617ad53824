"""Attention: the dot product, its masks, and what surrounds it."""
