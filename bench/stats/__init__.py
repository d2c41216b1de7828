"""Statistics of a sweep, on matrices of questions x points: paired, clustered by document, seeded."""

from __future__ import annotations
