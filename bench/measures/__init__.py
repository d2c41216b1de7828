"""Measures: small declarative definitions and the functions that compute them.

``score_retrieval`` scores every question of a sweep point; ``estimates`` turns scores into means with their states;
``realised`` says what the chunking turned out to be; ``MEASURES`` is the table of definitions.
"""

from bench.measures.estimate import Estimate, aggregate, estimates, estimates_by_category
from bench.measures.rank import average_precision
from bench.measures.realised import realised
from bench.measures.registry import MEASURES, Measure, find, full_name, names, register
from bench.measures.retrieval import score_retrieval

__all__ = [
    "MEASURES",
    "Estimate",
    "Measure",
    "aggregate",
    "average_precision",
    "estimates",
    "estimates_by_category",
    "find",
    "full_name",
    "names",
    "realised",
    "register",
    "score_retrieval",
]
