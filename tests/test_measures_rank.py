"""Rank measures and compatibility forms: the values that their sources print."""

from __future__ import annotations

from typing import Any

import pytest

from bench.chunkers.base import Tools
from bench.chunkers.contextual import Contextual
from bench.chunkers.deliver import delivered
from bench.chunkers.multi_scale import MultiScale
from bench.chunkers.run import chunk_corpus
from bench.chunkers.small_to_big import ParentChild
from bench.layout import Layout
from bench.measures.compat import containment_recall, nonllm_precision, nonllm_recall
from bench.measures.rank import (
    Judged,
    average_precision,
    id_precision,
    id_recall,
    ndcg,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from bench.measures.retrieval import ranked_units, score_retrieval
from bench.tokenize import get_tokenizer
from bench.types import Chunk, Cuts, Document, Evidence, GoldenQuestion, Hit, Ranking, Span

D1 = "The refund window is 30 days from purchase."
D2 = "After 30 days only partial refunds are available."
D3 = "Our office is in Berlin."


@pytest.mark.parametrize(
    ("verdicts", "value"), [("111", 1.0), ("101", 5 / 6), ("001", 1 / 3), ("0110", 7 / 12), ("000", 0.0), ("", 0.0)]
)
def test_average_precision_of_verdicts_is_exact(verdicts: str, value: float) -> None:
    assert average_precision([int(verdict) for verdict in verdicts]) == pytest.approx(value, abs=1e-15)


def test_a_perfect_ranking_of_two_gold_groups_is_1() -> None:
    judged = Judged.of([4, 7, 1, 2], {4: [0], 7: [1]}, 2)
    assert average_precision(judged.gains, len(judged.relevant)) == 1.0
    assert reciprocal_rank(judged.gains) == recall_at(judged, 2) == 1.0


def test_the_ideal_is_not_cut_at_the_length_of_the_result() -> None:
    judged = Judged.of([1], {1: [0], 2: [0], 3: [0]}, 1)
    assert ndcg(judged.gains, len(judged.relevant), 10) == pytest.approx(0.4693, abs=5e-5)
    assert average_precision(judged.gains, len(judged.relevant)) == pytest.approx(1 / 3)
    assert average_precision(judged.gains) == 1.0


def test_a_chunk_ranked_three_times_gains_once() -> None:
    judged = Judged.of([1, 1, 1], {1: [0], 2: [1], 3: [2]}, 3)
    assert judged.gains == (1, 0, 0)
    assert precision_at(judged, 3) == recall_at(judged, 3) == pytest.approx(1 / 3)
    assert ndcg(judged.gains, 3, 3) < 0.5


def test_precision_counts_missing_ranks() -> None:
    assert precision_at(Judged.of([1], {1: [0]}, 1), 5) == 0.2


@pytest.mark.parametrize(
    ("retrieved", "gold", "precision", "recall"),
    [
        (["c1", "c2", "c3", "c4"], ["c1", "c3", "c9"], 0.5, 2 / 3),
        (["c1", "c1", "c2"], ["c1", "c9"], 0.5, 0.5),
        ([], ["c1"], 0.0, 0.0),
        (["c1"], [], 0.0, 0.0),
    ],
)
def test_id_forms(retrieved: list[str], gold: list[str], precision: float, recall: float) -> None:
    assert id_precision(retrieved, gold) == precision
    assert id_recall(retrieved, gold) == pytest.approx(recall)


@pytest.mark.parametrize(
    ("retrieved", "references", "precision", "recall"),
    [
        ([D1, D3, D2], [D1, D2], 5 / 6, 1.0),
        ([D3, D1], [D1], 0.5, 1.0),
        ([f"{D1} {D2} {D3}"], [D1, D2], 0.0, 0.0),
        ([], [D1], 0.0, 0.0),
        ([D1], [], 0.0, 0.0),
        (["abcd"], ["abxy"], 1.0, 0.0),  # similarity of exactly one half: >= for precision, > for recall
    ],
)
def test_nonllm_forms(retrieved: list[str], references: list[str], precision: float, recall: float) -> None:
    assert nonllm_precision(retrieved, references) == pytest.approx(precision)
    assert nonllm_recall(retrieved, references) == recall


@pytest.mark.parametrize(
    ("chunk", "value"),
    [
        (f"{D2} {D1}", 1.0),
        ("30 days from purchase", 1.0),
        ("", 0.0),
        ("30", 0.0),
        (" 30 ", 0.0),
        ("30.", 0.0),
        ("The refund window is 31", 0.0),
    ],
)
def test_containment_never_hits_on_an_empty_or_one_word_chunk(chunk: str, value: float) -> None:
    assert containment_recall([chunk], [D1]) == value


def test_containment_splits_evidence_into_nothing_and_reads_scripts_without_spaces() -> None:
    assert containment_recall([D1[:20] + "!", "!" + D1[20:]], [D1]) == 0.0
    assert containment_recall(["返品は三十日"], ["返品は三十日以内です。"]) == 1.0
    assert containment_recall(["返"], ["返品は三十日以内です。"]) == 0.0
    assert containment_recall([D1], []) == 0.0


TEXT = "".join(f"Wagon {i} stands on siding {i}. " for i in range(60))
DOCUMENT = Document("d", TEXT)
SMALL_TO_BIG = {
    "parent_child": ParentChild(unit="characters", size=30, parent_size=120, base="sentence"),
    "multi_scale": MultiScale(unit="characters", size=120, shares=[1, 0.5, 0.25], handed=0.5, base="sentence"),
    "recursive": Contextual(unit="characters", size=60, base="recursive"),
}


@pytest.mark.parametrize("name", SMALL_TO_BIG)
def test_a_perfect_ranking_of_what_is_handed_over_is_1(name: str) -> None:
    """One piece of evidence lies in one parent, and in chunks of every scale: it is one relevant unit, not many."""
    chunker: Any = SMALL_TO_BIG[name]
    chunks = chunk_corpus(chunker, [DOCUMENT], Tools(get_tokenizer)).chunks
    gold = Span("d", TEXT.index("Wagon 30 stands") + 2, TEXT.index("Wagon 30 stands") + 10)
    spans = [chunk.span or gold for chunk in chunks]
    ordered = sorted(range(len(chunks)), key=lambda i: spans[i].end <= gold.start or spans[i].start >= gold.end)
    hits = tuple(Hit(i, 1 - n / 1000, chunks[i].delivered) for n, i in enumerate(ordered))
    rankings = delivered(chunker, [Ranking("q", hits)], chunks, {"d": TEXT})
    question = GoldenQuestion("q", "?", evidence=(Evidence((gold,)),))
    layout = Layout.of([DOCUMENT], get_tokenizer("minilm"))
    scores = score_retrieval([question], chunks, rankings, layout, {"d": TEXT}, Cuts((1, 10), (128,)))["q"]
    assert [scores[measure].value for measure in ("AP", "nDCG@k=10", "R@k=1", "P@k=1")] == [1.0] * 4


def test_units_are_what_is_handed_over_only_where_that_never_overlaps() -> None:
    def chunk(start: int, end: int, low: int, high: int) -> Chunk:
        return Chunk(Span("d", start, end), TEXT[start:end], Span("d", low, high))

    parents = [chunk(0, 10, 0, 20), chunk(10, 20, 0, 20), chunk(20, 30, 20, 40)]
    assert ranked_units(parents) == ([Span("d", 0, 20), Span("d", 20, 40)], [0, 0, 1])
    windows = [chunk(0, 10, 0, 20), chunk(10, 20, 0, 30)]
    assert ranked_units(windows) == ([Span("d", 0, 10), Span("d", 10, 20)], [0, 1])
    plain = [chunk(0, 15, 0, 15), chunk(10, 20, 10, 20)]
    assert ranked_units(plain) == ([Span("d", 0, 15), Span("d", 10, 20)], [0, 1])
