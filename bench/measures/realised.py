"""What a chunking turned out to be: sizes, overlap, truncation, coverage, and its identity."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from bench import spans
from bench.layout import Layout
from bench.types import Chunk, Ints, Span

Realised = dict[str, int | float | str | None]


def fingerprint(chunks: Sequence[Chunk]) -> str:
    """Return the identity of a chunking, 16 hex digits: two points with the same one need computing only once."""
    digest = hashlib.blake2b(digest_size=8)
    for chunk in chunks:
        for span in (chunk.span, chunk.delivered):
            where = f"{len(span.doc_id)}:{span.doc_id}:{span.start}:{span.end};" if span is not None else "-;"
            digest.update(where.encode("utf-8", "surrogatepass"))
        text = chunk.indexed_text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(text) + text)
    return digest.hexdigest()


def realised(
    chunks: Sequence[Chunk],
    layout: Layout,
    *,
    embedder_tokens: Ints | None = None,
    usable_tokens: int | None = None,
    over_limit: int = 0,
    empties_dropped: int = 0,
) -> Realised:
    """Return the realised values of a chunking.

    Args:
        chunks: the whole chunking.
        layout: counts of the documents; its tokenizer gives the tokens per chunk.
        embedder_tokens: the embedder's own count of each indexed text, shape (chunks,); None: not known.
        usable_tokens: what the embedder reads of a text; None: no limit.
        over_limit: chunks above the size that was asked for.
        empties_dropped: chunks without text that were left out.

    Returns:
        Sizes in budget tokens and in characters; ``overlap_share`` (repeated / all chunk characters) and
        ``uncovered_chars`` (non-white-space, in no chunk). None where chunks have no source spans or nothing is known.
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
        **(_coverage(placed, layout) if exact else {"overlap_share": None, "uncovered_chars": None}),
        "empties_dropped": empties_dropped,
        "distinct_chunks": len({chunk.indexed_text for chunk in chunks}),
        "chunking_fingerprint": fingerprint(chunks),
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


def _coverage(placed: Sequence[Span], layout: Layout) -> Realised:
    """Return the share of chunk characters that are repeated, and the non-white-space characters in no chunk."""
    axis = layout.place(placed)
    distinct, total = spans.union(axis), spans.length(axis)
    ink = sum(int(counts[-1]) for counts in layout.ink.values())
    at = layout.axis_ink[distinct]
    return {
        "overlap_share": 1.0 - spans.length(distinct) / total if total else 0.0,
        "uncovered_chars": ink - int((at[:, 1] - at[:, 0]).sum()),
    }
