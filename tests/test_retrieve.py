"""Dense retrieval: order, scope, depth that serves every cut."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.errors import ConfigError
from bench.index import build_index
from bench.retrieve import MAX_TIMED, Dense, Found, Retrieval, in_documents, needed_depth, ranking, retrieve
from bench.types import Chunk, Cuts, Floats, GoldenQuestion, Ranking, Span
from tests.hashing import HashEmbedder

TEXTS = {
    "a": ["red fox", "blue whale", "green frog"],
    "b": ["red fox", "grey wolf"],
    "c": ["red panda", "blue whale", "white owl"],
}


def corpus() -> tuple[list[Chunk], Floats]:
    chunks = []
    for doc_id, texts in TEXTS.items():
        start = 0
        for text in texts:
            span = Span(doc_id, start, start + len(text))
            chunks.append(Chunk(span, text, span))
            start += len(text) + 1
    return chunks, HashEmbedder().encode([chunk.indexed_text for chunk in chunks], "passage")


def asked(questions: Sequence[GoldenQuestion], depth: int) -> Retrieval:
    chunks, vectors = corpus()
    queries = HashEmbedder().encode([question.text for question in questions], "query")
    return Retrieval(questions, queries, chunks, build_index(vectors), depth, vectors)


def found(ranked: Ranking, chunks: Sequence[Chunk]) -> list[tuple[str, str]]:
    return [(span.doc_id, chunks[hit.chunk].indexed_text) for hit in ranked.hits if (span := hit.delivered)]


def test_equal_chunks_stand_in_document_order() -> None:
    given_ = asked([GoldenQuestion("q", "red fox")], 3)
    (ranked,) = Dense().rank(given_)
    assert ranked.question_id == "q"
    assert found(ranked, given_.chunks) == [("a", "red fox"), ("b", "red fox"), ("c", "red panda")]
    assert ranked.hits[0].score == ranked.hits[1].score > ranked.hits[2].score


def test_rankings_come_in_the_order_of_the_questions_whatever_their_scopes() -> None:
    scopes = [None, ("b",), None, ("a", "c"), ("b",), ("absent",)]
    words = ["blue whale", "red fox", "white owl", "red fox", "blue whale", "red fox"]
    questions = [GoldenQuestion(str(i), words[i], scope=scopes[i]) for i in range(6)]
    given_ = asked(questions, 8)
    rankings = Dense().rank(given_)
    assert [ranked.question_id for ranked in rankings] == ["0", "1", "2", "3", "4", "5"]
    assert [len(ranked.hits) for ranked in rankings] == [8, 2, 8, 6, 2, 0]
    assert [found(ranked, given_.chunks)[0] for ranked in rankings[:4]] == [
        ("a", "blue whale"),
        ("b", "red fox"),
        ("c", "white owl"),
        ("a", "red fox"),
    ]


def test_scope_gives_what_is_left_of_the_whole_ranking() -> None:
    everything, scoped = Dense().rank(
        asked([GoldenQuestion("w", "red wolf"), GoldenQuestion("s", "red wolf", scope=("b", "c"))], 8)
    )
    inside = [hit for hit in everything.hits if hit.delivered and hit.delivered.doc_id in ("b", "c")]
    assert list(scoped.hits) == inside


def test_scope_looks_at_what_is_handed_over() -> None:
    rewritten = Chunk(None, "rewritten", None)
    parent = Chunk(Span("b", 0, 2), "small", Span("a", 0, 90))
    assert in_documents([rewritten, parent, Chunk(Span("b", 0, 2), "x", None)], ["b"]).tolist() == [2]


def test_ids_of_nothing_found_are_dropped() -> None:
    chunks, _ = corpus()
    kept = ranking(GoldenQuestion("q", "?"), [4, -1, -1], [0.5, 0.0, 0.0], chunks)
    assert [hit.chunk for hit in kept.hits] == [4]


def test_no_chunks_and_no_questions() -> None:
    empty = build_index(np.zeros((0, 64), dtype=np.float32))
    query = HashEmbedder().encode(["x"], "query")
    (ranked,) = Dense().rank(Retrieval([GoldenQuestion("q", "x")], query, [], empty, 5))
    assert ranked == Ranking("q", ())
    assert retrieve(Dense(), asked([], 5)) == Found([], None, None)


def test_too_few_query_vectors_are_refused() -> None:
    chunks, vectors = corpus()
    with pytest.raises(ConfigError, match="0 query vectors for 1 questions"):
        Dense().rank(Retrieval([GoldenQuestion("q", "x")], vectors[:0], chunks, build_index(vectors), 5))


class Counting(Dense):
    """Dense that keeps how many questions each call had."""

    sizes: list[int] = []  # noqa: RUF012

    def rank(self, given: Retrieval) -> list[Ranking]:
        self.sizes.append(len(given.questions))
        return super().rank(given)


def test_latency_is_of_single_questions_and_of_a_sample() -> None:
    questions = [GoldenQuestion(str(i), f"red fox {i}") for i in range(MAX_TIMED + 30)]
    Counting.sizes.clear()
    result = retrieve(Counting(), asked(questions, 3))
    assert Counting.sizes == [len(questions), *[1] * MAX_TIMED]
    assert result.p50_ms is not None
    assert result.p99_ms is not None
    assert 0 < result.p50_ms <= result.p99_ms
    assert result.rankings == Dense().rank(asked(questions, 3))


@settings(max_examples=80, deadline=None)
@given(
    tokens=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    budget=st.integers(1, 20),
    k=st.integers(1, 8),
)
def test_depth_fills_every_cut_of_any_ranking_and_no_smaller_one_does(tokens: list[int], budget: int, k: int) -> None:
    depth = needed_depth(np.array(tokens, dtype=np.int64), Cuts((1, k), (1, budget)))

    def fills(d: int) -> bool:
        orders = set(permutations(tokens))
        return all(sum(order[:d]) >= min(budget, sum(tokens)) for order in orders) and d >= min(k, len(tokens))

    short = sum(tokens) < budget
    assert fills(depth) or short
    assert depth == len(tokens) if short else not fills(depth - 1)


def test_depth_without_chunks_or_budgets() -> None:
    none = np.array([], dtype=np.int64)
    assert needed_depth(none, Cuts((5,), (100,))) == 0
    assert needed_depth(np.array([3, 3, 3]), Cuts((2,), ())) == 2
    assert needed_depth(np.array([3, 3, 3]), Cuts((), (4,))) == 2
