"""Cuts of a ranking, and the context a generator is given. One search serves every cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bench.errors import ChunkingError, ConfigError, near
from bench.layout import Layout, advance, fill, fit
from bench.types import Context, Cuts, Hit, Ranking, Span


def _edges(pieces: Sequence[Span]) -> list[Span]:
    return [*pieces[::2], *reversed(pieces[1::2])]


ORDERS: dict[str, Callable[[Sequence[Span]], list[Span]]] = {
    "rank": list,
    "reverse": lambda pieces: list(reversed(pieces)),
    "edges": _edges,
    "position": sorted,
}
"""Orders of passages: best first; best last; best first and second best last, the worst in the middle, where language
models overlook most (Liu et al. 2023, "Lost in the Middle"); by document id, then start."""


def cut_k(hits: Sequence[Hit], k: int) -> list[Span]:
    """Return the spans delivered by the first ``k`` hits, in rank order, with repetition.

    Raises:
        ChunkingError: a hit has no source span.
    """
    return [_delivered(hit) for hit in hits[:k]]


def cut_tokens(hits: Sequence[Hit], budget: int, layout: Layout) -> list[Span]:
    """Return the delivered spans that fill exactly ``budget`` budget tokens; the last one is cut.

    Tokens are those of the whole document's tokenisation that start in the span; repeated text is charged again.
    Fewer tokens come back only where the ranking holds fewer.
    """
    pieces = cut_k(hits, len(hits))
    whole, rest = fill(np.array([layout.count_tokens(span) for span in pieces], dtype=np.int64), budget)
    kept = pieces[:whole]
    if whole < len(pieces) and rest > 0:
        last = pieces[whole]
        kept.append(Span(last.doc_id, last.start, advance(layout.tokens[last.doc_id], last.start, last.end, rest)))
    return kept


def cut_whole(hits: Sequence[Hit], budget: int, layout: Layout) -> list[Span]:
    """Return delivered spans in rank order up to, not including, the first that would overflow ``budget`` tokens."""
    pieces = cut_k(hits, len(hits))
    return pieces[: fit(np.array([layout.count_tokens(span) for span in pieces], dtype=np.int64), budget)]


def cut_to(ranking: Ranking, cuts: Cuts, layout: Layout) -> Ranking:
    """Return ``ranking`` as far as its largest cut reaches: what a record keeps, and what rank measures look at."""
    spans = [hit.delivered for hit in ranking.hits]
    counts = np.array([layout.count_tokens(span) if span else 0 for span in spans], dtype=np.int64)
    whole = max((fill(counts, budget)[0] + 1 for budget in cuts.tokens), default=0)
    return Ranking(ranking.question_id, ranking.hits[: max(whole, *cuts.ks)])


def build_context(pieces: Sequence[Span], texts: Mapping[str, str], layout: Layout, order: str = "rank") -> Context:
    """Return the passages of ``pieces`` for a generator.

    Args:
        pieces: a cut of a ranking.
        texts: text of each document.
        layout: counts of the same documents.
        order: one of ``ORDERS``.

    Raises:
        ConfigError: unknown order.
    """
    if order not in ORDERS:
        raise ConfigError(f"context order {order!r} is unknown; {near(order, ORDERS)}")
    ordered = ORDERS[order](pieces)
    passages = tuple(texts[span.doc_id][span.start : span.end] for span in ordered)
    return Context(passages, tuple(ordered), sum(layout.count_tokens(span) for span in ordered))


def _delivered(hit: Hit) -> Span:
    if hit.delivered is None:
        raise ChunkingError(
            f"chunk {hit.chunk} has no source span, so it cannot be cut; use a strategy that gives spans"
        )
    return hit.delivered
