"""What a retriever is, the dense one, and the time that a question takes. ``bench/retrievers`` holds the others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from bench.errors import ConfigError
from bench.types import Chunk, Cuts, Floats, GoldenQuestion, Hit, Ints, Ranking

MAX_TIMED = 100


class Searchable(Protocol):
    """What a retriever needs of an index; ids are positions in the chunking, -1 where fewer were found."""

    index_bytes: int

    def search(self, queries: Floats, depth: int, within: Ints | None = None) -> tuple[Floats, Ints]:
        """Return scores and ids, each of shape (queries, found), best first, ties by ascending id."""
        ...


class Lexical(Protocol):
    """What a retriever needs of an index of words."""

    index_bytes: int

    def scores(self, text: str) -> Floats:
        """Return the score of every chunk for ``text``, shape (chunks,); 0 where they share no word."""
        ...


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Everything that a way of ranking may look at: texts of both sides, vectors of both sides, the index.

    Attributes:
        questions: what is asked, with its scope of documents.
        query_vectors: unit vectors, shape (questions, dim); None where the retriever needs none.
        chunks: the chunking, in canonical order (document id, then start).
        index: searches the vectors of the chunks' indexed texts; None where the retriever needs none.
        depth: how many hits each question needs; see ``needed_depth``.
        chunk_vectors: those vectors, unit, shape (chunks, dim); None where the caller knows that nobody looks at them.
        lexical: index of the words of the chunks' indexed texts; ``Retriever.prepare`` sets it where it is needed.
    """

    questions: Sequence[GoldenQuestion]
    query_vectors: Floats | None
    chunks: Sequence[Chunk]
    index: Searchable | None
    depth: int
    chunk_vectors: Floats | None = None
    lexical: Lexical | None = None

    @property
    def index_bytes(self) -> int:
        """What all indexes take to store."""
        return sum(one.index_bytes for one in (self.index, self.lexical) if one is not None)

    def embedded(self) -> Floats:
        """Return the query vectors, shape (questions, dim).

        Raises:
            ConfigError: there are not as many as questions.
        """
        count = 0 if self.query_vectors is None else len(self.query_vectors)
        if self.query_vectors is None or count != len(self.questions):
            counts = f"{count} query vectors for {len(self.questions)} questions"
            raise ConfigError(f"retriever: got {counts}; embed every question once")
        return self.query_vectors


class Retriever(Protocol):
    """A way of ranking, a frozen dataclass: its fields are what ``conf/retriever/<name>.yaml`` sets."""

    @property
    def needs_vectors(self) -> bool:
        """Whether it looks at vectors. Where it does not, nothing is embedded and no vector index is built."""
        return True

    @property
    def fingerprint(self) -> str:
        """What its rankings depend on beside its parameters, such as the files of a model; "" for nothing."""
        return ""

    def prepare(self, given: Retrieval) -> Retrieval:
        """Return ``given`` with what is made once for all questions: the time is of indexing, not of retrieval."""
        return given

    def rank(self, given: Retrieval) -> list[Ranking]:
        """Return one ranking a question, in the order of the questions, of at most ``given.depth`` hits."""
        ...


@dataclass(frozen=True)
class Dense(Retriever):
    """Inner product of unit vectors: score descending, then canonical chunk order."""

    def rank(self, given: Retrieval) -> list[Ranking]:
        """See ``Retriever.rank``. Questions of one scope are searched together, exactly, within their documents.

        Raises:
            ConfigError: there are not as many query vectors as questions, or no index.
        """
        vectors = given.embedded()
        if given.index is None:
            raise ConfigError("retriever: no index of vectors was handed over; build one")
        scopes: dict[tuple[str, ...] | None, list[int]] = {}
        for row, question in enumerate(given.questions):
            scopes.setdefault(question.scope, []).append(row)
        rankings: dict[int, Ranking] = {}
        for scope, rows in scopes.items():
            within = None if scope is None else in_documents(given.chunks, scope)
            scores, ids = given.index.search(vectors[rows], given.depth, within)
            for row, row_scores, row_ids in zip(rows, scores.tolist(), ids.tolist(), strict=True):
                rankings[row] = ranking(given.questions[row], row_ids, row_scores, given.chunks)
        return [rankings[row] for row in range(len(given.questions))]


def in_documents(chunks: Sequence[Chunk], doc_ids: Sequence[str]) -> Ints:
    """Return the positions of the chunks that are handed over from the given documents, ascending."""
    wanted = set(doc_ids)
    sources = (chunk.span if chunk.delivered is None else chunk.delivered for chunk in chunks)
    inside = [i for i, source in enumerate(sources) if source is not None and source.doc_id in wanted]
    return np.array(inside, dtype=np.int64)


def ranking(question: GoldenQuestion, ids: Sequence[int], scores: Sequence[float], chunks: Sequence[Chunk]) -> Ranking:
    """Return the ranking of one question from ids and scores, best first; ids of -1 (nothing found) are dropped."""
    hits = (Hit(i, score, chunks[i].delivered) for i, score in zip(ids, scores, strict=True) if i >= 0)
    return Ranking(question.question_id, tuple(hits))


def needed_depth(chunk_tokens: Ints, cuts: Cuts) -> int:
    """Return the smallest depth at which any ranking fills every cut: one search then serves all of them.

    The worst ranking for a token budget is the one of the smallest chunks.

    Args:
        chunk_tokens: tokens handed over for each chunk, in the budget tokenizer, shape (chunks,).
        cuts: the cuts to fill.
    """
    filled = np.cumsum(np.sort(chunk_tokens))
    for_budget = int(np.searchsorted(filled, max(cuts.tokens, default=0), side="left")) + 1 if cuts.tokens else 0
    return min(max(for_budget, *cuts.ks, 0), len(chunk_tokens))


@dataclass(frozen=True, slots=True)
class Found:
    """Rankings of all questions, and wall-clock milliseconds of one question alone (None without questions)."""

    rankings: list[Ranking]
    p50_ms: float | None
    p99_ms: float | None


def retrieve(retriever: Retriever, given: Retrieval, seed: int = 0) -> Found:
    """Rank all questions at once, then time at most 100 of them, drawn by ``seed``, one by one.

    Args:
        retriever: the way of ranking.
        given: as its ``prepare`` returned it.
        seed: draws the questions that are timed.
    """
    rankings = retriever.rank(given)
    times_ms = [_timed_ms(retriever, given, row) for row in _sample(len(given.questions), seed)]
    if not times_ms:
        return Found(rankings, None, None)
    p50, p99 = np.percentile(times_ms, [50, 99])
    return Found(rankings, float(p50), float(p99))


def _sample(count: int, seed: int) -> list[int]:
    return [int(row) for row in np.random.default_rng(seed).permutation(count)[:MAX_TIMED]]


def _timed_ms(retriever: Retriever, given: Retrieval, row: int) -> float:
    vectors = None if given.query_vectors is None else given.query_vectors[row : row + 1]
    single = replace(given, questions=[given.questions[row]], query_vectors=vectors)
    start = time.perf_counter()
    retriever.rank(single)
    return 1000 * (time.perf_counter() - start)
