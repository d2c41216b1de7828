"""Benchmark of chunking strategies: which chunking to ship, what it costs, how sure one can be."""

__version__ = "0.1.0"
