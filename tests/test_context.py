"""Cuts of a ranking and the context made of them. The oracle tests hold the exactness of budgets on random worlds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.context import build_context, charged, cut_k, cut_tokens, cut_whole, headed
from bench.errors import ChunkingError, ConfigError
from bench.layout import Layout
from bench.measures.cuts import Pieces
from bench.types import Chunk, Document, Hit, Ranking, Span
from tests.measuring import Words

TEXT = "one two three four five. six seven eight"
LAYOUT = Layout.of([Document("d", TEXT), Document("a", "alpha beta")], Words())
HITS = (
    Hit(0, 0.9, Span("d", 14, 24)),  # four five.
    Hit(1, 0.8, Span("d", 0, 13)),  # one two three
    Hit(1, 0.7, Span("d", 0, 13)),
    Hit(2, 0.6, Span("a", 0, 5)),
)


def at(doc_id: str, start: int, end: int) -> Hit:
    return Hit(0, 1.0, Span(doc_id, start, end))


def said(hits: list[Hit]) -> list[str]:
    texts = {"d": TEXT, "a": "alpha beta"}
    return [texts[span.doc_id][span.start : span.end] for span in (hit.delivered for hit in hits) if span]


def test_first_k_keeps_rank_order_and_repetition() -> None:
    assert said(cut_k(HITS, 3)) == ["four five.", "one two three", "one two three"]
    assert len(cut_k(HITS, 99)) == 4
    assert cut_k((), 3) == []


@pytest.mark.parametrize(
    ("budget", "filled", "whole"),
    [
        (1, ["four "], []),
        (3, ["four five."], ["four five."]),
        (4, ["four five.", "one "], ["four five."]),
        (6, ["four five.", "one two three"], ["four five.", "one two three"]),
        (8, ["four five.", "one two three", "one two "], ["four five.", "one two three"]),
        (99, ["four five.", "one two three", "one two three", "alpha"], None),
    ],
)
def test_a_budget_cuts_the_last_chunk_or_stops_before_it(
    budget: int, filled: list[str], whole: list[str] | None
) -> None:
    assert said(cut_tokens(HITS, budget, LAYOUT)) == filled
    assert said(cut_whole(HITS, budget, LAYOUT)) == (filled if whole is None else whole)


def test_whole_does_not_jump_over_a_chunk_to_a_smaller_one() -> None:
    assert said(cut_whole((HITS[0], HITS[1], HITS[3]), 4, LAYOUT)) == ["four five."]


def test_tokens_are_those_that_start_in_the_span_of_the_whole_text() -> None:
    context = build_context([at("d", 1, 6)], {"d": TEXT}, LAYOUT)  # "ne tw": only "two" starts here
    assert (context.passages, context.tokens) == (("ne tw",), 1)


def test_context_by_rank_and_by_position() -> None:
    pieces = cut_k(HITS, 4)
    texts = {"d": TEXT, "a": "alpha beta"}
    ranked = build_context(pieces, texts, LAYOUT)
    assert ranked.passages == ("four five.", "one two three", "one two three", "alpha")
    assert ranked.tokens == 10
    placed = build_context(pieces, texts, LAYOUT, order="position")
    assert placed.passages == ("alpha", "one two three", "one two three", "four five.")
    assert placed.spans[0] == Span("a", 0, 5)
    assert build_context([], texts, LAYOUT) == type(ranked)((), (), 0)


@pytest.mark.parametrize(
    ("order", "starts"),
    [
        ("rank", [0, 1, 2, 3, 4]),
        ("reverse", [4, 3, 2, 1, 0]),
        ("edges", [0, 2, 4, 3, 1]),
        ("position", [4, 1, 0, 2, 3]),
    ],
)
def test_orders_of_passages(order: str, starts: list[int]) -> None:
    pieces = [at("d", 4, 5), at("d", 2, 3), at("d", 6, 7), at("d", 8, 9), at("a", 0, 1)]
    context = build_context(pieces, {"d": TEXT, "a": "alpha"}, LAYOUT, order=order)
    assert context.spans == tuple(pieces[i].delivered for i in starts)
    assert context.tokens == build_context(pieces, {"d": TEXT, "a": "alpha"}, LAYOUT).tokens


def test_an_unknown_order_is_refused_with_the_near_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'position'"):
        build_context([], {}, LAYOUT, order="positions")


def test_a_hit_without_a_source_span_is_never_guessed() -> None:
    with pytest.raises(ChunkingError, match="chunk 7 has no source span"):
        cut_k((Hit(7, 1.0, None),), 1)


CHUNKS = [
    Chunk.of(Document("d", TEXT), 14, 24),
    Chunk.of(Document("d", TEXT), 0, 13),
    Chunk.of(Document("a", "alpha"), 0, 5),
]
UNDER = [
    replace(chunk, header=header) for chunk, header in zip(CHUNKS, ["Port guide", "", "Letters of old"], strict=True)
]


def test_a_header_is_handed_over_before_its_passage_and_charged() -> None:
    (ranking,) = headed([Ranking("q", HITS)], UNDER, Words())
    assert [hit.header_tokens for hit in ranking.hits] == [2, 0, 0, 3]
    context = build_context(ranking.hits, {"d": TEXT, "a": "alpha beta"}, LAYOUT)
    assert context.passages == ("Port guide\n\nfour five.", "one two three", "one two three", "Letters of old\n\nalpha")
    assert context.tokens == 10 + 5
    assert context.spans == tuple(hit.delivered for hit in HITS)


def test_without_headers_nothing_changes() -> None:
    assert headed([Ranking("q", HITS)], CHUNKS, Words()) == [Ranking("q", HITS)]


@pytest.mark.parametrize(
    ("budget", "passages", "tokens"),
    [
        (1, (), 0),
        (2, (), 0),
        (3, ("Port guide\n\nfour ",), 3),
        (5, ("Port guide\n\nfour five.",), 5),
        (6, ("Port guide\n\nfour five.", "one "), 6),
        (14, ("Port guide\n\nfour five.", "one two three", "one two three"), 11),
        (15, ("Port guide\n\nfour five.", "one two three", "one two three", "Letters of old\n\nalpha"), 15),
    ],
)
def test_a_budget_pays_for_headers_first(budget: int, passages: tuple[str, ...], tokens: int) -> None:
    (ranking,) = headed([Ranking("q", HITS)], UNDER, Words())
    context = build_context(cut_tokens(ranking.hits, budget, LAYOUT), {"d": TEXT, "a": "alpha beta"}, LAYOUT)
    assert (context.passages, context.tokens) == (passages, tokens)
    laid = Pieces.of([ranking], LAYOUT).filled(budget, LAYOUT)
    kept = laid.placed[:, 0] < laid.placed[:, 1]
    assert int(laid.tokens.sum()) == tokens
    assert laid.placed[kept].tolist() == LAYOUT.place([s for s in context.spans if s]).tolist()
    whole = cut_whole(ranking.hits, budget, LAYOUT)
    assert sum(charged(hit, LAYOUT) for hit in whole) == int(
        Pieces.of([ranking], LAYOUT).whole(budget, LAYOUT).tokens.sum()
    )
