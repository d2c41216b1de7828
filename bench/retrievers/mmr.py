"""Maximal marginal relevance (Carbonell & Goldstein 1998): near to the question, unlike what was chosen before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bench.retrieve import Retrieval, ranking
from bench.retrievers.base import LEAST_COSINE, Doubles, Stage, at_least, chunk_vectors, cosines, share, with_rest
from bench.types import Floats, Ints, Ranking


@dataclass(frozen=True)
class MMR(Stage):
    """The candidates of ``base`` in the order of maximal marginal relevance; relevance and likeness are both cosine.

    Attributes:
        relevance_weight: lambda; 1 is the order of cosine, 0 looks at likeness alone.
        candidates: how many hits of ``base`` are put in order; its further hits follow behind.
    """

    relevance_weight: float = 0.7
    candidates: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        share("relevance_weight", self.relevance_weight)
        at_least("candidates", self.candidates, 1)

    @property
    def needs_vectors(self) -> bool:
        """Always."""
        return True

    def rank(self, given: Retrieval) -> list[Ranking]:
        """See ``Retriever.rank``.

        Raises:
            ConfigError: the vectors of the chunks were not handed over.
        """
        vectors = chunk_vectors(given)
        rankings = []
        base = self.first.rank(replace(given, depth=max(given.depth, self.candidates)))
        for ranked, question, query in zip(base, given.questions, given.embedded(), strict=True):
            ids = np.sort(np.array([hit.chunk for hit in ranked.hits[: self.candidates]], dtype=np.int64))
            order, scores = marginal_relevance(vectors[ids], query, self.relevance_weight)
            head = ranking(question, ids[order].tolist(), scores.tolist(), given.chunks)
            rankings.append(with_rest(head, ranked, given.depth))
        return rankings


def marginal_relevance(vectors: Floats, query: Floats, relevance_weight: float) -> tuple[Ints, Doubles]:
    """Return the order of maximal marginal relevance and the score that each vector had when it was chosen.

    The score is weight · cosine to the query − (1 − weight) · greatest cosine to a vector chosen before. Before the
    first choice that cosine counts as −1, its least value: so scores never rise.

    Args:
        vectors: unit vectors, shape (n, dim); equal scores are chosen in ascending order of position.
        query: unit vector, shape (dim,).
        relevance_weight: from 0 to 1.

    Returns:
        Positions and scores, both of shape (n,).
    """
    relevance = relevance_weight * cosines(vectors, query)
    likeness = np.full(len(vectors), LEAST_COSINE)
    left = np.ones(len(vectors), dtype=np.bool_)
    order, scores = np.zeros(len(vectors), dtype=np.int64), np.zeros(len(vectors))
    for step in range(len(vectors)):
        marginal = np.where(left, relevance - (1 - relevance_weight) * likeness, -np.inf)
        best = int(np.argmax(marginal))
        order[step], scores[step], left[best] = best, marginal[best], False
        likeness = np.maximum(likeness, cosines(vectors, vectors[best]))
    return order, scores
