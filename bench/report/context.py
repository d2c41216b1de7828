"""What a question was given at the budget of a sweep, and what of its evidence that holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.errors import ModelError
from bench.layout import Layout, advance
from bench.report.data import Row, SweepData
from bench.spans import Intervals, intersect, intervals
from bench.types import Ints, Span

Alternatives = tuple[Span, ...]


class RoughTokenizer:
    """Four characters a token: stands in where the sweep's tokenizer is not installed."""

    name = "four characters a token"
    fingerprint = "rough"

    def starts(self, text: str) -> Ints:
        """Every fourth offset."""
        return np.arange(0, len(text), 4, dtype=np.int64)

    def count(self, texts: Sequence[str]) -> Ints:
        """A quarter of each length, rounded up."""
        return np.array([-(-len(text) // 4) for text in texts], dtype=np.int64)


def layout_of(data: SweepData) -> Layout:
    """Token and character counts of the sweep's documents, made once."""
    return data.once("layout", _layout)


def _layout(data: SweepData) -> Layout:
    from bench.tokenize import get_tokenizer

    try:
        return Layout.of(data.documents.values(), get_tokenizer(str(data.header["tokenizer"])))
    except ModelError:
        return Layout.of(data.documents.values(), RoughTokenizer())


@dataclass(frozen=True, slots=True)
class Piece:
    """One passage of the context: the rank of its hit, from 1, and what of it was handed over."""

    rank: int
    doc_id: str
    start: int
    end: int


def context_of(hits: Sequence[Sequence[Any]], budget: int, layout: Layout) -> list[Piece]:
    """Fill exactly ``budget`` tokens with hits as the records keep them, best first; the last is cut."""
    pieces: list[Piece] = []
    left = budget
    for rank, hit in enumerate(hits, 1):
        place = delivered(hit, layout)
        if place is None:
            continue
        left -= header_tokens(hit)
        if left <= 0:
            break
        counts = layout.tokens[place.doc_id]
        tokens = int(counts[place.end] - counts[place.start])
        end = place.end if tokens <= left else advance(counts, place.start, place.end, left)
        pieces.append(Piece(rank, place.doc_id, place.start, end))
        left -= tokens
        if left <= 0:
            break
    return pieces


def delivered(hit: Sequence[Any], layout: Layout) -> Span | None:
    """What a hit hands over; None where its source is not known."""
    doc_id, start, end = hit[0], hit[4], hit[5]
    return Span(doc_id, start, end) if doc_id in layout.ink and start is not None else None


def header_tokens(hit: Sequence[Any]) -> int:
    """Budget tokens of the header that was handed over with a hit."""
    return int(hit[7]) if len(hit) > 7 else 0


def evidence_of(golden: Mapping[str, Any]) -> list[Alternatives]:
    """The evidence items of a golden row, each with its alternatives."""
    items = [item.get("alternatives", [item]) for item in golden.get("evidence") or []]
    return [tuple(Span(a["doc_id"], int(a["start"]), int(a["end"])) for a in item) for item in items]


def quotes_of(golden: Mapping[str, Any]) -> dict[Span, str]:
    """The quote of every alternative that has one."""
    items = [a for item in golden.get("evidence") or [] for a in item.get("alternatives", [item])]
    return {Span(a["doc_id"], int(a["start"]), int(a["end"])): a["quote"] for a in items if a.get("quote") is not None}


def pieces_in(pieces: Sequence[Piece], doc_id: str) -> Intervals:
    """The passages of one document as intervals."""
    return intervals((piece.start, piece.end) for piece in pieces if piece.doc_id == doc_id)


def share(given: Intervals, span: Span, layout: Layout) -> float:
    """Share of the non-white-space characters of ``span`` that lie in ``given``."""
    ink = layout.ink[span.doc_id]
    wanted = int(ink[span.end] - ink[span.start])
    inside = intersect(given, intervals([(span.start, span.end)]))
    found = int((ink[inside[:, 1]] - ink[inside[:, 0]]).sum())
    return found / wanted if wanted else 1.0


def best_share(pieces: Sequence[Piece], item: Alternatives, layout: Layout) -> tuple[float, Span]:
    """The best-covered alternative of an item and the share of it that was handed over."""
    shares = [share(pieces_in(pieces, span.doc_id), span, layout) for span in item]
    best = max(range(len(item)), key=shares.__getitem__)
    return shares[best], item[best]


def without_repeats(hits: Sequence[Sequence[Any]], budget: int, layout: Layout, texts: Mapping[str, str]) -> int:
    """Rank that ``budget`` tokens would reach if no character and no text were handed over twice."""
    seen: dict[str, list[tuple[int, int]]] = {}
    bodies: set[str] = set()
    left = budget
    for rank, hit in enumerate(hits, 1):
        place = delivered(hit, layout)
        if place is None:
            continue
        body = " ".join(texts[place.doc_id][place.start : place.end].split())
        if body not in bodies:
            bodies.add(body)
            left -= header_tokens(hit) + _new_tokens(place, seen.setdefault(place.doc_id, []), layout)
        if left <= 0:
            return rank
    return len(hits)


def _new_tokens(place: Span, seen: list[tuple[int, int]], layout: Layout) -> int:
    """Tokens of ``place`` that no earlier passage held; notes the passage."""
    counts = layout.tokens[place.doc_id]
    at, new = place.start, 0
    for start, end in sorted(seen):
        if end <= at or start >= place.end:
            continue
        new += int(counts[max(at, start)] - counts[at])
        at = max(at, min(end, place.end))
    seen.append((place.start, place.end))
    return new + int(counts[place.end] - counts[at])


def is_miss(row: Row, headline: str) -> bool | None:
    """True if evidence is missing at the budget, by the record's scores; None where the question has no gold."""
    cut = headline.partition("@")[2]
    whole, recall = row["scores"].get(f"evidence_all@{cut}"), row["scores"].get(headline)
    if isinstance(whole, int | float):
        return whole < 1
    return recall < 1 - 1e-9 if isinstance(recall, int | float) else None
