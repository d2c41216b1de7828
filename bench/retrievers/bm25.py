"""Retrieval by words: BM25 as Lucene computes it, by ``bm25s`` (https://github.com/xhluca/bm25s)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.errors import ConfigError
from bench.retrieve import Lexical, Retrieval, Retriever, in_documents, ranking
from bench.retrievers.base import share, top
from bench.retrievers.words import terms
from bench.types import Floats, GoldenQuestion, Ranking


@dataclass(frozen=True)
class BM25(Retriever):
    """BM25 over the words of the chunks' indexed texts; a chunk that shares no word with the question is no hit.

    Attributes:
        k1: how soon a repeated word stops counting.
        b: how much long chunks are held back, from 0 to 1.
    """

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.k1 < 0:
            raise ConfigError(f"retriever.k1: got {self.k1}; allowed: 0 or more")
        share("b", self.b)

    @property
    def needs_vectors(self) -> bool:
        """Never."""
        return False

    def prepare(self, given: Retrieval) -> Retrieval:
        """Index the words."""
        return replace(given, lexical=WordIndex([chunk.indexed_text for chunk in given.chunks], self.k1, self.b))

    def rank(self, given: Retrieval) -> list[Ranking]:
        """See ``Retriever.rank``. Rarity of words is that of the whole corpus, whatever a question's scope.

        Raises:
            ConfigError: ``prepare`` was not called.
        """
        index = words_of(given)
        return [by_words(question, index.scores(question.text), given) for question in given.questions]


class WordIndex:
    """Scores of every word in every text, computed once.

    A text's score is the sum over the question's words, with repetition, of
    ln(1 + (N − n + 0.5) / (n + 0.5)) · f / (f + k1 · (1 − b + b · length / mean length)), where n of N texts hold the
    word, f times in this one (Kamphuis et al. 2020, "Lucene (accurate)").
    """

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        import bm25s

        found = [terms(text) for text in texts]
        self._ids = {term: i for i, term in enumerate(dict.fromkeys(term for words in found for term in words))}
        self._size = len(texts)
        self.index_bytes = 0
        if self._ids:
            self._index = bm25s.BM25(k1=k1, b=b, method="lucene", csc_backend="scipy")
            ids = [[self._ids[term] for term in words] for words in found]
            self._index.scores = self._index.build_index_from_ids(list(self._ids.values()), ids, show_progress=False)
            self._index.nonoccurrence_array = None
            arrays = (self._index.scores[name].nbytes for name in ("data", "indices", "indptr"))
            self.index_bytes = sum(arrays) + sum(len(term.encode()) for term in self._ids)

    def scores(self, text: str) -> Floats:
        """Return the score of every chunk for ``text``, shape (chunks,), float32; 0 where they share no word."""
        ids = [self._ids[term] for term in terms(text) if term in self._ids]
        if not ids:
            return np.zeros(self._size, dtype=np.float32)
        return np.asarray(self._index.get_scores_from_ids(ids), dtype=np.float32)


def words_of(given: Retrieval) -> Lexical:
    """Return the index of words.

    Raises:
        ConfigError: there is none.
    """
    if given.lexical is None:
        raise ConfigError("retriever: no index of words was made; call prepare before rank")
    return given.lexical


def by_words(question: GoldenQuestion, scores: Floats, given: Retrieval) -> Ranking:
    """Return the ranking of one question from the scores of all chunks, those of 0 left out.

    Args:
        question: its scope is kept to.
        scores: shape (chunks,).
        given: chunks and depth.
    """
    inside = np.arange(len(scores)) if question.scope is None else in_documents(given.chunks, question.scope)
    inside = inside[scores[inside] > 0]
    best = inside[top(scores[inside], given.depth)]
    return ranking(question, best.tolist(), scores[best].tolist(), given.chunks)
