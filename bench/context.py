"""Cuts of a ranking, and the context a generator is given. One search serves every cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from bench.errors import ChunkingError, ConfigError, near
from bench.layout import Layout, advance, fill, fit
from bench.tokenize import Tokenizer
from bench.types import Chunk, Context, Cuts, Hit, Ranking, Span

GAP = "\n\n"


def _edges(pieces: Sequence[Hit]) -> list[Hit]:
    return [*pieces[::2], *reversed(pieces[1::2])]


def _place(hit: Hit) -> tuple[str, int, int]:
    span = hit.delivered
    return (span.doc_id, span.start, span.end) if span else ("", 0, 0)


ORDERS: dict[str, Callable[[Sequence[Hit]], list[Hit]]] = {
    "rank": list,
    "reverse": lambda pieces: list(reversed(pieces)),
    "edges": _edges,
    "position": lambda pieces: sorted(pieces, key=_place),
}
"""Orders of passages: best first; best last; best first and second best last, the worst in the middle, where language
models overlook most (Liu et al. 2023, "Lost in the Middle"); by document id, then start."""


def headed(rankings: Sequence[Ranking], chunks: Sequence[Chunk], tokenizer: Tokenizer) -> list[Ranking]:
    """Return the rankings with the header of each hit's chunk and its tokens; as they are where no chunk has one.

    Args:
        rankings: hits of each question.
        chunks: the chunking that they index.
        tokenizer: the budget tokenizer.
    """
    headers = sorted({chunk.header for chunk in chunks if chunk.header})
    if not headers:
        return list(rankings)
    counts = dict(zip(headers, tokenizer.count([header + GAP for header in headers]).tolist(), strict=True))
    return [
        replace(ranking, hits=tuple(_headed(hit, chunks[hit.chunk].header, counts) for hit in ranking.hits))
        for ranking in rankings
    ]


def charged(hit: Hit, layout: Layout) -> int:
    """Return the budget tokens that a hit takes: of its span and of its header."""
    return hit.header_tokens + (layout.count_tokens(hit.delivered) if hit.delivered else 0)


def cut_k(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return the first ``k`` hits, in rank order, with repetition.

    Raises:
        ChunkingError: a hit has no source span.
    """
    return [_sourced(hit) for hit in hits[:k]]


def cut_tokens(hits: Sequence[Hit], budget: int, layout: Layout) -> list[Hit]:
    """Return the hits that fill exactly ``budget`` budget tokens; the last one is cut.

    Tokens are those of the whole document's tokenisation that start in the span; repeated text is charged again.
    Fewer tokens come back only where the ranking holds fewer, or where a header alone would overflow the rest.
    """
    pieces = cut_k(hits, len(hits))
    whole, rest = fill(np.array([charged(hit, layout) for hit in pieces], dtype=np.int64), budget)
    kept = pieces[:whole]
    if whole < len(pieces) and (rest := rest - pieces[whole].header_tokens) > 0:
        last = pieces[whole].delivered or Span("", 0, 0)
        end = advance(layout.tokens[last.doc_id], last.start, last.end, rest)
        kept.append(replace(pieces[whole], delivered=replace(last, end=end)))
    return kept


def cut_whole(hits: Sequence[Hit], budget: int, layout: Layout) -> list[Hit]:
    """Return hits in rank order up to, not including, the first that would overflow ``budget`` tokens."""
    pieces = cut_k(hits, len(hits))
    return pieces[: fit(np.array([charged(hit, layout) for hit in pieces], dtype=np.int64), budget)]


def cut_to(ranking: Ranking, cuts: Cuts, layout: Layout) -> Ranking:
    """Return ``ranking`` as far as its largest cut reaches: what a record keeps, and what rank measures look at."""
    counts = np.array([charged(hit, layout) for hit in ranking.hits], dtype=np.int64)
    whole = max((fill(counts, budget)[0] + 1 for budget in cuts.tokens), default=0)
    return Ranking(ranking.question_id, ranking.hits[: max(whole, *cuts.ks)])


def build_context(pieces: Sequence[Hit], texts: Mapping[str, str], layout: Layout, order: str = "rank") -> Context:
    """Return the passages of ``pieces`` for a generator, each under its header.

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
    spans = tuple(hit.delivered for hit in ordered)
    bodies = (texts[span.doc_id][span.start : span.end] if span else "" for span in spans)
    passages = tuple(
        f"{hit.header}{GAP}{body}" if hit.header else body for hit, body in zip(ordered, bodies, strict=True)
    )
    return Context(passages, spans, sum(charged(hit, layout) for hit in ordered))


def _headed(hit: Hit, header: str, counts: Mapping[str, int]) -> Hit:
    return replace(hit, header=header, header_tokens=counts[header]) if header else hit


def _sourced(hit: Hit) -> Hit:
    if hit.delivered is None:
        raise ChunkingError(
            f"chunk {hit.chunk} has no source span, so it cannot be cut; use a strategy that gives spans"
        )
    return hit
