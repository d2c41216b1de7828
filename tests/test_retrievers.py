"""Ways of ranking beside the dense one, against their formulas and by what must hold for every one of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.errors import ConfigError
from bench.index import build_index
from bench.paths import conf_dir
from bench.retrieve import Dense, Retrieval, Retriever, retrieve
from bench.retrievers.base import BASES, named, top, with_rest
from bench.retrievers.bm25 import BM25, WordIndex
from bench.retrievers.dedup import Dedup, shingles
from bench.retrievers.hybrid import HybridRRF, HybridWeighted, reciprocal_ranks, scaled
from bench.retrievers.mmr import MMR, marginal_relevance
from bench.retrievers.threshold import Threshold
from bench.retrievers.words import terms
from bench.types import Chunk, Floats, GoldenQuestion, Hit, Ranking, Span
from tests.hashing import HashEmbedder

TEXT = "red fox blue whale green frog grey wolf white owl runs sleeps near the old harbour at night"
WORDS = TEXT.split()


def passages(texts: dict[str, list[str]]) -> list[Chunk]:
    chunks = []
    for doc_id, parts in texts.items():
        start = 0
        for text in parts:
            span = Span(doc_id, start, start + len(text))
            chunks.append(Chunk(span, text, span))
            start += len(text) + 1
    return chunks


def asked(retriever: Retriever, chunks: Sequence[Chunk], questions: Sequence[GoldenQuestion], depth: int) -> Retrieval:
    embedder = HashEmbedder()
    vectors = embedder.encode([chunk.indexed_text for chunk in chunks], "passage")
    queries = embedder.encode([question.text for question in questions], "query")
    return retriever.prepare(Retrieval(questions, queries, chunks, build_index(vectors), depth, vectors))


def ranked(retriever: Retriever, chunks: Sequence[Chunk], question: str, depth: int) -> list[int]:
    (one,) = retriever.rank(asked(retriever, chunks, [GoldenQuestion("q", question)], depth))
    return [hit.chunk for hit in one.hits]


# ---- words and BM25


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Ferry's fare: 4.20, or 1,000!", ["the", "ferry", "s", "fare", "4.20", "or", "1,000"]),
        ("error E1042 in foo_bar", ["error", "e1042", "in", "foo", "bar"]),
        ("Straße ﬁne E\u0301TUDE", ["strasse", "fine", "étude"]),
        ("किताब पढ़ना", ["किताब", "पढ\u093cना"]),
        ("東京都 a 木", ["東京", "京都", "a", "木"]),
        ("ラーメンGO", ["ラー", "ーメ", "メン", "go"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("ที่นี่", ["ที่นี่"]),
        ("한국어 문장", ["한국", "국어", "문장"]),
        ("שלום, عالم", ["שלום", "عالم"]),
        (" \n -- !", []),
    ],
)
def test_terms_of_many_scripts(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


def lucene(texts: Sequence[str], question: str, k1: float, b: float) -> list[float]:
    """BM25 as its formula reads, one text and one word at a time."""
    counts = [Counter(terms(text)) for text in texts]
    mean = sum(sum(count.values()) for count in counts) / len(texts)
    scores = []
    for count in counts:
        score = 0.0
        for word in terms(question):
            n = sum(word in other for other in counts)
            idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
            norm = k1 * (1 - b + b * sum(count.values()) / mean)
            score += idf * count[word] / (count[word] + norm) if count[word] else 0.0
        scores.append(score)
    return scores


SENTENCES = st.lists(st.lists(st.sampled_from(WORDS[:7]), max_size=8).map(" ".join), min_size=1, max_size=8)


@settings(max_examples=120, deadline=None)
@given(
    texts=SENTENCES,
    question=st.lists(st.sampled_from(WORDS[:9]), max_size=5).map(" ".join),
    k1=st.sampled_from([0.0, 0.9, 1.2, 2.0]),
    b=st.sampled_from([0.0, 0.4, 0.75, 1.0]),
)
def test_bm25_is_its_formula(texts: list[str], question: str, k1: float, b: float) -> None:
    if not any(terms(text) for text in texts):
        assert not WordIndex(texts, k1, b).scores(question).any()
        return
    expected = lucene(texts, question, k1, b)
    scores = WordIndex(texts, k1, b).scores(question)
    assert scores == pytest.approx(expected, rel=1e-5, abs=1e-6)
    order = ranked(BM25(k1, b), passages({"d": texts}), question or "?", 5)
    assert order == sorted((i for i in range(len(texts)) if scores[i] > 0), key=lambda i: (-scores[i], i))[:5]


def test_bm25_neither_needs_nor_looks_at_vectors() -> None:
    chunks = passages({"a": ["red fox", "blue whale"], "b": ["grey wolf"]})
    retriever = BM25()
    assert not retriever.needs_vectors
    given_ = retriever.prepare(Retrieval([GoldenQuestion("q", "A WHALE?")], None, chunks, None, 3))
    found = retrieve(retriever, given_)
    assert [hit.chunk for hit in found.rankings[0].hits] == [1]
    assert found.p50_ms is not None
    assert given_.lexical is not None
    assert given_.index_bytes == given_.lexical.index_bytes > 0


def test_a_word_is_as_rare_as_in_the_whole_corpus_whatever_the_scope() -> None:
    chunks = passages({"a": ["red fox", "red fox"], "b": ["red whale", "blue fox"]})
    questions = [GoldenQuestion("w", "red whale"), GoldenQuestion("s", "red whale", scope=("b",))]
    everything, scoped = BM25().rank(asked(BM25(), chunks, questions, 9))
    assert scoped.hits == tuple(hit for hit in everything.hits if hit.chunk >= 2)


def test_more_words_make_a_larger_index() -> None:
    assert (
        WordIndex(["red fox", "blue whale"], 1.2, 0.75).index_bytes
        > WordIndex(["red fox", "red"], 1.2, 0.75).index_bytes
    )
    assert WordIndex([], 1.2, 0.75).index_bytes == WordIndex(["", "!"], 1.2, 0.75).index_bytes == 0


# ---- fusion


def test_reciprocal_ranks_by_hand() -> None:
    fused = reciprocal_ranks([[7, 3, 5], [3, 9]], 60)
    assert fused == pytest.approx({7: 1 / 61, 3: 1 / 62 + 1 / 61, 5: 1 / 63, 9: 1 / 62})


def test_rrf_of_a_ranking() -> None:
    chunks = passages({"d": ["blue whale", "red fox", "red owl", "green frog"]})
    found = ranked(HybridRRF(), chunks, "red fox", 4)
    dense, words = ranked(Dense(), chunks, "red fox", 4), ranked(BM25(), chunks, "red fox", 4)
    assert words == [1, 2]
    by_hand = {i: 1 / (61 + dense.index(i)) + (1 / (61 + words.index(i)) if i in words else 0) for i in range(4)}
    assert found == sorted(by_hand, key=lambda i: (-by_hand[i], i))


def test_scaled_scores() -> None:
    assert scaled(np.array([0.5, 0.0, -1.0]), -1.0).tolist() == [1.0, 2 / 3, 0.0]
    assert scaled(np.array([0.0, 0.0]), 0.0).tolist() == [0.0, 0.0]
    assert scaled(np.array([]), 0.0).tolist() == []


def test_weights_of_all_and_nothing_are_the_two_rankings() -> None:
    chunks = many()
    for question in ("red fox near the harbour", "white owl sleeps"):
        dense = ranked(Dense(), chunks, question, 30)
        words = ranked(BM25(), chunks, question, 30)
        assert ranked(HybridWeighted(dense_weight=1.0, candidates=len(chunks)), chunks, question, 30) == dense
        assert (
            ranked(HybridWeighted(dense_weight=0.0, candidates=len(chunks)), chunks, question, 30)[: len(words)]
            == words
        )


def test_weighted_sum_by_hand_with_the_missing_scores_filled_in() -> None:
    chunks = passages({"d": ["blue whale", "red red", "fox red blue runs", "green frog"]})
    retriever = HybridWeighted(candidates=1, dense_weight=0.5)
    given_ = asked(retriever, chunks, [GoldenQuestion("q", "red red fox")], 2)
    assert given_.query_vectors is not None
    assert given_.chunk_vectors is not None
    assert given_.lexical is not None
    cosines, words = given_.chunk_vectors @ given_.query_vectors[0], given_.lexical.scores("red red fox")
    pool = [int(np.argmax(cosines)), int(np.argmax(words))]
    assert pool == [1, 2], "each ranking brings one of its own"
    by_hand = {i: 0.5 * (cosines[i] + 1) / (cosines[pool].max() + 1) + 0.5 * words[i] / words[pool].max() for i in pool}
    (found,) = retriever.rank(given_)
    for hit in found.hits[: len(pool)]:
        assert hit.score == pytest.approx(by_hand[hit.chunk], abs=1e-6)


# ---- maximal marginal relevance


def units(rows: Sequence[Sequence[int]]) -> Floats:
    vectors = np.array(rows, dtype=np.float64)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


VECTOR = st.tuples(*[st.integers(-2, 2)] * 3).filter(any)


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(VECTOR, min_size=1, max_size=9), query=VECTOR, weight=st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0]))
def test_mmr_is_its_definition(rows: list[tuple[int, ...]], query: tuple[int, ...], weight: float) -> None:
    vectors, asked_ = units(rows), units([query])[0]
    order, scores = marginal_relevance(vectors, asked_, weight)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert (np.diff(scores) <= 1e-12).all()
    cosine = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    relevance = vectors.astype(np.float64) @ asked_.astype(np.float64)
    chosen: list[int] = []
    for best, score in zip(order.tolist(), scores.tolist(), strict=True):
        left = [i for i in range(len(rows)) if i not in chosen]
        values = {i: weight * relevance[i] - (1 - weight) * max([-1.0, *(cosine[i, j] for j in chosen)]) for i in left}
        assert values[best] == pytest.approx(max(values.values()), abs=1e-9)
        assert score == pytest.approx(values[best], abs=1e-9)
        assert best == min(i for i in left if (vectors[i] == vectors[best]).all())
        chosen.append(best)


def test_mmr_of_relevance_alone_is_dense_and_of_likeness_puts_twins_last() -> None:
    chunks = passages({"a": ["red fox", "red fox", "red wolf"], "b": ["red fox", "blue whale"]})
    assert ranked(MMR(relevance_weight=1.0), chunks, "red fox", 5) == ranked(Dense(), chunks, "red fox", 5)
    diverse = ranked(MMR(relevance_weight=0.3), chunks, "red fox", 5)
    assert diverse[0] == 0
    assert set(diverse[3:]) == {1, 3}


# ---- near duplicates


def test_what_was_handed_over_is_not_handed_over_again() -> None:
    text = "red fox runs near the old harbour at night"
    spans = [Span("d", 0, 20), Span("d", 8, 28), Span("d", 12, 32), Span("d", 30, 42), Span("e", 0, 20)]
    chunks = [Chunk(span, f"{text} {i} {WORDS[i]}", span) for i, span in enumerate(spans)]
    hits = tuple(Hit(i, 1.0 - i / 10, span) for i, span in enumerate(spans))
    assert [hit.chunk for hit in Dedup(max_overlap=0.5, max_similarity=1.0).distinct(hits, chunks, 9)] == [0, 2, 3, 4]
    assert [hit.chunk for hit in Dedup(max_overlap=0.6, max_similarity=1.0).distinct(hits, chunks, 9)] == [0, 1, 3, 4]
    assert [hit.chunk for hit in Dedup(max_overlap=1.0, max_similarity=1.0).distinct(hits, chunks, 9)] == [
        0,
        1,
        2,
        3,
        4,
    ]
    assert [hit.chunk for hit in Dedup(max_overlap=0.0, max_similarity=1.0).distinct(hits, chunks, 9)] == [0, 3, 4]


def test_children_of_one_parent_hand_it_over_once() -> None:
    parent = Span("d", 0, 90)
    chunks = [Chunk(Span("d", i, i + 5), WORDS[i], parent) for i in range(4)]
    assert len(ranked(Dedup(), chunks, "red fox blue whale", 4)) == 1


ALIKE = st.lists(st.lists(st.sampled_from(WORDS[:2]), max_size=7).map(" ".join), min_size=2, max_size=6)


@settings(max_examples=80, deadline=None)
@given(texts=ALIKE, limit=st.sampled_from([0.0, 0.3, 0.5, 0.8]))
def test_resemblance_is_shared_over_all(texts: list[str], limit: float) -> None:
    chunks = passages({"d": texts})
    hits = tuple(Hit(i, 1.0, chunk.delivered) for i, chunk in enumerate(chunks))
    kept: list[int] = []
    for i, text in enumerate(texts):
        a = shingles(text)
        alike = [len(a & b) / len(a | b) for b in (shingles(texts[j]) for j in kept) if a | b]
        if max(alike, default=0.0) <= limit:
            kept.append(i)
    found = Dedup(max_overlap=1.0, max_similarity=limit).distinct(hits, chunks, 9)
    assert [hit.chunk for hit in found] == kept


def test_shingles() -> None:
    assert shingles("Red fox, RED fox!") == {("red", "fox", "red"), ("fox", "red", "fox")}
    assert shingles("red fox") == {("red", "fox")}
    assert shingles("?") == frozenset()


def test_removed_duplicates_are_made_up_for_from_further_down() -> None:
    chunks = passages({"a": ["red fox runs near the harbour"] * 20, "b": ["red fox sleeps", "red wolf", "grey fox"]})
    found = ranked(Dedup(), chunks, "red fox runs near the harbour", 3)
    assert len(found) == 3
    assert found[0] == 0
    assert set(found[1:]) < {20, 21, 22}


# ---- threshold


def test_a_threshold_leaves_a_short_ranking_or_none() -> None:
    chunks = many()
    (base,) = Dense().rank(asked(Dense(), chunks, [GoldenQuestion("q", "red fox")], 40))
    for least in (base.hits[0].score + 0.01, base.hits[4].score, base.hits[-1].score):
        (kept,) = Threshold(min_score=least).rank(asked(Dense(), chunks, [GoldenQuestion("q", "red fox")], 40))
        assert kept.hits == tuple(hit for hit in base.hits if hit.score >= least)


# ---- every retriever


def many() -> list[Chunk]:
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(2, 9))) for _ in range(60)]
    texts[40:44] = [texts[0]] * 4
    return passages({"a": texts[:25], "b": texts[25:45], "c": texts[45:]})


QUESTIONS = [
    GoldenQuestion("q1", "red fox"),
    GoldenQuestion("q2", "the owl sleeps near the harbour", scope=("b",)),
    GoldenQuestion("q3", "?"),
    GoldenQuestion("q4", "grey wolf at night", scope=("a", "c")),
    GoldenQuestion("q5", "blue whale", scope=("nowhere",)),
]
NEEDED: dict[str, dict[str, Any]] = {"rerank": {"model": "m"}, "threshold": {"min_score": -1.0}}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("dense", {}),
    ("bm25", {}),
    ("hybrid_rrf", {}),
    ("hybrid_rrf", {"candidates": 7}),
    ("hybrid_weighted", {}),
    ("hybrid_weighted", {"candidates": 7}),
    ("mmr", {"candidates": 7}),
    ("mmr", {"base": "bm25"}),
    ("dedup", {"base": "hybrid_rrf", "base_options": {"candidates": 9}}),
    ("dedup", {"base": "mmr", "base_options": {"base": "dedup", "candidates": 11}}),
    ("threshold", {"base": "bm25", "min_score": 0.4}),
]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_what_holds_for_every_ranking(name: str, options: dict[str, Any]) -> None:
    retriever, chunks = named(name, options), many()
    given_ = asked(retriever, chunks, QUESTIONS, 30)
    rankings = retriever.rank(given_)
    assert [one.question_id for one in rankings] == [question.question_id for question in QUESTIONS]
    for row, (question, one) in enumerate(zip(QUESTIONS, rankings, strict=True)):
        ids = [hit.chunk for hit in one.hits]
        scores = [hit.score for hit in one.hits]
        assert len(ids) == len(set(ids)) <= 30
        assert all(a >= b for a, b in pairwise(scores))
        assert all(hit.delivered == chunks[hit.chunk].delivered for hit in one.hits)
        assert question.scope is None or {hit.delivered.doc_id for hit in one.hits if hit.delivered} <= set(
            question.scope
        )
        assert given_.query_vectors is not None
        single = replace(given_, questions=[question], query_vectors=given_.query_vectors[row : row + 1])
        assert retriever.rank(single) == [one]
    for depth in (1, 6, 8, 19):
        shorter = retriever.rank(replace(given_, depth=depth))
        assert [[hit.chunk for hit in one.hits] for one in shorter] == [
            [hit.chunk for hit in one.hits[:depth]] for one in rankings
        ]


@pytest.mark.parametrize("name", [name for name in BASES if name not in ("bm25", *NEEDED)])
def test_every_cut_is_filled_beyond_the_candidates(name: str) -> None:
    options = {"candidates": 3} if name not in ("dense", "dedup") else {}
    chunks = [chunk for i, chunk in enumerate(many()) if i not in range(40, 44)]
    assert len(ranked(named(name, options), chunks, "red fox", len(chunks))) >= len(chunks) - 2


@pytest.mark.parametrize("name", [name for name in BASES if name != "rerank"])
def test_no_chunks_and_no_questions(name: str) -> None:
    retriever = named(name, NEEDED.get(name, {}))
    empty = np.zeros((0, 64), dtype=np.float32)
    query = HashEmbedder().encode(["x"], "query")
    given_ = retriever.prepare(Retrieval([GoldenQuestion("q", "x")], query, [], build_index(empty), 0, empty))
    assert retriever.rank(given_) == [Ranking("q", ())]
    assert retriever.rank(asked(retriever, many(), [], 5)) == []


def test_hits_behind_the_head_go_on_below_it() -> None:
    head = Ranking("q", (Hit(3, 0.5, None), Hit(1, 0.2, None)))
    base = Ranking("q", (Hit(1, 9.0, None), Hit(2, 8.0, None), Hit(4, 7.5, None)))
    found = with_rest(head, base, 9)
    assert [hit.chunk for hit in found.hits] == [3, 1, 2, 4]
    assert found.hits[2].score < 0.2
    assert found.hits[2].score - found.hits[3].score == pytest.approx(0.5)
    assert with_rest(Ranking("q", ()), base, 2).hits == base.hits[:2]
    low = Ranking("q", (Hit(5, -3.0, None),))
    assert with_rest(head, low, 9).hits[-1].score == -3.0


@settings(max_examples=80, deadline=None)
@given(scores=st.lists(st.integers(-3, 3), max_size=12), depth=st.integers(0, 14))
def test_top_is_the_head_of_a_stable_sort(scores: list[int], depth: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:depth]
    assert top(np.array(scores, dtype=np.float32), depth).tolist() == expected


# ---- configuration


def test_each_file_configures_the_retriever_of_its_name() -> None:
    files = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (conf_dir() / "retriever").glob("*.yaml")
    }
    assert {name: content["_target_"] for name, content in files.items()} == BASES
    for name, content in files.items():
        values = {key: value for key, value in content.items() if key not in ("_target_", "name") and value != "???"}
        missing = NEEDED.get(name, {})
        assert named(name, values | missing) == named(name, missing), "a file's values are the class's defaults"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mmr", {"base": "bm52"}, "retriever.base: got 'bm52'; allowed: .*did you mean 'bm25'"),
        (
            "mmr",
            {"base": "bm25", "base_options": {"k": 1}},
            "retriever.base_options.k: bm25 has no such parameter; .*k1",
        ),
        ("dedup", {"base": "bm25", "base_options": {"k1": "x"}}, "base_options.k1: got 'x'; allowed: one float"),
        ("dedup", {"base": "mmr", "base_options": {"candidates": True}}, "candidates: got True; allowed: one int"),
        ("bm25", {"k1": -1.0}, "retriever.k1: got -1.0; allowed: 0 or more"),
        ("bm25", {"b": 1.5}, "retriever.b: got 1.5; allowed: 0 to 1"),
        ("hybrid_rrf", {"candidates": 0}, "retriever.candidates: got 0; allowed: at least 1"),
        ("hybrid_rrf", {"rrf_k": -1}, "retriever.rrf_k: got -1"),
        ("hybrid_weighted", {"dense_weight": 2.0}, "retriever.dense_weight: got 2.0"),
        ("mmr", {"relevance_weight": -0.1}, "retriever.relevance_weight: got -0.1"),
        ("dedup", {"max_overlap": 50.0}, "retriever.max_overlap: got 50.0"),
        ("rerank", {"model": ""}, "retriever.model: is empty"),
        ("threshold", {}, "retriever.base_options.min_score: has no value; threshold needs one"),
    ],
)
def test_wrong_values_name_the_key(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        named(name, options)


@pytest.mark.parametrize("name", ["bm25", "hybrid_rrf", "hybrid_weighted"])
def test_an_index_of_words_is_made_first(name: str) -> None:
    given_ = asked(Dense(), many(), QUESTIONS, 5)
    with pytest.raises(ConfigError, match="call prepare"):
        named(name, {}).rank(given_)


@pytest.mark.parametrize("name", ["dense", "mmr", "hybrid_weighted", "hybrid_rrf"])
def test_missing_vectors_are_refused(name: str) -> None:
    retriever = named(name, {})
    given_ = asked(retriever, many(), QUESTIONS, 5)
    with pytest.raises(ConfigError, match="vectors"):
        retriever.rank(replace(given_, chunk_vectors=None, query_vectors=None))


def test_bytes_are_of_both_indexes() -> None:
    given_ = asked(HybridRRF(), many(), QUESTIONS, 5)
    assert retrieve(HybridRRF(), given_).rankings == HybridRRF().rank(given_)
    assert given_.lexical is not None
    assert given_.index is not None
    assert given_.index_bytes == given_.lexical.index_bytes + given_.index.index_bytes
