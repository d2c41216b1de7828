"""Chunking strategies: every one says exactly where in the document each chunk was cut from."""
