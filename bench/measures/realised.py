"""What a chunking turned out to be: sizes, overlap, truncation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench import spans
from bench.layout import Layout
from bench.types import Chunk, Ints, Span

Realised = dict[str, int | float | str | None]


def realised(
    chunks: Sequence[Chunk],
    layout: Layout,
    *,
    fingerprint: str,
    over_limit: int,
    empties_dropped: int,
    uncovered_chars: int,
    embedder_tokens: Ints | None = None,
    usable_tokens: int | None = None,
) -> Realised:
    """Return the realised values of a chunking. None where chunks have no source spans or nothing is known.

    Args:
        chunks: the whole chunking.
        layout: counts of the documents; its tokenizer gives the tokens per chunk.
        fingerprint: identity of the chunking.
        over_limit: chunks above the size that was asked for.
        empties_dropped: chunks without text that were left out.
        uncovered_chars: non-white-space characters in no chunk.
        embedder_tokens: the embedder's own count of each indexed text, shape (chunks,); None: not known.
        usable_tokens: what the embedder reads of a text; None: no limit.

    Returns:
        Sizes in budget tokens and in characters, ``truncated_share`` (tokens the embedder never reads / all tokens),
        ``overlap_share`` (repeated characters / all chunk characters), ``distinct_chunks`` (different indexed texts),
        and what was passed in.
    """
    placed = [chunk.span for chunk in chunks if chunk.span is not None]
    exact = len(placed) == len(chunks)
    characters = np.array(
        [len(chunk.indexed_text if chunk.span is None else chunk.span) for chunk in chunks], dtype=np.int64
    )
    return {
        "chunks": len(chunks),
        **_spread("tokens_per_chunk", _tokens(placed, layout) if exact else None),
        **_spread("chars_per_chunk", np.array(characters, dtype=np.int64)),
        "over_limit": over_limit,
        **_truncation(embedder_tokens, usable_tokens),
        "overlap_share": _overlap(placed, layout) if exact else None,
        "empties_dropped": empties_dropped,
        "uncovered_chars": uncovered_chars if exact else None,
        "distinct_chunks": len({chunk.indexed_text for chunk in chunks}),
        "chunking_fingerprint": fingerprint,
    }


def _tokens(placed: Sequence[Span], layout: Layout) -> Ints:
    return np.array([layout.count_tokens(span) for span in placed], dtype=np.int64)


def _spread(name: str, sizes: Ints | None) -> Realised:
    """Return the least, the median and the greatest size; None where there is none."""
    if sizes is None or not len(sizes):
        return {f"{name}_{which}": None for which in ("min", "median", "max")}
    return {
        f"{name}_min": int(sizes.min()),
        f"{name}_median": float(np.median(sizes)),
        f"{name}_max": int(sizes.max()),
    }


def _truncation(tokens: Ints | None, usable: int | None) -> Realised:
    """Return how many chunks the embedder cuts short, and the share of all their tokens that it never reads."""
    if tokens is None:
        return {"truncated_chunks": None, "truncated_share": None}
    lost = np.maximum(tokens - usable, 0) if usable is not None else np.zeros_like(tokens)
    total = int(tokens.sum())
    return {"truncated_chunks": int((lost > 0).sum()), "truncated_share": int(lost.sum()) / total if total else 0.0}


def _overlap(placed: Sequence[Span], layout: Layout) -> float:
    """Return the share of all chunk characters that are repeated."""
    axis = layout.place(placed)
    total = spans.length(axis)
    return 1.0 - spans.length(spans.union(axis)) / total if total else 0.0
