"""Small worlds for tests of measures: a text, a chunking, and what was retrieved of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.layout import Layout
from bench.measures import score_retrieval
from bench.types import Chunk, Cuts, Document, Evidence, GoldenQuestion, Hit, Ints, Ranking, Score, Span

Pair = tuple[int, int]


@dataclass
class Words:
    """A token is a run of word characters, or one mark."""

    name: str = "words"
    fingerprint: str = "words"
    pattern: str = r"\w+|[^\w\s]"

    def starts(self, text: str) -> Ints:
        return np.array([match.start() for match in re.finditer(self.pattern, text)], dtype=np.int64)

    def count(self, texts: Sequence[str]) -> Ints:
        return np.array([len(self.starts(text)) for text in texts], dtype=np.int64)


EACH = Words(pattern=r"(?s).")
"""Every character is a token."""


def span(pair: Pair, doc_id: str = "d") -> Span:
    return Span(doc_id, *pair)


def evidence(*alternatives: Pair) -> Evidence:
    return Evidence(tuple(span(pair) for pair in alternatives))


def question(*items: Evidence | Pair, **fields: object) -> GoldenQuestion:
    found = tuple(item if isinstance(item, Evidence) else evidence(item) for item in items)
    return GoldenQuestion("q", "?", evidence=found, **fields)  # type: ignore[arg-type]


def chunks_of(pairs: Iterable[Pair], text: str) -> list[Chunk]:
    document = Document("d", text)
    return [Chunk.of(document, *pair) for pair in pairs]


def ranking(ids: Sequence[int], chunks: Sequence[Chunk], question_id: str = "q") -> Ranking:
    return Ranking(question_id, tuple(Hit(i, 1.0 - rank / 1000, chunks[i].delivered) for rank, i in enumerate(ids)))


def scores_of(
    asked: GoldenQuestion,
    pairs: Sequence[Pair],
    ids: Sequence[int],
    text: str = "x" * 100,
    cuts: Cuts = Cuts(ks=(1, 3, 5), tokens=(8, 16)),  # noqa: B008 (frozen)
    tokenizer: Words = EACH,
    rules: str = "standard",
    relevance: float = 0.0,
) -> Mapping[str, Score]:
    """Score one question on one document ``d`` cut at ``pairs``, of which ``ids`` were retrieved."""
    chunks = chunks_of(pairs, text)
    layout = Layout.of([Document("d", text)], tokenizer)
    found = score_retrieval(
        [asked], chunks, [ranking(ids, chunks)], layout, {"d": text}, cuts, rules=rules, relevance=relevance
    )
    return found["q"]


def values_of(*args: object, **fields: object) -> dict[str, float | None]:
    """As ``scores_of``, the values alone."""
    return {name: score.value for name, score in scores_of(*args, **fields).items()}  # type: ignore[arg-type]
