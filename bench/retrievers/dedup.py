"""Near duplicates removed: what was handed over before, and what says the same in nearly the same words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from bench import spans
from bench.retrieve import Retrieval
from bench.retrievers.base import Stage, share
from bench.retrievers.words import terms
from bench.types import Chunk, Hit, Ranking, Span

SHINGLE = 3


@dataclass(frozen=True)
class Dedup(Stage):
    """The hits of ``base`` that are no near duplicates of a better one; it is searched deeper to make up for them.

    Attributes:
        max_overlap: greatest share of a chunk's characters that better hits have handed over already; 1: no limit.
        max_similarity: greatest likeness of its indexed text to that of a better hit: shared sequences of three
            words / all of both (the resemblance of Broder 1997); 1: no limit.
    """

    max_overlap: float = 0.5
    max_similarity: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        share("max_overlap", self.max_overlap)
        share("max_similarity", self.max_similarity)

    def rank(self, given: Retrieval) -> list[Ranking]:
        """See ``Retriever.rank``."""
        fetch = given.depth
        while True:
            fetch = min(2 * fetch, len(given.chunks))
            base = self.first.rank(replace(given, depth=fetch))
            kept = [Ranking(one.question_id, self.distinct(one.hits, given.chunks, given.depth)) for one in base]
            pairs = zip(kept, base, strict=True)
            if fetch == len(given.chunks) or all(len(k.hits) == given.depth or len(b.hits) < fetch for k, b in pairs):
                return kept

    def distinct(self, hits: Sequence[Hit], chunks: Sequence[Chunk], depth: int) -> tuple[Hit, ...]:
        """Return the first ``depth`` hits that are no near duplicates of a kept one before them."""
        kept: list[Hit] = []
        handed: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        likeness = _Resemblance()
        for hit in hits:
            if len(kept) == depth:
                break
            text, span = chunks[hit.chunk].indexed_text, hit.delivered
            if span is not None and _repeated(span, handed[span.doc_id]) > self.max_overlap:
                continue
            if self.max_similarity < 1 and likeness.greatest(text) > self.max_similarity:
                continue
            kept.append(hit)
            likeness.add(text)
            if span is not None:
                handed[span.doc_id].append((span.start, span.end))
        return tuple(kept)


def _repeated(span: Span, handed: Sequence[tuple[int, int]]) -> float:
    """Return the share of ``span`` that lies in ``handed``."""
    near = [(start, end) for start, end in handed if start < span.end and end > span.start]
    if not near or not len(span):
        return 0.0
    shared = spans.intersect(spans.intervals(near), spans.intervals([(span.start, span.end)]))
    return spans.length(shared) / len(span)


class _Resemblance:
    """Texts by the sequences of words they hold, so that only those which share one are compared."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._holders: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, text: str) -> None:
        found = _hashes(text)
        for one in found:
            self._holders[one].append(len(self._sizes))
        self._sizes.append(len(found))

    def greatest(self, text: str) -> float:
        """Return the greatest resemblance of ``text`` to a text that was added; 0 where there is none."""
        found = _hashes(text)
        shared = Counter(holder for one in found for holder in self._holders.get(one, ()))
        return max((n / (len(found) + self._sizes[holder] - n) for holder, n in shared.items()), default=0.0)


@lru_cache(maxsize=65536)
def _hashes(text: str) -> frozenset[int]:
    return frozenset(hash(one) for one in shingles(text))


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return the sequences of three words of ``text``; a shorter text is one sequence, one without words none."""
    words = terms(text)
    if len(words) <= SHINGLE:
        return frozenset({words} if words else ())
    return frozenset(words[i : i + SHINGLE] for i in range(len(words) - SHINGLE + 1))
