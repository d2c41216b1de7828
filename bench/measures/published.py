"""The places that a published evaluation gives to chunks: it looks for their text and takes the first it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from bench.types import Chunk, Ranking, Span


def first_occurrences(
    chunks: Sequence[Chunk], rankings: Sequence[Ranking], texts: Mapping[str, str]
) -> tuple[list[Chunk], list[Ranking]]:
    """Return chunks and rankings with every span moved to where its text stands first in the document.

    Smith & Troynikov 2024 locate chunks so; with text that repeats, as in their financial corpus, it changes
    PrecisionOmega by up to 0.4 points.
    """
    first = _finder(texts)
    moved = [replace(chunk, span=first(chunk.span), delivered=first(chunk.delivered)) for chunk in chunks]
    ranked = [
        replace(ranking, hits=tuple(replace(hit, delivered=first(hit.delivered)) for hit in ranking.hits))
        for ranking in rankings
    ]
    return moved, ranked


def _finder(texts: Mapping[str, str]) -> Callable[[Span | None], Span | None]:
    @cache
    def first(span: Span | None) -> Span | None:
        if span is None:
            return None
        text = texts[span.doc_id]
        start = text.find(text[span.start : span.end])
        return Span(span.doc_id, start, start + len(span))

    return first
