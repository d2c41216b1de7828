"""Embedders: texts to unit vectors, cached by everything that determines the vector."""
