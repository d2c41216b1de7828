"""A whole corpus through one strategy: cut, verified, in one order, with what was lost on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import spans
from bench.chunkers.base import Chunker, Tools
from bench.errors import ChunkingError
from bench.tokenize import overlapping
from bench.types import Chunk, Document, Span


@dataclass(frozen=True, slots=True)
class Chunking:
    """The chunks of a corpus.

    Attributes:
        chunks: by document id, then start, then end.
        fingerprint: hash of all spans and texts: equal for two strategies that cut the same way.
        empties_dropped: chunks of nothing but white space, which are left out.
        uncovered_chars: non-white-space characters that are in no chunk.
        over_limit: chunks longer than the strategy's ``size`` (tokens: those of the document that they share a
            character with).
    """

    chunks: tuple[Chunk, ...]
    fingerprint: str
    empties_dropped: int
    uncovered_chars: int
    over_limit: int


def chunk_corpus(chunker: Chunker, documents: Iterable[Document], tools: Tools) -> Chunking:
    """Cut every document and verify every chunk.

    Raises:
        ChunkingError: a span leaves its document, or its text is not what is indexed.
    """
    chunks: list[Chunk] = []
    dropped = uncovered = over = 0
    rewrites = bool(getattr(chunker, "rewrites", False))
    for document in sorted(documents, key=lambda document: document.doc_id):
        cut = chunker.cut(document, tools)
        real = sorted((chunk for chunk in cut if chunk.indexed_text.strip()), key=_position)
        for chunk in real:
            _verify(chunk, document, rewrites)
        chunks += real
        dropped += len(cut) - len(real)
        uncovered += _uncovered(real, document)
        over += _over_limit(chunker, real, document, tools)
    return Chunking(tuple(chunks), _fingerprint(chunks), dropped, uncovered, over)


def _position(chunk: Chunk) -> tuple[int, int]:
    place = chunk.span or chunk.delivered
    return (place.start, place.end) if place else (0, 0)


def _verify(chunk: Chunk, document: Document, rewrites: bool) -> None:
    for span in (chunk.span, chunk.delivered):
        if span and (span.doc_id != document.doc_id or not 0 <= span.start < span.end <= len(document.text)):
            raise ChunkingError(
                f"chunker: the span [{span.start}, {span.end}) of {span.doc_id!r} is not inside {document.doc_id!r}, "
                f"which has {len(document.text)} characters; return half-open code-point offsets of the given text"
            )
    if rewrites:
        return
    own = document.text[chunk.span.start : chunk.span.end] if chunk.span else None
    if own != chunk.indexed_text:
        where = f"at [{chunk.span.start}, {chunk.span.end})" if chunk.span else "without a span"
        raise ChunkingError(
            f"chunker: the chunk {where} of {document.doc_id!r} has the text {chunk.indexed_text[:60]!r}, the document "
            f"has {(own or '')[:60]!r}; return exact slices, or set rewrites = True on the class"
        )


def _uncovered(chunks: Sequence[Chunk], document: Document) -> int:
    covered = spans.intervals((chunk.span.start, chunk.span.end) for chunk in chunks if chunk.span)
    left = spans.subtract(spans.intervals([(0, len(document.text))]), covered)
    return sum(len("".join(document.text[start:end].split())) for start, end in left)


def _over_limit(chunker: Any, chunks: Sequence[Chunk], document: Document, tools: Tools) -> int:
    """Count chunks over the strategy's own limit; 0 where it has none."""
    size = getattr(chunker, "size", None)
    places = spans.intervals((chunk.span.start, chunk.span.end) for chunk in chunks if chunk.span)
    if size is None or not len(places):
        return 0
    sizes = places[:, 1] - places[:, 0]
    if getattr(chunker, "unit", "tokens") == "tokens":
        starts = tools.tokenizer(chunker.tokenizer).starts(document.text)
        sizes = overlapping(starts, places[:, 0], places[:, 1])
    return int(np.count_nonzero(sizes > size))


def _fingerprint(chunks: Iterable[Chunk]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        for place in (chunk.span, chunk.delivered):
            digest.update(_named(place))
        if chunk.header:
            digest.update(repr(chunk.header).encode("utf-8", "backslashreplace"))
        text = chunk.indexed_text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(text))
        digest.update(text)
    return digest.hexdigest()


def _named(place: Span | None) -> bytes:
    return repr((place.doc_id, place.start, place.end) if place else None).encode("utf-8", "backslashreplace")
