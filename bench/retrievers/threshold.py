"""A least score: what ranks below it is not handed over."""

from __future__ import annotations

from dataclasses import dataclass

from bench.retrieve import Retrieval
from bench.retrievers.base import Stage
from bench.types import Ranking


@dataclass(frozen=True, kw_only=True)
class Threshold(Stage):
    """The hits of ``base`` that score at least ``min_score`` on its own scale; a context may then be short, or empty.

    Scales: cosine for dense, sums of word scores for bm25 (no upper end), at most 2 / (rrf_k + 1) for hybrid_rrf, 0 to
    1 for hybrid_weighted, the model's raw output for rerank.
    """

    min_score: float

    def rank(self, given: Retrieval) -> list[Ranking]:
        """See ``Retriever.rank``."""
        return [
            Ranking(ranked.question_id, tuple(hit for hit in ranked.hits if hit.score >= self.min_score))
            for ranked in self.first.rank(given)
        ]
