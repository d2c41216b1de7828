"""Vectors and words together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.retrieve import Dense, Retrieval, ranking
from bench.retrievers.base import LEAST_COSINE, Doubles, at_least, chunk_vectors, cosines, share, with_rest
from bench.retrievers.bm25 import BM25, by_words, words_of
from bench.types import Floats, GoldenQuestion, Ranking


@dataclass(frozen=True)
class HybridRRF(BM25):
    """Reciprocal rank fusion: the sum of 1 / (rrf_k + rank) over both rankings (Cormack, Clarke & Buettcher 2009).

    Attributes:
        candidates: how many hits of either ranking are fused; further dense hits follow behind.
        rrf_k: how little the first ranks stand out.
    """

    candidates: int = 100
    rrf_k: int = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("candidates", self.candidates, 1)
        at_least("rrf_k", self.rrf_k, 0)

    @property
    def needs_vectors(self) -> bool:
        """Always."""
        return True

    def rank(self, given: Retrieval) -> list[Ranking]:
        """See ``Retriever.rank``."""
        pairs = zip(both(given, self.candidates), given.questions, strict=True)
        fused = (
            (dense, _sorted(question, reciprocal_ranks([_ids(dense, self.candidates), _ids(words)], self.rrf_k), given))
            for (dense, words, _), question in pairs
        )
        return [with_rest(head, dense, given.depth) for dense, head in fused]


@dataclass(frozen=True)
class HybridWeighted(BM25):
    """Weighted sum of scaled scores, those that one ranking lacks filled in (Bruch, Gai & Ingber 2023, TM2C2).

    Scaled: (score − least possible) / (best of the question's candidates − least possible); cosine cannot be below −1,
    BM25 not below 0.

    Attributes:
        candidates: how many hits of either ranking are weighed; further dense hits follow behind.
        dense_weight: share of the dense score, from 0 to 1.
    """

    candidates: int = 100
    dense_weight: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("candidates", self.candidates, 1)
        share("dense_weight", self.dense_weight)

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
        found = zip(both(given, self.candidates), given.questions, given.embedded(), strict=True)
        for (dense, words, lexical), question, query in found:
            ids = sorted({*_ids(dense, self.candidates), *_ids(words)})
            by_vector = scaled(cosines(vectors[ids], query), LEAST_COSINE)
            by_word = scaled(lexical[ids].astype(np.float64), 0.0)
            fused = self.dense_weight * by_vector + (1 - self.dense_weight) * by_word
            head = _sorted(question, dict(zip(ids, fused.tolist(), strict=True)), given)
            rankings.append(with_rest(head, dense, given.depth))
        return rankings


def both(given: Retrieval, candidates: int) -> list[tuple[Ranking, Ranking, Floats]]:
    """Return each question's dense ranking (at least ``given.depth`` hits), its ranking by words, all word scores."""
    index = words_of(given)
    dense = Dense().rank(replace(given, depth=max(given.depth, candidates)))
    few = replace(given, depth=candidates)
    lexical = [index.scores(question.text) for question in given.questions]
    return [
        (ranked, by_words(question, scores, few), scores)
        for ranked, question, scores in zip(dense, given.questions, lexical, strict=True)
    ]


def reciprocal_ranks(rankings: Sequence[Sequence[int]], rrf_k: int) -> dict[int, float]:
    """Return the sum of 1 / (rrf_k + rank) of every id; ranks count from 1."""
    fused: dict[int, float] = {}
    for ids in rankings:
        for rank, one in enumerate(ids, 1):
            fused[one] = fused.get(one, 0.0) + 1 / (rrf_k + rank)
    return fused


def scaled(scores: Doubles, least: float) -> Doubles:
    """Return scores from 0 (``least``) to 1 (the greatest); 0 where none is above ``least``."""
    span = float(scores.max(initial=least)) - least
    return (scores - least) / span if span > 0 else np.zeros_like(scores)


def _ids(ranked: Ranking, count: int | None = None) -> list[int]:
    return [hit.chunk for hit in ranked.hits[:count]]


def _sorted(question: GoldenQuestion, fused: dict[int, float], given: Retrieval) -> Ranking:
    """Rank ids by fused score, equal ones in canonical order."""
    ids = sorted(fused, key=lambda one: (-fused[one], one))
    return ranking(question, ids, [fused[one] for one in ids], given.chunks)
