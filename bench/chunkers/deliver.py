"""What is handed over for the hits of a ranking where it is not what was indexed: larger, merged, and never twice."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bench.types import Chunk, Hit, Ints, Ranking, Span


@runtime_checkable
class Delivering(Protocol):
    """A strategy that decides after retrieval what is handed over."""

    def deliver(self, rankings: Sequence[Ranking], chunks: Sequence[Chunk], texts: Mapping[str, str]) -> list[Ranking]:
        """Return the rankings of what is handed over, best first; no character of one stands in two hits.

        Args:
            rankings: hits of each question, best first.
            chunks: the chunking that the hits index.
            texts: text of each document.
        """
        ...

    def fold(self, chunks: Sequence[Chunk]) -> int:
        """Return how many chunks one hit handed over may stand for, at most."""
        ...


def delivered(
    chunker: Any, rankings: Sequence[Ranking], chunks: Sequence[Chunk], texts: Mapping[str, str]
) -> list[Ranking]:
    """Return what is handed over for each ranking: what the strategy says, or the hits as they are."""
    return chunker.deliver(rankings, chunks, texts) if isinstance(chunker, Delivering) else list(rankings)


def tokens_to_fill(chunker: Any, chunks: Sequence[Chunk], count: Callable[[Span], int]) -> Ints:
    """Return the tokens that each hit adds at least to what is handed over, shape (chunks,).

    A hit of a delivering strategy may find its passage handed over already; what it was cut from is handed over then.

    Args:
        chunker: the strategy.
        chunks: its chunking.
        count: tokens of a span in the budget tokenizer.
    """
    handed = [chunk.span if isinstance(chunker, Delivering) else chunk.delivered for chunk in chunks]
    tokens = np.array([count(span) if span else 0 for span in handed], dtype=np.int64)
    if not isinstance(chunker, Delivering) or not len(tokens):
        return tokens
    return tokens // _most_shared([span for span in handed if span])


def folded(chunker: Any, chunks: Sequence[Chunk]) -> int:
    """Return how many hits may become one when they are handed over, at most."""
    return chunker.fold(chunks) if isinstance(chunker, Delivering) and chunks else 1


def identity(chunker: Any) -> str:
    """Return what the result of a strategy depends on beside its chunks: "" for one that hands over what it found."""
    return repr(chunker) if isinstance(chunker, Delivering) else ""


def _most_shared(spans: Sequence[Span]) -> int:
    """Return the most spans that one character stands in, at least 1."""
    events = sorted([(s.doc_id, s.start, 1) for s in spans] + [(s.doc_id, s.end, -1) for s in spans])
    return max(1, int(np.cumsum([step for _, _, step in events]).max(initial=1)))


@dataclass(slots=True)
class _Ranges:
    """Ranges of one document that were handed over: sorted, disjoint, not touching."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add a range; return the parts of it that are new."""
        low, high = bisect_left(self.ends, start), bisect_right(self.starts, end)
        fresh, at = [], start
        for known, known_end in zip(self.starts[low:high], self.ends[low:high], strict=True):
            if at < known:
                fresh.append((at, known))
            at = max(at, known_end)
        if at < end:
            fresh.append((at, end))
        if low < high:
            start, end = min(start, self.starts[low]), max(end, self.ends[high - 1])
        self.starts[low:high], self.ends[low:high] = [start], [end]
        return fresh


@dataclass(slots=True)
class Handed:
    """What was handed over for one question so far."""

    texts: Mapping[str, str]
    documents: dict[str, _Ranges] = field(default_factory=dict)

    def give(self, hit: Hit, span: Span) -> Iterator[Hit]:
        """Yield ``hit`` with each part of ``span`` that was not handed over before and is not blank."""
        ranges = self.documents.setdefault(span.doc_id, _Ranges())
        text = self.texts[span.doc_id]
        for start, end in ranges.add(span.start, span.end):
            if not text[start:end].isspace():
                yield replace(hit, delivered=Span(span.doc_id, start, end))


def once(rankings: Sequence[Ranking], texts: Mapping[str, str]) -> list[Ranking]:
    """Return the rankings without what an earlier hit of the same one has handed over."""
    return [_once(ranking, Handed(texts)) for ranking in rankings]


def _once(ranking: Ranking, handed: Handed) -> Ranking:
    """A hit whose source cannot be shown stays: what it repeats cannot be told."""
    parts = (handed.give(hit, hit.delivered) if hit.delivered else (hit,) for hit in ranking.hits)
    return Ranking(ranking.question_id, tuple(hit for part in parts for hit in part))
