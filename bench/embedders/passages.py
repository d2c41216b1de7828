"""Vectors of chunks, by whatever way an embedder makes them: from their text, or from their place in a document."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from bench.embedders.base import Embedder
from bench.embedders.cache import CachedEmbedder, VectorCache
from bench.errors import ConfigError
from bench.types import Chunk, Floats, Ints, Span


@runtime_checkable
class SpanEmbedder(Embedder, Protocol):
    """An embedder that reads whole documents."""

    def encode_spans(self, text: str, spans: Sequence[tuple[int, int]]) -> Floats:
        """Return unit vectors of ranges of one document, shape (len(spans), dim)."""
        ...

    def window_tokens(self, text: str) -> int:
        """Return how many tokens the model reads of a document."""
        ...


class CachedSpanEmbedder(CachedEmbedder):
    """A ``SpanEmbedder`` that computes each span of each document once."""

    def __init__(self, embedder: SpanEmbedder, cache: VectorCache) -> None:
        super().__init__(embedder, cache)
        self._spans = embedder

    def window_tokens(self, text: str) -> int:
        """Return how many tokens the model reads of a document."""
        return self._spans.window_tokens(text)

    def encode_spans(self, text: str, spans: Sequence[tuple[int, int]]) -> Floats:
        """Return unit vectors of ranges of one document, shape (len(spans), dim), cached or computed."""
        document = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        keys = [self._key(f"span\0{document}\0{start}\0{end}", "passage") for start, end in spans]
        rows = {key: row for row, key in enumerate(keys)}
        found = self._cache.get(list(rows), self.dim)
        self._usage.cache_hits += len(found)
        missing = [key for key in rows if key not in found]
        if missing:
            vectors = self._computed(text, [spans[rows[key]] for key in missing])
            self._cache.put(missing, vectors)
            found.update(zip(missing, vectors, strict=True))
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, self.dim), dtype=np.float32)

    def _computed(self, text: str, spans: Sequence[tuple[int, int]]) -> Floats:
        self.prepare()
        wall, cpu = time.perf_counter(), time.process_time()
        vectors = self._spans.encode_spans(text, spans)
        self._usage.forward_s += time.perf_counter() - wall
        self._usage.forward_cpu_s += time.process_time() - cpu
        self._usage.embedded_texts += len(spans)
        self._usage.embedded_tokens += self._spans.window_tokens(text)
        return vectors


def cached(embedder: Embedder, cache: VectorCache) -> CachedEmbedder:
    """Return an embedder behind the cache."""
    if isinstance(embedder, SpanEmbedder):
        return CachedSpanEmbedder(embedder, cache)
    return CachedEmbedder(embedder, cache)


def passage_vectors(embedder: CachedEmbedder, chunks: Sequence[Chunk], texts: Mapping[str, str]) -> Floats:
    """Return the unit vectors of chunks, shape (len(chunks), dim).

    Args:
        embedder: see ``cached``.
        chunks: a chunking.
        texts: text of each document.

    Raises:
        ConfigError: the embedder reads documents, and a chunk is indexed under other text than that of its span.
    """
    if not isinstance(embedder, CachedSpanEmbedder):
        return embedder.encode([chunk.indexed_text for chunk in chunks], "passage")
    vectors = np.zeros((len(chunks), embedder.dim), dtype=np.float32)
    rows: dict[str, list[tuple[int, Span]]] = {}
    for row, chunk in enumerate(chunks):
        span = chunk.span
        if span is None or texts[span.doc_id][span.start : span.end] != chunk.indexed_text:
            raise ConfigError(
                f"embedder late: takes vectors from places in documents, and the chunk {chunk.indexed_text[:40]!r} is "
                "not indexed as it stands in one; choose another chunker, or another embedder"
            )
        rows.setdefault(span.doc_id, []).append((row, span))
    for doc_id, placed in rows.items():
        found = embedder.encode_spans(texts[doc_id], [(span.start, span.end) for _, span in placed])
        vectors[[row for row, _ in placed]] = found
    return vectors


def read_tokens(embedder: CachedEmbedder, tokens: Ints, texts: Mapping[str, str]) -> int:
    """Return how many tokens the model reads to embed a chunking.

    Args:
        embedder: see ``cached``.
        tokens: its tokens of each chunk's indexed text, shape (chunks,).
        texts: text of each document.
    """
    if isinstance(embedder, CachedSpanEmbedder):
        return sum(embedder.window_tokens(text) for text in texts.values())
    limit = embedder.usable_tokens
    return int((tokens if limit is None else np.minimum(tokens, limit)).sum())
